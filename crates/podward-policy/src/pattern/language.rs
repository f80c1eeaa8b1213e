//! Whether some text matches patterns and does not match others, and which text that is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::automaton::{Automaton, Set};
use super::fold::Case;
use super::{Glob, Token};

mod guard;

pub(crate) use guard::Guard;

/// A pattern as a set of texts.
#[derive(Debug)]
pub(crate) struct Language {
    tokens: Vec<Token>,
    n_optional: usize,
    automaton: Automaton,
}

/// The texts that match all patterns of `inside` and none of `outside`.
#[derive(Debug)]
pub(crate) struct Question<'l> {
    pub(crate) inside: &'l [&'l Language],
    pub(crate) outside: &'l [&'l Language],
    pub(crate) guard: Guard,
}

/// What is found of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A shortest text.
    Text(String),
    /// There is none.
    None,
    /// Nothing, up to the bounds of the search.
    Open,
}

/// How much searches may cost, and what they have cost. Costs are counted, not timed.
#[derive(Debug, Clone)]
pub struct Effort {
    /// States of one search.
    most_states: usize,
    /// Steps of one search.
    most_steps: u64,
    /// Steps of all searches so far.
    n_steps: u64,
    /// Steps of all searches together.
    most_in_all: u64,
}

impl Language {
    pub(crate) fn of(glob: &Glob<'_>) -> Self {
        let (tokens, n_optional) = (glob.tokens().to_vec(), glob.n_optional());
        Self {
            automaton: Automaton::new(&tokens, n_optional),
            tokens,
            n_optional,
        }
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    pub(crate) const fn n_optional(&self) -> usize {
        self.n_optional
    }

    /// Whether the pattern is the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.tokens == other.tokens && self.n_optional == other.n_optional
    }

    /// Characters in front that every text has.
    fn front(&self) -> impl Iterator<Item = char> + '_ {
        let needed = self.tokens.len().saturating_sub(self.n_optional);
        self.tokens.iter().take(needed).map_while(Token::literal)
    }

    /// Characters at the end that every text has, the last one first.
    fn back(&self) -> impl Iterator<Item = char> + '_ {
        let counts = self.n_optional == 0;
        let tokens = self.tokens.iter().rev().filter(move |_| counts);
        tokens.map_while(Token::literal)
    }

    /// Whether it is plain that no text matches both.
    pub(crate) fn is_apart_from(&self, other: &Self) -> bool {
        let differs = |(a, b): (char, char)| a != b;
        self.front().zip(other.front()).any(differs) || self.back().zip(other.back()).any(differs)
    }

    /// Whether the pattern is written with characters and `*` only: then every text with holes of
    /// which all fillings match is found to match.
    pub(crate) fn is_plain(&self) -> bool {
        self.tokens
            .iter()
            .all(|token| matches!(token, Token::Char(_) | Token::Star))
    }

    /// Whether something in it may be a run of any length: where nothing is, no text with holes
    /// matches for certain.
    pub(crate) fn has_run(&self) -> bool {
        self.tokens
            .iter()
            .any(|token| matches!(token, Token::Star | Token::Directories | Token::Word(_)))
    }

    /// Whether a class in it holds characters whose case is not told by ASCII alone.
    pub(crate) fn has_foreign_class(&self) -> bool {
        self.tokens.iter().any(|token| match token {
            Token::Class(class) => class
                .ranges
                .iter()
                .any(|(first, last)| !first.is_ascii() || !last.is_ascii()),
            Token::Word(_) => true,
            Token::Char(_) | Token::Any | Token::Star | Token::Directories => false,
        })
    }

    /// Whether a text matches.
    pub(crate) fn has(&self, text: &str) -> bool {
        let automaton = &self.automaton;
        let mut set = automaton.start();
        for c in text.chars() {
            set = automaton.step(&set, c, Case::Exact);
            if set.is_empty() {
                return false;
            }
        }
        automaton.accepts(&set)
    }
}

impl Effort {
    /// Bounds for one question, and for all that are asked with it.
    #[must_use]
    pub const fn new(most_states: usize, most_steps: u64, most_in_all: u64) -> Self {
        Self {
            most_states,
            most_steps,
            n_steps: 0,
            most_in_all,
        }
    }

    /// Steps so far: about one for each pattern that a character is compared with.
    #[must_use]
    pub const fn n_steps(&self) -> u64 {
        self.n_steps
    }

    fn is_over(&self, n_states: usize, since: u64) -> bool {
        n_states > self.most_states
            || self.n_steps - since > self.most_steps
            || self.n_steps > self.most_in_all
    }
}

/// One state of a search: a place of each pattern inside, the live sets of those outside.
#[derive(Debug, Clone)]
struct State {
    key: Key,
    outside: Vec<(usize, Set)>,
    /// How it was reached.
    from: Option<(usize, char)>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    places: Vec<usize>,
    guard: u8,
}

