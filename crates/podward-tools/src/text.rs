//! Results that stay within their limits, and show what they hold.

use std::borrow::Cow;

/// The text, cut to at most `bytes_max` bytes of whole lines, with a mark where it was cut.
pub(crate) fn cut_to(mut text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let n_bytes = text.len();
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    if let Some(newline) = text.rfind('\n') {
        text.truncate(newline + 1);
    }
    let n_left = n_bytes - text.len();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("[cut: {n_left} bytes more]\n"));
    text
}

/// One line, cut to at most `bytes_max` bytes, with a mark where it was cut.
pub(crate) fn cut_line(line: &str, bytes_max: usize) -> String {
    if line.len() <= bytes_max {
        return line.to_owned();
    }
    let mut end = bytes_max;
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let (kept, cut) = line.split_at(end);
    format!("{kept} [line cut: {} bytes more]", cut.len())
}

/// A name for people and models: characters that cannot be seen, or that change how others are
/// seen, are escaped, and all others are as they are.
pub(crate) fn visible(name: &str) -> Cow<'_, str> {
    if !name.chars().any(is_invisible) {
        return Cow::Borrowed(name);
    }
    let mut visible = String::with_capacity(name.len() + 8);
    for char in name.chars() {
        if is_invisible(char) {
            visible.extend(char.escape_default());
        } else {
            visible.push(char);
        }
    }
    Cow::Owned(visible)
}

/// Text for a model as [`visible`] shows a name, with its lines and tabs.
pub(crate) fn visible_text(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' | '\t' => visible.push(char),
            '\r' if chars.peek() == Some(&'\n') => {}
            char if is_invisible(char) => visible.extend(char.escape_default()),
            char => visible.push(char),
        }
    }
    visible
}

/// Control characters, blanks of no width, and what turns the direction of text.
fn is_invisible(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests;
