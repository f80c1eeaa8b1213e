//! Diagnostics as plain text.

use std::fmt;

use unicode_width::UnicodeWidthChar;

use super::{Diagnostic, Place};

/// What a tab is shown as.
const TAB: &str = "    ";

pub(super) fn diagnostic(diagnostic: &Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Diagnostic {
        severity,
        message,
        place,
        related,
        help,
    } = diagnostic;
    let gutter = place
        .iter()
        .chain(related.iter().map(|related| &related.place))
        .map(|place| place.location.line.to_string().len())
        .max()
        .unwrap_or(0);
    write!(f, "{}: {}", severity.as_str(), visible(message))?;
    if let Some(place) = place {
        write!(f, "\n{:gutter$}--> {}", "", visible_location(place))?;
        snippet(place, gutter, f)?;
    }
    for related in related {
        let message = visible(&related.message);
        let location = visible_location(&related.place);
        write!(f, "\n{:gutter$}::: {location}: {message}", "")?;
        snippet(&related.place, gutter, f)?;
    }
    if let Some(help) = help {
        write!(f, "\n{:gutter$} = help: {}", "", visible(help))?;
    }
    Ok(())
}

/// An empty line, the line with its number, and a line of carets below it.
fn snippet(place: &Place, gutter: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "\n{:gutter$} |\n", "")?;
    underlined(place, gutter, f)
}

/// The line with its number, and a line of carets below it; no newline at the end.
pub(super) fn underlined(place: &Place, gutter: usize, f: &mut impl fmt::Write) -> fmt::Result {
    let line = &place.source_line;
    let (before, rest) = line
        .split_at_checked(place.underline.start)
        .unwrap_or((line, ""));
    let marked_len = place.underline.len();
    let (marked, after) = rest.split_at_checked(marked_len).unwrap_or((rest, ""));
    let (before, indent) = shown(before);
    let (marked, width) = shown(marked);
    let (after, _) = shown(after);
    let number = place.location.line;
    writeln!(f, "{number:>gutter$} | {before}{marked}{after}")?;
    write!(
        f,
        "{:gutter$} | {:indent$}{:^<width$}",
        "",
        "",
        "^",
        width = width.max(1)
    )
}

/// A piece of a line as it is shown, and how many columns it takes.
fn shown(text: &str) -> (String, usize) {
    let mut shown = String::with_capacity(text.len());
    let mut width = 0;
    for char in text.chars() {
        if char == '\t' {
            shown.push_str(TAB);
            width += TAB.len();
        } else if is_invisible(char) {
            let escaped = char.escape_unicode().to_string();
            width += escaped.len();
            shown.push_str(&escaped);
        } else {
            shown.push(char);
            width += char.width().unwrap_or(0);
        }
    }
    (shown, width)
}

/// A text of one or more lines in which nothing can hide.
fn visible(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            '\n' => "\n".to_owned(),
            char if char != '\t' && is_invisible(char) => char.escape_unicode().to_string(),
            char => char.to_string(),
        })
        .collect()
}

/// A text in which nothing can hide, on one line.
pub(crate) fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

/// `file:line:column`.
fn visible_location(place: &Place) -> String {
    visible_line(&place.location.to_string())
}

/// Control characters, and those that take no room, look like a blank, or turn the direction of
/// what follows.
pub(crate) fn is_invisible(char: char) -> bool {
    if char.is_control() {
        return true;
    }
    if char == ' ' || char.is_ascii() {
        return false;
    }
    char.is_whitespace() || char.width().unwrap_or(0) == 0 && !is_combining(char)
}

/// Combining marks take no room of their own, but are seen on the character before.
const fn is_combining(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}
