//! A text with holes, in all the ways in which it may be written once the holes are filled.
//!
//! In a command the value of a quoted expansion stays inside its word, but it decides whether that
//! word is written in quotes (D3.1); the value of an unquoted one may be no word at all, and then a
//! blank beside it vanishes as well (D3.2). A shape may allow more texts than there are: that never
//! makes a match certain, and never hides one.

use std::ops::Range;

use super::Fold;
use super::fold::Case;
use crate::text::{Hole, HoleKind, Text};

/// A text with holes as a row of pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape<'t> {
    text: &'t str,
    /// Which of its bytes are compared without regard to case.
    fold: Fold,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// These bytes of the text.
    Known(Range<usize>),
    Hole(Item),
    /// One of these.
    Either(Vec<Variant>),
}

/// Known characters in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'t> {
    pub(crate) text: &'t str,
    /// Where they stand in the whole text.
    pub(crate) at: usize,
    pub(crate) fold: &'t Fold,
}

impl Known<'_> {
    pub(super) fn chars(&self) -> impl Iterator<Item = (char, Case)> {
        let case = |at: usize| Case::at(self.fold, self.at + at);
        self.text.char_indices().map(move |(at, c)| (c, case(at)))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) items: Vec<Item>,
    /// Whether a certain match must match it: false where another form of the same text stands
    /// for it.
    pub(crate) is_certain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Char {
        c: char,
        case: Case,
    },
    Hole {
        language: Language,
        /// It does not by itself count as a possible match of a restrictive pattern that begins
        /// with `*`.
        exempt: bool,
    },
}

/// What may stand in a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// Any text.
    All,
    /// Any text without blanks and quotes.
    Bare,
    /// Any text, as it is written between single quotes.
    Quoted,
    /// Any text without `/`.
    Name { may_begin_with_dot: bool },
}

/// One element of a text: a character and its place, or a hole.
#[derive(Debug, Clone, Copy)]
enum Element {
    Char { at: usize, c: char },
    Hole(Hole),
}

impl<'t> Shape<'t> {
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub(super) fn known(&self, bytes: &Range<usize>) -> Known<'_> {
        Known {
            text: self.text.get(bytes.clone()).unwrap_or_default(),
            at: bytes.start,
            fold: &self.fold,
        }
    }

    /// A text whose words have no meaning: a path, a URL, JSON.
    pub(crate) fn plain(text: &'t Text, fold: &Fold) -> Self {
        let known = text.known_part();
        let mut pieces = Vec::with_capacity(2 * text.holes().len() + 1);
        let mut before = Some('/');
        let mut done = 0;
        for hole in text.holes() {
            if done < hole.at {
                pieces.push(Piece::Known(done..hole.at));
                before = known
                    .get(done..hole.at)
                    .and_then(|part| part.chars().next_back());
                done = hole.at;
            }
            let language = match hole.kind {
                HoleKind::FileGlob => Language::Name {
                    may_begin_with_dot: before != Some('/'),
                },
                HoleKind::Quoted | HoleKind::Unquoted | HoleKind::Anything => Language::All,
            };
            before = None;
            pieces.push(Piece::Hole(Item::Hole {
                language,
                exempt: false,
            }));
        }
        if done < known.len() {
            pieces.push(Piece::Known(done..known.len()));
        }
        Self {
            text: known,
            fold: fold.clone(),
            pieces,
        }
    }

    /// A path that an allow must cover: an expansion may hold `..`, so nothing before it is known.
    pub(crate) fn path_from_root(text: &'t Text) -> Self {
        let mut shape = Self::plain(text, &(0..0));
        let unsure = Piece::Hole(Item::Hole {
            language: Language::All,
            exempt: false,
        });
        if let Some(last) = shape.pieces.iter().rposition(|piece| *piece == unsure) {
            shape.pieces.drain(..last);
            // The value may be no directory at all, or end in one: `$x/a` may be `a`.
            if let Some(Piece::Known(bytes)) = shape.pieces.get_mut(1)
                && shape.text.as_bytes().get(bytes.start) == Some(&b'/')
            {
                bytes.start += 1;
            }
        }
        shape
    }

    /// A command as it is written; `program` is the place of its program's name.
    pub(crate) fn written(text: &'t Text, program: &Range<usize>, fold: &Fold) -> Self {
        Self {
            text: text.known_part(),
            fold: fold.clone(),
            pieces: join(&written_words(text), program, fold, |word| word.written()),
        }
    }

    /// A further form of a command, which holds no quotes of its own.
    pub(crate) fn further(text: &'t Text, program: &Range<usize>) -> Self {
        Self {
            text: text.known_part(),
            fold: program.clone(),
            pieces: join(&bare_words(text), program, program, |word| word.unquoted()),
        }
    }
}

