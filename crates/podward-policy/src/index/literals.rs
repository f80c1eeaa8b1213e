//! What every text holds that a pattern matches.

use memchr::{memchr, memrchr};

use crate::pattern::Glob;

/// Stands for what is not fixed; no UTF-8 text has this byte.
const OPEN: u8 = 0xff;

/// What the texts of each rule hold.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Of all rules, one after the other.
    bytes: Vec<u8>,
    rules: Vec<Place>,
    /// Rules of which nothing is known.
    unknown: Vec<u32>,
}

#[derive(Debug)]
struct Place {
    id: u32,
    prefix_end: usize,
    end: usize,
    end_of_text: EndOfText,
}

/// What a pattern says of the end of its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndOfText {
    Fixed,
    /// The text may go on.
    Open,
}

/// The fixed parts of a rule's pattern, in lower case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Literals<'h> {
    /// With [`OPEN`] between two parts.
    bytes: &'h [u8],
    /// What every text begins with.
    pub(super) prefix: &'h [u8],
    end: EndOfText,
}

/// Which characters are no part of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// A text holds the very characters of the pattern, or their ASCII case may differ.
    None,
    /// Characters whose case may differ in other ways.
    NonAscii,
}

impl Held {
    /// `add` appends the fixed parts of a rule.
    pub(super) fn new(ids: &[u32], add: impl Fn(u32, &mut Vec<u8>) -> Option<EndOfText>) -> Self {
        let mut held = Self {
            bytes: Vec::with_capacity(ids.len() * 24),
            rules: Vec::with_capacity(ids.len()),
            unknown: Vec::new(),
        };
        for id in ids {
            let start = held.bytes.len();
            let end_of_text = add(*id, &mut held.bytes);
            let added = held.bytes.get(start..).unwrap_or_default();
            match end_of_text {
                Some(end_of_text) if has_fixed(added) => held.rules.push(Place {
                    id: *id,
                    prefix_end: start + memchr(OPEN, added).unwrap_or(added.len()),
                    end: held.bytes.len(),
                    end_of_text,
                }),
                Some(_) | None => {
                    held.bytes.truncate(start);
                    held.unknown.push(*id);
                }
            }
        }
        held
    }

    pub(super) fn n_rules(&self) -> usize {
        self.unknown.len() + self.rules.len()
    }

    /// Rules of which nothing is known, in order.
    pub(super) fn unknown(&self) -> &[u32] {
        &self.unknown
    }

    /// The others, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Literals<'_>)> {
        let mut start = 0;
        self.rules.iter().map(move |place| {
            let up_to = |end: usize| self.bytes.get(start..end).unwrap_or_default();
            let literals = Literals {
                bytes: up_to(place.end),
                prefix: up_to(place.prefix_end),
                end: place.end_of_text,
            };
            start = place.end;
            (place.id, literals)
        })
    }
}

/// Whether anything is fixed.
pub(super) fn has_fixed(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| *byte != OPEN)
}

/// Appends the fixed parts of a pattern.
pub(super) fn add(glob: &Glob<'_>, cut: Cut, bytes: &mut Vec<u8>) -> EndOfText {
    let is_open = match glob.as_written() {
        Some((text, needed)) => {
            add_written(needed, cut, bytes);
            needed.len() < text.len()
        }
        None => {
            let tokens = glob.tokens();
            let n_optional = glob.n_optional();
            let needed = tokens.len() - n_optional;
            for token in tokens.iter().take(needed) {
                add_character(token.literal(), cut, bytes);
            }
            n_optional > 0
        }
    };
    match is_open {
        true => EndOfText::Open,
        false => EndOfText::Fixed,
    }
}

/// Appends what the names of tools begin with.
pub(super) fn add_tool(written: &str, bytes: &mut Vec<u8>) -> EndOfText {
    let end = written.find(['*', '?', '[']).unwrap_or(written.len());
    add_written(written.get(..end).unwrap_or_default(), Cut::None, bytes);
    EndOfText::Open
}

fn add_written(needed: &str, cut: Cut, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend_from_slice(needed.as_bytes());
    let added = bytes.get_mut(start..).unwrap_or_default();
    added.make_ascii_lowercase();
    for byte in &mut *added {
        let is_cut = cut == Cut::NonAscii && !byte.is_ascii();
        if matches!(byte, b'*' | b'?') || is_cut {
            *byte = OPEN;
        }
    }
    // The `/` may be missing.
    for (at, three) in needed.as_bytes().windows(3).enumerate() {
        if three == b"**/"
            && let Some(slash) = added.get_mut(at + 2)
        {
            *slash = OPEN;
        }
    }
}

fn add_character(literal: Option<char>, cut: Cut, bytes: &mut Vec<u8>) {
    match literal {
        Some(c) if c.is_ascii() || cut == Cut::None => {
            let mut buffer = [0; 4];
            let encoded = c.to_ascii_lowercase().encode_utf8(&mut buffer);
            bytes.extend_from_slice(encoded.as_bytes());
        }
        Some(_) | None => bytes.push(OPEN),
    }
}

impl<'h> Literals<'h> {
    /// What every text ends in.
    pub(super) fn suffix(self) -> &'h [u8] {
        match self.end {
            EndOfText::Open => &[],
            EndOfText::Fixed => {
                let start = memrchr(OPEN, self.bytes).map_or(0, |last| last + 1);
                self.bytes.get(start..).unwrap_or_default()
            }
        }
    }

    /// All that is fixed, part by part.
    pub(super) fn parts(self) -> impl Iterator<Item = &'h [u8]> {
        self.bytes.split(|byte| *byte == OPEN)
    }
}
