//! Rules filed under a piece of text that every text they match holds.

use super::found::{Found, place};
use super::grams::{self, Counts, Grams, MOST_STRIDE, Window, best_window, bits_for};
use super::literals::Literals;

/// Groups with no more rules than this are tried in order.
const FEW: usize = 4;

/// A key that more rules share than this is taken only where there is no better one.
pub(super) const SHARED: u16 = 8;

/// Longer starts and ends are cut.
const LONGEST: usize = 64;

/// Where a key stands in the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// At the start, at the end, or between.
    Both,
    /// At the start only.
    Start,
    /// At the start or between: the text may go on.
    Open,
}

/// Some rules of a table.
#[derive(Debug, Default)]
pub(super) struct Anchored {
    /// Those that are always tried, in order.
    rest: Box<[u32]>,
    /// `None`: all are.
    keys: Option<Keys>,
}

#[derive(Debug)]
struct Keys {
    /// The hash of a key, and a rule; sorted.
    pairs: Box<[(u32, u32)]>,
    /// Where the pairs begin whose hash begins like this.
    starts: Box<[u32]>,
    shift: u32,
    /// Lengths of keys, as bits from 1 on.
    prefix_lengths: u64,
    suffix_lengths: u64,
    /// `None`: each key is a start or an end.
    grams: Option<Grams>,
    /// A key that is no start has a `~`.
    has_tilde: bool,
}

const SEED_PREFIX: u32 = 0x811c_9dc5;
const SEED_SUFFIX: u32 = 0x4f2a_91b7;

/// FNV-1a, one byte.
const fn step(hash: u32, byte: u8) -> u32 {
    (hash ^ byte.to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193)
}

/// Spreads a hash over all bits.
const fn mixed(hash: u32) -> u32 {
    let hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    hash ^ (hash >> 13)
}

/// The hash of a whole text.
pub(super) fn hash_of(text: &str) -> u32 {
    mixed(text.bytes().fold(SEED_PREFIX, step))
}

fn hash_from<'b>(seed: u32, bytes: impl Iterator<Item = &'b u8>) -> u32 {
    mixed(
        bytes
            .take(LONGEST)
            .fold(seed, |hash, byte| step(hash, *byte)),
    )
}

impl Anchored {
    /// Files rules by what their texts hold; those of which nothing is known are always tried.
    pub(super) fn new(
        ids: &[u32],
        ends: Ends,
        literals_of: impl Fn(u32) -> Option<Literals>,
    ) -> Self {
        if ids.len() <= FEW {
            return Self {
                rest: ids.into(),
                keys: None,
            };
        }
        let mut filing = Filing::new(ids, ends, literals_of);
        filing.file_all();
        filing.done()
    }

    /// Rules that are always tried, in order.
    pub(super) fn rest(&self) -> &[u32] {
        &self.rest
    }

    /// Whether all are always tried.
    pub(super) const fn is_listed(&self) -> bool {
        self.keys.is_none()
    }

    /// Whether a key that is no start has a `~`.
    pub(super) fn has_tilde(&self) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.has_tilde)
    }

    /// Adds the rules that may match a text.
    pub(super) fn look_up(&self, text: &str, ends: Ends, found: &mut Found) {
        let Some(keys) = &self.keys else {
            return;
        };
        let bytes = text.as_bytes();
        keys.look_up_end(keys.prefix_lengths, SEED_PREFIX, bytes.iter(), found);
        match ends {
            Ends::Start => return,
            Ends::Open => {}
            Ends::Both => {
                keys.look_up_end(keys.suffix_lengths, SEED_SUFFIX, bytes.iter().rev(), found);
            }
        }
        if let Some(grams) = &keys.grams {
            grams.look_up(bytes, |hash| keys.add(hash, found));
        }
    }
}

impl Keys {
    fn look_up_end<'b>(
        &self,
        lengths: u64,
        seed: u32,
        bytes: impl Iterator<Item = &'b u8>,
        found: &mut Found,
    ) {
        let mut hash = seed;
        let mut lengths = lengths;
        for byte in bytes {
            if lengths == 0 {
                return;
            }
            hash = step(hash, *byte);
            if lengths & 1 != 0 {
                self.add(mixed(hash), found);
            }
            lengths >>= 1;
        }
    }

    fn add(&self, hash: u32, found: &mut Found) {
        let Ok(at) = usize::try_from(hash >> self.shift) else {
            return;
        };
        let (Some(start), Some(end)) = (self.starts.get(at), self.starts.get(at + 1)) else {
            return;
        };
        if start == end {
            return;
        }
        let range = place(*start)..place(*end);
        for (known, id) in self.pairs.get(range).unwrap_or_default() {
            if *known == hash {
                found.push(*id);
            }
        }
    }
}

/// Rules on their way to their keys.
struct Filing<'i> {
    ids: &'i [u32],
    ends: Ends,
    literals: Vec<Option<Literals>>,
    rest: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    /// The hashes of keys that stand anywhere, and at every which byte a text is looked at for them.
    grams: Vec<u32>,
    stride: usize,
    prefix_lengths: u64,
    suffix_lengths: u64,
    has_tilde: bool,
}

impl<'i> Filing<'i> {
    fn new(ids: &'i [u32], ends: Ends, literals_of: impl Fn(u32) -> Option<Literals>) -> Self {
        Self {
            ids,
            ends,
            literals: ids.iter().map(|id| literals_of(*id)).collect(),
            rest: Vec::new(),
            pairs: Vec::with_capacity(ids.len()),
            grams: Vec::new(),
            stride: MOST_STRIDE,
            prefix_lengths: 0,
            suffix_lengths: 0,
            has_tilde: false,
        }
    }