/// Whether a hole by itself is no possible match of a restrictive pattern that begins with `*` (D3.2).
pub(crate) fn is_exempt(hole: &Hole, program: &Range<usize>) -> bool {
    hole.kind == HoleKind::Quoted && !(program.start..=program.end).contains(&hole.at)
}

/// The place of the program's name in a form of a command: its first word that is no assignment.
pub(crate) fn program_of(known: &str) -> Range<usize> {
    let mut start = 0;
    for word in known.split(' ') {
        let end = start + word.len();
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.starts_with(|c: char| c.is_ascii_digit())
                && !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        if !is_assignment {
            return start..end;
        }
        start = end + 1;
    }
    known.len()..known.len()
}

/// The bytes of a word of a command, and the holes in it.
#[derive(Debug, Clone)]
struct Span<'t> {
    text: &'t Text,
    bytes: Range<usize>,
    holes: &'t [Hole],
}

impl Span<'_> {
    fn elements(&self) -> Vec<Element> {
        let mut holes = self.holes.iter().peekable();
        let mut elements = Vec::with_capacity(self.bytes.len() + self.holes.len());
        let known = self.text.known_part().get(self.bytes.clone());
        for (offset, c) in known.unwrap_or_default().char_indices() {
            let at = self.bytes.start + offset;
            while let Some(hole) = holes.next_if(|hole| hole.at <= at) {
                elements.push(Element::Hole(*hole));
            }
            elements.push(Element::Char { at, c });
        }
        elements.extend(holes.map(|hole| Element::Hole(*hole)));
        elements
    }
}

/// The words of a written command: blanks inside single quotes do not separate.
fn written_words(text: &Text) -> Vec<Span<'_>> {
    let known = text.known_part().as_bytes();
    let holes = text.holes();
    let is_hole_at = |at: usize| holes.binary_search_by_key(&at, |hole| hole.at).is_ok();
    let mut blanks = Vec::new();
    // Where the word begins, and where it is read.
    let (mut start, mut at) = (0, 0);
    let mut in_quotes = false;
    while let Some(byte) = known.get(at) {
        match byte {
            // A quote inside quotes: `'\''`.
            b'\''
                if in_quotes
                    && known.get(at + 1..at + 4) == Some(b"\\''")
                    && !(at + 1..at + 4).any(is_hole_at) =>
            {
                at += 3;
            }
            b'\'' if in_quotes || (at == start && !is_hole_at(at)) => in_quotes = !in_quotes,
            b' ' if !in_quotes => {
                blanks.push(at);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    spans(text, &blanks)
}

/// The words of a form without quotes of its own.
fn bare_words(text: &Text) -> Vec<Span<'_>> {
    let blanks = text.known_part().match_indices(' ').map(|(at, _)| at);
    spans(text, &blanks.collect::<Vec<_>>())
}

/// The words between blanks: a hole before a blank belongs to the word before it.
fn spans<'t>(text: &'t Text, blanks: &[usize]) -> Vec<Span<'t>> {
    let mut holes = text.holes();
    let mut start = 0;
    let ends = blanks.iter().copied().chain([text.known_part().len()]);
    ends.map(|end| {
        let n_holes = holes.partition_point(|hole| hole.at <= end);
        let (own, rest) = holes.split_at_checked(n_holes).unwrap_or_default();
        holes = rest;
        let bytes = start..end;
        start = end + 1;
        Span {
            text,
            bytes,
            holes: own,
        }
    })
    .collect()
}

/// One word of a command.
struct Word<'a> {
    elements: &'a [Element],
    fold: &'a Fold,
    program: &'a Range<usize>,
}

