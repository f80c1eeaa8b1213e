//! Patterns: globs with the meaning of the `glob` crate, for texts that are known and for texts
//! with holes.
//!
//! `*` is any run of characters (also `/`, blanks and newlines), `?` one character, `[…]` a class,
//! a leading or inner `**/` any number of whole directories. A pattern is anchored at both ends.

mod automaton;
mod cover;
mod fold;
mod glance;
mod globs;
pub(crate) mod language;
mod parse;
mod placing;
mod quote;
mod segments;
mod shape;
mod signs;
mod written;

pub(crate) use cover::covers;
pub(crate) use fold::folds_to_ascii;
pub(crate) use glance::Bounds;
pub(crate) use globs::{Glob, Kept, Tokens};
pub(crate) use parse::{Problem, is_plainly_right, parse};
pub(crate) use quote::{Quoting, Words, words};
pub(crate) use shape::{Shape, is_exempt, program_of};
pub(crate) use signs::Signs;

use std::ops::Range;

use crate::work::Exhausted;

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

/// Which bytes of a known text are compared without regard to case.
pub(crate) type Fold = Range<usize>;

#[cfg(test)]
mod tests;
