//! From a call's arguments to the operations that rules judge.

pub(crate) mod names;
mod partly;
pub(crate) mod path;
pub(crate) mod resolve;
pub(crate) mod shell;
pub(crate) mod url;

use podward_policy::{Lowered, Need, Operation, Operations, Subject, ToolName};

/// An operation that needs an allow where the default is not allow.
pub(crate) fn full(tool: ToolName, subject: Subject) -> Operation {
    Operation {
        tool,
        subject,
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    }
}

/// Operations in order, as a call's lowering; no operations at all is nothing to run.
pub(crate) fn lowered(operations: Vec<Operation>) -> Lowered {
    let mut operations = operations.into_iter();
    match operations.next() {
        Some(first) => Lowered::Operations(Operations::new(first, operations.collect())),
        None => Lowered::NothingToRun,
    }
}
