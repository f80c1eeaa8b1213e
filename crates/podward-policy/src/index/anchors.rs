//! Rules filed under a piece of text that every text they match holds.

use super::found::{Found, as_index};
use super::grams::{self, Counts, Pieces, Stride, Window, bits_for};
use super::literals::{Held, Literals};

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
    /// The hash of a key, and a rule: in buckets, by how the hash begins.
    pairs: Box<[(u32, u32)]>,
    /// Where each bucket begins among the pairs.
    buckets: Box<[u32]>,
    shift: u32,
    /// Lengths of keys, as bits from 1 on.
    prefix_lengths: u64,
    suffix_lengths: u64,
    /// Some key stands at a fourth byte.
    has_grams: bool,
    /// Rules with keys that may stand at any byte.
    anywhere: Box<[u32]>,
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
    pub(super) fn new(held: &Held, ends: Ends, pieces: &mut Pieces) -> Self {
        let mut filing = Filing {
            rest: held.unknown().to_vec(),
            pairs: Vec::new(),
            pieces,
            has_grams: false,
            anywhere: Vec::new(),
            prefix_lengths: 0,
            suffix_lengths: 0,
            has_tilde: false,
        };
        if held.n_rules() <= FEW {
            filing.rest.extend(held.iter().map(|(id, _)| id));
            filing.rest.sort_unstable();
            return Self {
                rest: filing.rest.into_boxed_slice(),
                keys: None,
            };
        }
        filing.file_all(held, ends);
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

    /// Whether a text is to be looked at every fourth byte.
    pub(super) fn has_grams(&self) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.has_grams)
    }

    /// The rules for which a text is to be looked at every byte.
    pub(super) fn anywhere(&self) -> &[u32] {
        self.keys.as_ref().map_or(&[], |keys| &keys.anywhere)
    }

    /// Adds the rules that may match a text by how it begins and how it ends.
    pub(super) fn look_up_ends(&self, text: &str, ends: Ends, found: &mut Found) {
        let Some(keys) = &self.keys else {
            return;
        };
        let bytes = text.as_bytes();
        keys.look_up_end(keys.prefix_lengths, SEED_PREFIX, bytes.iter(), found);
        if ends == Ends::Both {
            keys.look_up_end(keys.suffix_lengths, SEED_SUFFIX, bytes.iter().rev(), found);
        }
    }

    /// Adds the rules of a key that stands anywhere.
    pub(super) fn look_up_gram(&self, hash: u32, found: &mut Found) {
        if let Some(keys) = &self.keys {
            keys.add(hash, found);
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
        let (Some(start), Some(end)) = (self.buckets.get(at), self.buckets.get(at + 1)) else {
            return;
        };
        if start == end {
            return;
        }
        let range = as_index(*start)..as_index(*end);
        for (known, id) in self.pairs.get(range).unwrap_or_default() {
            if *known == hash {
                found.push(*id);
            }
        }
    }
}

/// Rules on their way to their keys.
struct Filing<'p> {
    rest: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    /// What keys that stand anywhere begin with.
    pieces: &'p mut Pieces,
    has_grams: bool,
    anywhere: Vec<u32>,
    prefix_lengths: u64,
    suffix_lengths: u64,
    has_tilde: bool,
}

