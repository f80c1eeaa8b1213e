//! What an embedder moves between threads can be moved: the recorded surface does not show it.

#![cfg(test)]

use podward_model::{Model, ModelRequest, ModelStream, ScriptedModel};
use podward_policy::{Lowered, Policies, Ruling, ToolName};
use podward_tools::{Invocation, Place, Proposal, Registry, RunContext, Tool, ToolOutput};
use podward_worker::{
    Approver, Decision, Hooks, Journal, MemoryJournal, PreToolCall, SharedGate, Worker,
    WorkerBuilder, WorkerError, WorkerEvent,
};

const fn is_send<T: Send + ?Sized>() {}
const fn is_sync<T: Send + Sync + ?Sized>() {}

// It compiles, or it does not.
const _: () = {
    is_send::<Worker>();
    is_send::<WorkerBuilder>();
    is_send::<PreToolCall>();
    is_send::<Proposal>();
    is_send::<ModelStream>();
    is_send::<dyn Invocation>();
    is_send::<dyn Journal>();
    is_sync::<dyn Approver>();
    is_sync::<dyn Model>();
    is_sync::<dyn Tool>();
    is_sync::<Decision>();
    is_sync::<Hooks>();
    is_sync::<Lowered>();
    is_sync::<MemoryJournal>();
    is_sync::<ModelRequest>();
    is_sync::<Place>();
    is_sync::<Policies>();
    is_sync::<Registry>();
    is_sync::<Ruling>();
    is_sync::<RunContext>();
    is_sync::<ScriptedModel>();
    is_sync::<SharedGate>();
    is_sync::<ToolName>();
    is_sync::<ToolOutput>();
    is_sync::<WorkerError>();
    is_sync::<WorkerEvent>();
};

/// A worker can be handed to a task: the future of its turn moves between threads too.
#[test]
fn a_turn_can_run_in_a_task_of_its_own() {
    fn is_movable<T: Send>(_: &T) {}
    fn check(worker: &mut Worker) {
        is_movable(&worker.turn("hello", Default::default()));
    }
    let _ = check;
}
