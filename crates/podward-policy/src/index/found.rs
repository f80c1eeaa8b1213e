//! What a look-up found, and the order in which rules are tried.

use std::ops::Range;

/// More found rules than this need memory of their own.
const MANY: usize = 96;

/// The place of a rule in its table.
pub(super) fn place(id: u32) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX)
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
}

impl<'a> Order<'a> {
    /// All rules of a table.
    pub(crate) fn all(n_rules: usize) -> Self {
        Self {
            all: Some(0..n_rules),
            found: Found::default(),
            n_tried: 0,
            lists: [&[]; 7],
        }
    }

    pub(super) fn some(mut found: Found, lists: [&'a [u32]; 7]) -> Self {
        found.sort();
        Self {
            all: None,
            found,
            n_tried: 0,
            lists,
        }
    }
}

impl Iterator for Order<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if let Some(all) = &mut self.all {
            return all.next();
        }
        let mut next = self.found.at(self.n_tried);
        for list in &self.lists {
            if let Some(first) = list.first()
                && next.is_none_or(|next| *first < next)
            {
                next = Some(*first);
            }
        }
        let next = next?;
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
        Some(place(next))
    }
}
