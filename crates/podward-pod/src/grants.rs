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
mod told;
mod uses;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use podward_policy::GrantRule;
use podward_protocol::{Grant, GrantEnd, GrantFor, GrantId, SessionId, Time};

use crate::clock::Clock;
use crate::error::{StateError, with_causes};
use crate::places::Places;

pub(crate) use convert::{wire_asker, wire_given, wire_rule};
pub use error::GrantError;
pub use file::GrantProblem;
use file::{Change, Changed, Content, GrantFile, Seen};
pub(crate) use ledger::gate_grant;
pub use record::GRANT_FORMAT;
use record::Record;
pub use stored::{
    GrantNotFound, Revoked, StoredGrant, StoredGrants, find_grant, revoke_all, revoke_grant,
    stored_grants,
};
use told::{note, reason, wire_by_id};

/// The most grants that a workspace can have.
pub const MAX_GRANTS: usize = 1000;

/// The grants of a workspace, as far as they count in one session.
///
/// The file is the truth: what is held here is read anew whenever it has changed. What says that it
/// looks at the disk may wait for it, and what changes the file for a lock that another process
/// holds; nothing else waits meanwhile.
pub struct GrantStore {
    file: GrantFile,
    project: String,
    session: SessionId,
    clock: Arc<dyn Clock>,
    /// Held while the file is read and taken over, so that what was read last counts. Who holds it
    /// never waits for the lock of the file.
    reading: Mutex<()>,
    /// Nobody waits for the disk while they hold it.
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

/// Whether something in the file is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pruning {
    /// Something is.
    Due,
    /// Nothing is.
    NotDue,
}

