//! Keys that stand anywhere in a text: a few bytes that every text holds which a rule matches.

use super::anchors::SHARED;
use super::found::place;
use super::literals::Literals;

/// Keys of four bytes that more rules share are taken only where no longer ones are to be had.
const FEW_SHARE: u16 = 2;

/// A text is looked at no more seldom than at every so many bytes.
pub(super) const MOST_STRIDE: usize = 4;

/// Keys that stand anywhere, of as many bytes each.
#[derive(Debug)]
pub(super) struct Grams {
    width: Width,
    /// Which there may be.
    filter: Box<[u64]>,
    shift: u32,
    /// At every which byte a text is looked at.
    stride: usize,
}

/// How many bytes a key has that stands anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Four,
    /// Where too many rules share four, as of numbers.
    Six,
}

impl Width {
    pub(super) const fn n_bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Six => 6,
        }
    }

    /// The hash of the bytes that a text begins with.
    pub(super) fn hash(self, bytes: &[u8]) -> Option<u32> {
        match self {
            Self::Four => hash_of_four(bytes),
            Self::Six => hash_of_six(bytes),
        }
    }
}

fn hash_of_four(bytes: &[u8]) -> Option<u32> {
    Some(gram(bytes)?.wrapping_mul(SPREAD))
}

fn hash_of_six(bytes: &[u8]) -> Option<u32> {
    let four = gram(bytes)?.wrapping_mul(SPREAD);
    let more = gram(bytes.get(2..)?)?;
    Some((four.rotate_left(15) ^ more).wrapping_mul(SPREAD))
}

const SPREAD: u32 = 0x9e37_79b1;

/// Four bytes as one number, the same whatever the case of ASCII letters. Some other characters are
/// taken for each other as well, which only finds more.
fn gram(bytes: &[u8]) -> Option<u32> {
    let four = bytes.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*four) | 0x2020_2020)
}

impl Grams {
    /// Other keys are let through as well: they do no harm.
    pub(super) fn new(width: Width, stride: usize, hashes: &[u32]) -> Self {
        let bits = bits_for(hashes.len().saturating_mul(8));
        let shift = 32 - bits;
        let mut filter = vec![0_u64; 1 << bits.saturating_sub(6)];
        for hash in hashes {
            let bit = hash >> shift;
            if let Some(word) = filter.get_mut(place(bit >> 6)) {
                *word |= 1 << (bit & 63);
            }
        }
        Self {
            width,
            filter: filter.into_boxed_slice(),
            shift,
            stride,
        }
    }

    /// The hashes of the keys that a text may have.
    pub(super) fn look_up(&self, text: &[u8], add: impl FnMut(u32)) {
        match self.width {
            Width::Four => self.look_up_by(text, hash_of_four, add),
            Width::Six => self.look_up_by(text, hash_of_six, add),
        }
    }

    // The loop over a text's bytes: as fast as it gets where nothing is mixed in.
    #[inline(never)]
    fn look_up_by(
        &self,
        text: &[u8],
        hash_of: impl Fn(&[u8]) -> Option<u32>,
        mut add: impl FnMut(u32),
    ) {
        // A text that repeats itself adds each key once, or almost.
        let mut seen = [None; 16];
        let (filter, shift, stride) = (&*self.filter, self.shift, self.stride);
        let mut rest = text;
        while let Some(hash) = hash_of(rest) {
            rest = rest.get(stride..).unwrap_or_default();
            let bit = hash >> shift;
            let word = filter.get(place(bit >> 6));
            if word.is_none_or(|word| word & (1 << (bit & 63)) == 0) {
                continue;
            }
            if let Some(slot) = seen.get_mut(place(hash >> 28))
                && *slot != Some(hash)
            {
                *slot = Some(hash);
                add(hash);
            }
        }
    }
}

/// Where the bytes of a key are looked for, and how many rules share the most common of them.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) width: Width,
    pub(super) part: usize,
    at: usize,
    pub(super) stride: usize,
    pub(super) count: u16,
}

impl Window {
    /// The keys of a part: of any text that holds it, one of them stands where the text is looked at.
    pub(super) fn keys(self, part: &[u8]) -> impl Iterator<Item = &[u8]> {
        part.windows(self.width.n_bytes())
            .skip(self.at)
            .take(self.stride)
    }
}

/// The bytes of a rule that few others have: rather such of which a text holds one at every fourth
/// byte than at every second, and rather that than where every byte must be looked at.
pub(super) fn best_window(literals: &Literals, by_gram: &Counts) -> Option<Window> {
    const KINDS: [(Width, usize, u16); 5] = [
        (Width::Four, MOST_STRIDE, FEW_SHARE),
        (Width::Six, MOST_STRIDE, SHARED),
        (Width::Six, 2, SHARED),
        (Width::Four, 2, SHARED),
        (Width::Four, 1, SHARED),
    ];
    let mut best: Option<Window> = None;
    for (width, stride, good_enough) in KINDS {
        for (part_idx, part) in literals.parts().enumerate() {
            let n_bytes = width.n_bytes() - 1 + stride;
            for at in 0..(part.len() + 1).saturating_sub(n_bytes) {
                let mut window = Window {
                    width,
                    part: part_idx,
                    at,
                    stride,
                    count: 0,
                };
                let counts = window
                    .keys(part)
                    .filter_map(|bytes| Some(by_gram.of(width.hash(bytes)?)));
                window.count = counts.max()?;
                if best.is_none_or(|best| window.count < best.count) {
                    best = Some(window);
                }
            }
        }
        if best.is_some_and(|best| best.count <= good_enough) {
            return best;
        }
    }
    best
}

/// How often each hash was seen, or more.
pub(super) struct Counts {
    counts: Vec<u16>,
    shift: u32,
}

impl Counts {
    pub(super) fn new(n: usize) -> Self {
        let bits = bits_for(n.saturating_mul(4));
        Self {
            counts: vec![0; 1 << bits],
            shift: 32 - bits,
        }
    }

    fn slot(&self, hash: u32) -> usize {
        place(hash >> self.shift)
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
