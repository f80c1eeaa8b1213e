//! What was approved for more than one call.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use podward_policy::{Asking, GrantRule, Lowered};

use crate::id::{is_id, refused};
use crate::question::RequestId;

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

/// Whose count of the uses of limited grants it is by which calls run.
#[derive(Debug, Clone, Copy)]
pub enum Uses<'a> {
    /// The gate's own: it takes a use of each limited grant that a call needs.
    Counted,
    /// That of somebody else, who tells with [`Gate::set_grants`](crate::Gate::set_grants) which
    /// grants there are, and how many uses of them are left. For each of these calls a use was taken,
    /// on record by now, of its grants, which are as they were before; no other limited grant counts.
    Taken(&'a BTreeMap<RequestId, Vec<Grant>>),
}

/// The grants of which a use was taken for a call: for most calls none, so it is one word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Used(Option<Box<UsedGrants>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct UsedGrants(Box<[GrantId]>);

/// The grants that count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grants {
    live: BTreeMap<GrantId, Grant>,
    /// Those whose last use was taken: one that was for nothing is given back.
    used_up: BTreeMap<GrantId, Grant>,
    /// Unix time in milliseconds, as far as it was told.
    now: u64,
    /// When the next of them expires.
    next_expiry: Option<u64>,
    /// How often something was added or taken away.
    pub(crate) n_changes: u64,
}

/// What lets a call run.
#[derive(Debug)]
pub(crate) struct Covered {
    /// In the order of the parts that they cover.
    pub(crate) grants: Box<[GrantId]>,
    /// Those of them with limited uses.
    pub(crate) used: Used,
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

    fn is_limited(&self) -> bool {
        self.uses_left.is_some()
    }

    fn counts_at(&self, now: u64) -> bool {
        self.uses_left != Some(0) && self.expires_at.is_none_or(|end| end > now)
    }
}

impl Used {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn ids(&self) -> &[GrantId] {
        self.0.as_ref().map_or(&[], |used| &used.0)
    }
}

impl FromIterator<GrantId> for Used {
    fn from_iter<T: IntoIterator<Item = GrantId>>(ids: T) -> Self {
        let ids: Box<[GrantId]> = ids.into_iter().collect();
        Self((!ids.is_empty()).then(|| Box::new(UsedGrants(ids))))
    }
}

impl Grants {
    /// Adds a grant, unless it counts no more.
    pub(crate) fn add(&mut self, grant: Grant) {
        self.n_changes += 1;
        self.used_up.remove(&grant.id);
        if grant.counts_at(self.now) {
            self.next_expiry = earlier(self.next_expiry, grant.expires_at);
            self.live.insert(grant.id.clone(), grant);
        } else {
            self.live.remove(&grant.id);
        }
    }

    /// Puts other grants in the place of all.
    pub(crate) fn replace(&mut self, grants: Vec<Grant>) {
        self.n_changes += 1;
        self.live.clear();
        self.used_up.clear();
        self.next_expiry = None;
        for grant in grants {
            self.add(grant);
        }
    }

    pub(crate) fn remove(&mut self, id: &GrantId) -> Option<Grant> {
        self.n_changes += 1;
        self.used_up.remove(id);
        self.live.remove(id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.live.values()
    }

    /// Tells the time; it never goes back.
    pub(crate) fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        if self.next_expiry.is_some_and(|end| end <= self.now) {
            self.n_changes += 1;
            self.live.retain(|_, grant| grant.counts_at(self.now));
            let ends = self.live.values().map(|grant| grant.expires_at);
            self.next_expiry = ends.fold(None, earlier);
        }
    }

    pub(crate) fn has_limited(&self) -> bool {
        self.live.values().any(Grant::is_limited)
    }

    /// The places of the parts of a call that no grant covers.
    pub(crate) fn left(&self, parts: &[Asking], call: &Lowered) -> Vec<usize> {
        let is_covered = |part: &Asking| self.live.values().any(|grant| grant.covers(part, call));
        let parts = parts.iter().enumerate();
        parts
            .filter(|(_, part)| !part.grantable || !is_covered(part))
            .map(|(place, _)| place)
            .collect()
    }

