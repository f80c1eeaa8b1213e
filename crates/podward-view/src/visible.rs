//! Text from a model, a file or a command, made safe to look at.
//!
//! A terminal obeys escape sequences, and bidirectional or invisible characters make one text look
//! like another. Here they are shown as what they are.

use std::fmt::Write as _;

use podward_protocol::is_invisible;
use unicode_width::UnicodeWidthChar as _;

/// Whether a line break stays a line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// Running text: newlines and tabs stay.
    Keep,
    /// One line: newlines and tabs are shown as `\n` and `\t`.
    Escape,
}

/// The text with every character that a terminal obeys or hides written as an escape.
#[must_use]
pub fn visible(text: &str, lines: Lines) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut marks = Marks::default();
    for c in text.chars() {
        push_visible(&mut shown, c, lines, &mut marks);
    }
    shown
}

/// Marks that may stand on one letter: no script needs more, and more hide what is below them.
const MAX_MARKS: usize = 3;

/// How many marks stand on the last letter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Marks {
    n_marks: usize,
    has_letter: bool,
}

impl Marks {
    /// Whether a character is a mark that is shown as what it is: one too many, or on no letter.
    fn is_escaped(&mut self, c: char) -> bool {
        let is_mark = c.width() == Some(0);
        if !is_mark {
            *self = Self {
                n_marks: 0,
                has_letter: c.width().is_some() && !c.is_whitespace(),
            };
            return false;
        }
        self.n_marks += 1;
        !self.has_letter || self.n_marks > MAX_MARKS
    }
}

/// Adds a character behind those before it, visible.
pub(crate) fn push_visible(shown: &mut String, c: char, lines: Lines, marks: &mut Marks) {
    let is_escaped = marks.is_escaped(c);
    match (c, lines) {
        ('\n' | '\t', Lines::Keep) => shown.push(c),
        ('\n', Lines::Escape) => shown.push_str("\\n"),
        ('\t', Lines::Escape) => shown.push_str("\\t"),
        ('\r', _) => shown.push_str("\\r"),
        (c, _) if is_invisible(c) || is_escaped => {
            // Writing to a `String` cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        }
        (c, _) => shown.push(c),
    }
}

/// One line of at most so many characters; what was cut off is counted.
#[must_use]
pub fn one_line(text: &str, max_chars: usize) -> String {
    let shown = visible(text, Lines::Escape);
    let n_chars = shown.chars().count();
    if n_chars <= max_chars {
        return shown;
    }
    let head: String = shown.chars().take(max_chars).collect();
    let note = format!("… (+{} characters)", n_chars - max_chars);
    // A note that is longer than what it stands for saves nothing.
    if note.chars().count() >= n_chars - max_chars {
        return shown;
    }
    head + &note
}

#[cfg(test)]
mod tests;
