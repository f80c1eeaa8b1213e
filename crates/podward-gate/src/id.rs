//! What a text must be to name a call or a grant.

/// Whether it has 1 to 64 letters, digits, `_` and `-`.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// The front of a text that is none, as an error shows it.
pub(crate) fn refused(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}
