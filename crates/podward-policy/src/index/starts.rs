//! What the texts of each rule begin with: for texts of which a part is not known.

use super::literals::Held;

/// Bytes of a start that count.
const N_BYTES: usize = 8;

/// The start of each rule's texts.
#[derive(Debug, Default)]
pub(super) struct Starts {
    ids: Box<[u32]>,
    /// In lower case, from the lowest byte on; 0 stands behind the end.
    firsts: Box<[u64]>,
}

/// What is known of how a text begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    first: u64,
    /// The bits that are known.
    known: u64,
}

/// The rules of a group, in order, of which some text begins like one of these.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    rules: &'a Starts,
    starts: Vec<Start>,
    at: usize,
}

impl Start {
    pub(super) fn of(text: &str) -> Self {
        let (mut first, mut known) = ([0; N_BYTES], [0; N_BYTES]);
        for ((slot, known), byte) in first.iter_mut().zip(&mut known).zip(text.bytes()) {
            *slot = byte.to_ascii_lowercase();
            *known = u8::MAX;
        }
        let [first, known] = [first, known].map(u64::from_le_bytes);
        Self { first, known }
    }
}

/// The first bytes, and 0 behind their end.
fn first_of(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(first) => u64::from_le_bytes(*first),
        None => bytes
            .iter()
            .rev()
            .fold(0, |first, byte| first << 8 | u64::from(*byte)),
    }
}

impl Starts {
    pub(super) fn new(held: &Held) -> Self {
        let firsts = held.iter().map(|(_, literals)| first_of(literals.prefix));
        Self {
            ids: held.iter().map(|(id, _)| id).collect(),
            firsts: firsts.collect(),
        }
    }

    /// The rules of which some text begins like one of these.
    pub(super) const fn scan(&self, starts: Vec<Start>) -> Scan<'_> {
        Scan {
            rules: self,
            starts,
            at: 0,
        }
    }
}

impl Scan<'_> {
    /// The next rule.
    pub(super) fn head(&mut self) -> Option<u32> {
        let left = self.rules.firsts.get(self.at..)?;
        let n_passed = left.iter().position(|first| self.fits(*first));
        self.at += n_passed.unwrap_or(left.len());
        self.rules.ids.get(self.at).copied()
    }

    fn fits(&self, first: u64) -> bool {
        // What stands behind the end of the rule's start may be anything.
        let fixed = u64::MAX.checked_shr(first.leading_zeros() / 8 * 8);
        let fixed = fixed.unwrap_or_default();
        let differ = |start: &Start| (first ^ start.first) & start.known & fixed;
        self.starts.iter().any(|start| differ(start) == 0)
    }

    /// Goes on behind a rule.
    pub(super) fn pass(&mut self, id: u32) {
        if self.rules.ids.get(self.at) == Some(&id) {
            self.at += 1;
        }
    }
}
