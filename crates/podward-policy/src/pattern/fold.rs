//! Comparing characters without regard to case.

use super::Class;

/// A character as compared without regard to case: its lower case, where that is one character.
pub(crate) fn folded(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => c,
    }
}

/// The upper case of a character, where that is one character.
fn raised(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) => upper,
        _ => c,
    }
}

pub(super) fn same_folded(a: char, b: char) -> bool {
    a == b || folded(a) == folded(b)
}

/// Whether a class holds a character in any case. Only restrictive rules ask, so that more is
/// safe.
pub(super) fn contains_folded(class: &Class, c: char) -> bool {
    class.contains(c) || class.contains(folded(c)) || class.contains(raised(c))
}
