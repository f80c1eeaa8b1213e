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
    /// Since some beginning, never backwards.
    pub(crate) steady: Duration,
    /// Unix time in milliseconds.
    pub(crate) wall: i64,
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

/// Approvers and open questions. `Q` names a question.
#[derive(Debug)]
pub(crate) struct Presence<Q> {
    unattended: Unattended,
    /// Pings that each approver did not answer yet.
    approvers: BTreeMap<u64, u32>,
    /// Since when nobody is there; `None`: somebody is, or nobody was there within the grace.
    alone_since: Option<Duration>,
    open: BTreeMap<Q, Option<Moment>>,
    /// The same by when they expire.
    by_steady: BTreeSet<(Duration, Q)>,
    by_wall: BTreeSet<(i64, Q)>,
}

impl<Q: Clone + Ord> Presence<Q> {
    /// Nobody is there, and nothing is asked.
    pub(crate) fn new(unattended: Unattended) -> Self {
        Self {
            unattended,
            approvers: BTreeMap::new(),
            alone_since: None,
            open: BTreeMap::new(),
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
            self.alone_since = Some(now.steady);
        }
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
            self.alone_since = Some(now.steady);
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
        timeout: Option<Duration>,
        now: Moment,
    ) -> Option<Fate> {
        if self.approvers.is_empty()
            && let Unattended::Refuse { grace } = self.unattended
        {
            let within = |since: Duration| now.steady < since.saturating_add(grace);
            if !self.alone_since.is_some_and(within) {
                return Some(Fate::NoClient);
            }
        }
        let expires = timeout.map(|timeout| Moment {
            steady: now.steady.saturating_add(timeout),
            wall: i64::try_from(timeout.as_millis())
                .map_or(i64::MAX, |timeout| now.wall.saturating_add(timeout)),
        });
        if let Some(expires) = expires {
            self.by_steady.insert((expires.steady, question.clone()));
            self.by_wall.insert((expires.wall, question.clone()));
        }
        self.open.insert(question, expires);
        None
    }

    /// When a question expires, in Unix milliseconds.
    #[cfg(test)]
    pub(crate) fn expires_at(&self, question: &Q) -> Option<i64> {
        Some((*self.open.get(question)?)?.wall)
    }

    /// A question was settled.
    pub(crate) fn settle(&mut self, question: &Q) {
        if let Some(Some(expires)) = self.open.remove(question) {
            self.by_steady.remove(&(expires.steady, question.clone()));
            self.by_wall.remove(&(expires.wall, question.clone()));
        }
    }

    /// The questions that nobody can answer any more. Each is returned once.
    pub(crate) fn due(&mut self, now: Moment) -> Vec<(Q, Fate)> {
        let mut due = Vec::new();
        if let (Unattended::Refuse { grace }, Some(since)) = (self.unattended, self.alone_since)
            && now.steady >= since.saturating_add(grace)
        {
            self.alone_since = None;
            self.by_steady.clear();
            self.by_wall.clear();
            let open = std::mem::take(&mut self.open);
            // An expiry that was reached as well came first only if it is in the past already.
            return open
                .into_iter()
                .map(|(question, expires)| match expires {
                    Some(expires) if is_past(expires, now) => (question, Fate::Expired),
                    Some(_) | None => (question, Fate::ClientGone),
                })
                .collect();
        }
        while let Some(question) = self.next_expired(now) {
            self.settle(&question);
            due.push((question, Fate::Expired));
        }
        due
    }

    /// The moment by the steady clock at which [`Self::due`] has something to say next, if nothing
    /// else happens.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        let grace = match (self.unattended, self.alone_since) {
            (Unattended::Refuse { grace }, Some(since)) => Some(since.saturating_add(grace)),
            (Unattended::Refuse { .. }, None) | (Unattended::Wait, _) => None,
        };
        let expiry = self.by_steady.first().map(|(steady, _)| *steady);
        match (grace, expiry) {
            (Some(grace), Some(expiry)) => Some(grace.min(expiry)),
            (grace, expiry) => grace.or(expiry),
        }
    }

    fn next_expired(&self, now: Moment) -> Option<Q> {
        let steady = self.by_steady.first().filter(|(at, _)| *at <= now.steady);
        let wall = self.by_wall.first().filter(|(at, _)| *at <= now.wall);
        let question = steady.map(|(_, question)| question);
        question.or(wall.map(|(_, question)| question)).cloned()
    }
}

fn is_past(expires: Moment, now: Moment) -> bool {
    expires.steady <= now.steady || expires.wall <= now.wall
}

#[cfg(test)]
mod tests;
