//! Skills that calls of one message start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use podward_skill::WorkflowRecord;
use podward_tools::StartSkill;

use crate::history::Started;
use crate::skill::{LoadedSkill, MOST_ACTIVE_SKILLS, SkillError, SkillSource, SkillStarter, load};
use crate::worker::Parts;

/// Starts the skills that calls of one message ask for; each takes effect when its call has its
/// result.
pub(super) struct Starting(Arc<Shared>);

struct Shared {
    source: Option<Arc<dyn SkillSource>>,
    workspace: Option<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The names of what is active or starts.
    taken: BTreeSet<Box<str>>,
    /// By the slot of the call that has started it.
    ready: BTreeMap<usize, Arc<WorkflowRecord>>,
}

/// Starts skills for the call in one slot.
struct SlotStarter {
    idx: usize,
    shared: Arc<Shared>,
}

impl Starting {
    pub(super) fn new(parts: &Parts, started: &[Started]) -> Self {
        let active = parts.history.skills();
        let started = started.iter().map(|started| &started.record);
        let taken = active.chain(started).map(|record| record.name.clone());
        Self(Arc::new(Shared {
            source: parts.skills.source.clone(),
            workspace: parts.skills.workspace().map(ToOwned::to_owned),
            state: Mutex::new(State {
                taken: taken.collect(),
                ready: BTreeMap::new(),
            }),
        }))
    }

    /// What starts skills for the call in a slot.
    pub(super) fn starter(&self, idx: usize) -> Arc<dyn StartSkill> {
        let shared = Arc::clone(&self.0);
        Arc::new(SlotStarter { idx, shared })
    }

    /// The skill that the call in a slot has started.
    pub(super) fn take(&self, idx: usize) -> Option<Arc<WorkflowRecord>> {
        self.0.lock().ready.remove(&idx)
    }
}

#[async_trait]
impl StartSkill for SlotStarter {
    async fn start(&self, name: &str, arguments: Option<&str>) -> Result<String, String> {
        self.shared
            .start(self.idx, name, arguments)
            .await
            .map_err(|error| format!("Error: {error}."))
    }
}

impl Shared {
    async fn start(
        &self,
        idx: usize,
        name: &str,
        arguments: Option<&str>,
    ) -> Result<String, SkillError> {
        self.lock().reserve(name)?;
        match load(self.source.as_deref(), name, SkillStarter::Model).await {
            Ok(LoadedSkill { record, body }) => {
                let workspace = self.workspace.as_deref();
                let instructions = record.instructions(&body, arguments, workspace);
                self.lock().ready.insert(idx, Arc::new(record));
                Ok(instructions)
            }
            Err(error) => {
                self.lock().taken.remove(name);
                Err(error)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // INVARIANT: each change is one insertion or removal, so it is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Keeps a name, so that another call of the message does not start the same.
    fn reserve(&mut self, name: &str) -> Result<(), SkillError> {
        if self.taken.contains(name) {
            return Err(SkillError::AlreadyActive { name: name.into() });
        }
        if self.taken.len() >= MOST_ACTIVE_SKILLS {
            return Err(SkillError::TooMany { name: name.into() });
        }
        self.taken.insert(name.into());
        Ok(())
    }
}
