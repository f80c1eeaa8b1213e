//! Text from a model, a file or a command, made safe to look at.
//!
//! A terminal obeys escape sequences, and bidirectional or invisible characters make one text look
//! like another. Here they are shown as what they are.

use std::fmt::Write as _;

/// Whether a line break stays a line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Running text: newlines and tabs stay.
    Keep,
    /// One line: newlines and tabs are shown as `\n` and `\t`.
    Escape,
}

/// The text with every character that a terminal obeys or hides written as an escape.
pub(crate) fn visible(text: &str, lines: Lines) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match (c, lines) {
            ('\n' | '\t', Lines::Keep) => shown.push(c),
            ('\n', Lines::Escape) => shown.push_str("\\n"),
            ('\t', Lines::Escape) => shown.push_str("\\t"),
            ('\r', _) => shown.push_str("\\r"),
            (c, _) if is_treacherous(c) => {
                // Writing to a `String` cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            (c, _) => shown.push(c),
        }
    }
    shown
}

/// One line of at most so many characters; what was cut off is counted.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let shown = visible(text, Lines::Escape);
    let n_chars = shown.chars().count();
    if n_chars <= max_chars {
        return shown;
    }
    let head: String = shown.chars().take(max_chars).collect();
    format!("{head}… (+{} characters)", n_chars - max_chars)
}

/// Characters that a terminal obeys, that look like nothing, or that turn text around.
///
/// Unicode 16: general categories Cc, Cf, Zl, Zp, Co and Cn's noncharacters, the default-ignorable
/// code points, and blanks that are not the blank.
fn is_treacherous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00a0}' | '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{070f}' | '\u{0890}'..='\u{0891}'
            | '\u{0600}'..='\u{0605}' | '\u{06dd}' | '\u{08e2}'
            | '\u{115f}'..='\u{1160}' | '\u{1680}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}'
            | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests;
