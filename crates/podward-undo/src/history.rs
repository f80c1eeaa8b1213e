//! For the person: what was changed in a session, and the way back.

mod undo;

use std::path::{Path, PathBuf};

use crate::bytes::TreePath;
use crate::error::UndoError;
use crate::plan::{Force, Plan};
use crate::record::{Change, DeedName, Kind, OpenRecord, Record, id_of};
use crate::root::Root;
use crate::store::Store;

pub use undo::{Undone, Wanted};

/// What was changed in a session.
pub struct History {
    session: String,
    stores: Vec<Kept>,
}

/// What one store has.
struct Kept {
    store: Store,
    workspace: PathBuf,
    /// Of all sessions, in order.
    records: Vec<Record>,
    open: Vec<OpenRecord>,
}

/// One deed, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// How it is named: a call by its id, an undo as `undo:7`.
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub time: i64,
    /// The calls; none if it was an undo.
    pub calls: Vec<DeedName>,
    /// What it undid, if it was an undo.
    pub undid: Option<String>,
    /// The workspace.
    pub workspace: PathBuf,
    /// What it changed, in order; nothing is known yet of one that has not ended.
    pub changes: Vec<Change>,
    /// Whether it is undone.
    pub state: State,
}

/// What became of a deed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It can be undone.
    Done,
    /// It can be undone by force: nobody saw it end.
    CutOff,
    /// It is undone, by this.
    Undone(String),
    /// It has begun and not ended.
    Running,
}

impl History {
    /// Reads what was changed in a session; changes nothing.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn read(base: &Path, session: &str) -> Result<Self, UndoError> {
        let mut stores = Vec::new();
        for store in Store::all(base)? {
            let records = store.records()?;
            let open = store.open_records()?;
            let is_of_session = records.iter().any(|record| record.session == session)
                || open.iter().any(|open| open.session == session);
            if is_of_session {
                stores.push(Kept {
                    workspace: store.workspace()?,
                    store,
                    records,
                    open,
                });
            }
        }
        Ok(Self {
            session: session.to_owned(),
            stores,
        })
    }

    /// Everything that was changed, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        let mut listed: Vec<(i64, u64, Listed)> = Vec::new();
        for kept in &self.stores {
            let ours = |record: &&Record| record.session == self.session;
            for record in kept.records.iter().filter(ours) {
                listed.push((record.time, record.number, kept.listed(record)));
            }
            for open in kept.open.iter().filter(|open| open.session == self.session) {
                listed.push((open.time, open.number, kept.listed_open(open)));
            }
        }
        listed.sort_by_key(|(time, number, _)| (*time, *number));
        listed.into_iter().map(|(_, _, listed)| listed).collect()
    }

    /// Every record of the session.
    fn records(&self) -> impl Iterator<Item = (&Kept, &Record)> {
        self.stores.iter().flat_map(|kept| {
            let ours = |record: &&Record| record.session == self.session;
            let records = kept.records.iter().filter(ours);
            records.map(move |record| (kept, record))
        })
    }

    /// The deed of a name, or of the beginning of one.
    fn named(&self, call: &str) -> Result<(&Kept, &Record), UndoError> {
        let mut found: Vec<_> = self
            .records()
            .filter(|(_, record)| record.names().any(|name| name == call))
            .collect();
        if found.is_empty() {
            let begins = |record: &Record| record.names().any(|name| name.starts_with(call));
            found = self
                .records()
                .filter(|(_, record)| begins(record))
                .collect();
        }
        match found.as_slice() {
            [] => Err(UndoError::Nothing(format!(
                "nothing was kept of a call `{call}`: it changed nothing in the workspace, or it \
                 was too long ago"
            ))),
            [(kept, record)] => Ok((*kept, *record)),
            [_, ..] => Err(UndoError::Nothing(format!(
                "{} calls have an id that begins with `{call}`",
                found.len()
            ))),
        }
    }

    /// The deed of a name that is not undone; without one, the last such call.
    fn find(&self, call: Option<&str>) -> Result<(&Kept, &Record), UndoError> {
        let Some(call) = call else {
            return self
                .records()
                .filter(|(kept, record)| {
                    matches!(record.kind, Kind::Calls(_)) && kept.undone_by(record.number).is_none()
                })
                .max_by_key(|(_, record)| (record.time, record.number))
                .ok_or_else(|| {
                    UndoError::Nothing("nothing in this session is left to undo".to_owned())
                });
        };
        let (kept, record) = self.named(call)?;
        match kept.undone_by(record.number) {
            Some(by) => Err(UndoError::Nothing(format!(
                "`{call}` is undone already, by `{by}`, which can be undone itself"
            ))),
            None => Ok((kept, record)),
        }
    }
}

