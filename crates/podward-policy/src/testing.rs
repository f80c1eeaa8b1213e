//! Random cases for tests: seeded, so that each run is the same.

/// How many cases a test of `normal` cases runs: `PODWARD_CASES` says how many stand for a million.
pub(crate) fn n_cases(normal: usize) -> usize {
    match std::env::var("PODWARD_CASES") {
        Ok(n) => {
            let n: usize = n.parse().expect("PODWARD_CASES is a number");
            (normal * (n / 1000).max(1) / 1000).max(1)
        }
        Err(_) => normal,
    }
}

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n).unwrap()).unwrap()
    }

    pub(crate) fn one_of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// Up to `n_most` pieces in a row.
    pub(crate) fn text(&mut self, pieces: &[&str], n_most: usize) -> String {
        (0..self.below(n_most + 1))
            .map(|_| self.one_of(pieces))
            .collect()
    }
}
