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
pub(crate) struct Shape {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    One(Item),
    /// One of these.
    Either(Vec<Variant>),
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

impl Shape {
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// A text whose words have no meaning: a path, a URL, JSON.
    pub(crate) fn plain(text: &Text, fold: &Fold) -> Self {
        let mut before = Some('/');
        let pieces = elements(text)
            .into_iter()
            .map(|element| match element {
                Element::Char { at, c } => {
                    before = Some(c);
                    Piece::One(Item::Char {
                        c,
                        case: Case::at(fold, at),
                    })
                }
                Element::Hole(hole) => {
                    let language = match hole.kind {
                        HoleKind::FileGlob => Language::Name {
                            may_begin_with_dot: before != Some('/'),
                        },
                        HoleKind::Quoted | HoleKind::Unquoted | HoleKind::Anything => Language::All,
                    };
                    before = None;
                    Piece::One(Item::Hole {
                        language,
                        exempt: false,
                    })
                }
            })
            .collect();
        Self { pieces }
    }

    /// A path that an allow must cover: an expansion may hold `..`, so nothing before it is known.
    pub(crate) fn path_from_root(text: &Text) -> Self {
        let mut shape = Self::plain(text, &(0..0));
        let unsure = Piece::One(Item::Hole {
            language: Language::All,
            exempt: false,
        });
        if let Some(last) = shape.pieces.iter().rposition(|piece| *piece == unsure) {
            shape.pieces.drain(..last);
            // The value may be no directory at all, or end in one: `$x/a` may be `a`.
            let is_slash = matches!(
                shape.pieces.get(1),
                Some(Piece::One(Item::Char { c: '/', .. }))
            );
            if is_slash {
                shape.pieces.remove(1);
            }
        }
        shape
    }

    /// A command as it is written; `program` is the place of its program's name.
    pub(crate) fn written(text: &Text, program: &Range<usize>, fold: &Fold) -> Self {
        let elements = elements(text);
        let exempts = |hole: &Hole| is_exempt(hole, program);
        let words = written_words(&elements);
        let words = words.into_iter().map(|elements| Word {
            elements,
            fold,
            exempts: &exempts,
        });
        Self {
            pieces: join(words, Word::written),
        }
    }

    /// A further form of a command, which holds no quotes of its own.
    pub(crate) fn further(text: &Text, program: &Range<usize>) -> Self {
        let elements = elements(text);
        let exempts = |hole: &Hole| is_exempt(hole, program);
        let words: Vec<&[Element]> = elements
            .split(|element| matches!(element, Element::Char { c: ' ', .. }))
            .collect();
        let words = words.into_iter().map(|elements| Word {
            elements,
            fold: program,
            exempts: &exempts,
        });
        Self {
            pieces: join(words, Word::unquoted),
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

fn elements(text: &Text) -> Vec<Element> {
    let mut holes = text.holes().iter().peekable();
    let mut elements = Vec::with_capacity(text.known_part().len() + text.holes().len());
    for (at, c) in text.known_part().char_indices() {
        while let Some(hole) = holes.next_if(|hole| hole.at <= at) {
            elements.push(Element::Hole(*hole));
        }
        elements.push(Element::Char { at, c });
    }
    elements.extend(holes.map(|hole| Element::Hole(*hole)));
    elements
}

/// The words of a written command: blanks inside single quotes do not separate.
fn written_words(elements: &[Element]) -> Vec<&[Element]> {
    let mut words = Vec::new();
    // Where the word begins, and where it is read.
    let (mut start, mut at) = (0, 0);
    let mut in_quotes = false;
    while let Some((element, tail)) = elements.get(at..).and_then(<[Element]>::split_first) {
        match element {
            Element::Char { c: '\'', .. } if in_quotes && begins_quoted_quote(tail) => at += 3,
            Element::Char { c: '\'', .. } if in_quotes || at == start => in_quotes = !in_quotes,
            Element::Char { c: ' ', .. } if !in_quotes => {
                words.push(elements.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            Element::Char { .. } | Element::Hole(_) => {}
        }
        at += 1;
    }
    words.push(elements.get(start..).unwrap_or_default());
    words
}

/// After a single quote inside quotes: the rest of `'\''`.
fn begins_quoted_quote(rest: &[Element]) -> bool {
    let mut chars = rest.iter().map(|element| match element {
        Element::Char { c, .. } => Some(*c),
        Element::Hole(_) => None,
    });
    ['\\', '\'', '\'']
        .into_iter()
        .all(|c| chars.next() == Some(Some(c)))
}

/// One word of a command.
struct Word<'a> {
    elements: &'a [Element],
    fold: &'a Fold,
    exempts: &'a dyn Fn(&Hole) -> bool,
}

impl Word<'_> {
    fn is_known(&self) -> bool {
        let mut elements = self.elements.iter();
        elements.all(|element| matches!(element, Element::Char { .. }))
    }

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
                exempt: (self.exempts)(hole),
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
fn join<'e>(
    words: impl ExactSizeIterator<Item = Word<'e>>,
    ways: impl Fn(&Word<'e>) -> Vec<Variant>,
) -> Vec<Piece> {
    let blank = Item::Char {
        c: ' ',
        case: Case::Exact,
    };
    let nothing = || Variant {
        items: Vec::new(),
        is_certain: true,
    };
    let n_words = words.len();
    let mut pieces = Vec::new();
    // Words that may vanish at the start take the blank after them.
    let mut has_begun = false;
    for (idx, word) in words.enumerate() {
        let may_vanish = word.may_vanish();
        if !may_vanish {
            if has_begun {
                pieces.push(Piece::One(blank));
            }
            has_begun = true;
        }
        if word.is_known() {
            pieces.extend(word.items(|_| Language::All).map(Piece::One));
            continue;
        }
        let mut variants = ways(&word);
        if may_vanish {
            let is_last = idx + 1 == n_words;
            for variant in &mut variants {
                match has_begun {
                    true => variant.items.insert(0, blank),
                    false if is_last => {}
                    false => variant.items.push(blank),
                }
            }
            variants.push(nothing());
        }
        match (variants.len(), variants.pop()) {
            (1, Some(only)) => pieces.extend(only.items.into_iter().map(Piece::One)),
            (_, Some(last)) => {
                variants.push(last);
                pieces.push(Piece::Either(variants));
            }
            (_, None) => {}
        }
    }
    pieces
}

#[cfg(test)]
mod tests;