impl Record {
    /// What people may call it.
    fn names(&self) -> impl Iterator<Item = String> {
        let calls = match &self.kind {
            Kind::Calls(calls) => calls.iter().map(|deed| deed.call.clone()).collect(),
            Kind::UndoOf(_) => vec![self.id()],
        };
        calls.into_iter()
    }
}

impl Kept {
    /// The undo that undid a deed and is not undone itself.
    fn undone_by(&self, number: u64) -> Option<String> {
        // An undo has a greater number than what it undid, so this comes to an end.
        let mut undone = std::collections::BTreeMap::new();
        for record in self.records.iter().rev() {
            if let Kind::UndoOf(of) = record.kind
                && !undone.contains_key(&record.number)
            {
                undone.insert(of, record.id());
            }
        }
        undone.remove(&number)
    }

    fn plan(&self, root: &Root, record: &Record, force: Force) -> Result<Plan, UndoError> {
        let mut plan = Plan::to_undo(root, &record.changes, force)?;
        plan.is_cut_off = record.is_cut_off && force == Force::No;
        plan.others = record.names().skip(1).collect();
        for conflict in &mut plan.conflicts {
            conflict.later = self.later(record, &conflict.path);
        }
        Ok(plan)
    }

    /// Later deeds that changed a name, or something in or above it.
    fn later(&self, record: &Record, path: &TreePath) -> Vec<String> {
        let touches = |change: &Change| change.path.is_in(path) || path.is_in(&change.path);
        let mut later: Vec<_> = self
            .records
            .iter()
            .filter(|other| other.number > record.number)
            .filter(|other| other.changes.iter().any(touches))
            .filter(|other| self.undone_by(other.number).is_none())
            .filter(|other| matches!(other.kind, Kind::Calls(_)))
            .map(|other| {
                if other.session == record.session {
                    format!("`{}`", other.id())
                } else {
                    format!("`{}` of session {}", other.id(), other.session)
                }
            })
            .collect();
        // The last one has to be undone first.
        later.reverse();
        later
    }

    fn listed(&self, record: &Record) -> Listed {
        let state = match self.undone_by(record.number) {
            Some(by) => State::Undone(by),
            None if record.is_cut_off => State::CutOff,
            None => State::Done,
        };
        Listed {
            id: record.id(),
            time: record.time,
            calls: calls(&record.kind),
            undid: self.undid(&record.kind),
            workspace: self.workspace.clone(),
            changes: record.changes.clone(),
            state,
        }
    }

    fn listed_open(&self, open: &OpenRecord) -> Listed {
        let is_alive = self.store.is_alive(&open.owner);
        Listed {
            id: id_of(&open.kind, open.number),
            time: open.time,
            calls: calls(&open.kind),
            undid: self.undid(&open.kind),
            workspace: self.workspace.clone(),
            changes: open.steps.clone(),
            state: if is_alive {
                State::Running
            } else {
                State::CutOff
            },
        }
    }

    fn undid(&self, kind: &Kind) -> Option<String> {
        match kind {
            Kind::Calls(_) => None,
            Kind::UndoOf(number) => {
                let record = self.records.iter().find(|record| record.number == *number);
                Some(record.map_or_else(|| "something forgotten".to_owned(), Record::id))
            }
        }
    }
}

fn calls(kind: &Kind) -> Vec<DeedName> {
    match kind {
        Kind::Calls(calls) => calls.clone(),
        Kind::UndoOf(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
