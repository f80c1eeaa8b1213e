//! What every text holds that a pattern matches.

use crate::pattern::Glob;

/// Stands for what is not fixed; no UTF-8 text has this byte.
const OPEN: u8 = 0xff;

/// The fixed parts of a pattern, in lower case.
#[derive(Debug, Default)]
pub(super) struct Literals {
    /// With [`OPEN`] between two parts.
    bytes: Vec<u8>,
    /// The end may go on.
    is_open_ended: bool,
}

/// Which characters are no part of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// A text holds the very characters of the pattern, or their ASCII case may differ.
    None,
    /// Characters whose case may differ in other ways.
    NonAscii,
}

/// Whether a text has a character that is the other case of an ASCII one, beside the ASCII letters.
pub(super) fn folds_to_ascii(text: &str) -> bool {
    // The Kelvin sign is the only character beside `A` to `Z` whose lower case is in ASCII.
    !text.is_ascii() && text.contains('\u{212a}')
}

impl Literals {
    pub(super) fn of(glob: &Glob<'_>, cut: Cut) -> Self {
        let mut literals = Self::default();
        match glob.as_written() {
            Some((text, needed)) => {
                literals.is_open_ended = needed.len() < text.len();
                literals.add_written(needed, cut);
            }
            None => {
                let tokens = glob.tokens();
                let n_optional = glob.n_optional();
                literals.is_open_ended = n_optional > 0;
                let needed = tokens.len() - n_optional;
                for token in tokens.iter().take(needed) {
                    literals.add(token.literal(), cut);
                }
            }
        }
        literals
    }

    /// What the names of tools begin with.
    pub(super) fn of_tool(written: &str) -> Self {
        let end = written.find(['*', '?', '[']).unwrap_or(written.len());
        let mut literals = Self::default();
        literals.add_written(written.get(..end).unwrap_or_default(), Cut::None);
        literals.is_open_ended = true;
        literals
    }

    fn add_written(&mut self, needed: &str, cut: Cut) {
        self.bytes.reserve(needed.len());
        let mut rest = needed.as_bytes();
        while let Some((first, tail)) = rest.split_first() {
            rest = tail;
            match first {
                b'*' | b'?' => {
                    // The `/` of `**/` may be missing.
                    if let [b'*', b'/', tail @ ..] = tail
                        && *first == b'*'
                    {
                        rest = tail;
                    }
                    self.bytes.push(OPEN);
                }
                byte if !byte.is_ascii() && cut == Cut::NonAscii => self.bytes.push(OPEN),
                byte => self.bytes.push(byte.to_ascii_lowercase()),
            }
        }
    }

    fn add(&mut self, literal: Option<char>, cut: Cut) {
        match literal {
            Some(c) if c.is_ascii() || cut == Cut::None => {
                let mut buffer = [0; 4];
                let encoded = c.to_ascii_lowercase().encode_utf8(&mut buffer);
                self.bytes.extend_from_slice(encoded.as_bytes());
            }
            Some(_) | None => self.bytes.push(OPEN),
        }
    }

    /// Nothing is fixed.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == OPEN)
    }

    /// What every text begins with.
    pub(super) fn prefix(&self) -> &[u8] {
        let end = self.bytes.iter().position(|byte| *byte == OPEN);
        self.bytes
            .get(..end.unwrap_or(self.bytes.len()))
            .unwrap_or_default()
    }

    /// What every text ends in.
    pub(super) fn suffix(&self) -> &[u8] {
        if self.is_open_ended {
            return &[];
        }
        let last = self.bytes.iter().rposition(|byte| *byte == OPEN);
        let start = last.map_or(0, |last| last + 1);
        self.bytes.get(start..).unwrap_or_default()
    }

    /// All that is fixed, part by part.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|byte| *byte == OPEN)
    }
}