#[derive(Debug, Default)]
struct State {
    /// What was read last; `None`: it has to be read.
    seen: Option<Arc<Seen>>,
    /// Nobody knows what the file says: nothing counts until that is certain.
    is_doubtful: bool,
    /// The grants that count, oldest first.
    live: Vec<Record>,
    /// The latest that the clock said, in Unix milliseconds: what is over stays over.
    latest: i64,
    /// When it has to be read anew although nothing has changed it.
    look_again_at: Option<i64>,
    /// Whether the grants may be others than when somebody last took them over.
    is_news: bool,
    /// Those whose last use was taken: nobody has taken them back.
    used_up: Vec<GrantId>,
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
            reading: Mutex::default(),
            state: Mutex::default(),
        };
        store.reload();
        let mut state = store.lock();
        state.told = wire_by_id(&state.live);
        let problems = state.problems.clone();
        drop(state);
        Ok((store, problems))
    }

    /// The grants that count, oldest first. It looks at the disk.
    #[must_use]
    pub fn list(&self) -> Vec<Grant> {
        self.reload();
        self.known()
    }

    /// The same, as far as is known without a look at the disk.
    pub(crate) fn known(&self) -> Vec<Grant> {
        let mut state = self.lock();
        let now = self.now(&mut state);
        let live = state.live.iter().filter(|record| !record.is_over(now));
        live.map(|record| record.grant.clone()).collect()
    }

    /// Remembers an approval; it is on disk when this returns.
    ///
    /// # Errors
    /// It cannot be written, or it would end before it begins.
    pub fn add(&self, new: NewGrant) -> Result<Grant, GrantError> {
        let (grant, record) = self.record(new)?;
        self.push(record, || true)?;
        Ok(grant)
    }

    /// The same, if it is still wanted when the file can be written; else nothing is saved.
    pub(crate) fn add_if(
        &self,
        new: NewGrant,
        is_wanted: impl Fn() -> bool,
    ) -> Result<Option<Grant>, GrantError> {
        let (grant, record) = self.record(new)?;
        if !is_wanted() {
            return Ok(None);
        }
        let is_added = self.push(record, is_wanted)?;
        Ok(is_added.then_some(grant))
    }

    fn record(&self, new: NewGrant) -> Result<(Grant, Record), GrantError> {
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
        Ok((grant, record))
    }

    fn push(&self, record: Record, is_wanted: impl Fn() -> bool) -> Result<bool, GrantError> {
        self.change(|content| {
            if !is_wanted() {
                return Ok(Change::Keep(false));
            }
            if content.n_grants() >= MAX_GRANTS {
                content.retain(|record| !record.is_used_up());
            }
            if content.n_grants() >= MAX_GRANTS {
                return Err(GrantError::Full);
            }
            content.push(record);
            Ok(Change::Write(true))
        })
    }

    /// Takes back a grant; that is on disk when this returns. Whether there was one for this session,
    /// used up or not.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn revoke(&self, id: &GrantId) -> Result<bool, GrantError> {
        self.change(|content| {
            let is_meant = |record: &Record| record.grant.id == *id && record.is_for(&self.session);
            Ok(match content.retain(|record| !is_meant(record)) {
                0 => Change::Keep(false),
                _ => Change::Write(true),
            })
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

    /// The grants, if they may be others than when this was last asked, as far as is known without a
    /// look at the disk.
    pub(crate) fn news(&self) -> Option<Vec<Grant>> {
        let mut state = self.lock();
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
    pub(crate) fn reload(&self) {
        if self.read() == Pruning::Due {
            // What is over goes from the file too: a clock that is set back later does not bring it
            // back. It does not count all the same.
            if let Err(error) = self.change(|_| Ok(Change::Keep(()))) {
                tracing::warn!(%error, "grants that are over stay in their file");
            }
        }
    }

    /// The same, and leaves in the file what is over: it waits for no lock.
    pub(crate) fn read(&self) -> Pruning {
        let _reading = self.reading();
        let (now, seen, look_again_at, is_doubtful) = {
            let state = &mut *self.lock();
            let now = self.now(state);
            (
                now,
                state.seen.clone(),
                state.look_again_at,
                state.is_doubtful,
            )
        };
        let is_current = look_again_at.is_none_or(|at| at > now)
            && seen.is_some_and(|seen| !self.file.is_changed(&seen));
        if is_current {
            return Pruning::NotDue;
        }
        let settled = if is_doubtful {
            self.file.settle()
        } else {
            Ok(())
        };
        match settled.and_then(|()| self.file.read()) {
            Ok((content, seen)) => {
                let now = self.clock.now().unix_milliseconds();
                let has_ended = content.grants().any(|record| record.is_over(now));
                self.take_over(&content, seen);
                match has_ended {
                    true => Pruning::Due,
                    false => Pruning::NotDue,
                }
            }
            Err(error) => {
                self.forget(&error);
                Pruning::NotDue
            }
        }
    }

    /// Nothing counts until the file was read again.
    fn forget(&self, error: &StateError) {
        let state = &mut *self.lock();
        let problem = GrantProblem {
            file: error.path().to_owned(),
            line: None,
            why: with_causes(error),
        };
        state.is_doubtful |= error.is_uncertain();
        state.live.clear();
        state.used_up.clear();
        state.seen = None;
        state.look_again_at = None;
        state.is_news = true;
        note(&mut state.problems, vec![problem]);
    }

    /// Changes the file, without what is over by now.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Content) -> Result<Change<T>, GrantError>,
    ) -> Result<T, GrantError> {
        if self.lock().is_doubtful {
            self.file.settle()?;
        }
        let now = self.clock.now().unix_milliseconds();
        let changed = self.file.change(|content| {
            let n_over = content.retain(|record| !record.is_over(now));
            Ok::<_, GrantError>(match change(content)? {
                Change::Keep(value) if n_over > 0 => Change::Write(value),
                change => change,
            })
        });
        let _reading = self.reading();
        match changed {
            // No other process has changed it in between: it is locked.
            Ok(Changed {
                value,
                content,
                seen,
                ..
            }) => {
                self.take_over(&content, seen);
                Ok(value)
            }
            Err(error) => {
                if let GrantError::State(error) = &error
                    && error.is_uncertain()
                {
                    self.forget(error);
                }
                Err(error)
            }
        }
    }

    fn take_over(&self, content: &Content, seen: Seen) {
        let state = &mut *self.lock();
        let now = self.now(state);
        let ours = || {
            content
                .grants()
                .filter(|record| record.is_for(&self.session))
        };
        state.live = ours().filter(|it| it.counts(now)).cloned().collect();
        let used_up = ours().filter(|record| record.is_used_up());
        state.used_up = used_up.map(|record| record.grant.id.clone()).collect();
        let early = ours().filter(|record| record.is_early(now));
        let ends = state
            .live
            .iter()
            .filter_map(|record| record.grant.expires_at);
        let times = ends.chain(early.map(|record| record.grant.at));
        state.look_again_at = times.map(Time::unix_milliseconds).min();
        state.seen = Some(Arc::new(seen));
        state.is_doubtful = false;
        state.is_news = true;
        note(&mut state.problems, self.file.problems(content));
    }

    fn reading(&self) -> MutexGuard<'_, ()> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
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

/// A new id, made of the time and chance.
fn new_id(now: Time) -> GrantId {
    let milliseconds = u64::try_from(now.unix_milliseconds()).unwrap_or(0);
    let id = ulid::Ulid::from_parts(milliseconds, ulid::Ulid::generate().random());
    GrantId::new(id.to_string())
}

#[cfg(test)]
mod tests;
