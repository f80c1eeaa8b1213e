//! Keys that stand anywhere in a text: a few bytes that every text holds which a rule matches.
//!
//! A text is looked at every fourth byte. A rule is filed under a rare piece of what its texts hold, with
//! nothing, one, two and three bytes before it: one of the four begins where a text is looked at. A
//! text is looked at every byte only for rules without three bytes before their piece.

use super::anchors::SHARED;
use super::found::as_index;
use super::literals::Literals;

/// Bytes of a piece: those of fewer are shared by many rules, and short words have no more.
const N_BYTES: usize = 4;

/// Bytes of the longest key.
const MOST_BYTES: usize = 2 * N_BYTES - 1;

/// At every which byte a text is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stride {
    One,
    Four,
}

impl Stride {
    pub(super) const fn n_bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Four => N_BYTES,
        }
    }
}

/// What keys begin with, those of a whole table, and where texts are looked at for them.
#[derive(Debug, Default)]
pub(super) struct Grams {
    at_fourths: Option<Filter>,
    anywhere: Option<Filter>,
}

/// The starts of keys on their way to their filters.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    at_fourths: Vec<u64>,
    anywhere: Vec<u64>,
}

#[derive(Debug)]
struct Filter {
    /// Which pieces there may be, by their hashes.
    bits: Box<[u64]>,
    shift: u32,
    stride: Stride,
}

impl Grams {
    pub(super) fn new(pieces: &Pieces) -> Self {
        Self {
            at_fourths: Filter::new(Stride::Four, &pieces.at_fourths),
            anywhere: Filter::new(Stride::One, &pieces.anywhere),
        }
    }

    /// The hashes of the keys that a text may have, where it is looked at every so many bytes.
    pub(super) fn look_up(&self, text: &[u8], stride: Stride, mut add: impl FnMut(u32)) {
        let filter = match stride {
            Stride::One => &self.anywhere,
            Stride::Four => &self.at_fourths,
        };
        let Some(filter) = filter else {
            return;
        };
        // A text that repeats itself adds each key once, or almost.
        let mut added = [0; 64];
        // No hash of the first slot.
        added[0] = u32::MAX;
        filter.look_up(text, |gram| {
            for hash in (N_BYTES..=MOST_BYTES).map(|n_bytes| gram.key(n_bytes)) {
                let slot = added.get_mut(as_index(hash >> 26));
                if slot.is_none_or(|slot| std::mem::replace(slot, hash) != hash) {
                    add(hash);
                }
            }
        });
    }
}

impl Filter {
    /// Other pieces are let through as well: they do no harm.
    fn new(stride: Stride, hashes: &[u64]) -> Option<Self> {
        if hashes.is_empty() {
            return None;
        }
        let n_bits = bits_for(hashes.len().saturating_mul(16));
        let mut filter = Self {
            bits: vec![0; 1 << (n_bits - 6)].into_boxed_slice(),
            shift: u64::BITS - n_bits,
            stride,
        };
        for hash in hashes {
            for hash in [*hash, again(*hash)] {
                let bit = filter.bit(hash);
                if let Some(word) = filter.bits.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            }
        }
        Some(filter)
    }

    fn bit(&self, hash: u64) -> usize {
        usize::try_from(hash.wrapping_shr(self.shift)).unwrap_or(usize::MAX)
    }

    fn has_bit(&self, hash: u64) -> bool {
        let bit = self.bit(hash);
        let word = self.bits.get(bit / 64);
        word.is_none_or(|word| word >> (bit % 64) & 1 != 0)
    }

    fn has(&self, piece: [u8; N_BYTES]) -> bool {
        let hash = hash(piece);
        self.has_bit(hash) && self.has_bit(again(hash))
    }

    fn look_up(&self, text: &[u8], mut add: impl FnMut(Gram)) {
        let mut rest = text;
        while let Some(begun) = self.first(rest) {
            add(Gram::of(begun));
            rest = begun.get(self.stride.n_bytes()..).unwrap_or_default();
        }
    }

