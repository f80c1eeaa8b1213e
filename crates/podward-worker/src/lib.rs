//! The loop between the model and the tools: turns, steps, hooks, and a history in call order.
//!
//! It must never know how many clients there are, where a session is stored, or what a rule says:
//! it asks the gate, writes to a journal, and tells an observer.

mod approver;
mod batch;
mod collect;
mod decision;
mod event;
mod history;
mod hook;
mod ids;
mod journal;
mod limits;
mod stop;
#[cfg(test)]
mod testing;
mod turn;
mod worker;

pub use approver::{Approver, Unattended};
pub use decision::{DecidedBy, Decision};
pub use event::{EndReason, HookFailure, Limit, TurnEnd, WorkerEvent};
pub use history::{History, ReplayError, Replayed};
pub use hook::{
    Hook, HookError, HookEvent, Hooks, PermissionHook, PostTool, PreRequest, PreToolAction,
    PreToolCall, PreToolStage, PromptSubmit, SharedGate, SyntheticResult, TurnAction,
};
pub use journal::{Entry, Journal, JournalError, MemoryJournal, RuledOutcome};
pub use limits::TurnLimits;
pub use worker::{Worker, WorkerBuilder, WorkerError};
