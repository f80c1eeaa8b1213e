//! The matcher for known texts: a pattern is a list of segments with gaps between them, and each
//! segment is placed as far left as it goes.

use super::fold::Case;
use super::placing::{Gap, Piece, Place};
use super::{Class, Fold, Token};
use crate::work::{Exhausted, Work};

/// A pattern without quoted words, ready to match known texts.
#[derive(Debug, Clone)]
pub(crate) struct Segments {
    list: Box<[Segment]>,
    /// What may follow the last segment.
    end: Gap,
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
                gap = gap.then(next_gap);
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
}

impl Piece for Segment {
    fn gap(&self) -> Gap {
        self.gap
    }

    fn literal(&self) -> Option<&str> {
        match &self.units {
            Units::Literal(literal) => Some(literal),
            Units::Mixed(_) => None,
        }
    }

    fn n_chars(&self) -> usize {
        self.n_chars
    }

    fn fits(&self, fold: &Fold, mut next: impl FnMut() -> Option<(usize, char)>) -> bool {
        let mut fits = |matches: &dyn Fn(char, Case) -> bool| {
            next().is_some_and(|(at, c)| matches(c, Case::at(fold, at)))
        };
        match &self.units {
            Units::Literal(literal) => literal.chars().all(|p| fits(&|c, case| case.same(p, c))),
            Units::Mixed(units) => units.iter().all(|unit| fits(&|c, case| unit.fits(c, case))),
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
