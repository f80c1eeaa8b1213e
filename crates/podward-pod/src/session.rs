//! A session on disk: everything its history is made of, in the order in which it happened.

mod find;
mod record;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use podward_protocol::SessionId;
use podward_worker::{Decision, Entry, Journal, JournalError};

pub use find::{SessionNotFound, find_session, newest_session};
pub(crate) use find::{last_ruled, last_run, sessions};
pub use record::{LayerDigest, Opened, SESSION_FORMAT};

use crate::clock::Clock;
use crate::decision_log::{DecisionLog, LogContext};
use crate::error::StateError;
use crate::line_file::LineFile;
use crate::places::Places;
use crate::private;
use record::{Created, Line, Record, Recorded};

/// The name of the file in a session's directory.
pub(crate) const SESSION_FILE: &str = "session.jsonl";

/// A session that this process alone writes.
pub(crate) struct Session {
    id: SessionId,
    directory: PathBuf,
    file: LineFile,
    log: DecisionLog,
    n_lines: u64,
    clock: Arc<dyn Clock>,
}

/// A session with what is known of its earlier runs.
pub(crate) struct Reopened {
    pub(crate) session: Session,
    /// Who began it; `None` if it never came to that.
    pub(crate) created: Option<Created>,
    /// What the last run was made of.
    pub(crate) last: Option<Opened>,
    /// What happened in all runs.
    pub(crate) entries: Vec<Entry>,
}

impl Session {
    /// Begins a session that is not there yet.
    pub(crate) fn create(
        places: &Places,
        id: SessionId,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StateError> {
        private::ensure_directory(places.state_dir())?;
        private::ensure_directory(&places.sessions_dir())?;
        let directory = Self::directory_of(places, &id);
        private::create_directory(&directory)?;
        private::sync_directory_of(&directory)
            .map_err(|error| StateError::io("make", &directory, error))?;
        Self::open(id, directory, clock).map(|reopened| reopened.session)
    }

    /// Opens a session that is there: its last line may be torn, nothing else may be wrong.
    pub(crate) fn reopen(
        places: &Places,
        id: SessionId,
        clock: Arc<dyn Clock>,
    ) -> Result<Reopened, StateError> {
        private::ensure_directory(places.state_dir())?;
        private::ensure_directory(&places.sessions_dir())?;
        let directory = Self::directory_of(places, &id);
        private::ensure_directory(&directory)?;
        Self::open(id, directory, clock)
    }

    fn open(
        id: SessionId,
        directory: PathBuf,
        clock: Arc<dyn Clock>,
    ) -> Result<Reopened, StateError> {
        let path = directory.join(SESSION_FILE);
        let opened = LineFile::open(&path)?;
        let history = record::read(&path, &opened.lines, &id)?;
        let log = DecisionLog::open(&directory, &id, &history.decisions)?;
        if history.created.is_none() && !log.is_empty() {
            let why = "it is empty, though decisions were made in this session";
            return Err(StateError::corrupt(&path, 1, why));
        }
        Ok(Reopened {
            session: Self {
                id,
                directory,
                file: opened.file,
                log,
                n_lines: opened.lines.len() as u64,
                clock,
            },
            created: history.created,
            last: history.last,
            entries: history.entries,
        })
    }

    /// Where the files of a session are.
    pub(crate) fn directory_of(places: &Places, id: &SessionId) -> PathBuf {
        places.sessions_dir().join(id.as_str())
    }

    pub(crate) const fn id(&self) -> &SessionId {
        &self.id
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes down what this run is made of, and who began the session if nobody did yet.
    pub(crate) fn begin_run(&mut self, run: Opened) -> Result<(), StateError> {
        let mut records = Vec::new();
        if self.n_lines == 0 {
            records.push(Record::Created(Created {
                format: SESSION_FORMAT,
                session: self.id.clone(),
                pod: run.pod.clone(),
                workspace: run.workspace.clone(),
            }));
        }
        records.push(Record::Opened(run));
        self.append(records)
    }

    /// Writes down what happened, in its order.
    pub(crate) fn append_entries(&mut self, entries: &[Entry]) -> Result<(), StateError> {
        let records = entries.iter().map(|entry| {
            Record::Entry(Recorded {
                entry: Cow::Borrowed(entry),
                decision: None,
            })
        });
        self.append(records.collect())
    }

    fn append(&mut self, records: Vec<Record<'_>>) -> Result<(), StateError> {
        if records.is_empty() {
            return Ok(());
        }
        let time = self.clock.now();
        let mut number = self.n_lines;
        let mut lines = Vec::new();
        for record in records {
            let line = Line {
                number,
                time,
                record,
            };
            lines.push(
                serde_json::to_string(&line)
                    .map_err(|error| StateError::io("write", self.file.path(), error))?,
            );
            number += 1;
        }
        self.file.append(lines.iter().map(String::as_str))?;
        self.n_lines = number;
        Ok(())
    }

    fn decide(
        &mut self,
        decisions: &[Arc<Decision>],
        context: &LogContext,
    ) -> Result<(), StateError> {
        let now = self.clock.now();
        let digests = self
            .log
            .append(decisions.iter().map(AsRef::as_ref), context, now)?;
        let records = decisions.iter().zip(digests).map(|(decision, digest)| {
            Record::Entry(Recorded {
                entry: Cow::Owned(Entry::ruled(decision)),
                decision: Some(digest),
            })
        });
        self.append(records.collect())
    }
}

/// A new id, made of the time and chance.
pub(crate) fn new_id(clock: &dyn Clock) -> SessionId {
    let milliseconds = u64::try_from(clock.now().unix_milliseconds()).unwrap_or(0);
    let id = ulid::Ulid::from_parts(milliseconds, ulid::Ulid::generate().random());
    SessionId::from_bits(u128::from_be_bytes(id.to_bytes()))
}

/// The journal of a worker: the session and the decision log, written before what they announce.
///
/// The writes are made where they are asked for and not on another thread: a turn that is
/// cancelled in between could otherwise lose the files, and what a write announces waits for it
/// anyway.
pub(crate) struct SessionJournal {
    pub(crate) session: Session,
    pub(crate) context: LogContext,
}

#[async_trait]
impl Journal for SessionJournal {
    async fn append(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        self.session
            .append_entries(entries)
            .map_err(JournalError::new)
    }

    async fn decide(&mut self, decisions: &[Arc<Decision>]) -> Result<(), JournalError> {
        self.session
            .decide(decisions, &self.context)
            .map_err(JournalError::new)
    }
}

#[cfg(test)]
mod tests;