impl Word<'_> {
    /// No word at all, if what stands in it is nothing.
    fn may_vanish(&self) -> bool {
        !self.elements.is_empty()
            && self.elements.iter().all(|element| match element {
                Element::Char { .. } => false,
                Element::Hole(hole) => splits(hole),
            })
    }

    fn items(&self, language: impl Fn(&Hole) -> Language) -> impl Iterator<Item = Item> {
        self.elements.iter().map(move |element| match element {
            Element::Char { at, c } => Item::Char {
                c: *c,
                case: Case::at(self.fold, *at),
            },
            Element::Hole(hole) => Item::Hole {
                language: language(hole),
                exempt: is_exempt(hole, self.program),
            },
        })
    }

    /// The ways in which the word may be written.
    fn written(&self) -> Vec<Variant> {
        let variant = |items| Variant {
            items,
            is_certain: true,
        };
        let holes = || {
            self.elements.iter().filter_map(|element| match element {
                Element::Char { .. } => None,
                Element::Hole(hole) => Some(hole),
            })
        };
        let is_quoted = matches!(self.elements.first(), Some(Element::Char { c: '\'', .. }));
        if is_quoted {
            let inside = |hole: &Hole| match splits(hole) {
                true => Language::All,
                false => Language::Quoted,
            };
            return vec![variant(self.items(inside).collect())];
        }
        if !holes().any(splits) {
            let bare = self.items(|_| Language::Bare).collect();
            return vec![variant(bare), variant(self.quoted(Language::Quoted))];
        }
        // The known characters before the first and after the last hole belong to words of which
        // each may be written in quotes; what lies between is inside the holes' reach.
        let plain: Vec<Item> = self.items(|_| Language::All).collect();
        let mut ways = vec![variant(plain.clone())];
        let quote = Item::Char {
            c: '\'',
            case: Case::Exact,
        };
        let begins_known = matches!(plain.first(), Some(Item::Char { .. }));
        let ends_known = matches!(plain.last(), Some(Item::Char { .. }));
        let opened = |items: &[Item]| [&[quote], items].concat();
        let closed = |items: &[Item]| [items, &[quote]].concat();
        if begins_known {
            ways.push(variant(opened(&plain)));
        }
        if ends_known {
            ways.push(variant(closed(&plain)));
        }
        if begins_known && ends_known {
            ways.push(variant(opened(&closed(&plain))));
        }
        ways
    }

    /// The word without quotes, whatever it holds; and with them, for forms that keep them.
    fn unquoted(&self) -> Vec<Variant> {
        let plain = Variant {
            items: self.items(|_| Language::All).collect(),
            is_certain: true,
        };
        let quoted = Variant {
            items: self.quoted(Language::All),
            is_certain: false,
        };
        vec![plain, quoted]
    }

    fn quoted(&self, language: Language) -> Vec<Item> {
        let quote = Item::Char {
            c: '\'',
            case: Case::Exact,
        };
        let mut items = vec![quote];
        items.extend(self.items(move |_| language));
        items.push(quote);
        items
    }
}

/// Whether the value of a hole may be several words, or none.
fn splits(hole: &Hole) -> bool {
    match hole.kind {
        HoleKind::Quoted => false,
        HoleKind::Unquoted | HoleKind::FileGlob | HoleKind::Anything => true,
    }
}

/// Puts words in a row, each in all the ways in which it may be written, with a blank between two; a
/// word that vanishes takes one with it.
fn join(
    words: &[Span<'_>],
    program: &Range<usize>,
    fold: &Fold,
    ways: fn(&Word<'_>) -> Vec<Variant>,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    // Words that may vanish at the start take the blank after them.
    let mut has_begun = false;
    for (idx, span) in words.iter().enumerate() {
        let elements = match span.holes {
            [] => Vec::new(),
            _ => span.elements(),
        };
        let word = Word {
            elements: &elements,
            fold,
            program,
        };
        let may_vanish = word.may_vanish();
        let mut known = span.bytes.clone();
        if !may_vanish {
            // The blank before it.
            known.start -= usize::from(has_begun);
            has_begun = true;
        }
        if span.holes.is_empty() {
            push_known(&mut pieces, known);
            continue;
        }
        push_known(&mut pieces, known.start..span.bytes.start);
        let mut variants = ways(&word);
        if may_vanish {
            let is_last = idx + 1 == words.len();
            for variant in &mut variants {
                match has_begun {
                    true => variant.items.insert(0, BLANK),
                    false if is_last => {}
                    false => variant.items.push(BLANK),
                }
            }
            variants.push(Variant {
                items: Vec::new(),
                is_certain: true,
            });
        }
        pieces.push(Piece::Either(variants));
    }
    pieces
}

const BLANK: Item = Item::Char {
    c: ' ',
    case: Case::Exact,
};

fn push_known(pieces: &mut Vec<Piece>, bytes: Range<usize>) {
    match pieces.last_mut() {
        _ if bytes.is_empty() => {}
        Some(Piece::Known(last)) if last.end == bytes.start => last.end = bytes.end,
        _ => pieces.push(Piece::Known(bytes)),
    }
}

#[cfg(test)]
mod tests;
