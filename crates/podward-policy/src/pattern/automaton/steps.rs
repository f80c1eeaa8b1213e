//! Which places of an automaton a character leads on from: 64 of them at once.

use super::nodes::{Node, On};
use super::set::Set;
use crate::pattern::fold::Case;

/// The places of an automaton by what becomes of them, 64 by 64.
#[derive(Debug)]
pub(super) struct Steps {
    words: Box<[Word]>,
}

/// A bit for each of 64 places.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// One character, then the next place.
    on: u64,
    /// One character, then another place.
    jumps: u64,
    loops: u64,
    directories: u64,
    /// Loops behind which nothing is reached without a character but the next place, of the same 64.
    plain_loops: u64,
    /// All other places from which one is reached without a character.
    silent: u64,
    /// A literal of the pattern.
    pub(super) literals: u64,
    /// Any character leads on from them.
    any: u64,
    /// Each is asked by itself, for its character or class may be any.
    odd: u64,
    /// The others, by the ASCII character that leads on from them.
    ascii: [u64; 128],
}

impl Word {
    const EMPTY: Self = Self {
        on: 0,
        jumps: 0,
        loops: 0,
        directories: 0,
        plain_loops: 0,
        silent: 0,
        literals: 0,
        any: 0,
        odd: 0,
        ascii: [0; 128],
    };

    /// Files a place, of which `behind` is the next one.
    fn add(&mut self, place: usize, node: &Node, behind: Option<&Node>) {
        let bit = 1 << (place % 64);
        if node.is_literal() {
            self.literals |= bit;
        }
        match node {
            Node::Step { on, next } if *next == place + 1 => {
                self.on |= bit;
                self.add_character(bit, on);
            }
            Node::Step { .. } => self.jumps |= bit,
            Node::Loop { on } => {
                self.loops |= bit;
                self.add_character(bit, on);
                match behind {
                    Some(Node::Step { .. } | Node::Directories | Node::Accept)
                        if place % 64 != 63 =>
                    {
                        self.plain_loops |= bit;
                    }
                    _ => self.silent |= bit,
                }
            }
            Node::Directories => self.directories |= bit,
            Node::Fork { .. } | Node::Jump { .. } => self.silent |= bit,
            Node::Accept => {}
        }
    }

    fn add_character(&mut self, bit: u64, on: &On) {
        let ascii = match on {
            On::Any => {
                self.any |= bit;
                return;
            }
            On::Char(c) => ascii(*c).and_then(|c| self.ascii.get_mut(c)),
            On::Class(_) | On::Bare | On::BareClass(_) | On::Quoted | On::QuotedClass(_) => None,
        };
        *ascii.unwrap_or(&mut self.odd) |= bit;
    }

    /// Those that an ASCII character leads on from, without those that are asked by themselves.
    fn fitting(&self, c: usize, case: Case) -> u64 {
        let of = |c: usize| self.ascii.get(c).copied().unwrap_or_default();
        let in_other_case = match (case, c | 0x20) {
            (Case::Ignored, 0x61..=0x7a) => of(c ^ 0x20),
            (Case::Ignored | Case::Exact, _) => 0,
        };
        self.any | of(c) | in_other_case
    }

    /// The places behind some of these by one more character; `idx` tells which 64 they are.
    #[inline]
    pub(super) fn after(
        &self,
        nodes: &[Node],
        idx: usize,
        set: u64,
        (c, case): (char, Case),
    ) -> After {
        // A letter of another alphabet may be the other case of one of ASCII.
        let (mut fitting, asked) = match ascii(c) {
            Some(c) => (self.fitting(c, case), set & self.odd),
            None => (self.any, set & !self.any),
        };
        if asked != 0 {
            fitting |= asked_one_by_one(nodes, idx, asked, (c, case));
        }
        fitting &= set;
        let directories = set & self.directories;
        let on = fitting & self.on | if c == '/' { directories } else { 0 };
        let places = on << 1 | directories | fitting & self.loops;
        After {
            places: places | (places & self.plain_loops) << 1,
            carry: on >> 63,
            is_whole: set & self.jumps | places & self.silent == 0,
        }
    }
}

