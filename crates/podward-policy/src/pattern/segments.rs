//! The matcher for known texts: a pattern is a list of segments with gaps between them, and each
//! segment is placed as far left as it goes.
//!
//! Placing a segment further right never helps: what a gap may skip after it only gets less. So
//! there is no way back, and the worst case is the length of the text times the longest segment.

use super::fold::Case;
use super::{Class, Fold, Token};
use crate::work::{Exhausted, Work};

/// A pattern without quoted words, ready to match known texts.
#[derive(Debug, Clone)]
pub(crate) struct Segments {
    list: Box<[Segment]>,
    /// What may follow the last segment.
    end: Gap,
}

/// What may stand before a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// Nothing.
    None,
    /// Anything.
    Any,
    /// Nothing, or anything that ends in `/`.
    Directories,
}

#[derive(Debug, Clone)]
struct Segment {
    gap: Gap,
    units: Units,
    n_chars: usize,
}

#[derive(Debug, Clone)]
enum Units {
    Literal(Box<str>),
    Mixed(Box<[Unit]>),
}

/// What matches exactly one character.
#[derive(Debug, Clone)]
enum Unit {
    Char(char),
    Any,
    Class(Class),
}

impl Segments {
    /// `None` if the pattern has a quoted word with wildcards in it.
    pub(crate) fn new(tokens: &[Token]) -> Option<Self> {
        let mut list = Vec::new();
        let mut gap = Gap::None;
        let mut units = Vec::new();
        for token in tokens {
            let next_gap = match token {
                Token::Char(c) => {
                    units.push(Unit::Char(*c));
                    continue;
                }
                Token::Any => {
                    units.push(Unit::Any);
                    continue;
                }
                Token::Class(class) => {
                    units.push(Unit::Class(class.clone()));
                    continue;
                }
                Token::Word(_) => return None,
                Token::Star => Gap::Any,
                Token::Directories => Gap::Directories,
            };
            if units.is_empty() {
                gap = match (gap, next_gap) {
                    (Gap::None, next) => next,
                    (Gap::Directories, Gap::Directories) => Gap::Directories,
                    // Directories and then anything is anything.
                    _ => Gap::Any,
                };
            } else {
                list.push(Segment::new(gap, std::mem::take(&mut units)));
                gap = next_gap;
            }
        }
        let end = if units.is_empty() {
            match gap {
                Gap::None => Gap::None,
                Gap::Any | Gap::Directories => Gap::Any,
            }
        } else {
            list.push(Segment::new(gap, units));
            Gap::None
        };
        Some(Self {
            list: list.into_boxed_slice(),
            end,
        })
    }

    pub(crate) fn matches(
        &self,
        text: &str,
        fold: &Fold,
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        work.spend(1)?;
        let place = Place { text, fold };
        let (last, inner) = match (self.end, self.list.split_last()) {
            (Gap::None, Some((last, inner))) => (Some(last), inner),
            (Gap::None, None) => return Ok(text.is_empty()),
            (Gap::Any | Gap::Directories, _) => (None, &*self.list),
        };
        let mut at = 0;
        for segment in inner {
            match segment.find(place, at, work)? {
                Some(end) => at = end,
                None => return Ok(false),
            }
        }
        match last {
            Some(last) => last.ends(place, at, work),
            None => Ok(true),
        }
    }
}

/// A text, and which part of it is compared without regard to case.
#[derive(Clone, Copy)]
struct Place<'a> {
    text: &'a str,
    fold: &'a Fold,
}

impl<'a> Place<'a> {
    fn from(self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    fn ignores_case_from(self, at: usize) -> bool {
        !self.fold.is_empty() && at < self.fold.end
    }

    fn begins_name(self, at: usize) -> bool {
        at == 0 || self.text.as_bytes().get(at - 1) == Some(&b'/')
    }
}

impl Segment {
    fn new(gap: Gap, units: Vec<Unit>) -> Self {
        let n_chars = units.len();
        let literal: Option<String> = units
            .iter()
            .map(|unit| match unit {
                Unit::Char(c) => Some(*c),
                Unit::Any | Unit::Class(_) => None,
            })
            .collect();
        Self {
            gap,
            units: match literal {
                Some(literal) => Units::Literal(literal.into_boxed_str()),
                None => Units::Mixed(units.into_boxed_slice()),
            },
            n_chars,
        }
    }