    /// A text from where a key may begin.
    // The loop over a text's bytes: as fast as it gets where nothing is mixed in.
    #[inline(never)]
    fn first<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let n_left = match self.stride {
            Stride::One => {
                let mut pieces = text.windows(N_BYTES);
                pieces.find(|piece| piece.first_chunk().is_some_and(|piece| self.has(*piece)))?;
                pieces.len() + N_BYTES
            }
            Stride::Four => {
                let (pieces, end) = text.as_chunks();
                let mut pieces = pieces.iter();
                pieces.find(|piece| self.has(**piece))?;
                (pieces.len() + 1) * N_BYTES + end.len()
            }
        };
        text.get(text.len().checked_sub(n_left)?..)
    }
}

/// The hash of a piece, the same whatever the case of ASCII letters. Some other characters are taken
/// for each other as well, which only finds more.
fn hash(piece: [u8; N_BYTES]) -> u64 {
    let piece = u32::from_le_bytes(piece) | 0x2020_2020;
    u64::from(piece).wrapping_mul(SPREAD)
}

/// Another hash of the same.
const fn again(hash: u64) -> u64 {
    hash.wrapping_mul(SPREAD)
}

const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

fn high(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}

/// The first bytes of a part of a text, in lower case as [`hash`] sees it.
#[derive(Debug, Clone, Copy)]
struct Gram(u64);

impl Gram {
    /// Behind the end of a part stands what no key has.
    #[inline]
    fn of(part: &[u8]) -> Self {
        let bytes = part.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [u8::MAX; 8];
            for (slot, byte) in bytes.iter_mut().zip(part) {
                *slot = *byte;
            }
            bytes
        });
        Self(u64::from_le_bytes(bytes) | 0x2020_2020_2020_2020)
    }

    /// The hash of the key of so many bytes.
    #[inline]
    fn key(self, n_bytes: usize) -> u32 {
        let n_others = 8 - n_bytes;
        high((self.0 << (8 * n_others)).wrapping_mul(SPREAD))
    }
}

/// The hashes of all pieces that stand in a part.
pub(super) fn hashes(part: &[u8]) -> impl Iterator<Item = u32> {
    let pieces = part.windows(N_BYTES).filter_map(<[u8]>::first_chunk);
    pieces.map(|piece| high(hash(*piece)))
}

/// Where in a rule's parts its piece is, at which bytes a text is looked at for it, and how many rules
/// share it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    part: usize,
    at: usize,
    pub(super) stride: Stride,
    pub(super) count: u16,
}

impl Window {
    /// The bytes of the keys.
    pub(super) fn bytes<'h>(&self, literals: Literals<'h>) -> &'h [u8] {
        let part = literals.parts().nth(self.part).unwrap_or_default();
        let n_before = self.stride.n_bytes() - 1;
        let bytes = self.at.saturating_sub(n_before)..self.at + N_BYTES;
        part.get(bytes).unwrap_or_default()
    }
}

impl Pieces {
    /// The hashes of a rule's keys, which end where these bytes do.
    pub(super) fn add(&mut self, bytes: &[u8], stride: Stride, mut add: impl FnMut(u32)) {
        let pieces = match stride {
            Stride::One => &mut self.anywhere,
            Stride::Four => &mut self.at_fourths,
        };
        for start in 0..stride.n_bytes() {
            let key = bytes.get(start..).unwrap_or_default();
            pieces.extend(key.first_chunk().map(|piece| hash(*piece)));
            add(Gram::of(key).key(key.len()));
        }
    }
}

/// How often each hash was seen, or more.
pub(super) struct Counts {
    counts: Vec<u16>,
    shift: u32,
}

impl Counts {
    /// The piece of a rule that few others have: rather one with enough before it that a text needs to be looked at
    /// every fourth byte only.
    pub(super) fn best_window(&self, literals: Literals<'_>) -> Option<Window> {
        let mut best: [Option<Window>; 2] = [None; 2];
        for (part_idx, part) in literals.parts().enumerate() {
            for (at, hash) in hashes(part).enumerate() {
                let has_before = at + 1 >= Stride::Four.n_bytes();
                let (best, stride) = match (&mut best, has_before) {
                    ([best, _], true) => (best, Stride::Four),
                    ([_, best], false) => (best, Stride::One),
                };
                let count = self.of(hash);
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

#[cfg(test)]
mod tests;
