//! Comparing characters with and without regard to case.

use super::{Class, Fold};

/// Whether case counts when a character is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Exact,
    Ignored,
}

impl Case {
    /// How the character at a place of a text is compared.
    pub(super) fn at(fold: &Fold, place: usize) -> Self {
        match fold.contains(&place) {
            true => Self::Ignored,
            false => Self::Exact,
        }
    }

    pub(super) fn same(self, a: char, b: char) -> bool {
        match self {
            Self::Exact => a == b,
            Self::Ignored => a == b || folded(a) == folded(b),
        }
    }

    /// Whether a class holds a character, in any case where that is ignored. Only restrictive
    /// rules ignore it, so that more is safe.
    pub(super) fn contains(self, class: &Class, c: char) -> bool {
        match self {
            Self::Exact => class.contains(c),
            Self::Ignored => {
                class.contains(c) || class.contains(folded(c)) || class.contains(raised(c))
            }
        }
    }
}

/// Whether a text has a character that is the other case of an ASCII one, beside the ASCII letters.
pub(crate) fn folds_to_ascii(text: &str) -> bool {
    // The Kelvin sign is the only one: `0xe2` is its first byte.
    memchr::memchr(0xe2, text.as_bytes()).is_some_and(|at| {
        let rest = text.get(at..);
        rest.is_none_or(|rest| rest.contains('\u{212a}'))
    })
}

/// The lower case of a character, where that is one character.
fn folded(c: char) -> char {
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
