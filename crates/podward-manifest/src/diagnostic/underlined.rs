//! A part of any text, underlined as diagnostics underline theirs.

#[cfg(test)]
mod tests;

use podward_policy::ByteSpan;

use super::render;
use crate::source::Source;

/// More lines than this are counted, not shown.
const MOST_LINES: usize = 10;

/// The lines that a part of a text lies in, each with its number and carets below the part; nothing
/// can hide in them. A newline at the end; empty for a span that lies behind the text.
#[must_use]
pub fn underlined(text: &str, span: ByteSpan) -> String {
    let source = Source::new("".into(), text);
    let places = source.places(span);
    let gutter = places
        .iter()
        .map(|place| place.location.line.to_string().len())
        .max()
        .unwrap_or(0);
    let mut shown = String::new();
    for place in places.iter().take(MOST_LINES) {
        // Writing to a `String` cannot fail.
        let _ = render::underlined(place, gutter, &mut shown);
        shown.push('\n');
    }
    if let Some(more @ 1..) = places.len().checked_sub(MOST_LINES) {
        shown.push_str(&format!("{:gutter$} … and {more} more lines\n", ""));
    }
    shown
}
