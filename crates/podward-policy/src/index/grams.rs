//! Keys that stand anywhere in a text: a few bytes that every text holds which a rule matches.

use super::anchors::SHARED;
use super::found::as_index;
use super::literals::Literals;

/// Bytes of a key: those of fewer are shared by many rules, and short words have no more.
pub(super) const N_BYTES: usize = 5;

/// A text is looked at no more seldom than at every so many bytes.
pub(super) const MOST_STRIDE: usize = 4;

/// The keys that stand anywhere.
#[derive(Debug)]
pub(super) struct Grams {
    /// Which there may be.
    filter: Box<[u64]>,
    shift: u32,
    /// At every which byte a text is looked at.
    stride: usize,
}

/// The hash of the key that a text begins with, the same whatever the case of ASCII letters. Some other
/// characters are taken for each other as well, which only finds more.
pub(super) fn hash_of(bytes: &[u8]) -> Option<u32> {
    let [a, b, c, d, e] = *bytes.first_chunk::<N_BYTES>()?;
    let five = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]) | 0x20_2020_2020;
    u32::try_from(five.wrapping_mul(SPREAD) >> 32).ok()
}

const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Grams {
    /// Other keys are let through as well: they do no harm.
    pub(super) fn new(stride: usize, hashes: &[u32]) -> Self {
        let bits = bits_for(hashes.len().saturating_mul(8));
        let shift = 32 - bits;
        let mut filter = vec![0_u64; 1 << bits.saturating_sub(6)];
        for hash in hashes {
            let bit = hash >> shift;
            if let Some(word) = filter.get_mut(as_index(bit >> 6)) {
                *word |= 1 << (bit & 63);
            }
        }
        Self {
            filter: filter.into_boxed_slice(),
            shift,
            stride,
        }
    }

    /// The hashes of the keys that a text may have.
    // The loop over a text's bytes: as fast as it gets where nothing is mixed in.
    #[inline(never)]
    pub(super) fn look_up(&self, text: &[u8], mut add: impl FnMut(u32)) {
        // A text that repeats itself adds each key once, or almost.
        let mut seen = [None; 16];
        let (filter, shift, stride) = (&*self.filter, self.shift, self.stride);
        let mut rest = text;
        while let Some(hash) = hash_of(rest) {
            rest = rest.get(stride..).unwrap_or_default();
            let bit = hash >> shift;
            let word = filter.get(as_index(bit >> 6));
            if word.is_none_or(|word| word & (1 << (bit & 63)) == 0) {
                continue;
            }
            if let Some(slot) = seen.get_mut(as_index(hash >> 28))
                && *slot != Some(hash)
            {
                *slot = Some(hash);
                add(hash);
            }
        }
    }
}

/// The hashes of all keys that stand in a part.
pub(super) fn hashes(part: &[u8]) -> impl Iterator<Item = u32> {
    part.windows(N_BYTES).filter_map(hash_of)
}

/// Where in a rule's parts its keys are, as many as its stride, and how many rules share the most
/// common of them. Of any text that holds the part one of them stands where the text is looked at.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) part: usize,
    pub(super) at: usize,
    pub(super) stride: usize,
    pub(super) count: u16,
}

/// How often each hash was seen, or more.
pub(super) struct Counts {
    counts: Vec<u16>,
    shift: u32,
}

impl Counts {
    /// The bytes of a rule that few others have: rather such of which a text holds one at every fourth
    /// byte than at every second, and rather that than where every byte must be looked at.
    pub(super) fn best_window(
        &self,
        literals: Literals<'_>,
        counts: &mut Vec<u16>,
    ) -> Option<Window> {
        let mut best: [Option<Window>; 3] = [None; 3];
        for (part_idx, part) in literals.parts().enumerate() {
            counts.clear();
            counts.extend(hashes(part).map(|hash| self.of(hash)));
            for (best, stride) in best.iter_mut().zip([MOST_STRIDE, 2, 1]) {
                for (at, window) in counts.windows(stride).enumerate() {
                    let count = window.iter().copied().max()?;
                    if best.is_none_or(|best| count < best.count) {
                        *best = Some(Window {
                            part: part_idx,
                            at,
                            stride,
                            count,
                        });
                    }
                }
            }
        }
        let windows = || best.into_iter().flatten();
        let rare = windows().find(|window| window.count <= SHARED);
        rare.or_else(|| windows().min_by_key(|window| window.count))
    }

    pub(super) fn new(n: usize) -> Self {
        let bits = bits_for(n.saturating_mul(4));
        Self {
            counts: vec![0; 1 << bits],
            shift: 32 - bits,
        }
    }

    fn slot(&self, hash: u32) -> usize {
        as_index(hash >> self.shift)
    }

    pub(super) fn add(&mut self, hash: u32) {
        let slot = self.slot(hash);
        if let Some(count) = self.counts.get_mut(slot) {
            *count = count.saturating_add(1);
        }
    }

    pub(super) fn of(&self, hash: u32) -> u16 {
        self.counts
            .get(self.slot(hash))
            .copied()
            .unwrap_or(u16::MAX)
    }
}

/// As many bits as tell `n` things apart, within bounds.
pub(super) fn bits_for(n: usize) -> u32 {
    n.next_power_of_two().trailing_zeros().clamp(6, 28)
}
