//! What a pattern may need more than its text for, found in one pass over it.

/// What stands somewhere in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signs(u8);

impl Signs {
    const CLASS: u8 = 1;
    const QUOTE: u8 = 1 << 1;
    const OPERATOR: u8 = 1 << 2;
    const SCHEME: u8 = 1 << 3;
    const STARS: u8 = 1 << 4;

    pub(crate) fn of(pattern: &str) -> Self {
        let bytes = pattern.as_bytes();
        let mut found = 0;
        for (at, byte) in bytes.iter().enumerate() {
            match sign_of(*byte) {
                0 => {}
                BY_WHAT_IS_BEFORE => {
                    let (before, _) = bytes.split_at_checked(at).unwrap_or_default();
                    found |= match (byte, before) {
                        (b'(', [.., b'$']) => Self::OPERATOR,
                        (b'/', [.., b':', b'/']) => Self::SCHEME,
                        (b'*', [.., b'*']) => Self::STARS,
                        _ => 0,
                    };
                }
                sign => found |= sign,
            }
        }
        Self(found)
    }

    /// A `[`.
    pub(crate) const fn has_class(self) -> bool {
        self.0 & Self::CLASS != 0
    }

    /// There may be words in quotes.
    pub(crate) const fn has_quotes(self) -> bool {
        self.0 & Self::QUOTE != 0
    }

    /// A shell operator: without classes, no simple command is matched.
    pub(crate) const fn has_operator(self) -> bool {
        self.0 & Self::OPERATOR != 0
    }

    /// `://`.
    pub(crate) const fn has_scheme(self) -> bool {
        self.0 & Self::SCHEME != 0
    }

    /// `**`.
    pub(crate) const fn has_stars_in_a_row(self) -> bool {
        self.0 & Self::STARS != 0
    }
}

/// A sign only behind certain bytes.
const BY_WHAT_IS_BEFORE: u8 = u8::MAX;

/// The sign of a byte. Most are none.
const fn sign_of(byte: u8) -> u8 {
    match byte {
        b'[' => Signs::CLASS,
        b'\'' | b'"' => Signs::QUOTE,
        b'|' | b';' | b'&' | b'<' | b'>' | b'`' => Signs::OPERATOR,
        b'(' | b'/' | b'*' => BY_WHAT_IS_BEFORE,
        _ => 0,
    }
}