/// Where one more character leads.
pub(super) struct After {
    pub(super) places: u64,
    /// The first place of the next 64.
    carry: u64,
    /// Nothing else is reached, by a jump or without a character.
    pub(super) is_whole: bool,
}

fn ascii(c: char) -> Option<usize> {
    c.is_ascii().then_some(usize::try_from(u32::from(c)).ok()?)
}

impl Steps {
    pub(super) fn of(nodes: &[Node]) -> Self {
        let mut words = vec![Word::EMPTY; nodes.len().div_ceil(64).max(1)];
        for (place, node) in nodes.iter().enumerate() {
            if let Some(word) = words.get_mut(place / 64) {
                word.add(place, node, nodes.get(place + 1));
            }
        }
        Self {
            words: words.into_boxed_slice(),
        }
    }

    pub(super) fn has_literals(&self) -> bool {
        self.words.iter().any(|word| word.literals != 0)
    }

    /// A set without literals of the pattern, and those of it.
    pub(super) fn without_literals(&self, set: &Set) -> (Set, Set) {
        let literals = |idx: usize| self.words.get(idx).map_or(0, |word| word.literals);
        (
            set.map_words(|idx, set| set & !literals(idx)),
            set.map_words(|idx, set| set & literals(idx)),
        )
    }

    /// The only word, where no pattern of more places needs others.
    pub(super) const fn only(&self) -> Option<&Word> {
        match &*self.words {
            [word] => Some(word),
            _ => None,
        }
    }

    /// The places behind those of a set by one more character, with those that are reached without one.
    pub(super) fn after(&self, nodes: &[Node], set: &Set, c: char, case: Case) -> Set {
        let mut carry = 0;
        let mut is_whole = true;
        let mut words = self.words.iter();
        let mut next = set.map_words(|idx, set| {
            let Some(word) = words.next() else {
                return 0;
            };
            let after = word.after(nodes, idx, set, (c, case));
            is_whole &= after.is_whole;
            let next = after.places | carry;
            carry = after.carry;
            // What is carried is the first place.
            is_whole &= carry == 0;
            next
        });
        if !is_whole {
            self.jump(nodes, set, c, case, &mut next);
            close(nodes, &mut next);
        }
        next
    }

    #[cold]
    fn jump(&self, nodes: &[Node], set: &Set, c: char, case: Case, next: &mut Set) {
        let jumps = |idx: usize| self.words.get(idx).map_or(0, |word| word.jumps);
        let jumping = set.map_words(|idx, set| set & jumps(idx));
        for place in jumping.places() {
            if let Some(Node::Step { next: to, on }) = nodes.get(place)
                && on.fits(c, case)
            {
                next.add(*to);
            }
        }
    }
}

/// Adds the places that are reached without a character. Those steps only lead forward.
pub(super) fn close(nodes: &[Node], set: &mut Set) {
    let mut from = 0;
    while let Some(place) = set.next_place(from) {
        from = place + 1;
        match nodes.get(place) {
            Some(Node::Loop { .. }) => set.add(place + 1),
            Some(Node::Fork { other }) => {
                set.add(place + 1);
                set.add(*other);
            }
            Some(Node::Jump { to }) => set.add(*to),
            Some(Node::Step { .. } | Node::Directories | Node::Accept) | None => {}
        }
    }
}

#[cold]
fn asked_one_by_one(nodes: &[Node], idx: usize, asked: u64, (c, case): (char, Case)) -> u64 {
    let mut fitting = 0;
    for bit in 0..64 {
        let is_asked = asked >> bit & 1 != 0;
        let fits = |node: &Node| match node {
            Node::Step { on, .. } | Node::Loop { on } => on.fits(c, case),
            Node::Directories | Node::Fork { .. } | Node::Jump { .. } | Node::Accept => false,
        };
        if is_asked && nodes.get(idx * 64 + bit).is_some_and(fits) {
            fitting |= 1 << bit;
        }
    }
    fitting
}