    /// Whether those without limited uses cover all parts of a call.
    pub(crate) fn cover_unlimited(&self, parts: &[Asking], call: &Lowered) -> bool {
        !self.is_empty()
            && self
                .covering(parts.iter(), call, std::iter::empty())
                .is_some()
    }

    /// Lets a call run: a use is taken of each grant that it takes to cover all its parts, unless
    /// they are counted elsewhere.
    ///
    /// `None`: some part is not covered, and no use is taken.
    pub(crate) fn use_for<'p>(
        &mut self,
        id: &RequestId,
        parts: impl Iterator<Item = &'p Asking>,
        call: &Lowered,
        uses: Uses<'_>,
    ) -> Option<Covered> {
        let covering = match uses {
            Uses::Counted => self.covering(parts, call, self.live.values())?,
            Uses::Taken(taken) => {
                self.covering(parts, call, taken.get(id).into_iter().flatten())?
            }
        };
        let by = covering.last()?.by.clone();
        let ids = |grant: &&Grant| grant.id.clone();
        let grants: Box<[GrantId]> = covering.iter().map(ids).collect();
        let limited = covering.iter().filter(|grant| grant.is_limited());
        let used = limited.map(ids).collect();
        match uses {
            Uses::Counted => grants.iter().for_each(|id| self.count(id)),
            Uses::Taken(_) => {}
        }
        Some(Covered { grants, used, by })
    }

    /// The limited ones of which [`Grants::use_for`] would take a use by a count of its own; nothing
    /// is taken. `None`: some part is not covered.
    pub(crate) fn limited_for<'p>(
        &self,
        parts: impl Iterator<Item = &'p Asking>,
        call: &Lowered,
    ) -> Option<Vec<Grant>> {
        let covering = self.covering(parts, call, self.live.values())?.into_iter();
        let limited = covering.filter(|grant| grant.is_limited());
        Some(limited.cloned().collect())
    }

    /// A use was taken of a grant, if it has limited ones.
    pub(crate) fn count(&mut self, id: &GrantId) {
        let left = self.live.get_mut(id).and_then(|grant| {
            let left = grant.uses_left.as_mut()?;
            *left = left.saturating_sub(1);
            Some(*left)
        });
        if left == Some(0)
            && let Some(grant) = self.remove(id)
        {
            self.used_up.insert(id.clone(), grant);
        }
    }

    /// Gives back a use of a grant that was taken for nothing, unless the grant was taken back since.
    pub(crate) fn give_back(&mut self, id: &GrantId) {
        if let Some(left) = self.live.get_mut(id) {
            left.uses_left = left.uses_left.map(|left| left.saturating_add(1));
        } else if let Some(mut grant) = self.used_up.remove(id) {
            grant.uses_left = Some(1);
            self.add(grant);
        }
    }

    /// The grants that cover all parts of a call, each once, the limited ones out of these: of two, one
    /// that covers another part already, then one without limit.
    fn covering<'g, 'p>(
        &'g self,
        parts: impl Iterator<Item = &'p Asking>,
        call: &Lowered,
        limited: impl Iterator<Item = &'g Grant> + Clone,
    ) -> Option<Vec<&'g Grant>> {
        let unlimited = self.live.values().filter(|grant| !grant.is_limited());
        let limited = limited.filter(|grant| grant.is_limited() && grant.counts_at(self.now));
        let mut grants: Vec<&Grant> = Vec::new();
        for part in parts {
            if !part.grantable {
                return None;
            }
            let covers = |grant: &&Grant| grant.covers(part, call);
            if grants.iter().any(covers) {
                continue;
            }
            let mut all = unlimited.clone().chain(limited.clone());
            grants.push(all.find(covers)?);
        }
        (!grants.is_empty()).then_some(grants)
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
