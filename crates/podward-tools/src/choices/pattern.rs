//! Patterns that mean exactly what they say (D4.1).

/// A pattern that matches just this text.
pub(crate) fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '*' => pattern.push_str("[*]"),
            '?' => pattern.push_str("[?]"),
            '[' => pattern.push_str("[[]"),
            c => pattern.push(c),
        }
    }
    pattern
}
