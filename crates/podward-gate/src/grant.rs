//! What was approved for more than one call.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use podward_policy::{Asking, GrantRule, Lowered};

use crate::id::{is_id, refused};

/// The id of a grant: 1 to 64 letters, digits, `_` and `-`; podward makes ULIDs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantId(Arc<str>);

/// A text that can be no grant's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a grant's id: an id has 1 to 64 letters, digits, `_` and `-`")]
pub struct GrantIdError {
    text: String,
}

/// An approval that is remembered: it turns ask into allow for what its rules cover, and does
/// nothing else.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Its id; a grant replaces one with the same.
    pub id: GrantId,
    /// What it covers. A call is covered when each part of it that is asked about is covered by a
    /// rule of some grant.
    pub rules: Vec<GrantRule>,
    /// Unix time in milliseconds from which it counts no more.
    pub expires_at: Option<u64>,
    /// Calls that it may still let run.
    pub uses_left: Option<u32>,
    /// Who gave it.
    pub by: Box<str>,
}

/// Says whether one use of a grant with limited uses may be taken; that is on record when it
/// returns. A grant of which there is none left is forgotten.
pub type TakeUse<'a> = dyn FnMut(&GrantId) -> bool + 'a;

/// The grants that count.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    live: BTreeMap<GrantId, Grant>,
    /// Unix time in milliseconds, as far as it was told.
    now: u64,
    /// When the next of them expires.
    next_expiry: Option<u64>,
    /// How often something was added.
    pub(crate) n_changes: u64,
}

/// What lets a call run.
#[derive(Debug)]
pub(crate) struct Covered {
    /// In the order of the parts that they cover.
    pub(crate) grants: Box<[GrantId]>,
    /// Who gave the last of them.
    pub(crate) by: Box<str>,
}

impl GrantId {
    /// Checks an id.
    ///
    /// # Errors
    /// It is empty, longer than 64 bytes, or has another character.
    pub fn new(text: &str) -> Result<Self, GrantIdError> {
        match is_id(text) {
            true => Ok(Self(text.into())),
            false => Err(GrantIdError {
                text: refused(text),
            }),
        }
    }

    /// The id as people and the logs know it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Grant {
    /// Whether one of its rules covers a part of a call.
    pub(crate) fn covers(&self, asking: &Asking, call: &Lowered) -> bool {
        self.rules.iter().any(|rule| rule.covers(asking, call))
    }

    fn counts_at(&self, now: u64) -> bool {
        self.uses_left != Some(0) && self.expires_at.is_none_or(|end| end > now)
    }
}

impl Grants {
    /// Adds a grant, unless it counts no more.
    pub(crate) fn add(&mut self, grant: Grant) {
        self.n_changes += 1;
        if grant.counts_at(self.now) {
            self.next_expiry = earlier(self.next_expiry, grant.expires_at);
            self.live.insert(grant.id.clone(), grant);
        } else {
            self.live.remove(&grant.id);
        }
    }

    /// Puts other grants in the place of all.
    pub(crate) fn replace(&mut self, grants: Vec<Grant>) {
        self.live.clear();
        self.next_expiry = None;
        for grant in grants {
            self.add(grant);
        }
    }

    pub(crate) fn remove(&mut self, id: &GrantId) -> Option<Grant> {
        self.live.remove(id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.live.values()
    }

    /// Tells the time; it never goes back.
    pub(crate) fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        if self.next_expiry.is_some_and(|end| end <= self.now) {
            self.live.retain(|_, grant| grant.counts_at(self.now));
            let ends = self.live.values().map(|grant| grant.expires_at);
            self.next_expiry = ends.fold(None, earlier);
        }
    }

    /// Lets a call run: a use is taken of each grant that it takes to cover all its parts.
    ///
    /// `None`: some part is not covered; uses that were taken by then stay taken.
    pub(crate) fn use_for(
        &mut self,
        parts: &[Asking],
        call: &Lowered,
        take: &mut TakeUse<'_>,
    ) -> Option<Covered> {
        let mut taken: Vec<GrantId> = Vec::new();
        let grants = loop {
            let Some(grants) = self.covering(parts, call, &taken) else {
                break None;
            };
            let Some(id) = grants.iter().find(|id| !taken.contains(id)).cloned() else {
                break Some(grants);
            };
            if self.take(&id, take) {
                taken.push(id);
            } else {
                self.live.remove(&id);
            }
        };
        let covered = grants.and_then(|grants| {
            let by = self.live.get(grants.last()?)?.by.clone();
            let grants = grants.into();
            Some(Covered { grants, by })
        });
        for id in taken {
            if self
                .live
                .get(&id)
                .is_some_and(|grant| grant.uses_left == Some(0))
            {
                self.live.remove(&id);
            }
        }
        covered
    }

    /// The grants that cover all parts of a call, each once: of two, one of which a use is taken,
    /// then one without limit.
    fn covering(
        &self,
        parts: &[Asking],
        call: &Lowered,
        taken: &[GrantId],
    ) -> Option<Vec<GrantId>> {
        let mut grants: Vec<GrantId> = Vec::new();
        for part in parts {
            if !part.grantable {
                return None;
            }
            let covers = |grant: &&Grant| grant.covers(part, call);
            let live = |id| self.live.get(id);
            if grants.iter().filter_map(live).any(|grant| covers(&grant)) {
                continue;
            }
            let all = || self.live.values();
            let unlimited = all().filter(|grant| grant.uses_left.is_none());
            let limited = all().filter(|grant| grant.uses_left.is_some_and(|left| left > 0));
            let mut known = taken
                .iter()
                .filter_map(live)
                .chain(unlimited)
                .chain(limited);
            grants.push(known.find(covers)?.id.clone());
        }
        (!grants.is_empty()).then_some(grants)
    }

    /// Takes a use of a grant, if it has limited ones.
    fn take(&mut self, id: &GrantId, take: &mut TakeUse<'_>) -> bool {
        match self.live.get_mut(id).map(|grant| &mut grant.uses_left) {
            None | Some(Some(0)) => false,
            Some(None) => true,
            Some(Some(left)) => {
                *left -= 1;
                take(id)
            }
        }
    }
}

fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests;
