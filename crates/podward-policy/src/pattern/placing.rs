//! Where the pieces of a pattern are placed in a known text: each as far left as it goes.
//!
//! Placing a piece further right never helps: what a gap may skip after it only gets less. So there is
//! no way back, and the worst case is the length of the text times the longest piece.

use memchr::memchr2_iter;

use super::Fold;
use super::fold::{Case, folds_to_ascii};
use crate::work::{Exhausted, Work};

/// What may stand before a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing.
    None,
    /// Anything.
    Any,
    /// Nothing, or anything that ends in `/`.
    Directories,
}

impl Gap {
    /// The gap that two in a row are.
    pub(super) const fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::None, next) => next,
            (Self::Directories, Self::Directories) => Self::Directories,
            // Directories and then anything is anything.
            _ => Self::Any,
        }
    }

    /// Whether it may reach from `at` to `start`.
    fn reaches(self, place: Place<'_>, at: usize, start: usize) -> bool {
        match self {
            Self::None => start == at,
            Self::Any => true,
            Self::Directories => start == at || place.begins_name(start),
        }
    }
}

/// A text, and which part of it is compared without regard to case.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) text: &'a str,
    pub(super) fold: &'a Fold,
}

impl<'a> Place<'a> {
    fn from(self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    fn ignores_case_from(self, at: usize) -> bool {
        !self.fold.is_empty() && at < self.fold.end
    }

    /// Whether all that is left is compared without regard to case, and what is there in another case
    /// of an ASCII character is one.
    fn is_in_any_case(self, at: usize) -> bool {
        self.fold.start <= at && self.fold.end >= self.text.len() && !folds_to_ascii(self.from(at))
    }

    /// Whether a text stands at a place; `None`: one of them is not only ASCII there.
    fn has_ascii(self, at: usize, literal: &str) -> Option<bool> {
        // Each character has at least one byte.
        let Some(here) = self.text.as_bytes().get(at..at + literal.len()) else {
            return literal.is_ascii().then_some(false);
        };
        if !literal.is_ascii() || !here.is_ascii() {
            return None;
        }
        let in_here = |place: usize| place.saturating_sub(at).min(here.len());
        let [start, end] = [self.fold.start, self.fold.end].map(in_here);
        let (before, folded, after) = (0..start, start..end.max(start), end.max(start)..here.len());
        let literal = literal.as_bytes();
        Some(
            here.get(before.clone()) == literal.get(before)
                && here.get(after.clone()) == literal.get(after)
                && match (here.get(folded.clone()), literal.get(folded)) {
                    (Some(here), Some(literal)) => here.eq_ignore_ascii_case(literal),
                    _ => false,
                },
        )
    }

    fn begins_name(self, at: usize) -> bool {
        at == 0 || self.text.as_bytes().get(at - 1) == Some(&b'/')
    }
}

/// What stands between two gaps of a pattern: each of its parts matches one character.
pub(super) trait Piece {
    fn gap(&self) -> Gap;

    /// Its text, if all of it is written out.
    fn literal(&self) -> Option<&str>;

    fn n_chars(&self) -> usize;

    /// Whether its parts match the next characters, each with its place in the text.
    fn fits(&self, fold: &Fold, next: impl FnMut() -> Option<(usize, char)>) -> bool;

    /// The end of the leftmost place at or after `at`.
    fn find(
        &self,
        place: Place<'_>,
        at: usize,
        work: &mut Work,
    ) -> Result<Option<usize>, Exhausted> {
        match self.gap() {
            Gap::None => self.end_at(place, at, work),
            Gap::Any => self.find_anywhere(place, at, work),
            Gap::Directories => {
                // Most often it stands nowhere at all.
                if self.literal().is_some() && self.find_anywhere(place, at, work)?.is_none() {
                    return Ok(None);
                }
                let rest = place.from(at);
                let names = rest.match_indices('/').map(|(slash, _)| at + slash + 1);
                for start in std::iter::once(at).chain(names) {
                    if let Some(end) = self.end_at(place, start, work)? {
                        return Ok(Some(end));
                    }
                }
                work.spend(rest.len())?;
                Ok(None)
            }
        }
    }

