//! The worker: it owns the history and works through one turn at a time.

use std::sync::Arc;

use podward_gate::Gate;
use podward_model::{Message, Model, ToolSpec, Usage};
use podward_policy::ToolName;
use podward_skill::WorkflowRecord;
use podward_tools::{Registry, RunContext};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::approver::{Approver, Unattended};
use crate::event::{EndReason, TurnEnd, WorkerEvent};
use crate::gate::SharedGate;
use crate::history::{Begun, History, Parked};
use crate::hook::Hooks;
use crate::ids::CallIds;
use crate::journal::{Journal, JournalError};
use crate::limits::TurnLimits;
use crate::proposer::Proposer;
use crate::sets::SkillSets;
use crate::skill::{
    ActiveSkills, LoadedSkill, MOST_ACTIVE_SKILLS, Prompt, SkillError, SkillSource, SkillStarter,
    load,
};
use crate::spending::{CallCount, Spending};
use crate::stop::Stop;
use crate::turn::Turn;

/// The loop between one model and its tools.
pub struct Worker {
    parts: Parts,
    state: State,
}

/// What a turn works with.
pub(crate) struct Parts {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) gate: SharedGate,
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) context: RunContext,
    pub(crate) proposer: Proposer,
    pub(crate) specs: Arc<Vec<ToolSpec>>,
    pub(crate) hooks: Hooks,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) events: Option<mpsc::Sender<WorkerEvent>>,
    pub(crate) limits: TurnLimits,
    pub(crate) system: Arc<str>,
    pub(crate) history: History,
    /// What comes next in the history, once its calls are answered.
    pub(crate) parked: Option<Parked>,
    pub(crate) ids: CallIds,
    pub(crate) skills: SkillSets,
    pub(crate) spending: Spending,
}

/// A prompt, and the skill that begins with it.
pub(crate) struct Begin {
    pub(crate) prompt: String,
    pub(crate) skill: Option<Begun>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// In a turn, or one whose future was dropped or whose journal failed.
    InTurn,
}

/// What a worker is made of.
pub struct WorkerBuilder {
    model: Arc<dyn Model>,
    gate: SharedGate,
    journal: Box<dyn Journal>,
    context: RunContext,
    tools: Registry,
    offered: Option<Vec<ToolName>>,
    /// Runs before `hooks`.
    guard: Hooks,
    hooks: Hooks,
    approver: Arc<dyn Approver>,
    events: Option<mpsc::Sender<WorkerEvent>>,
    limits: TurnLimits,
    system: Arc<str>,
    history: History,
    parked: Option<Parked>,
    skills: Option<Arc<dyn SkillSource>>,
    inherited: Vec<WorkflowRecord>,
    spending: Spending,
}

