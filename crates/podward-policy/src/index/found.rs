//! What a look-up found, and the order in which rules are tried.

use std::ops::Range;

use super::starts::Scan;

/// More found rules than this need memory of their own.
const MANY: usize = 96;

/// A number as an index: that of a rule in its table, for one.
pub(super) fn as_index(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// A rule to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Its place in its table.
    pub(crate) idx: usize,
    /// Not every way to fill the holes of the text matches it.
    pub(crate) is_in_part: bool,
}

/// Rules that may match, in no order.
#[derive(Debug)]
pub(crate) struct Found {
    few: [u32; MANY],
    n_few: usize,
    more: Vec<u32>,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            few: [0; MANY],
            n_few: 0,
            more: Vec::new(),
        }
    }
}

impl Found {
    pub(super) fn push(&mut self, id: u32) {
        match self.few.get_mut(self.n_few) {
            Some(slot) => {
                *slot = id;
                self.n_few += 1;
            }
            None => self.more.push(id),
        }
    }

    fn sort(&mut self) {
        let few = self.few.get_mut(..self.n_few).unwrap_or_default();
        if self.more.is_empty() {
            few.sort_unstable();
        } else {
            self.more.extend_from_slice(few);
            self.more.sort_unstable();
        }
    }

    fn at(&self, idx: usize) -> Option<u32> {
        match self.more.is_empty() {
            true if idx < self.n_few => self.few.get(idx).copied(),
            true => None,
            false => self.more.get(idx).copied(),
        }
    }
}

/// The rules that are tried, in order.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    /// Those that are left, where all are tried.
    all: Option<Range<usize>>,
    found: Found,
    /// How many of those found were tried.
    n_tried: usize,
    /// Rules that are always tried, each list in order.
    lists: [&'a [u32]; 7],
    /// Those that not every way to fill the holes matches.
    in_part: Vec<Scan<'a>>,
}

impl<'a> Order<'a> {
    /// All rules of a table.
    pub(crate) fn all(n_rules: usize) -> Self {
        Self {
            all: Some(0..n_rules),
            ..Self::some(Found::default(), [&[]; 7], Vec::new())
        }
    }

    pub(super) fn some(mut found: Found, lists: [&'a [u32]; 7], in_part: Vec<Scan<'a>>) -> Self {
        found.sort();
        Self {
            all: None,
            found,
            n_tried: 0,
            lists,
            in_part,
        }
    }
}

impl Iterator for Order<'_> {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        if let Some(all) = &mut self.all {
            return all.next().map(|idx| Candidate {
                idx,
                is_in_part: false,
            });
        }
        let first = |next: Option<u32>, head: Option<u32>| match (next, head) {
            (Some(next), Some(head)) => Some(next.min(head)),
            (next, head) => next.or(head),
        };
        let lists = self.lists.iter().map(|list| list.first().copied());
        let whole = lists.fold(self.found.at(self.n_tried), first);
        let in_part = self.in_part.iter_mut().map(Scan::head);
        let next = in_part.fold(whole, first)?;
        while self.found.at(self.n_tried) == Some(next) {
            self.n_tried += 1;
        }
        for list in &mut self.lists {
            if let Some((first, rest)) = list.split_first()
                && *first == next
            {
                *list = rest;
            }
        }
        for scan in &mut self.in_part {
            scan.pass(next);
        }
        Some(Candidate {
            idx: as_index(next),
            is_in_part: whole != Some(next),
        })
    }
}