    fn find_anywhere(
        &self,
        place: Place<'_>,
        at: usize,
        work: &mut Work,
    ) -> Result<Option<usize>, Exhausted> {
        let literal = self.literal();
        if let Some(literal) = literal
            && place.is_in_any_case(at)
            && literal.is_ascii()
        {
            return find_literal(literal, Case::Ignored, place, at, work);
        }
        for (offset, _) in place.from(at).char_indices() {
            let start = at + offset;
            if let (Some(literal), false) = (literal, place.ignores_case_from(start)) {
                return find_literal(literal, Case::Exact, place, start, work);
            }
            if let Some(end) = self.end_at(place, start, work)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Where it ends if it begins at `at`.
    fn end_at(
        &self,
        place: Place<'_>,
        at: usize,
        work: &mut Work,
    ) -> Result<Option<usize>, Exhausted> {
        if !place.ignores_case_from(at)
            && let Some(literal) = self.literal()
        {
            work.spend(literal.len())?;
            let fits = place.from(at).starts_with(literal);
            return Ok(fits.then_some(at + literal.len()));
        }
        if let Some(literal) = self.literal()
            && let Some(fits) = place.has_ascii(at, literal)
        {
            work.spend(literal.len())?;
            return Ok(fits.then_some(at + literal.len()));
        }
        let mut text = place.from(at).char_indices();
        let mut n_compared = 0;
        let fits = self.fits(place.fold, || {
            n_compared += 1;
            text.next().map(|(offset, c)| (at + offset, c))
        });
        work.spend(n_compared)?;
        Ok(fits.then(|| {
            text.next()
                .map_or(place.text.len(), |(offset, _)| at + offset)
        }))
    }

    /// Whether it can be placed, at or after `at`, so that it ends the text.
    fn ends(&self, place: Place<'_>, at: usize, work: &mut Work) -> Result<bool, Exhausted> {
        if self.gap() == Gap::None {
            let end = self.end_at(place, at, work)?;
            return Ok(end == Some(place.text.len()));
        }
        let rest = place.from(at);
        if !place.ignores_case_from(at)
            && let Some(literal) = self.literal()
        {
            work.spend(literal.len())?;
            let Some(skipped) = rest.strip_suffix(literal) else {
                return Ok(false);
            };
            return Ok(self.gap().reaches(place, at, at + skipped.len()));
        }
        let n_chars = self.n_chars();
        work.spend(n_chars)?;
        let start = rest.char_indices().rev().nth(n_chars.saturating_sub(1));
        let Some((offset, _)) = start else {
            return Ok(false);
        };
        let start = at + offset;
        Ok(self.gap().reaches(place, at, start)
            && self.end_at(place, start, work)? == Some(place.text.len()))
    }
}

/// The end of the leftmost place of a text in another at or after `at`: in any case only where it is ASCII.
fn find_literal(
    wanted: &str,
    case: Case,
    place: Place<'_>,
    at: usize,
    work: &mut Work,
) -> Result<Option<usize>, Exhausted> {
    let found = find(wanted.as_bytes(), case, place.from(at).as_bytes(), work)?;
    Ok(found.map(|start| at + start + wanted.len()))
}

/// Where bytes stand in others for the first time, in any case only if they are ASCII. Looks for the one of them
/// that is least common, and then compares.
pub(super) fn find(
    wanted: &[u8],
    case: Case,
    bytes: &[u8],
    work: &mut Work,
) -> Result<Option<usize>, Exhausted> {
    let rare = wanted
        .iter()
        .enumerate()
        .min_by_key(|(_, byte)| commonness(**byte));
    let Some((n_before, rare)) = rare else {
        return Ok(Some(0));
    };
    let (one, other) = match case {
        Case::Exact => (*rare, *rare),
        Case::Ignored => (rare.to_ascii_lowercase(), rare.to_ascii_uppercase()),
    };
    for start in memchr2_iter(one, other, bytes.get(n_before..).unwrap_or_default()) {
        let Some(here) = bytes.get(start..start + wanted.len()) else {
            break;
        };
        work.spend(wanted.len())?;
        let is_there = match case {
            Case::Exact => here == wanted,
            Case::Ignored => here.eq_ignore_ascii_case(wanted),
        };
        if is_there {
            work.spend(start)?;
            return Ok(Some(start));
        }
    }
    work.spend(bytes.len())?;
    Ok(None)
}

/// How common a byte is in commands and paths, roughly.
const fn commonness(byte: u8) -> u8 {
    match byte.to_ascii_lowercase() {
        b' ' | b'/' | b'-' | b'.' | b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 2,
        b'a'..=b'z' => 1,
        _ => 0,
    }
}
