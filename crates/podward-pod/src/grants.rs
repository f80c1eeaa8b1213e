//! Remembered approvals on disk: what is saved where, and who may change it.
//!
//! One file for each workspace, below the state directory and so out of reach of any tool. Each
//! process reads it anew when it has changed and changes it under a lock, so that none loses what
//! another wrote.

mod convert;
mod error;
mod file;
mod ledger;
mod record;
mod stored;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use podward_policy::GrantRule;
use podward_protocol::{Grant, GrantEnd, GrantFor, GrantId, SessionId, Time};

use crate::clock::Clock;
use crate::error::StateError;
use crate::places::Places;

pub(crate) use convert::{wire_asker, wire_rule};
pub use error::GrantError;
pub use file::GrantProblem;
use file::{Change, Content, GrantFile, Seen};
pub(crate) use ledger::gate_grant;
pub use record::GRANT_FORMAT;
use record::Record;
pub use stored::{
    GrantNotFound, Revoked, StoredGrant, StoredGrants, find_grant, revoke_all, revoke_grant,
    stored_grants,
};

/// The most grants that a workspace can have.
pub const MAX_GRANTS: usize = 1000;

/// The grants of a workspace, as far as they count in one session.
///
/// The file is the truth: what is held here is read anew whenever it has changed.
pub struct GrantStore {
    file: GrantFile,
    project: String,
    session: SessionId,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

/// What an answer lets be remembered.
#[derive(Debug, Clone)]
pub struct NewGrant {
    /// What it covers.
    pub rules: Vec<GrantRule>,
    /// How long it counts.
    pub lasts: GrantFor,
    /// Who gives it.
    pub by: String,
    /// What was asked about, for people.
    pub why: String,
}

/// What changed about the grants that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantChange {
    /// It counts from now on.
    Added(Box<Grant>),
    /// It counts no longer.
    Ended {
        /// The grant.
        id: GrantId,
        /// Why.
        reason: GrantEnd,
    },
}

#[derive(Debug, Default)]
struct State {
    /// What was read last; `None`: it has to be read.
    seen: Option<Seen>,
    /// The grants that count, oldest first.
    live: Vec<Record>,
    /// The latest that the clock said, in Unix milliseconds: what is over stays over.
    latest: i64,
    /// When it has to be read anew although nothing has changed it.
    look_again_at: Option<i64>,
    /// Whether the grants may be others than when somebody last took them over.
    is_news: bool,
    /// What was told of last.
    told: BTreeMap<GrantId, Grant>,
    /// What was wrong last.
    problems: Vec<GrantProblem>,
}

impl GrantStore {
    /// The grants of a workspace for a session, and what is wrong with their file. The file may not
    /// be there yet.
    ///
    /// # Errors
    /// The workspace's path is not UTF-8. A file that cannot be used is a problem: none of its
    /// grants counts.
    pub fn open(
        places: &Places,
        workspace: &Path,
        session: &SessionId,
        clock: Arc<dyn Clock>,
    ) -> Result<(Self, Vec<GrantProblem>), GrantError> {
        // The same workspace by another name has the same grants.
        let workspace = workspace
            .canonicalize()
            .unwrap_or_else(|_| workspace.to_owned());
        let project = workspace
            .to_str()
            .ok_or_else(|| GrantError::NotUtf8(workspace.clone()))?
            .to_owned();
        let store = Self {
            file: GrantFile::of(&directory(places), &project),
            project,
            session: session.clone(),
            clock,
            state: Mutex::default(),
        };
        let mut state = store.lock();
        store.update(&mut state);
        state.told = wire_by_id(&state.live);
        let problems = state.problems.clone();
        drop(state);
        Ok((store, problems))
    }