    fn file_all(&mut self) {
        let literals = std::mem::take(&mut self.literals);
        let ids = self.ids;
        let mut by_end = Counts::new(ids.len());
        let mut filed: Vec<Filed<'_>> = Vec::with_capacity(ids.len());
        for (id, literals) in ids.iter().zip(&literals) {
            let Some(literals) = literals.as_ref().filter(|literals| !literals.is_empty()) else {
                self.rest.push(*id);
                continue;
            };
            let rule = Filed::new(*id, literals, self.ends);
            for (_, hash) in [rule.prefix, rule.suffix].into_iter().flatten() {
                by_end.add(hash);
            }
            filed.push(rule);
        }
        filed.retain(|rule| match rule.shared_by(&by_end) {
            (prefix, _) if prefix <= SHARED => !self.file_prefix(rule),
            (_, suffix) if suffix <= SHARED => !self.file_suffix(rule),
            _ => true,
        });
        self.file_open(&filed, &by_end);
    }

    /// Files rules that share their ends with many.
    fn file_open(&mut self, open: &[Filed<'_>], by_end: &Counts) {
        let mut by_gram = Counts::new(open.len().saturating_mul(16));
        for rule in open {
            let parts = rule.literals.parts();
            for bytes in parts.flat_map(|part| part.windows(grams::N_BYTES)) {
                by_gram.add(grams::hash_of(bytes).unwrap_or_default());
            }
        }
        for rule in open {
            let window = best_window(rule.literals, &by_gram);
            let (prefix, suffix) = rule.shared_by(by_end);
            let is_filed = match window {
                Some(window) if window.count <= prefix.min(suffix) => {
                    self.file_grams(rule.id, rule.literals, window);
                    true
                }
                _ if prefix <= suffix => self.file_prefix(rule),
                _ => self.file_suffix(rule),
            };
            if !is_filed {
                self.rest.push(rule.id);
            }
        }
    }

    fn file_prefix(&mut self, rule: &Filed<'_>) -> bool {
        let Some((length, hash)) = rule.prefix else {
            return false;
        };
        self.prefix_lengths |= 1 << length.saturating_sub(1);
        self.pairs.push((hash, rule.id));
        true
    }

    fn file_suffix(&mut self, rule: &Filed<'_>) -> bool {
        let Some((length, hash)) = rule.suffix else {
            return false;
        };
        self.suffix_lengths |= 1 << length.saturating_sub(1);
        self.has_tilde |= rule.literals.suffix().contains(&b'~');
        self.pairs.push((hash, rule.id));
        true
    }

    fn file_grams(&mut self, id: u32, literals: &Literals, window: Window) {
        let part = literals.parts().nth(window.part).unwrap_or_default();
        self.stride = window.stride.min(self.stride);
        for bytes in window.keys(part) {
            self.has_tilde |= bytes.contains(&b'~');
            if let Some(hash) = grams::hash_of(bytes) {
                self.pairs.push((hash, id));
                self.grams.push(hash);
            }
        }
    }

    fn done(mut self) -> Anchored {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.rest.sort_unstable();
        let bits = bits_for(self.pairs.len() / 2);
        let shift = 32 - bits;
        let mut starts = vec![0_u32; (1 << bits) + 1];
        let mut filled = 0;
        for (at, (hash, _)) in (0_u32..).zip(&self.pairs) {
            let bucket = place(hash >> shift);
            while filled <= bucket {
                if let Some(start) = starts.get_mut(filled) {
                    *start = at;
                }
                filled += 1;
            }
        }
        let end = u32::try_from(self.pairs.len()).unwrap_or(u32::MAX);
        for start in starts.iter_mut().skip(filled) {
            *start = end;
        }
        let grams = (!self.grams.is_empty()).then(|| Grams::new(self.stride, &self.grams));
        Anchored {
            rest: self.rest.into_boxed_slice(),
            keys: Some(Keys {
                grams,
                pairs: self.pairs.into_boxed_slice(),
                starts: starts.into_boxed_slice(),
                shift,
                prefix_lengths: self.prefix_lengths,
                suffix_lengths: self.suffix_lengths,
                has_tilde: self.has_tilde,
            }),
        }
    }
}

/// A rule on its way to its key: its start and its end, as length and hash; `None` where there is none.
struct Filed<'l> {
    id: u32,
    literals: &'l Literals,
    prefix: Option<(usize, u32)>,
    suffix: Option<(usize, u32)>,
}

impl<'l> Filed<'l> {
    fn new(id: u32, literals: &'l Literals, ends: Ends) -> Self {
        let (prefix, suffix) = (literals.prefix(), literals.suffix());
        let length = |key: &[u8]| key.len().min(LONGEST);
        let has_suffix = ends == Ends::Both && !suffix.is_empty();
        Self {
            id,
            literals,
            prefix: (!prefix.is_empty())
                .then(|| (length(prefix), hash_from(SEED_PREFIX, prefix.iter()))),
            suffix: has_suffix
                .then(|| (length(suffix), hash_from(SEED_SUFFIX, suffix.iter().rev()))),
        }
    }

    /// How many rules share its start, and its end.
    fn shared_by(&self, by_end: &Counts) -> (u16, u16) {
        let count = |key: Option<(usize, u32)>| {
            key.map_or(u16::MAX, |(_, hash)| by_end.of(hash).min(u16::MAX - 1))
        };
        (count(self.prefix), count(self.suffix))
    }
}
