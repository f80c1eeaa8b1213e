//! What a call would change in a file, line by line.

use std::borrow::Cow;

use similar::{ChangeTag, TextDiff};

use crate::wording::counted;

/// Larger texts are shown and not compared: comparing takes longer than a person waits.
pub const MAX_COMPARED: usize = 256 * 1024;

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

/// What is in a file before a call writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// Nothing is known of it, or it is no such call.
    Unknown,
    /// There is no such file.
    Missing,
    /// This text.
    Text(String),
    /// Something that is not shown: why.
    Other(&'static str),
}

/// A text in a file and what comes into its place.
pub(crate) struct Edit<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) places: Places,
}

/// Where a text is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    /// Where it is, and it may be nowhere else.
    TheOnlyOne,
    /// Wherever it is.
    All,
}

impl Edit<'_> {
    /// The path, and the lines of the file that change, where the file is known.
    pub(crate) fn text(&self, path: &str, before: &Before) -> String {
        let (old, new) = (self.old, self.new);
        let text = match before {
            Before::Text(text) => text,
            Before::Unknown => return format!("{path}\n{}", change(old, new)),
            Before::Missing => {
                return format!("{path}  (there is no such file)\n{}", change(old, new));
            }
            Before::Other(what) => return format!("{path}  ({what})\n{}", change(old, new)),
        };
        let (old, new) = self.in_line_ends_of(text);
        let n_places = text.matches(&*old).count();
        match (n_places, self.places) {
            (0, _) => format!(
                "{path}  (not a place in it has the old text)\n{}",
                change(&old, &new)
            ),
            (1, _) => format!("{path}\n{}", change(text, &text.replace(&*old, &new))),
            (n, Places::All) => {
                let changed = change(text, &text.replace(&*old, &new));
                format!("{path}  (in {n} places)\n{changed}")
            }
            (n, Places::TheOnlyOne) => {
                format!(
                    "{path}  ({n} places have the old text: none is changed)\n{}",
                    change(&old, &new)
                )
            }
        }
    }

    /// The texts as they stand in a file whose lines all end with CRLF, as the tool reads them.
    fn in_line_ends_of(&self, text: &str) -> (Cow<'_, str>, Cow<'_, str>) {
        let n_breaks = text.matches('\n').count();
        let is_crlf = n_breaks > 0 && n_breaks == text.matches("\r\n").count();
        match is_crlf && !text.contains(self.old) {
            true => {
                let with_crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
                (with_crlf(self.old).into(), with_crlf(self.new).into())
            }
            false => (self.old.into(), self.new.into()),
        }
    }
}

/// The lines that change from one text to the other, each behind `-`, `+` or a blank; what does not
/// change is left out but for a few lines around, and `@@` says so.
pub(crate) fn change(old: &str, new: &str) -> String {
    if old.len().max(new.len()) > MAX_COMPARED {
        return replaced(old, new);
    }
    // A carriage return alone ends no line here.
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let diff = TextDiff::configure().diff_slices(&old, &new);
    let mut text = String::new();
    for (idx, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        let first_line = group.first().map_or(0, |op| op.old_range().start) + 1;
        if idx > 0 || first_line > 1 {
            text.push_str(&format!("@@ line {first_line}\n"));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let tag = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            push_line(&mut text, tag, change.value());
        }
    }
    text
}

/// All of both texts.
pub(crate) fn replaced(old: &str, new: &str) -> String {
    let mut text = String::new();
    for (tag, lines) in [('-', old), ('+', new)] {
        for line in lines.split_inclusive('\n') {
            push_line(&mut text, tag, line);
        }
    }
    text
}

fn push_line(text: &mut String, tag: char, line: &str) {
    text.push(tag);
    text.push_str(line);
    let content = line.strip_suffix('\n').unwrap_or(line);
    if content.len() == line.len() {
        text.push('\n');
    }
    // Blanks at the end cannot be seen, and may be all that changes.
    let n_blanks = content.len() - content.trim_end_matches(' ').len();
    if n_blanks > 0 && tag != ' ' {
        text.push_str(&format!("\\ {} at the end\n", counted(n_blanks, "blank")));
    }
    if content.len() == line.len() {
        text.push_str("\\ no line break at the end\n");
    }
}

#[cfg(test)]
mod tests;