/// Why a turn could not be worked through to an end that is on record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The journal failed. Nothing that is not on record happened, and the worker does nothing
    /// more: the session has to be resumed from its journal.
    #[error("the turn ended because it cannot be recorded")]
    Journal(#[source] JournalError),
    /// An earlier turn has no end on record: its journal failed, or its future was dropped.
    #[error("an earlier turn has no end, so the session has to be resumed from its journal")]
    Unfinished,
    /// The skill that the prompt was to begin with does not start: the prompt was not taken, and the
    /// worker can take another.
    #[error("the prompt was not taken")]
    Skill(#[source] SkillError),
}

impl Worker {
    /// Begins to build a worker whose calls are judged by the policies of its context.
    ///
    /// The permission check is the first of its hooks, whatever [`WorkerBuilder::hooks`] adds. The
    /// `cancel` of `context` is replaced for every call.
    #[must_use]
    pub fn guarded(
        model: Arc<dyn Model>,
        journal: Box<dyn Journal>,
        context: RunContext,
    ) -> WorkerBuilder {
        let gate = SharedGate::new(Gate::new(context.policies.clone()));
        let mut builder = Self::builder(model, gate.clone(), journal, context);
        builder.guard = Hooks::guarded_by(&gate);
        builder
    }

    /// Begins to build a worker around a gate that is made elsewhere; [`Worker::guarded`] makes one.
    ///
    /// `gate` is the one of the [`PermissionHook`](crate::PermissionHook) among the hooks: the worker
    /// settles there what was asked. `context` is what each call may use; its `cancel` is replaced for every call.
    #[must_use]
    pub fn builder(
        model: Arc<dyn Model>,
        gate: SharedGate,
        journal: Box<dyn Journal>,
        context: RunContext,
    ) -> WorkerBuilder {
        WorkerBuilder {
            model,
            gate,
            journal,
            context,
            tools: Registry::empty(),
            offered: None,
            guard: Hooks::new(),
            hooks: Hooks::new(),
            approver: Arc::new(Unattended),
            events: None,
            limits: TurnLimits::default(),
            system: "".into(),
            history: History::default(),
            parked: None,
            skills: None,
            inherited: Vec::new(),
            spending: Spending::default(),
        }
    }

    /// Works through a turn: from a prompt until the model has nothing more to do. A skill that
    /// begins with the prompt is active from the first request on.
    ///
    /// A future that is dropped before its end leaves a worker that takes no further turn.
    ///
    /// # Errors
    /// The journal failed, or the skill does not start. Every other end of a turn is a [`TurnEnd`].
    pub async fn turn(
        &mut self,
        prompt: impl Into<Prompt>,
        cancel: CancellationToken,
    ) -> Result<TurnEnd, WorkerError> {
        self.run(Some(prompt.into()), cancel).await
    }

    /// Ends the skills that [`ActiveSkills::end`] has asked to end, between two turns. While calls of
    /// an earlier run wait to be asked about, nothing changes: they end once these have their results.
    ///
    /// # Errors
    /// The journal failed.
    pub async fn end_skills(&mut self) -> Result<(), WorkerError> {
        if self.state == State::InTurn {
            return Err(WorkerError::Unfinished);
        }
        self.state = State::InTurn;
        let stop = Stop::new(CancellationToken::new(), self.parts.limits.wall);
        self.parts.end_skills(stop).await?;
        self.state = State::Idle;
        Ok(())
    }

    /// Goes on with a turn that was interrupted: asks again about calls that waited for an answer,
    /// and asks the model if the history ends with a message for it, else ends at once.
    ///
    /// A call that waited is judged again and shown to the hooks again: what the rules deny by now
    /// is refused, everything else is put again under the same id.
    ///
    /// # Errors
    /// The journal failed. Every other end of a turn is a [`TurnEnd`].
    pub async fn resume(&mut self, cancel: CancellationToken) -> Result<TurnEnd, WorkerError> {
        let is_parked = self.parts.parked.is_some();
        if self.state == State::Idle && !is_parked && self.parts.history.is_answered() {
            return Ok(TurnEnd {
                reason: EndReason::Done,
                n_steps: 0,
                n_refused: 0,
                n_bad_calls: 0,
                usage: Usage::default(),
                of_children: CallCount::default(),
            });
        }
        self.run(None, cancel).await
    }

    async fn run(
        &mut self,
        prompt: Option<Prompt>,
        cancel: CancellationToken,
    ) -> Result<TurnEnd, WorkerError> {
        if self.state == State::InTurn {
            return Err(WorkerError::Unfinished);
        }
        self.state = State::InTurn;
        let stop = Stop::new(cancel, self.parts.limits.wall);
        self.parts.end_skills(stop.clone()).await?;
        let begin = match prompt {
            Some(prompt) => match self.parts.begin(prompt).await {
                Ok(begin) => Some(begin),
                Err(error) => {
                    self.state = State::Idle;
                    return Err(WorkerError::Skill(error));
                }
            },
            None => None,
        };
        let end = Turn::new(&mut self.parts, stop)
            .run(begin)
            .instrument(tracing::info_span!("turn"))
            .await
            .map_err(WorkerError::Journal)?;
        self.state = State::Idle;
        Ok(end)
    }

    /// The gate, for those who answer.
    #[must_use]
    pub fn gate(&self) -> SharedGate {
        self.parts.gate.clone()
    }

    /// What makes calls of arguments, as the worker makes those of its model.
    #[must_use]
    pub fn proposer(&self) -> Proposer {
        self.parts.proposer.clone()
    }

    /// The active skills, for those who look at them and end them.
    #[must_use]
    pub fn skills(&self) -> ActiveSkills {
        self.parts.skills.active.clone()
    }

    /// The conversation so far.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.parts.history
    }
}

impl Parts {
    /// Brings what calls are judged by, and which tools are offered, to the skills whose instructions
    /// the history holds.
    pub(crate) fn follow_skills(&mut self) {
        let in_force = self.skills.follow(&self.history);
        self.gate.set_skills(in_force.layers);
        self.context.policies = in_force.policies;
        self.specs = in_force.specs;
    }

