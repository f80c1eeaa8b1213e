//! The worker: it owns the history and works through one turn at a time.

use std::sync::Arc;

use podward_gate::Gate;
use podward_model::Model;
use podward_policy::ToolName;
use podward_tools::{Invocation, RunContext, Tool};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::approver::{Approver, Unattended};
use crate::event::{TurnEnd, WorkerEvent};
use crate::history::History;
use crate::hook::Hooks;
use crate::journal::{Journal, JournalError};
use crate::limits::TurnLimits;

/// The loop between one model and its tools.
pub struct Worker {
    parts: WorkerBuilder,
}

/// What a worker is made of.
pub struct WorkerBuilder {
    model: Arc<dyn Model>,
    gate: Gate<Box<dyn Invocation>>,
    journal: Box<dyn Journal>,
    context: RunContext,
    tools: Vec<Arc<dyn Tool>>,
    offered: Option<Vec<ToolName>>,
    hooks: Hooks,
    approver: Arc<dyn Approver>,
    events: Option<mpsc::Sender<WorkerEvent>>,
    limits: TurnLimits,
    system: Arc<str>,
    history: History,
}

/// Why a turn could not be worked through to an end that is on record.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The journal failed. Nothing that is not on record happened, and the worker does nothing
    /// more: the session has to be resumed from its journal.
    #[error("the turn ended because it cannot be recorded")]
    Journal(#[source] JournalError),
    /// The journal failed in an earlier turn.
    #[error("an earlier turn could not be recorded")]
    Stopped,
}

impl Worker {
    /// Begins to build a worker.
    ///
    /// `context` is what each call may use; its `cancel` is replaced for every call.
    #[must_use]
    pub fn builder(
        model: Arc<dyn Model>,
        gate: Gate<Box<dyn Invocation>>,
        journal: Box<dyn Journal>,
        context: RunContext,
    ) -> WorkerBuilder {
        WorkerBuilder {
            model,
            gate,
            journal,
            context,
            tools: Vec::new(),
            offered: None,
            hooks: Hooks::new(),
            approver: Arc::new(Unattended),
            events: None,
            limits: TurnLimits::default(),
            system: "".into(),
            history: History::default(),
        }
    }

    /// Works through a turn: from a prompt until the model has nothing more to do.
    ///
    /// # Errors
    /// The journal failed. Every other end of a turn is a [`TurnEnd`].
    pub async fn turn(
        &mut self,
        _prompt: String,
        _cancel: CancellationToken,
    ) -> Result<TurnEnd, WorkerError> {
        Err(WorkerError::Stopped)
    }

    /// Goes on with a turn that was interrupted: asks the model if the history ends with a message
    /// for it, else ends at once.
    ///
    /// # Errors
    /// The journal failed. Every other end of a turn is a [`TurnEnd`].
    pub async fn resume(&mut self, _cancel: CancellationToken) -> Result<TurnEnd, WorkerError> {
        Err(WorkerError::Stopped)
    }

    /// The conversation so far.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.parts.history
    }
}

impl WorkerBuilder {
    /// The tools that exist: a call to any other is an error result.
    #[must_use]
    pub fn tools(mut self, tools: Vec<Arc<dyn Tool>>) -> Self {
        self.tools = tools;
        self
    }

    /// The tools that the model is told of; all if this is not said. A call to one that exists and
    /// is not offered is judged like any other.
    #[must_use]
    pub fn offered(mut self, offered: Vec<ToolName>) -> Self {
        self.offered = Some(offered);
        self
    }

    /// The user's hooks; the permission check comes before them.
    #[must_use]
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Who answers questions; nobody if this is not said.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Where events go.
    ///
    /// The channel is bounded and the worker waits when it is full, so the receiver has to take
    /// events all the time; dropping the receiver stops them. While a turn is being cancelled the
    /// worker does not wait, and events for which there is no room are lost.
    #[must_use]
    pub fn events(mut self, events: mpsc::Sender<WorkerEvent>) -> Self {
        self.events = Some(events);
        self
    }

    /// What bounds a turn.
    #[must_use]
    pub fn limits(mut self, limits: TurnLimits) -> Self {
        self.limits = limits;
        self
    }

    /// What the model is told before the conversation.
    #[must_use]
    pub fn system(mut self, system: impl Into<Arc<str>>) -> Self {
        self.system = system.into();
        self
    }

    /// The conversation to go on with.
    #[must_use]
    pub fn history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// The worker.
    #[must_use]
    pub fn build(self) -> Worker {
        Worker { parts: self }
    }
}
