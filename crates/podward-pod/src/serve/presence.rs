//! Who could answer, and how long a question stays open: times in, answers out.
//!
//! It knows no clock: it is told the time with everything it hears.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Pings that an approver may leave unanswered: with the next one it counts as gone.
pub(crate) const MISSED_PINGS: u32 = 2;

/// A moment, by both clocks.
///
/// They must agree for a question to stay open: a clock that is set, and a machine that sleeps,
/// close it rather than keep it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    /// Milliseconds since some beginning, never backwards.
    pub(crate) steady: i64,
    /// Unix time in milliseconds.
    pub(crate) wall: i64,
}

impl Moment {
    /// So much later, by both clocks.
    pub(crate) fn after(self, timeout: Duration) -> Self {
        let milliseconds = i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX);
        Self {
            steady: self.steady.saturating_add(milliseconds),
            wall: self.wall.saturating_add(milliseconds),
        }
    }
}

/// What happens to a question that nobody can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unattended {
    /// It is refused, some time after the last approver has left.
    Refuse {
        /// How long after.
        grace: Duration,
    },
    /// It waits until it expires.
    Wait,
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nobody who could answer was there.
    NoClient,
    /// Whoever could have answered left.
    ClientGone,
    /// Nobody answered in time.
    Expired,
}

/// What nobody can answer any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Due<Q> {
    /// Nobody answered these in time.
    pub(crate) expired: BTreeSet<Q>,
    /// Whether whoever could have answered the other questions has left.
    pub(crate) is_deserted: bool,
}

/// Approvers, and when questions expire. `Q` names a question.
#[derive(Debug)]
pub(crate) struct Presence<Q> {
    unattended: Unattended,
    /// Pings that each approver did not answer yet.
    approvers: BTreeMap<u64, u32>,
    /// Since when nobody is there; `None`: somebody is, or nobody was there within the grace.
    alone_since: Option<Moment>,
    /// The questions that expire, by either clock.
    by_steady: BTreeSet<(i64, Q)>,
    by_wall: BTreeSet<(i64, Q)>,
}

impl<Q: Clone + Ord> Presence<Q> {
    /// Nobody is there, and nothing is asked.
    pub(crate) fn new(unattended: Unattended) -> Self {
        Self {
            unattended,
            approvers: BTreeMap::new(),
            alone_since: None,
            by_steady: BTreeSet::new(),
            by_wall: BTreeSet::new(),
        }
    }

    /// Whether questions wait for whoever comes, as long as they are open.
    pub(crate) const fn waits(&self) -> bool {
        matches!(self.unattended, Unattended::Wait)
    }

    /// Lets the grace run from now on: whoever was there before this process may come back.
    pub(crate) fn expect_somebody(&mut self, now: Moment) {
        if self.approvers.is_empty() {
            self.alone_since = Some(now);
        }
    }

    /// Whether an approver is there.
    pub(crate) fn is_attended(&self) -> bool {
        !self.approvers.is_empty()
    }

    /// An approver came.
    pub(crate) fn join(&mut self, approver: u64) {
        self.approvers.insert(approver, 0);
        self.alone_since = None;
    }

    /// An approver was heard.
    pub(crate) fn hear(&mut self, approver: u64) {
        if let Some(missed) = self.approvers.get_mut(&approver) {
            *missed = 0;
        }
    }

    /// An approver left.
    pub(crate) fn leave(&mut self, approver: u64, now: Moment) {
        if self.approvers.remove(&approver).is_some() && self.approvers.is_empty() {
            self.alone_since = Some(now);
        }
    }

    /// A ping goes to all: returns those who left too many unanswered. They have to leave.
    pub(crate) fn ping(&mut self, pinged: impl Fn(u64) -> bool) -> Vec<u64> {
        let mut silent = Vec::new();
        for (approver, missed) in &mut self.approvers {
            if !pinged(*approver) {
                continue;
            }
            if *missed >= MISSED_PINGS {
                silent.push(*approver);
            } else {
                *missed += 1;
            }
        }
        silent
    }

    /// A question is put; it is open unless it is closed at once.
    pub(crate) fn ask(
        &mut self,
        question: Q,
        expires: Option<Moment>,
        now: Moment,
    ) -> Option<Fate> {
        if self.approvers.is_empty()
            && let Unattended::Refuse { grace } = self.unattended
        {
            let within = |since: Moment| now.steady < since.after(grace).steady;
            if !self.alone_since.is_some_and(within) {
                return Some(Fate::NoClient);
            }
        }
        if let Some(expires) = expires {
            self.by_steady.insert((expires.steady, question.clone()));
            self.by_wall.insert((expires.wall, question));
        }
        None
    }

    /// A question was settled that had to expire then.
    pub(crate) fn settle(&mut self, question: &Q, expires: Option<Moment>) {
        if let Some(expires) = expires {
            self.by_steady.remove(&(expires.steady, question.clone()));
            self.by_wall.remove(&(expires.wall, question.clone()));
        }
    }

    /// What nobody can answer any more. A question that is not settled for it can come a second time, by
    /// the other clock.
    pub(crate) fn due(&mut self, now: Moment) -> Due<Q> {
        let mut expired = BTreeSet::new();
        while let Some(first) = self.by_steady.first()
            && first.0 <= now.steady
        {
            expired.extend(self.by_steady.pop_first().map(|(_, question)| question));
        }
        while let Some(first) = self.by_wall.first()
            && first.0 <= now.wall
        {
            expired.extend(self.by_wall.pop_first().map(|(_, question)| question));
        }
        let is_deserted = match (self.unattended, self.alone_since) {
            (Unattended::Refuse { grace }, Some(since)) => now.steady >= since.after(grace).steady,
            (Unattended::Refuse { .. }, None) | (Unattended::Wait, _) => false,
        };
        if is_deserted {
            self.alone_since = None;
        }
        Due {
            expired,
            is_deserted,
        }
    }

    /// The moment by the steady clock at which [`Self::due`] has something to say next, if nothing
    /// else happens.
    pub(crate) fn next_due(&self) -> Option<i64> {
        let grace = match (self.unattended, self.alone_since) {
            (Unattended::Refuse { grace }, Some(since)) => Some(since.after(grace).steady),
            (Unattended::Refuse { .. }, None) | (Unattended::Wait, _) => None,
        };
        let expiry = self.by_steady.first().map(|(steady, _)| *steady);
        match (grace, expiry) {
            (Some(grace), Some(expiry)) => Some(grace.min(expiry)),
            (grace, expiry) => grace.or(expiry),
        }
    }
}

#[cfg(test)]
mod tests;
