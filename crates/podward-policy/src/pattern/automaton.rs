//! The matcher for texts with holes: all the places in a pattern that some way to fill the holes
//! leads to, at once.
//!
//! For "may" one set of places is enough. For "must" a hole keeps only the places that every
//! filling keeps, the `*`s it may run into; a word that can be written in two ways gives one set
//! for each way, and all of them must match.

use super::fold::Case;
use super::shape::{Item, Known, Language, Piece, Shape};
use super::{Fold, Token};
use crate::text::is_bare;
use crate::work::{Exhausted, Work};

mod nodes;
mod set;
mod steps;

use nodes::{Node, On};
pub(super) use set::Set;
use steps::{Steps, Word};

/// More ways to write the words of a text than this, and the match is left open.
const MAX_SETS: usize = 64;

/// A pattern as places and steps between them.
#[derive(Debug)]
pub(crate) struct Automaton {
    nodes: Vec<Node>,
    steps: Steps,
}

impl Automaton {
    /// The automaton of a pattern whose last `n_optional` tokens may be missing.
    pub(super) fn new(tokens: &[Token], n_optional: usize) -> Self {
        let nodes = nodes::build(tokens, n_optional);
        Self {
            steps: Steps::of(&nodes),
            nodes,
        }
    }

    /// The places before the first character.
    pub(super) fn start(&self) -> Set {
        let mut set = Set::empty(self.nodes.len());
        set.add(0);
        self.close(&mut set);
        set
    }

    /// The place at the end of the pattern that takes in everything that follows.
    fn open_end(&self) -> Option<usize> {
        match &*self.nodes {
            [.., Node::Loop { on: On::Any }, Node::Accept] => Some(self.nodes.len() - 2),
            _ => None,
        }
    }

