//! What can be told of a pattern and a text with holes before all ways to fill them are walked.

use super::fold::Case;
use super::placing::find;
use super::{Glob, Hit};
use crate::text::{Hole, Text, is_bare};
use crate::work::{Exhausted, Work};

/// Between what the hit of a pattern on a text with holes lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) least: Hit,
    pub(crate) most: Hit,
}

impl Bounds {
    /// Nothing can be told.
    pub(crate) const OPEN: Self = Self {
        least: Hit::No,
        most: Hit::Must,
    };

    /// The hit, if there is only one.
    pub(crate) fn settled(self) -> Option<Hit> {
        (self.least == self.most).then_some(self.least)
    }
}

impl Glob<'_> {
    /// Between what the hit lies: every filling matches only if an odd one does; some filling matches
    /// if the whole pattern can stand in a hole that counts.
    pub(crate) fn bounds(
        &self,
        text: &Text,
        counts: impl Fn(&Hole) -> bool,
        work: &mut Work,
    ) -> Result<Bounds, Exhausted> {
        let holes = text.holes();
        if holes.is_empty() {
            return Ok(Bounds::OPEN);
        }
        let filled = text.filled();
        let in_any_case = 0..filled.len();
        let may_all_match = self.matches(&filled, &in_any_case, work)?;
        let is_open = self
            .as_written()
            .is_some_and(|(pattern, _)| pattern.starts_with('*') && pattern.ends_with('*'));
        let takes_any = |hole: &Hole| hole.kind.is_expansion() && counts(hole);
        Ok(Bounds {
            least: match is_open && holes.iter().any(takes_any) {
                true => Hit::May,
                false => Hit::No,
            },
            most: match may_all_match {
                true => Hit::Must,
                false => Hit::May,
            },
        })
    }

    /// Whether a known character of a text may stand where the pattern has one that is written out
    /// and no blank; true where that is not plain to see.
    pub(crate) fn may_meet_known(&self, text: &Text, work: &mut Work) -> Result<bool, Exhausted> {
        let known = text.known_part();
        let Some((pattern, _)) = self.as_written() else {
            return Ok(true);
        };
        // The `/` of `**/` is a part of the wildcard.
        let pieces = pattern.split("**/");
        let pieces = pieces.flat_map(|pieces| pieces.split(['*', '?']));
        let mut pieces = pieces
            .filter(|piece| piece.bytes().any(is_literal))
            .peekable();
        if pieces.peek().is_none() || !pattern.is_ascii() || !known.is_ascii() {
            return Ok(true);
        }
        for piece in pieces {
            for part in text.known_parts() {
                if may_overlap(piece.as_bytes(), part.as_bytes(), work)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

const fn is_literal(byte: u8) -> bool {
    is_bare(byte as char)
}

/// Whether a piece of a pattern can be laid over a part of a text, or over one of its ends, so that
/// they agree in any case, in more than blanks.
fn may_overlap(piece: &[u8], part: &[u8], work: &mut Work) -> Result<bool, Exhausted> {
    let has_literal = |bytes: &[u8]| bytes.iter().copied().any(is_literal);
    let (shorter, longer) = match piece.len() < part.len() {
        true => (piece, part),
        false => (part, piece),
    };
    if has_literal(shorter) && find(shorter, Case::Ignored, longer, work)?.is_some() {
        return Ok(true);
    }
    // The last bytes of one are the first ones of the other.
    let meet = |one: &[u8], other: &[u8], n: usize| {
        let last = one.get(one.len() - n..).unwrap_or_default();
        let first = other.get(..n).unwrap_or_default();
        last.eq_ignore_ascii_case(first) && has_literal(last)
    };
    work.spend(shorter.len())?;
    Ok((1..shorter.len()).any(|n| meet(piece, part, n) || meet(part, piece, n)))
}

#[cfg(test)]
mod tests;