/// Looks for a shortest text.
///
/// The texts of the patterns inside are walked over place by place; with each goes the set of
/// places in which the text so far leaves the patterns outside. A state is passed over where another
/// one has the same places and leaves the others in fewer: what escapes from there escapes from here.
pub(crate) fn find(question: &Question<'_>, effort: &mut Effort) -> Found {
    let inside: Vec<_> = question.inside.iter().map(|one| &one.automaton).collect();
    let outside: Vec<_> = question.outside.iter().map(|one| &one.automaton).collect();
    let alphabet = alphabet(question);
    let since = effort.n_steps;
    let mut search = Search::default();
    let starts = inside.iter().map(|one| one.start());
    let outside_start = outside.iter().map(|one| one.start()).enumerate().collect();
    search.reach(starts.collect(), Guard::START, outside_start, None);
    while let Some(at) = search.open.pop_front() {
        let Some(state) = search.states.get(at).cloned() else {
            continue;
        };
        let places = || state.key.places.iter().zip(&inside);
        let ends = places().all(|(place, one)| one.ends_at(*place));
        let escapes = || {
            let mut live = state.outside.iter();
            live.all(|(idx, set)| !outside.get(*idx).is_some_and(|one| one.accepts(set)))
        };
        if ends && question.guard.accepts(state.key.guard) && escapes() {
            return Found::Text(search.text(at));
        }
        for &c in &alphabet {
            let Some(guard) = question.guard.step(state.key.guard, c) else {
                continue;
            };
            effort.n_steps += 1;
            let sets: Vec<Set> = places()
                .map(|(place, one)| one.step(&one.only(*place), c, Case::Exact))
                .collect();
            if sets.iter().any(Set::is_empty) {
                continue;
            }
            effort.n_steps += u64::try_from(state.outside.len()).unwrap_or(u64::MAX);
            let next = step_all(&outside, &state.outside, c);
            search.reach(sets, guard, next, Some((at, c)));
            if effort.is_over(search.states.len(), since) {
                return Found::Open;
            }
        }
    }
    Found::None
}

fn step_all(outside: &[&Automaton], live: &[(usize, Set)], c: char) -> Vec<(usize, Set)> {
    live.iter()
        .filter_map(|(idx, set)| {
            let next = outside.get(*idx)?.step(set, c, Case::Exact);
            (!next.is_empty()).then_some((*idx, next))
        })
        .collect()
}

#[derive(Debug, Default)]
struct Search {
    states: Vec<State>,
    open: VecDeque<usize>,
    seen: BTreeMap<Key, Vec<usize>>,
}

impl Search {
    /// Adds a state for each choice of one place of each set.
    fn reach(
        &mut self,
        sets: Vec<Set>,
        guard: u8,
        outside: Vec<(usize, Set)>,
        from: Option<(usize, char)>,
    ) {
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for set in &sets {
            choices = choices
                .iter()
                .flat_map(|front| {
                    set.places().map(|place| {
                        let mut places = front.clone();
                        places.push(place);
                        places
                    })
                })
                .collect();
        }
        for places in choices {
            self.add(State {
                key: Key { places, guard },
                outside: outside.clone(),
                from,
            });
        }
    }

    fn add(&mut self, state: State) {
        let with_key = self.seen.entry(state.key.clone()).or_default();
        let states = &self.states;
        let outside_of = |idx: &usize| states.get(*idx).map(|state| &*state.outside);
        if with_key
            .iter()
            .filter_map(outside_of)
            .any(|smaller| is_within(smaller, &state.outside))
        {
            return;
        }
        with_key
            .retain(|idx| outside_of(idx).is_some_and(|larger| !is_within(&state.outside, larger)));
        let at = self.states.len();
        with_key.push(at);
        self.states.push(state);
        self.open.push_back(at);
    }

    fn text(&self, end: usize) -> String {
        let mut text = Vec::new();
        let mut at = end;
        while let Some((before, c)) = self.states.get(at).and_then(|state| state.from) {
            text.push(c);
            at = before;
        }
        text.iter().rev().collect()
    }
}

/// Whether each live set is within the one of the same pattern.
fn is_within(smaller: &[(usize, Set)], larger: &[(usize, Set)]) -> bool {
    let mut rest = larger.iter();
    smaller.iter().all(|(idx, set)| {
        rest.find(|(other, _)| other == idx)
            .is_some_and(|(_, other)| set.is_within(other))
    })
}

/// One character of each kind that the patterns and the guard can tell apart, those that people
/// write first.
fn alphabet(question: &Question<'_>) -> Vec<char> {
    let mut literals: BTreeSet<char> = Guard::LITERALS.iter().copied().collect();
    let mut classes = Vec::new();
    let all = question.inside.iter().chain(question.outside);
    let mut tokens: Vec<&Token> = all.flat_map(|one| one.tokens()).collect();
    while let Some(token) = tokens.pop() {
        match token {
            Token::Char(c) => {
                literals.insert(*c);
            }
            Token::Class(class) => classes.push(class),
            Token::Word(content) => tokens.extend(content.iter()),
            Token::Any | Token::Star | Token::Directories => {}
        }
    }
    classes.dedup_by(|a, b| a == b);
    // Every character that begins an interval in which no class and no guard tells one from another.
    let mut edges: BTreeSet<char> = Guard::EDGES.iter().copied().collect();
    for (first, last) in classes.iter().flat_map(|class| &class.ranges) {
        edges.insert(*first);
        edges.extend((*last..=char::MAX).nth(1));
    }
    let mut kinds: BTreeSet<Vec<bool>> = BTreeSet::new();
    let mut rest = Vec::new();
    let mut offer = |c: char| {
        let kind = classes.iter().map(|class| class.contains(c));
        let kind: Vec<bool> = kind.chain(Guard::kind(c)).collect();
        if kinds.insert(kind) {
            rest.push(c);
        }
    };
    // Of a kind that is not spelled out, a letter is taken before anything else.
    let nice = "xyzabcdefghijklmnopqrstuvw0123456789XYZABCDEFGHIJKLMNOPQRSTUVW_-.".chars();
    nice.filter(|c| !literals.contains(c)).for_each(&mut offer);
    let mut edges = edges.into_iter().peekable();
    while let Some(edge) = edges.next() {
        let end = edges.peek().copied();
        let inside = (edge..=char::MAX).take_while(|c| end.is_none_or(|end| *c < end));
        if let Some(c) = inside.take(256).find(|c| !literals.contains(c)) {
            offer(c);
        }
    }
    let mut alphabet = rest;
    alphabet.extend(literals);
    alphabet
}

#[cfg(test)]
mod tests;
