//! The matcher for texts with holes: all the places in a pattern that some way to fill the holes
//! leads to, at once.
//!
//! For "may" one set of places is enough. For "must" a hole keeps only the places that every
//! filling keeps, the `*`s it may run into; a word that can be written in two ways gives one set
//! for each way, and all of them must match.

use super::fold::Case;
use super::shape::{Item, Language, Piece, Shape};
use super::{Fold, Token};
use crate::text::is_bare;
use crate::work::{Exhausted, Work};

mod nodes;
mod set;

use nodes::{Node, On};
pub(super) use set::Set;

/// More ways to write the words of a text than this, and the match is left open.
const MAX_SETS: usize = 64;

/// A pattern as places and steps between them.
#[derive(Debug)]
pub(crate) struct Automaton {
    nodes: Vec<Node>,
}

impl Automaton {
    /// The automaton of a pattern whose last `n_optional` tokens may be missing.
    pub(super) fn new(tokens: &[Token], n_optional: usize) -> Self {
        Self {
            nodes: nodes::build(tokens, n_optional),
        }
    }

    /// The places before the first character.
    pub(super) fn start(&self) -> Set {
        let mut set = Set::empty(self.nodes.len());
        set.add(0);
        self.close(&mut set);
        set
    }

    pub(super) fn accepts(&self, set: &Set) -> bool {
        set.has(self.nodes.len().saturating_sub(1))
    }

    /// A single place.
    pub(super) fn only(&self, place: usize) -> Set {
        let mut set = Set::empty(self.nodes.len());
        set.add(place);
        set
    }

    pub(super) fn ends_at(&self, place: usize) -> bool {
        place + 1 == self.nodes.len()
    }

    /// Whether the pattern matches a known text.
    pub(super) fn matches(
        &self,
        text: &str,
        fold: &Fold,
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        let mut set = self.start();
        for (at, c) in text.char_indices() {
            work.spend(set.cost())?;
            set = self.step(&set, c, Case::at(fold, at));
            if set.is_empty() {
                return Ok(false);
            }
        }
        Ok(self.accepts(&set))
    }

    /// Whether the pattern matches a known text up to one of these bytes.
    pub(super) fn matches_head(
        &self,
        text: &str,
        heads: &[usize],
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        let mut heads = heads.iter().copied().peekable();
        let mut set = self.start();
        for (at, c) in text.char_indices() {
            while heads
                .next_if(|head| *head <= at)
                .is_some_and(|head| head == at)
            {
                if self.accepts(&set) {
                    return Ok(true);
                }
            }
            if heads.peek().is_none() || set.is_empty() {
                return Ok(false);
            }
            work.spend(set.cost())?;
            set = self.step(&set, c, Case::at(&(0..0), at));
        }
        Ok(heads.any(|head| head == text.len()) && self.accepts(&set))
    }

    /// Whether some way to fill the holes matches; also true where that is only nearly so.
    pub(super) fn may_match(&self, shape: &Shape, work: &mut Work) -> Result<bool, Exhausted> {
        let mut set = self.start();
        for piece in shape.pieces() {
            set = match piece {
                Piece::One(item) => self.may_follow(&set, item, work)?,
                Piece::Either(variants) => {
                    let mut united = Set::empty(self.nodes.len());
                    for variant in variants {
                        let mut set = set.clone();
                        for item in &variant.items {
                            set = self.may_follow(&set, item, work)?;
                        }
                        united.unite(&set);
                    }
                    united
                }
            };
            if set.is_empty() {
                return Ok(false);
            }
        }
        Ok(self.accepts(&set))
    }

    fn may_follow(&self, set: &Set, item: &Item, work: &mut Work) -> Result<Set, Exhausted> {
        work.spend(set.cost())?;
        match item {
            Item::Char { c, case } => Ok(self.step(set, *c, *case)),
            Item::Hole { language, .. } => self.spread(set, *language, work),
        }
    }

