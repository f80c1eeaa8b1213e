//! A set of places in a pattern.

/// A set of places. Most patterns have no more than 64, and then it needs no memory of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::pattern) struct Set {
    first: u64,
    rest: Box<[u64]>,
}

impl Set {
    pub(super) fn empty(n_places: usize) -> Self {
        let rest = match n_places <= 64 {
            true => Box::default(),
            false => vec![0; n_places.div_ceil(64) - 1].into_boxed_slice(),
        };
        Self { first: 0, rest }
    }

    /// Of the first 64 places.
    pub(super) fn of_first(first: u64) -> Self {
        Self {
            first,
            rest: Box::default(),
        }
    }

    pub(super) const fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    pub(super) fn word(&self, idx: usize) -> Option<u64> {
        match idx.checked_sub(1) {
            None => Some(self.first),
            Some(idx) => self.rest.get(idx).copied(),
        }
    }

    pub(super) fn add(&mut self, place: usize) {
        let word = match (place / 64).checked_sub(1) {
            None => Some(&mut self.first),
            Some(idx) => self.rest.get_mut(idx),
        };
        if let Some(word) = word {
            *word |= 1 << (place % 64);
        }
    }

    /// The set whose words these are, made of those of this one.
    #[inline]
    pub(super) fn map_words(&self, mut map: impl FnMut(usize, u64) -> u64) -> Self {
        Self {
            first: map(0, self.first),
            rest: match &*self.rest {
                [] => Box::default(),
                rest => (1..).zip(rest).map(|(idx, word)| map(idx, *word)).collect(),
            },
        }
    }

    pub(super) fn has(&self, place: usize) -> bool {
        self.word(place / 64)
            .is_some_and(|word| word & (1 << (place % 64)) != 0)
    }

    pub(in crate::pattern) fn is_empty(&self) -> bool {
        self.words().all(|word| word == 0)
    }

    pub(super) fn unite(&mut self, other: &Self) {
        self.first |= other.first;
        for (word, other) in self.rest.iter_mut().zip(&other.rest) {
            *word |= other;
        }
    }

    pub(in crate::pattern) fn is_within(&self, other: &Self) -> bool {
        self.words()
            .zip(other.words())
            .all(|(word, other)| word & !other == 0)
    }

    pub(in crate::pattern) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let place = self.next_place(from)?;
            from = place + 1;
            Some(place)
        })
    }

    pub(super) fn n_places(&self) -> usize {
        self.words()
            .map(|word| usize::try_from(word.count_ones()).unwrap_or(64))
            .sum()
    }

    /// Steps that looking at each place once costs.
    pub(in crate::pattern) fn cost(&self) -> usize {
        2 + self.rest.len() + self.n_places()
    }

    /// Steps that one character costs.
    pub(super) fn n_words(&self) -> usize {
        1 + self.rest.len()
    }

    /// The first place at or after `from`.
    pub(super) fn next_place(&self, from: usize) -> Option<usize> {
        let mut idx = from / 64;
        let mut left = self.word(idx)? & (u64::MAX << (from % 64));
        while left == 0 {
            idx += 1;
            left = self.word(idx)?;
        }
        Some(idx * 64 + usize::try_from(left.trailing_zeros()).ok()?)
    }
}
