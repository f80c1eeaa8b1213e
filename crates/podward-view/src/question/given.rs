//! What a saved pattern for a command needs beside its words.

use podward_protocol::{Circumstances, Input};

use crate::visible::{Lines, one_line, visible};

/// Characters of an input that are shown.
const INPUT: usize = 60;

/// What has to be the same beside the words of a command, each behind a comma; nothing where a command
/// of literal words is given no input.
#[must_use]
pub fn given_text(given: &Circumstances) -> String {
    let words = given.expanded.iter().map(|word| {
        let word = visible(&word.spelled, Lines::Escape);
        format!(", `{word}` read by the shell")
    });
    let input = given.input.as_ref().map(|input| match input {
        Input::Text { text } => format!(", with the input `{}`", one_line(text, INPUT)),
        Input::File { path } => format!(", reading `{}`", visible(path, Lines::Escape)),
    });
    words.chain(input).collect()
}

/// Directories, of which a command runs in one.
#[must_use]
pub fn in_words(directories: &[String]) -> String {
    let names = directories.iter().map(|name| match &**name {
        "." => "the workspace".to_owned(),
        name => format!("`{}`", visible(name, Lines::Escape)),
    });
    names.collect::<Vec<_>>().join(" or ")
}
