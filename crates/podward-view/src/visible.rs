//! Text from a model, a file or a command, made safe to look at.
//!
//! A terminal obeys escape sequences, and bidirectional or invisible characters make one text look
//! like another. Here they are shown as what they are.

use std::fmt::Write as _;

use podward_protocol::is_invisible;

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
    for c in text.chars() {
        match (c, lines) {
            ('\n' | '\t', Lines::Keep) => shown.push(c),
            ('\n', Lines::Escape) => shown.push_str("\\n"),
            ('\t', Lines::Escape) => shown.push_str("\\t"),
            ('\r', _) => shown.push_str("\\r"),
            (c, _) if is_invisible(c) => {
                // Writing to a `String` cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            (c, _) => shown.push(c),
        }
    }
    shown
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
