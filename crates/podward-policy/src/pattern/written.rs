//! The matcher that reads a pattern as it is written, where nothing in it needs more: no class, no
//! quoted word. Such a pattern is kept as its text alone.
//!
//! As for [`Segments`](super::segments::Segments), each segment is placed as far left as it goes.

use super::fold::Case;
use super::{Fold, Token};
use crate::work::{Exhausted, Work};

/// Whether a pattern can be read as it is written.
pub(crate) fn is_simple(pattern: &str) -> bool {
    !pattern.contains('[')
}

/// What may stand before a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing.
    None,
    /// Anything.
    Any,
    /// Nothing, or anything that ends in `/`.
    Directories,
}

/// A run of characters and `?`, and what may stand before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'p> {
    pub(super) gap: Gap,
    /// Empty only at the end of a pattern.
    pub(super) text: &'p str,
}

/// The runs of a pattern in order; the last may be empty.
#[derive(Debug, Clone)]
pub(super) struct Runs<'p> {
    rest: &'p str,
    is_done: bool,
}

impl<'p> Runs<'p> {
    pub(super) const fn of(pattern: &'p str) -> Self {
        Self {
            rest: pattern,
            is_done: false,
        }
    }

    /// The wildcard at the start of what is left, as tokens see it.
    fn star(&mut self) -> Option<Gap> {
        if !self.rest.starts_with('*') {
            return None;
        }
        // Two stars are a whole component wherever a pattern has them.
        let (gap, n_bytes) = match self.rest.as_bytes() {
            [b'*', b'*', b'/', ..] => (Gap::Directories, 3),
            [b'*', b'*', ..] => (Gap::Directories, 2),
            _ => (Gap::Any, 1),
        };
        self.rest = self.rest.get(n_bytes..).unwrap_or_default();
        Some(gap)
    }
}

impl<'p> Iterator for Runs<'p> {
    type Item = Run<'p>;

    fn next(&mut self) -> Option<Run<'p>> {
        if self.is_done {
            return None;
        }
        let mut gap = Gap::None;
        while let Some(next) = self.star() {
            gap = match (gap, next) {
                (Gap::None, next) => next,
                (Gap::Directories, Gap::Directories) => Gap::Directories,
                // Directories and then anything is anything.
                _ => Gap::Any,
            };
        }
        let end = self.rest.bytes().position(|b| b == b'*');
        let end = end.unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.is_done = rest.is_empty();
        Some(Run { gap, text })
    }
}

/// The tokens of a pattern.
pub(super) fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut reader = Runs::of(pattern);
    loop {
        while let Some(gap) = reader.star() {
            match gap {
                Gap::Directories if tokens.last() == Some(&Token::Directories) => {
                    // Twice in a row says nothing more, unless it ends the pattern.
                    if reader.rest.is_empty() && pattern.ends_with('*') {
                        tokens.push(Token::Directories);
                    }
                }
                Gap::Directories => tokens.push(Token::Directories),
                Gap::Any | Gap::None => tokens.push(Token::Star),
            }
        }
        let Some(run) = reader.next() else {
            return tokens;
        };
        tokens.extend(run.text.chars().map(|c| match c {
            '?' => Token::Any,
            c => Token::Char(c),
        }));
    }
}

/// Whether a pattern matches a known text.
pub(super) fn matches(
    pattern: &str,
    text: &str,
    fold: &Fold,
    work: &mut Work,
) -> Result<bool, Exhausted> {
    work.spend(1)?;
    let place = Place { text, fold };
    let mut runs = Runs::of(pattern).peekable();
    let mut at = 0;
    while let Some(run) = runs.next() {
        let is_last = runs.peek().is_none();
        match (is_last, run.text.is_empty()) {
            (true, true) => return Ok(run.gap != Gap::None || at == text.len()),
            (true, false) => return run.ends(place, at, work),
            (false, _) => match run.find(place, at, work)? {
                Some(end) => at = end,
                None => return Ok(false),
            },
        }
    }
    Ok(text.is_empty())
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

impl Run<'_> {
    fn is_literal(self) -> bool {
        !self.text.as_bytes().contains(&b'?')
    }

    /// The end of the leftmost place at or after `at`.
    fn find(
        self,
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
        self,
        place: Place<'_>,
        at: usize,
        work: &mut Work,
    ) -> Result<Option<usize>, Exhausted> {
        let is_literal = self.is_literal();
        for (offset, _) in place.from(at).char_indices() {
            let start = at + offset;
            if is_literal && !place.ignores_case_from(start) {
                let rest = place.from(start);
                let found = rest.find(self.text);
                work.spend(found.unwrap_or(rest.len()) + self.text.len())?;
                return Ok(found.map(|found| start + found + self.text.len()));
            }
            if let Some(end) = self.end_at(place, start, work)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Where this run ends if it begins at `at`.
    fn end_at(
        self,
        place: Place<'_>,
        at: usize,
        work: &mut Work,
    ) -> Result<Option<usize>, Exhausted> {
        if !place.ignores_case_from(at) && self.is_literal() {
            work.spend(self.text.len())?;
            let fits = place.from(at).starts_with(self.text);
            return Ok(fits.then_some(at + self.text.len()));
        }
        let mut text = place.from(at).char_indices();
        let mut n_compared = 0;
        let fits_all = self.text.chars().all(|p| {
            n_compared += 1;
            let next = text.next();
            next.is_some_and(|(offset, c)| {
                p == c || p == '?' || Case::at(place.fold, at + offset).same(p, c)
            })
        });
        work.spend(n_compared)?;
        Ok(fits_all.then(|| {
            text.next()
                .map_or(place.text.len(), |(offset, _)| at + offset)
        }))
    }

    /// Whether this run can be placed, at or after `at`, so that it ends the text.
    fn ends(self, place: Place<'_>, at: usize, work: &mut Work) -> Result<bool, Exhausted> {
        if self.gap == Gap::None {
            let end = self.end_at(place, at, work)?;
            return Ok(end == Some(place.text.len()));
        }
        let rest = place.from(at);
        if !place.ignores_case_from(at) && self.is_literal() {
            work.spend(self.text.len())?;
            let Some(skipped) = rest.strip_suffix(self.text) else {
                return Ok(false);
            };
            return Ok(self.may_begin(place, at, at + skipped.len()));
        }
        let n_chars = self.text.chars().count();
        work.spend(n_chars)?;
        let start = rest.char_indices().rev().nth(n_chars.saturating_sub(1));
        let Some((offset, _)) = start else {
            return Ok(false);
        };
        let start = at + offset;
        Ok(self.may_begin(place, at, start)
            && self.end_at(place, start, work)? == Some(place.text.len()))
    }

    /// Whether this run's gap may reach from `at` to `start`.
    fn may_begin(self, place: Place<'_>, at: usize, start: usize) -> bool {
        match self.gap {
            Gap::None => start == at,
            Gap::Any => true,
            Gap::Directories => start == at || place.begins_name(start),
        }
    }
}

#[cfg(test)]
mod tests;
