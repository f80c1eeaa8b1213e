//! Patterns: globs with the meaning of the `glob` crate, for texts that are known and for texts
//! with holes.
//!
//! `*` is any run of characters (also `/`, blanks and newlines), `?` one character, `[…]` a class,
//! a leading or inner `**/` any number of whole directories. A pattern is anchored at both ends.

mod automaton;
mod cover;
mod fold;
mod parse;
mod quote;
mod segments;
mod shape;

pub(crate) use cover::covers;
pub(crate) use parse::{Problem, parse};
pub(crate) use quote::{Quoting, words};
pub(crate) use segments::Segments;
pub(crate) use shape::{Shape, program_of};

use std::ops::Range;

use crate::text::Text;
use crate::work::{Exhausted, Work};
use automaton::Automaton;

/// Whether a pattern matches a text of which parts may be unknown (D3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Hit {
    /// No way to fill the holes matches.
    No,
    /// Some way may match, some may not.
    May,
    /// Every way matches.
    Must,
}

impl Hit {
    pub(crate) const fn certain(matched: bool) -> Self {
        if matched { Self::Must } else { Self::No }
    }

    /// A match that could not be found out in time may be one.
    pub(crate) fn or_may(found: Result<Self, Exhausted>) -> Self {
        found.unwrap_or(Self::May)
    }
}

/// One element of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// This character.
    Char(char),
    /// `?`.
    Any,
    /// `*`.
    Star,
    /// `**/`: nothing, or anything that ends in `/`; at the end of a pattern the same as `*`.
    Directories,
    /// `[…]`, where it is more than a spelling of one character.
    Class(Class),
    /// A quoted word with wildcards in it: exactly one word of a command, whatever way it is
    /// written. Only in the patterns of commands.
    Word(Box<[Token]>),
}

impl Token {
    pub(crate) const fn is_wildcard(&self) -> bool {
        self.literal().is_none()
    }

    /// The one character that it matches, if it is written out.
    pub(crate) const fn literal(&self) -> Option<char> {
        match self {
            Self::Char(c) => Some(*c),
            Self::Any | Self::Star | Self::Directories | Self::Class(_) | Self::Word(_) => None,
        }
    }
}

/// A class of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) negated: bool,
    /// First and last character of each range.
    pub(crate) ranges: Box<[(char, char)]>,
}

impl Class {
    pub(crate) fn contains(&self, c: char) -> bool {
        self.ranges
            .iter()
            .any(|&(first, last)| (first..=last).contains(&c))
            != self.negated
    }
}

/// A compiled glob.
#[derive(Debug, Clone)]
pub(crate) struct Glob {
    tokens: Box<[Token]>,
    /// `None`: a quoted word with wildcards needs the automaton for known texts too.
    segments: Option<Segments>,
    /// Tokens at the end that may be missing altogether (D4.2, D4.3).
    n_optional: usize,
    /// The pattern without them.
    shorter: Option<Segments>,
}

/// Which bytes of a known text are compared without regard to case.
pub(crate) type Fold = Range<usize>;

impl Glob {
    pub(crate) fn new(tokens: Vec<Token>) -> Self {
        Self {
            segments: Segments::new(&tokens),
            tokens: tokens.into_boxed_slice(),
            n_optional: 0,
            shorter: None,
        }
    }

    /// The same pattern, where the last `n_optional` tokens may also be missing.
    pub(crate) fn with_optional_end(tokens: Vec<Token>, n_optional: usize) -> Self {
        let mut glob = Self::new(tokens);
        glob.n_optional = n_optional.min(glob.tokens.len());
        let n_needed = glob.tokens.len() - glob.n_optional;
        glob.shorter = glob.tokens.get(..n_needed).and_then(Segments::new);
        glob
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Bytes of known text before the first wildcard.
    pub(crate) fn n_literal_prefix(&self) -> usize {
        self.tokens
            .iter()
            .map_while(|token| token.literal().map(char::len_utf8))
            .sum()
    }

    /// Whether no text that begins like this can match, whatever the case of its letters.
    pub(crate) fn differs_at_start(&self, start: &str, work: &mut Work) -> Result<bool, Exhausted> {
        for (token, c) in self.tokens.iter().zip(start.chars()) {
            work.spend(1)?;
            match token {
                Token::Char(p) if fold::Case::Ignored.same(*p, c) => {}
                Token::Char(_) => return Ok(true),
                Token::Any | Token::Class(_) => {}
                Token::Star | Token::Directories | Token::Word(_) => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Whether the pattern begins with a run of any characters.
    pub(crate) fn is_floating(&self) -> bool {
        matches!(self.tokens.first(), Some(Token::Star | Token::Directories))
    }

    /// Matches a text that is known to the last character.
    pub(crate) fn matches(
        &self,
        text: &str,
        fold: &Fold,
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        match &self.segments {
            Some(segments) => Ok(segments.matches(text, fold, work)?
                || match &self.shorter {
                    Some(shorter) => shorter.matches(text, fold, work)?,
                    None => false,
                }),
            None => self.automaton().matches(text, fold, work),
        }
    }

    /// Matches a known text up to one of these bytes.
    pub(crate) fn matches_head(
        &self,
        text: &str,
        heads: &[usize],
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        match heads {
            [] => Ok(false),
            heads => self.automaton().matches_head(text, heads, work),
        }
    }

    /// Matches a shape: a text with holes, in all the ways in which it may be written.
    pub(crate) fn hit(&self, shape: &Shape, work: &mut Work) -> Result<Hit, Exhausted> {
        work.spend(self.tokens.len())?;
        let automaton = self.automaton();
        if !automaton.may_match(shape, work)? {
            return Ok(Hit::No);
        }
        Ok(match automaton.must_match(shape, work)? {
            true => Hit::Must,
            false => Hit::May,
        })
    }

    /// As [`Glob::hit`], but a hole that [`Shape`] exempts does not by itself count as a possible
    /// match (the exception of D3.2).
    pub(crate) fn hit_beyond_exempt(
        &self,
        shape: &Shape,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        work.spend(self.tokens.len())?;
        let automaton = self.automaton();
        if automaton.must_match(shape, work)? {
            return Ok(Hit::Must);
        }
        Ok(match automaton.may_match_beyond_exempt(shape, work)? {
            true => Hit::May,
            false => Hit::No,
        })
    }

    /// Matches a text whose words have no meaning: anything may stand in its holes, except in
    /// those of a file name pattern.
    pub(crate) fn hit_text(&self, text: &Text, fold: &Fold, work: &mut Work) -> Hit {
        let found = match text.as_known() {
            Some(known) => self.matches(known, fold, work).map(Hit::certain),
            None => work
                .spend(text.known_part().len())
                .and_then(|()| self.hit(&Shape::plain(text, fold), work)),
        };
        Hit::or_may(found)
    }

    pub(crate) fn automaton(&self) -> Automaton<'_> {
        Automaton::new(&self.tokens, self.n_optional)
    }
}

#[cfg(test)]
mod tests;
