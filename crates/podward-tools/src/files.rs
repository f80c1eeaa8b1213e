//! Files of permitted calls, opened through the scope.

use std::error::Error as _;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use podward_policy::{Action, Need, Operation, Policies, ToolName};
use podward_scope::{Entry, Kind, Replaced, Scope, ScopeError};

use crate::lower::path::Target;
use crate::lower::{lowered, names};
use crate::tool::{Links, RunContext};

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct FileError {
    message: String,
}

impl FileError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// Reading failed after the file was opened.
    pub(crate) fn read(shown: &str, error: &io::Error) -> Self {
        Self::new(format!("cannot read `{shown}`: {error}"))
    }
}

/// The whole chain: a tool's result is the edge where an error becomes text.
impl From<ScopeError> for FileError {
    fn from(error: ScopeError) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        let hint = match &error {
            ScopeError::LinkOnTheWay { .. } => {
                Some("it has changed since the call was judged".to_owned())
            }
            ScopeError::WrongKind {
                found: Kind::Directory,
                ..
            } => Some("to see what it holds, list it".to_owned()),
            other => other.hint(),
        };
        if let Some(hint) = hint {
            message.push_str("; ");
            message.push_str(&hint);
        }
        Self { message }
    }
}

/// The context as a call on judged paths uses it: a path that was judged resolved leads through no
/// link, even if a part of it has become one since.
pub(crate) fn judged(ctx: &RunContext) -> RunContext {
    let mut ctx = ctx.clone();
    if ctx.place.links == Links::Resolve {
        ctx.scope = Arc::new(ctx.scope.refusing_links());
    }
    ctx
}

/// Opens a regular file for reading.
pub(crate) fn open(scope: &Scope, target: &Target) -> Result<File, FileError> {
    Ok(scope.read_file(target.absolute())?)
}

/// Makes a file hold `contents`, and the directories above it exist.
pub(crate) fn replace(
    scope: &Scope,
    target: &Target,
    contents: &[u8],
) -> Result<Replaced, FileError> {
    let path = target.absolute();
    match scope.replace_file(path, contents) {
        Err(ScopeError::Missing { .. }) => {
            scope.create_parents(path)?;
            Ok(scope.replace_file(path, contents)?)
        }
        done => Ok(done?),
    }
}

/// Waits until no other call of this process writes a file, and keeps others waiting.
///
/// An edit reads, changes and writes: two of one message run in parallel and must not lose one
/// another's change.
pub(crate) fn write_turn() -> MutexGuard<'static, ()> {
    static WRITES: Mutex<()> = Mutex::new(());
    // A call that panicked left no half-written state behind: files are replaced in one step.
    WRITES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a directory holds.
pub(crate) fn read_dir(scope: &Scope, target: &Target) -> Result<Vec<Entry>, FileError> {
    Ok(scope.read_dir(target.absolute())?)
}

/// Whether a result may hold what is in a file.
pub(crate) fn may_read(policies: &Policies, target: &Target) -> bool {
    is_allowed(policies, &[names::built_in(names::READ)], target)
}

/// Whether a search by `tool` from above may show a file: `read` must allow it, and so must the
/// rules for the tool itself, as if the file had been named.
pub(crate) fn may_show(policies: &Policies, tool: &ToolName, target: &Target) -> bool {
    let read = names::built_in(names::READ);
    is_allowed(policies, &[read, tool.clone()], target)
}

/// It is judged like the `read` of a `grep` (D2.2): by the rules for each tool, and where none
/// matches, the call that found the file needs no other leave.
fn is_allowed(policies: &Policies, tools: &[ToolName], target: &Target) -> bool {
    let operations = tools
        .iter()
        .flat_map(|tool| target.operations(tool, &[]))
        .map(|operation| Operation {
            need: Need::Restrictive,
            ..operation
        })
        .collect();
    policies.judge(&lowered(operations)).action == Action::Allow
}

#[cfg(test)]
mod tests;