    /// The end of the leftmost place at or after `at`.
    fn find(
        &self,
        place: Place<'_>,
        at: usize,
        work: &mut Work,
    ) -> Result<Option<usize>, Exhausted> {
        match self.gap {
            Gap::None => self.end_at(place, at, work),
            Gap::Any => self.find_anywhere(place, at, work),
            Gap::Directories => {
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
        for (offset, _) in place.from(at).char_indices() {
            let start = at + offset;
            if let (Units::Literal(literal), false) = (&self.units, place.ignores_case_from(start))
            {
                let rest = place.from(start);
                let found = rest.find(&**literal);
                work.spend(found.unwrap_or(rest.len()) + literal.len())?;
                return Ok(found.map(|found| start + found + literal.len()));
            }
            if let Some(end) = self.end_at(place, start, work)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Where this segment ends if it begins at `at`.
    fn end_at(
        &self,
        place: Place<'_>,
        at: usize,
        work: &mut Work,
    ) -> Result<Option<usize>, Exhausted> {
        if let (Units::Literal(literal), false) = (&self.units, place.ignores_case_from(at)) {
            work.spend(literal.len())?;
            return Ok(place
                .from(at)
                .starts_with(&**literal)
                .then_some(at + literal.len()));
        }
        let mut text = place.from(at).char_indices();
        let mut n_compared = 0;
        let mut fits = |matches: &dyn Fn(char, Case) -> bool| {
            n_compared += 1;
            text.next()
                .is_some_and(|(offset, c)| matches(c, Case::at(place.fold, at + offset)))
        };
        let fits_all = match &self.units {
            Units::Literal(literal) => literal.chars().all(|p| fits(&|c, case| case.same(p, c))),
            Units::Mixed(units) => units.iter().all(|unit| fits(&|c, case| unit.fits(c, case))),
        };
        work.spend(n_compared)?;
        Ok(fits_all.then(|| {
            text.next()
                .map_or(place.text.len(), |(offset, _)| at + offset)
        }))
    }

    /// Whether this segment can be placed, at or after `at`, so that it ends the text.
    fn ends(&self, place: Place<'_>, at: usize, work: &mut Work) -> Result<bool, Exhausted> {
        if self.gap == Gap::None {
            let end = self.end_at(place, at, work)?;
            return Ok(end == Some(place.text.len()));
        }
        let rest = place.from(at);
        if let (Units::Literal(literal), false) = (&self.units, place.ignores_case_from(at)) {
            work.spend(literal.len())?;
            let Some(skipped) = rest.strip_suffix(&**literal) else {
                return Ok(false);
            };
            return Ok(self.may_begin(place, at, at + skipped.len()));
        }
        work.spend(self.n_chars)?;
        let start = rest
            .char_indices()
            .rev()
            .nth(self.n_chars.saturating_sub(1));
        let Some((offset, _)) = start else {
            return Ok(false);
        };
        let start = at + offset;
        Ok(self.may_begin(place, at, start)
            && self.end_at(place, start, work)? == Some(place.text.len()))
    }

    /// Whether this segment's gap may reach from `at` to `start`.
    fn may_begin(&self, place: Place<'_>, at: usize, start: usize) -> bool {
        match self.gap {
            Gap::None => start == at,
            Gap::Any => true,
            Gap::Directories => start == at || place.begins_name(start),
        }
    }
}

impl Unit {
    fn fits(&self, c: char, case: Case) -> bool {
        match self {
            Self::Char(p) => case.same(*p, c),
            Self::Any => true,
            Self::Class(class) => case.contains(class, c),
        }
    }
}
