//! The matcher that reads a pattern as it is written, where nothing in it needs more: no class, no
//! quoted word. Such a pattern is kept as its text alone.

use super::fold::Case;
use super::placing::{Gap, Piece, Place};
use super::{Fold, Token};
use crate::work::{Exhausted, Work};

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
            gap = gap.then(next);
        }
        let end = memchr::memchr(b'*', self.rest.as_bytes());
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
    if ends_otherwise(pattern, text) {
        return Ok(false);
    }
    let place = Place { text, fold };
    let mut runs = Runs::of(pattern);
    let mut at = 0;
    while let Some(run) = runs.next() {
        match (runs.is_done, run.text.is_empty()) {
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

/// Whether a text cannot end as a pattern says, whatever the case of its letters. What is not plain
/// to see is left to the matcher.
fn ends_otherwise(pattern: &str, text: &str) -> bool {
    let pattern = pattern.as_bytes();
    let last = memchr::memrchr2(b'*', b'?', pattern).map_or(0, |at| at + 1);
    let (stars, wanted) = pattern.split_at_checked(last).unwrap_or_default();
    let wanted = match wanted.strip_prefix(b"/") {
        // It is part of the wildcard.
        Some(wanted) if stars.ends_with(b"**") => wanted,
        _ => wanted,
    };
    let text = text.as_bytes();
    let end = text.len().checked_sub(wanted.len());
    match end.and_then(|end| text.get(end..)) {
        Some(end) => wanted.is_ascii() && end.is_ascii() && !end.eq_ignore_ascii_case(wanted),
        // Each character has at least one byte.
        None => wanted.is_ascii(),
    }
}

impl Piece for Run<'_> {
    fn gap(&self) -> Gap {
        self.gap
    }

    fn literal(&self) -> Option<&str> {
        (!self.text.as_bytes().contains(&b'?')).then_some(self.text)
    }

    fn n_chars(&self) -> usize {
        self.text.chars().count()
    }

    fn fits(&self, fold: &Fold, mut next: impl FnMut() -> Option<(usize, char)>) -> bool {
        self.text.chars().all(|p| {
            next().is_some_and(|(at, c)| p == c || p == '?' || Case::at(fold, at).same(p, c))
        })
    }
}

#[cfg(test)]
mod tests;