    fn accepts_all(&self, set: &Set) -> bool {
        self.open_end().is_some_and(|place| set.has(place))
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
        let known = Known { text, at: 0, fold };
        let after = self.after_known(self.all_met(self.start()), known, work)?;
        Ok(self.accepts(&after.met))
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
            work.spend(set.n_words())?;
            set = self.step(&set, c, Case::Exact);
        }
        Ok(heads.any(|head| head == text.len()) && self.accepts(&set))
    }

    /// Whether some way to fill the holes matches; also true where that is only nearly so.
    pub(super) fn may_match(&self, shape: &Shape<'_>, work: &mut Work) -> Result<bool, Exhausted> {
        let start = self.all_met(self.start());
        self.may_match_from(start, shape, work)
    }

    /// Whether some way to fill the holes matches, in which at least one character of the pattern
    /// that is no wildcard and no blank is met by more than an exempt hole.
    pub(super) fn may_match_beyond_exempt(
        &self,
        shape: &Shape<'_>,
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        let start = match self.steps.has_literals() {
            true => Planes {
                unmet: self.start(),
                met: self.nothing(),
            },
            false => self.all_met(self.start()),
        };
        self.may_match_from(start, shape, work)
    }

    fn may_match_from(
        &self,
        start: Planes,
        shape: &Shape<'_>,
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        let mut planes = start;
        for piece in shape.pieces() {
            planes = match piece {
                Piece::Known(known) => self.after_known(planes, shape.known(known), work)?,
                Piece::Hole(item) => self.may_follow(planes, item, work)?,
                Piece::Either(variants) => {
                    let mut united = self.all_met(self.nothing());
                    for variant in variants {
                        let mut after = planes.clone();
                        for item in &variant.items {
                            after = self.may_follow(after, item, work)?;
                        }
                        united.unmet.unite(&after.unmet);
                        united.met.unite(&after.met);
                    }
                    united
                }
            };
            if self.is_settled(&planes) {
                break;
            }
        }
        Ok(self.accepts(&planes.met))
    }

    fn may_follow(
        &self,
        planes: Planes,
        item: &Item,
        work: &mut Work,
    ) -> Result<Planes, Exhausted> {
        work.spend(2 * planes.met.n_words())?;
        Ok(match item {
            Item::Char { c, case } => self.after_one(planes, *c, *case),
            Item::Hole { language, exempt } => {
                let unmet = self.spread(&planes.unmet, *language, work)?;
                let mut met = self.spread(&planes.met, *language, work)?;
                if !exempt {
                    met.unite(&unmet);
                }
                Planes { unmet, met }
            }
        })
    }

    fn nothing(&self) -> Set {
        Set::empty(self.nodes.len())
    }

    fn all_met(&self, met: Set) -> Planes {
        let unmet = self.nothing();
        Planes { unmet, met }
    }

    /// Whether what follows changes nothing.
    fn is_settled(&self, Planes { unmet, met }: &Planes) -> bool {
        (unmet.is_empty() && met.is_empty()) || self.accepts_all(met)
    }

    /// The places after some known text.
    fn after_known(
        &self,
        planes: Planes,
        known: Known<'_>,
        work: &mut Work,
    ) -> Result<Planes, Exhausted> {
        if let Some(word) = self.steps.only() {
            return self.after_known_in(word, &planes, known, work);
        }
        let mut planes = planes;
        for (c, case) in known.chars() {
            if self.is_settled(&planes) {
                break;
            }
            work.spend(planes.met.n_words())?;
            planes = self.after_one(planes, c, case);
        }
        Ok(planes)
    }

    /// The same with no more than 64 places.
    fn after_known_in(
        &self,
        word: &Word,
        Planes { unmet, met }: &Planes,
        known: Known<'_>,
        work: &mut Work,
    ) -> Result<Planes, Exhausted> {
        let open_end = self.open_end().map_or(0, |place| 1 << place);
        let step = |set: u64, at: (char, Case)| match set {
            0 => 0,
            set => {
                let after = word.after(&self.nodes, 0, set, at);
                match after.is_whole {
                    true => after.places,
                    false => self.step(&Set::of_first(set), at.0, at.1).first(),
                }
            }
        };
        let (mut unmet, mut met) = (unmet.first(), met.first());
        let mut n_steps = 0;
        for at in known.chars() {
            if unmet | met == 0 || met & open_end != 0 {
                break;
            }
            n_steps += 1;
            met = step(met | unmet & word.literals, at);
            unmet = step(unmet & !word.literals, at);
        }
        work.spend(n_steps)?;
        Ok(Planes {
            unmet: Set::of_first(unmet),
            met: Set::of_first(met),
        })
    }

    /// The places after one more character.
    fn after_one(&self, Planes { unmet, met }: Planes, c: char, case: Case) -> Planes {
        let (unmet, now_met) = self.steps.without_literals(&unmet);
        let after = |set: Set| match set.is_empty() {
            true => set,
            false => self.step(&set, c, case),
        };
        let mut met = met;
        met.unite(&now_met);
        Planes {
            unmet: after(unmet),
            met: after(met),
        }
    }

    /// Whether every way to fill the holes matches; never true where one does not.
    pub(super) fn must_match(&self, shape: &Shape, work: &mut Work) -> Result<bool, Exhausted> {
        let mut sets = vec![self.start()];
        for piece in shape.pieces() {
            match piece {
                Piece::Known(known) => {
                    for set in &mut sets {
                        let before = self.all_met(set.clone());
                        *set = self.after_known(before, shape.known(known), work)?.met;
                    }
                }
                Piece::Hole(item) => {
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
            if sets.iter().all(|set| self.accepts_all(set)) {
                return Ok(true);
            }
        }
        Ok(sets.iter().all(|set| self.accepts(set)))
    }

    fn must_follow(&self, set: &Set, item: &Item, work: &mut Work) -> Result<Set, Exhausted> {
        work.spend(set.n_words())?;
        Ok(match item {
            Item::Char { c, case } => self.step(set, *c, *case),
            Item::Hole { language, .. } => self.keep(set, *language),
        })
    }

    /// The places after one more character.
    pub(super) fn step(&self, set: &Set, c: char, case: Case) -> Set {
        self.steps.after(&self.nodes, set, c, case)
    }

    /// All places that some filling of a hole leads to.
    fn spread(&self, set: &Set, language: Language, work: &mut Work) -> Result<Set, Exhausted> {
        let mut all = match language {
            // The first character of a name has a rule of its own.
            Language::Name { .. } => self.begin_name(set, language),
            Language::All | Language::Bare | Language::Quoted => set.clone(),
        };
        loop {
            work.spend(all.cost())?;
            let before = all.clone();
            self.fill(&mut all, language);
            if language == Language::Quoted {
                let quoted_quote = ['\'', '\\', '\'', '\'']
                    .into_iter()
                    .fold(all.clone(), |set, c| self.step(&set, c, Case::Exact));
                all.unite(&quoted_quote);
            }
            if all == before {
                all.unite(set);
                return Ok(all);
            }
        }
    }

    /// The places after the first character of a file's name.
    fn begin_name(&self, set: &Set, language: Language) -> Set {
        let mut next = Set::empty(self.nodes.len());
        for (place, node) in self.nodes_of(set) {
            match node {
                Node::Step { on, next: to } if on.may_begin(language) => next.add(*to),
                Node::Loop { on } if on.may_begin(language) => next.add(place),
                Node::Directories => next.add(place),
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

    /// Adds the places behind those of a set by what may stand in a hole. Most steps only lead forward.
    fn fill(&self, set: &mut Set, language: Language) {
        let mut from = 0;
        while let Some(place) = set.next_place(from) {
            from = place + 1;
            match self.nodes.get(place) {
                Some(Node::Step { on, next }) if on.may_be_in(language) => set.add(*next),
                Some(Node::Directories) if On::Char('/').may_be_in(language) => set.add(place + 1),
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

    /// Adds the places that are reached without a character.
    fn close(&self, set: &mut Set) {
        steps::close(&self.nodes, set);
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

    /// Whether a hole's text may begin with a character that fits.
    fn may_begin(&self, language: Language) -> bool {
        let is_dot_barred = match language {
            Language::Name { may_begin_with_dot } => !may_begin_with_dot,
            Language::All | Language::Bare | Language::Quoted => false,
        };
        self.may_be_in(language) && !(is_dot_barred && self.is_only('.'))
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