    /// Whether some way to fill the holes matches, in which at least one character of the pattern
    /// that is no wildcard and no blank is met by more than an exempt hole.
    pub(super) fn may_match_beyond_exempt(
        &self,
        shape: &Shape,
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        let nothing = Set::empty(self.nodes.len());
        let mut both = Planes {
            unmet: self.start(),
            met: nothing.clone(),
        };
        for piece in shape.pieces() {
            both = match piece {
                Piece::One(item) => self.planes_follow(&both, item, work)?,
                Piece::Either(variants) => {
                    let mut united = Planes {
                        unmet: nothing.clone(),
                        met: nothing.clone(),
                    };
                    for variant in variants {
                        let mut after = both.clone();
                        for item in &variant.items {
                            after = self.planes_follow(&after, item, work)?;
                        }
                        united.unmet.unite(&after.unmet);
                        united.met.unite(&after.met);
                    }
                    united
                }
            };
        }
        let has_literal = self.nodes.iter().any(Node::is_literal);
        Ok(self.accepts(&both.met) || (!has_literal && self.accepts(&both.unmet)))
    }

    fn planes_follow(
        &self,
        Planes { unmet, met }: &Planes,
        item: &Item,
        work: &mut Work,
    ) -> Result<Planes, Exhausted> {
        work.spend(unmet.cost() + met.cost())?;
        Ok(match item {
            Item::Char { c, case } => {
                let mut met = self.step(met, *c, *case);
                met.unite(&self.step_where(unmet, *c, *case, Node::is_literal));
                Planes {
                    unmet: self.step_where(unmet, *c, *case, |node| !node.is_literal()),
                    met,
                }
            }
            Item::Hole { language, exempt } => {
                let spread = self.spread(unmet, *language, work)?;
                let mut met = self.spread(met, *language, work)?;
                if !exempt {
                    met.unite(&spread);
                }
                Planes { unmet: spread, met }
            }
        })
    }

    /// Whether every way to fill the holes matches; never true where one does not.
    pub(super) fn must_match(&self, shape: &Shape, work: &mut Work) -> Result<bool, Exhausted> {
        let mut sets = vec![self.start()];
        for piece in shape.pieces() {
            match piece {
                Piece::One(item) => {
                    for set in &mut sets {
                        *set = self.must_follow(set, item, work)?;
                    }
                }
                Piece::Either(variants) => {
                    let mut next = Vec::with_capacity(sets.len() * variants.len());
                    for set in &sets {
                        for variant in variants.iter().filter(|variant| variant.is_certain) {
                            let mut set = set.clone();
                            for item in &variant.items {
                                set = self.must_follow(&set, item, work)?;
                            }
                            next.push(set);
                        }
                    }
                    sets = next;
                }
            }
            smallest(&mut sets);
            if sets.len() > MAX_SETS || sets.iter().any(Set::is_empty) {
                return Ok(false);
            }
        }
        Ok(sets.iter().all(|set| self.accepts(set)))
    }

    fn must_follow(&self, set: &Set, item: &Item, work: &mut Work) -> Result<Set, Exhausted> {
        work.spend(set.cost())?;
        Ok(match item {
            Item::Char { c, case } => self.step(set, *c, *case),
            Item::Hole { language, .. } => self.keep(set, *language),
        })
    }

    /// The places after one more character.
    pub(super) fn step(&self, set: &Set, c: char, case: Case) -> Set {
        self.step_where(set, c, case, |_| true)
    }

    fn step_where(&self, set: &Set, c: char, case: Case, counts: impl Fn(&Node) -> bool) -> Set {
        let counted = self.nodes_of(set).filter(|(_, node)| counts(node));
        self.advance(counted, |on| on.fits(c, case))
    }

    /// The places behind these by a character that fits.
    fn advance<'s>(
        &'s self,
        places: impl Iterator<Item = (usize, &'s Node)>,
        fits: impl Fn(&On) -> bool,
    ) -> Set {
        let mut next = Set::empty(self.nodes.len());
        for (place, node) in places {
            match node {
                Node::Step { on, next: to } if fits(on) => next.add(*to),
                Node::Loop { on } if fits(on) => next.add(place),
                Node::Directories => {
                    next.add(place);
                    if fits(&On::Char('/')) {
                        next.add(place + 1);
                    }
                }
                Node::Step { .. }
                | Node::Loop { .. }
                | Node::Fork { .. }
                | Node::Jump { .. }
                | Node::Accept => {}
            }
        }
        self.close(&mut next);
        next
    }