    /// Ends the skills that clients have asked to end, unless calls wait that were judged under them.
    async fn end_skills(&mut self, stop: Stop) -> Result<(), WorkerError> {
        if self.parked.is_some() {
            return Ok(());
        }
        let mut turn = Turn::new(self, stop);
        turn.end_asked().await.map_err(WorkerError::Journal)
    }

    /// Reads the skill that begins with a prompt.
    async fn begin(&mut self, prompt: Prompt) -> Result<Begin, SkillError> {
        let Prompt { text, skill } = prompt;
        let Some(name) = skill else {
            return Ok(Begin {
                prompt: text,
                skill: None,
            });
        };
        let parked = self.parked.iter().flat_map(Parked::started);
        let active = self.history.skills();
        let taken: Vec<_> = active
            .chain(parked.map(|started| &started.record))
            .collect();
        if taken.iter().any(|record| record.name == name) {
            return Err(SkillError::AlreadyActive { name });
        }
        if taken.len() >= MOST_ACTIVE_SKILLS {
            return Err(SkillError::TooMany { name });
        }
        let source = self.skills.source.as_deref();
        let LoadedSkill { record, body } = load(source, &name, SkillStarter::Client).await?;
        let workspace = self.skills.workspace();
        // What it is to work on stands behind the instructions: it is the prompt.
        let instructions = record.instructions(&body, None, workspace);
        Ok(Begin {
            prompt: text,
            skill: Some(Begun {
                record: Arc::new(record),
                instructions: instructions.into(),
            }),
        })
    }
}

impl WorkerBuilder {
    /// The tools that exist: a call to any other is an error result.
    #[must_use]
    pub fn tools(mut self, tools: Registry) -> Self {
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

    /// The hooks. For a builder of [`Worker::builder`] the permission check has to be the first of
    /// them; that of [`Worker::guarded`] has it already.
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

    /// The message whose calls waited for answers when the session ended; the conversation to go on
    /// with ends before it.
    #[must_use]
    pub fn parked(mut self, parked: Option<Parked>) -> Self {
        self.parked = parked;
        self
    }

    /// Where skills are found; without it none can be started, and those that are active in the
    /// history are all the same.
    #[must_use]
    pub fn skills(mut self, source: Arc<dyn SkillSource>) -> Self {
        self.skills = Some(source);
        self
    }

    /// Skills that are active in pods above: what they list restricts this worker from its beginning to
    /// its end.
    #[must_use]
    pub fn under(mut self, skills: Vec<WorkflowRecord>) -> Self {
        self.inherited = skills;
        self
    }

    /// Where calls write down what they spent beside the turn's own requests.
    #[must_use]
    pub fn spending(mut self, spending: Spending) -> Self {
        self.spending = spending;
        self
    }

    /// The worker.
    #[must_use]
    pub fn build(self) -> Worker {
        let offered = self.offered;
        let is_offered = |name: &ToolName| {
            offered
                .as_ref()
                .is_none_or(|offered| offered.contains(name))
        };
        let specs: Vec<_> = self
            .tools
            .iter()
            .filter(|tool| is_offered(tool.name()))
            .map(|tool| {
                let spec = ToolSpec {
                    name: tool.name().as_str().to_owned(),
                    description: tool.description().to_owned(),
                    schema: tool.schema(),
                };
                (tool.name().clone(), spec)
            })
            .collect();
        let (place, policies) = (&self.context.place, &self.context.policies);
        let skills = SkillSets::new(self.skills, &self.tools, specs, place, policies);
        let skills = skills.under(&self.inherited);
        let proposer = Proposer::new(self.tools, self.context.place.clone());
        let parked = self.parked.iter().flat_map(Parked::tool_use_ids);
        let ids = CallIds::new(
            self.history
                .messages()
                .iter()
                .flat_map(Message::tool_use_ids)
                .chain(parked),
        );
        let mut parts = Parts {
            model: self.model,
            gate: self.gate,
            journal: self.journal,
            context: self.context,
            proposer,
            specs: Arc::default(),
            hooks: self.guard.followed_by(self.hooks),
            approver: self.approver,
            events: self.events,
            limits: self.limits,
            system: self.system,
            history: self.history,
            parked: self.parked,
            ids,
            skills,
            spending: self.spending,
        };
        parts.follow_skills();
        Worker {
            parts,
            state: State::Idle,
        }
    }
}

#[cfg(test)]
mod tests;