    /// The grants that count, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<Grant> {
        let mut state = self.lock();
        self.update(&mut state);
        state
            .live
            .iter()
            .map(|record| record.grant.clone())
            .collect()
    }

    /// Remembers an approval; it is on disk when this returns.
    ///
    /// # Errors
    /// It cannot be written, or it would end before it begins.
    pub fn add(&self, new: NewGrant) -> Result<Grant, GrantError> {
        let now = self.clock.now();
        let (expires_at, uses_left) = match new.lasts {
            GrantFor::Session | GrantFor::Project => (None, None),
            GrantFor::Until { time } if time <= now => return Err(GrantError::Past(time)),
            GrantFor::Until { time } => (Some(time), None),
            GrantFor::Uses { n: 0 } => return Err(GrantError::NoUses),
            GrantFor::Uses { n } => (None, Some(n)),
        };
        let grant = Grant {
            id: new_id(now),
            rules: new.rules.iter().map(wire_rule).collect(),
            lasts: new.lasts,
            by: new.by,
            at: now,
            why: new.why,
            expires_at,
            uses_left,
        };
        let record = Record::new(self.project.clone(), self.session.clone(), grant.clone());
        record.check().map_err(GrantError::Refused)?;
        record.line().map_err(GrantError::Refused)?;
        let mut state = self.lock();
        self.change(&mut state, |content| {
            if content.n_grants() >= MAX_GRANTS {
                return Err(GrantError::Full);
            }
            content.push(record);
            Ok(Change::Write(()))
        })?;
        Ok(grant)
    }

    /// Takes back a grant; that is on disk when this returns. Whether there was one that counts in
    /// this session.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn revoke(&self, id: &GrantId) -> Result<bool, GrantError> {
        let mut state = self.lock();
        self.change(&mut state, |content| {
            let is_meant = |record: &Record| record.grant.id == *id && record.is_for(&self.session);
            Ok(match content.retain(|record| !is_meant(record)) {
                0 => Change::Keep(false),
                _ => Change::Write(true),
            })
        })
    }

    /// Takes one use of a grant with limited ones; that is on disk when this returns.
    ///
    /// # Errors
    /// It cannot be written: then the use is not taken, or nobody knows whether it is.
    pub fn take_use(&self, id: &GrantId) -> Result<bool, GrantError> {
        let mut state = self.lock();
        let latest = self.now(&mut state);
        self.change(&mut state, |content| {
            let mut taken = Change::Keep(false);
            content.retain(|record| {
                let counts = record.grant.id == *id
                    && record.is_for(&self.session)
                    && !record.is_over(latest)
                    && !record.is_early(latest);
                if !counts {
                    return true;
                }
                match &mut record.grant.uses_left {
                    None => taken = Change::Keep(true),
                    Some(left) => {
                        *left = left.saturating_sub(1);
                        taken = Change::Write(true);
                    }
                }
                record.grant.uses_left != Some(0)
            });
            Ok(taken)
        })
    }

    /// What changed about the grants that count since this was last asked, by whomever; uses that
    /// were taken are no change. It does not look at the disk: that is done before each call.
    #[must_use]
    pub fn changes(&self) -> Vec<GrantChange> {
        let mut state = self.lock();
        let now = wire_by_id(&state.live);
        let mut changes = Vec::new();
        for (id, grant) in &state.told {
            if !now.contains_key(id) {
                let reason = reason(grant, state.latest);
                let id = id.clone();
                changes.push(GrantChange::Ended { id, reason });
            }
        }
        for record in &state.live {
            if !state.told.contains_key(&record.grant.id) {
                changes.push(GrantChange::Added(Box::new(record.grant.clone())));
            }
        }
        state.told = now;
        changes
    }

    /// The grants, if they may be others than when this was last asked; a look at the file's state,
    /// and at its text if that is another.
    #[must_use]
    pub fn refreshed(&self) -> Option<Vec<Grant>> {
        let mut state = self.lock();
        self.update(&mut state);
        std::mem::take(&mut state.is_news).then(|| {
            state
                .live
                .iter()
                .map(|record| record.grant.clone())
                .collect()
        })
    }

    /// The time by which grants end, in Unix milliseconds: it never goes back.
    #[must_use]
    pub fn now_milliseconds(&self) -> i64 {
        self.now(&mut self.lock())
    }

    fn now(&self, state: &mut State) -> i64 {
        state.latest = state.latest.max(self.clock.now().unix_milliseconds());
        state.latest
    }

    /// Reads the file if it has changed, or if a grant has ended.
    fn update(&self, state: &mut State) {
        let now = self.now(state);
        let is_current = state.look_again_at.is_none_or(|at| at > now)
            && (state.seen.as_ref()).is_some_and(|seen| !self.file.is_changed(seen));
        if is_current {
            return;
        }
        match self.read() {
            Ok((content, seen)) => self.take_over(state, &content, seen),
            Err(error) => {
                let problem = GrantProblem {
                    file: error.path().to_owned(),
                    line: None,
                    why: stored::with_sources(&error),
                };
                state.live.clear();
                state.seen = None;
                state.look_again_at = None;
                state.is_news = true;
                note(&mut state.problems, vec![problem]);
            }
        }
    }

    /// Reads the file, and removes from it what is over by now: a clock that is set back later does
    /// not bring it back.
    fn read(&self) -> Result<(Content, Seen), StateError> {
        let (content, seen) = self.file.read()?;
        let now = self.clock.now().unix_milliseconds();
        if !content.grants().any(|record| record.is_over(now)) {
            return Ok((content, seen));
        }
        let pruned = self.file.change(|content| {
            let n_removed = content.retain(|record| !record.is_over(now));
            Ok::<_, StateError>(match n_removed {
                0 => Change::Keep(()),
                _ => Change::Write(()),
            })
        });
        match pruned {
            Ok(((), content, seen)) => Ok((content, seen)),
            Err(error) => {
                // They do not count all the same.
                tracing::warn!(%error, "grants that are over stay in their file");
                Ok((content, seen))
            }
        }
    }

    /// Changes the file, without what is over by now.
    fn change<T>(
        &self,
        state: &mut State,
        change: impl FnOnce(&mut Content) -> Result<Change<T>, GrantError>,
    ) -> Result<T, GrantError> {
        let now = self.clock.now().unix_milliseconds();
        let (value, content, seen) = self.file.change(|content| {
            let n_over = content.retain(|record| !record.is_over(now));
            Ok::<_, GrantError>(match change(content)? {
                Change::Keep(value) if n_over > 0 => Change::Write(value),
                change => change,
            })
        })?;
        self.take_over(state, &content, seen);
        Ok(value)
    }

    fn take_over(&self, state: &mut State, content: &Content, seen: Seen) {
        let now = self.now(state);
        let ours = || {
            content
                .grants()
                .filter(|record| record.is_for(&self.session))
        };
        let counts = |record: &&Record| !record.is_over(now) && !record.is_early(now);
        state.live = ours().filter(counts).cloned().collect();
        let early = ours().filter(|record| record.is_early(now));
        let ends = state
            .live
            .iter()
            .filter_map(|record| record.grant.expires_at);
        let times = ends.chain(early.map(|record| record.grant.at));
        state.look_again_at = times.map(Time::unix_milliseconds).min();
        state.seen = Some(seen);
        state.is_news = true;
        note(&mut state.problems, self.file.problems(content));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // INVARIANT: what is held is replaced as a whole; it is whole even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the files are.
pub(crate) fn directory(places: &Places) -> PathBuf {
    places.state_dir().join("grants")
}

/// Tells of problems that are new.
fn note(known: &mut Vec<GrantProblem>, found: Vec<GrantProblem>) {
    for problem in found.iter().filter(|problem| !known.contains(problem)) {
        tracing::warn!(%problem, "grant");
    }
    *known = found;
}

fn wire_by_id(records: &[Record]) -> BTreeMap<GrantId, Grant> {
    let grants = records.iter().map(|record| &record.grant);
    grants
        .map(|grant| (grant.id.clone(), grant.clone()))
        .collect()
}

/// Why a grant counts no longer, as far as can be told from what it was.
fn reason(grant: &Grant, now: i64) -> GrantEnd {
    let is_over = |end: Time| end.unix_milliseconds() <= now;
    match (grant.expires_at, grant.uses_left) {
        (Some(end), _) if is_over(end) => GrantEnd::Expired,
        (_, Some(0 | 1)) => GrantEnd::UsedUp,
        (Some(_) | None, _) => GrantEnd::Revoked,
    }
}

/// A new id, made of the time and chance.
fn new_id(now: Time) -> GrantId {
    let milliseconds = u64::try_from(now.unix_milliseconds()).unwrap_or(0);
    let id = ulid::Ulid::from_parts(milliseconds, ulid::Ulid::generate().random());
    GrantId::new(id.to_string())
}

#[cfg(test)]
mod tests;