    /// All places that some filling of a hole leads to.
    fn spread(&self, set: &Set, language: Language, work: &mut Work) -> Result<Set, Exhausted> {
        let mut all = match language {
            // The first character of a name has a rule of its own.
            Language::Name { may_begin_with_dot } => self.advance(self.nodes_of(set), |on| {
                on.may_be_in_name() && (may_begin_with_dot || !on.is_only('.'))
            }),
            Language::All | Language::Bare | Language::Quoted => set.clone(),
        };
        loop {
            work.spend(all.cost())?;
            let mut more = self.advance(self.nodes_of(&all), |on| on.may_be_in(language));
            if language == Language::Quoted {
                let quoted_quote = ['\'', '\\', '\'', '\'']
                    .into_iter()
                    .fold(all.clone(), |set, c| self.step(&set, c, Case::Exact));
                more.unite(&quoted_quote);
            }
            if more.is_within(&all) {
                all.unite(set);
                return Ok(all);
            }
            all.unite(&more);
        }
    }

    /// The places that every filling of a hole keeps.
    fn keep(&self, set: &Set, language: Language) -> Set {
        let mut kept = Set::empty(self.nodes.len());
        for (place, node) in self.nodes_of(set) {
            let keeps = match node {
                Node::Loop { on } => on.holds_all_of(language),
                Node::Directories => true,
                Node::Step { .. } | Node::Fork { .. } | Node::Jump { .. } | Node::Accept => false,
            };
            if keeps {
                kept.add(place);
            }
        }
        self.close(&mut kept);
        kept
    }

    /// Adds the places that are reached without a character. Those steps only lead forward.
    fn close(&self, set: &mut Set) {
        let mut from = 0;
        while let Some(place) = set.next_place(from) {
            from = place + 1;
            let Some(node) = self.nodes.get(place) else {
                return;
            };
            match node {
                Node::Loop { .. } => set.add(place + 1),
                Node::Fork { other } => {
                    set.add(place + 1);
                    set.add(*other);
                }
                Node::Jump { to } => set.add(*to),
                Node::Step { .. } | Node::Directories | Node::Accept => {}
            }
        }
    }

    fn nodes_of<'s>(&'s self, set: &'s Set) -> impl Iterator<Item = (usize, &'s Node)> {
        set.places()
            .filter_map(|place| Some((place, self.nodes.get(place)?)))
    }
}

/// Places by whether something known has met a literal of the pattern on the way.
#[derive(Debug, Clone)]
struct Planes {
    unmet: Set,
    met: Set,
}

/// Leaves only sets that hold no other one: what the smallest match, all match.
fn smallest(sets: &mut Vec<Set>) {
    if sets.len() < 2 {
        return;
    }
    sets.sort_unstable_by_key(Set::n_places);
    let mut kept: Vec<Set> = Vec::with_capacity(sets.len());
    for set in sets.drain(..) {
        if !kept.iter().any(|smaller| smaller.is_within(&set)) {
            kept.push(set);
        }
    }
    *sets = kept;
}

impl On {
    fn fits(&self, c: char, case: Case) -> bool {
        match self {
            Self::Char(p) => case.same(*p, c),
            Self::Any => true,
            Self::Class(class) => case.contains(class, c),
            Self::Bare => is_bare(c),
            Self::BareClass(class) => is_bare(c) && case.contains(class, c),
            Self::Quoted => c != '\'',
            Self::QuotedClass(class) => c != '\'' && case.contains(class, c),
        }
    }

    /// Whether some character of a hole's language may fit.
    fn may_be_in(&self, language: Language) -> bool {
        match (language, self) {
            (Language::All, _) => true,
            (Language::Bare, Self::Char(c)) => is_bare(*c),
            (Language::Quoted, Self::Char(c)) => *c != '\'',
            (Language::Bare | Language::Quoted, _) => true,
            (Language::Name { .. }, _) => self.may_be_in_name(),
        }
    }

    fn may_be_in_name(&self) -> bool {
        !self.is_only('/')
    }

    fn is_only(&self, c: char) -> bool {
        matches!(self, Self::Char(p) if *p == c)
    }

    /// Whether a run of this takes in every text of a hole's language.
    fn holds_all_of(&self, language: Language) -> bool {
        match self {
            Self::Any => true,
            Self::Bare => language == Language::Bare,
            // `'\''` leads back to the same run.
            Self::Quoted => matches!(language, Language::Bare | Language::Quoted),
            Self::Char(_) | Self::Class(_) | Self::BareClass(_) | Self::QuotedClass(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
