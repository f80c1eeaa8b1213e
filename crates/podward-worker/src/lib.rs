//! The loop between the model and the tools: turns, steps, hooks, and a history in call order.
//!
//! It must never know how many clients there are, where a session is stored, or what a rule says:
//! it asks the gate, writes to a journal, and tells an observer.
//!
//! ```
//! use std::sync::Arc;
//!
//! use podward_model::ScriptedModel;
//! use podward_policy::{Action, KnownTools, Policy, PolicySpec};
//! use podward_tools::{Registry, RunContext};
//! use podward_worker::{EndReason, MemoryJournal, Worker};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let folder = tempfile::tempdir()?;
//! let rules = PolicySpec::new(Action::Deny).rule("list", "*", Action::Allow);
//! let compiled = Policy::compile(&rules, &KnownTools::built_in()).map_err(|_| "a rule is wrong")?;
//! let context = RunContext::in_directory(folder.path(), compiled.policy.into())?;
//! let script = "[[step]]\ncall = [{ tool = \"read\", input = { path = \"a.txt\" } }]\n[[step]]\n";
//! let model = ScriptedModel::parse("script", script).map_err(|_| "the script is wrong")?;
//! let mut worker = Worker::guarded(Arc::new(model), Box::new(MemoryJournal::new()), context)
//!     .tools(Registry::built_in())
//!     .build();
//! let end = worker.turn("Read it.", Default::default()).await?;
//! assert_eq!((end.reason, end.n_refused), (EndReason::Done, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod approver;
mod batch;
mod collect;
mod decision;
mod event;
mod gate;
mod history;
mod hook;
mod ids;
mod journal;
mod limits;
mod proposer;
mod sets;
mod skill;
mod spending;
mod stop;
#[cfg(test)]
mod testing;
mod turn;
mod worker;

pub use approver::{Approver, Unattended};
pub use decision::Decision;
pub use event::{EndReason, HookFailure, Limit, TurnEnd, WorkerEvent};
pub use gate::{GrantLedger, SharedGate, TakenUses};
pub use history::{History, Parked, ReplayError, Replayed};
pub use hook::{
    Hook, HookError, HookEvent, Hooks, PermissionHook, PostTool, PreRequest, PreToolAction,
    PreToolCall, PreToolStage, PromptSubmit, SyntheticResult, TurnAction,
};
pub use journal::{
    Entry, Journal, JournalError, MemoryJournal, OwnSession, RuledOutcome, SkillEnd, SkillMessage,
};
pub use limits::TurnLimits;
pub use podward_gate::DecidedBy;
pub use proposer::Proposer;
pub use skill::{
    ActiveSkill, ActiveSkills, LoadedSkill, MOST_ACTIVE_SKILLS, Prompt, SkillError, SkillSource,
    SkillStarter,
};
pub use spending::{CallCount, Meter, Spending, Spent};
pub use worker::{Worker, WorkerBuilder, WorkerError};
