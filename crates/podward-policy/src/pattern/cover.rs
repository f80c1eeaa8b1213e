//! Whether one pattern matches every text that another one matches (D1.4).

use std::collections::{BTreeMap, BTreeSet};

use super::automaton::Set;
use super::fold::Case;
use super::{Glob, Token};
use crate::work::{Exhausted, Work};

/// Whether `early` matches every text that `late` matches. False where that is not found out
/// within the work given.
pub(crate) fn covers(early: &Glob<'_>, late: &Glob<'_>, work: &mut Work) -> bool {
    find_cover(early, late, work).unwrap_or(false)
}

fn find_cover(early: &Glob<'_>, late: &Glob<'_>, work: &mut Work) -> Result<bool, Exhausted> {
    work.spend(1)?;
    let early_prefix = early.needed_prefix();
    work.spend(early_prefix.len())?;
    if !late.needed_prefix().starts_with(&*early_prefix) {
        return Ok(false);
    }
    let n_literal = early_prefix.chars().count();
    if let Some([Token::Star]) = early.tokens().get(n_literal..) {
        return Ok(true);
    }
    no_text_escapes(early, late, work)
}

/// Walks over all texts of `late` at once, with the places that each leaves `early` in.
fn no_text_escapes(early: &Glob<'_>, late: &Glob<'_>, work: &mut Work) -> Result<bool, Exhausted> {
    let alphabet = alphabet(early, late);
    let (early, late) = (early.automaton(), late.automaton());
    let mut seen: BTreeMap<usize, Vec<Set>> = BTreeMap::new();
    let mut open: Vec<(usize, Set)> = Vec::new();
    let reach = |places: &Set,
                 set: &Set,
                 seen: &mut BTreeMap<usize, Vec<Set>>,
                 open: &mut Vec<(usize, Set)>| {
        for place in places.places() {
            let sets = seen.entry(place).or_default();
            if sets.iter().any(|smaller| smaller.is_within(set)) {
                continue;
            }
            sets.retain(|larger| !set.is_within(larger));
            sets.push(set.clone());
            open.push((place, set.clone()));
        }
    };
    reach(&late.start(), &early.start(), &mut seen, &mut open);
    while let Some((place, set)) = open.pop() {
        if late.ends_at(place) && !early.accepts(&set) {
            return Ok(false);
        }
        let place = late.only(place);
        for &c in &alphabet {
            work.spend(2 + set.cost() + seen.values().map(Vec::len).sum::<usize>())?;
            let next = late.step(&place, c, Case::Exact);
            if !next.is_empty() {
                reach(
                    &next,
                    &early.step(&set, c, Case::Exact),
                    &mut seen,
                    &mut open,
                );
            }
        }
    }
    Ok(true)
}

/// One character of each kind that two patterns can tell apart.
fn alphabet(early: &Glob<'_>, late: &Glob<'_>) -> BTreeSet<char> {
    let mut edges: BTreeSet<char> = [' ', '\t', '\n', '\'', '"', '\\', '/', '\u{e000}'].into();
    let (early_tokens, late_tokens) = (early.tokens(), late.tokens());
    let mut tokens: Vec<&Token> = early_tokens.iter().chain(&*late_tokens).collect();
    while let Some(token) = tokens.pop() {
        match token {
            Token::Char(c) => {
                edges.insert(*c);
            }
            Token::Class(class) => {
                edges.extend(class.ranges.iter().flat_map(|&(first, last)| [first, last]));
            }
            Token::Word(content) => tokens.extend(content.iter()),
            Token::Any | Token::Star | Token::Directories => {}
        }
    }
    let beside = |c: char| {
        let before = ('\0'..c).next_back();
        let after = (c..=char::MAX).nth(1);
        [before, Some(c), after].into_iter().flatten()
    };
    edges.into_iter().flat_map(beside).collect()
}

#[cfg(test)]
mod tests;