impl Filing<'_> {
    /// A start that few rules share is the best key, then such an end, then what stands between.
    fn file_all(&mut self, held: &Held, ends: Ends) {
        let mut open: Vec<Filed<'_>> = held.iter().map(Filed::new).collect();
        self.pairs.reserve(open.len());
        Filed::count(&mut open, |rule| &mut rule.prefix);
        open.retain(|rule| rule.prefix.n_sharing > SHARED || !self.file_prefix(rule));
        if ends == Ends::Both {
            for rule in &mut open {
                let suffix = rule.literals.suffix();
                rule.suffix = End::new(suffix.len(), SEED_SUFFIX, suffix.iter().rev());
            }
            Filed::count(&mut open, |rule| &mut rule.suffix);
            open.retain(|rule| rule.suffix.n_sharing > SHARED || !self.file_suffix(rule));
        }
        self.file_open(&open);
    }

    /// Files rules that share their ends with many.
    fn file_open(&mut self, open: &[Filed<'_>]) {
        let mut by_gram = Counts::new(open.len().saturating_mul(16));
        for rule in open {
            let grams = rule.literals.parts().flat_map(grams::hashes);
            grams.for_each(|hash| by_gram.add(hash));
        }
        for rule in open {
            let window = by_gram.best_window(rule.literals);
            let [prefix, suffix] = [rule.prefix, rule.suffix].map(|end| end.n_sharing);
            let is_filed = match window {
                Some(window) if window.count <= prefix.min(suffix) => {
                    self.file_grams(rule, window);
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
        let Some(length_bit) = rule.prefix.length_bit() else {
            return false;
        };
        self.prefix_lengths |= length_bit;
        self.pairs.push((rule.prefix.hash, rule.id));
        true
    }

    fn file_suffix(&mut self, rule: &Filed<'_>) -> bool {
        let Some(length_bit) = rule.suffix.length_bit() else {
            return false;
        };
        self.suffix_lengths |= length_bit;
        self.has_tilde |= rule.literals.suffix().contains(&b'~');
        self.pairs.push((rule.suffix.hash, rule.id));
        true
    }

    fn file_grams(&mut self, rule: &Filed<'_>, window: Window) {
        let bytes = window.bytes(rule.literals);
        match window.stride {
            Stride::One => self.anywhere.push(rule.id),
            Stride::Four => self.has_grams = true,
        }
        self.has_tilde |= bytes.contains(&b'~');
        let add = |hash| self.pairs.push((hash, rule.id));
        self.pieces.add(bytes, window.stride, add);
    }

    fn done(mut self) -> Anchored {
        self.rest.sort_unstable();
        let bits = bits_for(self.pairs.len() / 2);
        let shift = 32 - bits;
        let bucket = |hash: u32| as_index(hash >> shift);
        // First how many each holds, then where it ends, at last where it begins.
        let mut buckets = vec![0_u32; (1 << bits) + 1];
        for (hash, _) in &self.pairs {
            if let Some(n) = buckets.get_mut(bucket(*hash)) {
                *n += 1;
            }
        }
        let mut end = 0;
        for start in &mut buckets {
            end += *start;
            *start = end;
        }
        let mut pairs = vec![(0, 0); self.pairs.len()];
        for pair in self.pairs.into_iter().rev() {
            if let Some(start) = buckets.get_mut(bucket(pair.0)) {
                *start -= 1;
                if let Some(slot) = pairs.get_mut(as_index(*start)) {
                    *slot = pair;
                }
            }
        }
        Anchored {
            rest: self.rest.into_boxed_slice(),
            keys: Some(Keys {
                has_grams: self.has_grams,
                anywhere: self.anywhere.into_boxed_slice(),
                pairs: pairs.into_boxed_slice(),
                buckets: buckets.into_boxed_slice(),
                shift,
                prefix_lengths: self.prefix_lengths,
                suffix_lengths: self.suffix_lengths,
                has_tilde: self.has_tilde,
            }),
        }
    }
}

/// A rule on its way to its key.
struct Filed<'h> {
    id: u32,
    literals: Literals<'h>,
    prefix: End,
    suffix: End,
}

/// The start or the end of a rule's texts, as a key.
#[derive(Clone, Copy)]
struct End {
    /// 0: there is none.
    length: usize,
    hash: u32,
    n_sharing: u16,
}

impl End {
    const NONE: Self = Self {
        length: 0,
        hash: 0,
        n_sharing: u16::MAX,
    };

    fn new<'b>(length: usize, seed: u32, bytes: impl Iterator<Item = &'b u8>) -> Self {
        Self {
            length: length.min(LONGEST),
            hash: hash_from(seed, bytes),
            ..Self::NONE
        }
    }

    fn length_bit(self) -> Option<u64> {
        Some(1 << self.length.checked_sub(1)?)
    }
}

impl<'h> Filed<'h> {
    fn new((id, literals): (u32, Literals<'h>)) -> Self {
        let prefix = literals.prefix;
        Self {
            id,
            literals,
            prefix: End::new(prefix.len(), SEED_PREFIX, prefix.iter()),
            suffix: End::NONE,
        }
    }

    /// Finds out how many rules share an end.
    fn count(rules: &mut [Self], end_of: fn(&mut Self) -> &mut End) {
        let mut counts = Counts::new(rules.len());
        for rule in &mut *rules {
            let end = end_of(rule);
            if end.length > 0 {
                counts.add(end.hash);
            }
        }
        for rule in rules {
            let end = end_of(rule);
            if end.length > 0 {
                end.n_sharing = counts.of(end.hash).min(u16::MAX - 1);
            }
        }
    }
}
