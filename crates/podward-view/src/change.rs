//! What a call would change in a file, line by line.

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

/// The lines that change from one text to the other, each behind `-`, `+` or a blank; what does not
/// change is left out but for a few lines around, and `@@` says so.
pub(crate) fn change(old: &str, new: &str) -> String {
    if old.len().max(new.len()) > MAX_COMPARED {
        return replaced(old, new);
    }
    let diff = TextDiff::from_lines(old, new);
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
