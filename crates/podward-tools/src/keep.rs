//! What a call is about to change, kept before it does.

mod changes;
mod reads;

use std::path::PathBuf;
use std::sync::Arc;

use podward_gate::CallFacts;
use podward_policy::{Lowered, Operation, Subject};
use podward_scope::Scope;

use crate::files::{self, FileError};
use crate::lower::names;
use crate::lower::path::Target;
use crate::tool::{RunContext, ToolOutput};
pub use changes::Changes;
use reads::only_reads;

/// Keeps what calls are about to change, so that it can be brought back.
///
/// The built-in tools ask it after the permit and before the deed, and run nothing that it cannot
/// keep. It works on files and blocks meanwhile.
pub trait Keep: Send + Sync {
    /// Keeps what `deed` may change, and remembers whose deed it is.
    ///
    /// # Errors
    /// It cannot be kept: the deed is not done.
    fn before(&self, deed: &Deed<'_>) -> Result<Box<dyn Kept>, NotKept>;
}

/// What was kept before a deed. Dropped without [`Kept::after`], the deed counts as cut off.
pub trait Kept: Send {
    /// The deed is done, well or not: looks at what it changed.
    fn after(self: Box<Self>);
}

/// A deed that may change files.
#[derive(Debug, Clone)]
pub struct Deed<'a> {
    /// The call.
    pub call: &'a CallFacts,
    /// What it may change.
    pub reach: Reach,
}

/// What a deed may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// This file, and the directories above it that are missing. Absolute, without symlinks.
    File(PathBuf),
    /// Anything in the workspace.
    Workspace {
        /// What it is known to write or delete; absolute. Kept first where there is no room for
        /// all.
        named: Vec<PathBuf>,
    },
}

/// Why something could not be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotKept {
    message: String,
}

impl NotKept {
    /// An error with its whole chain as text.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    fn not_run(&self) -> String {
        format!(
            "nothing was done: what the call might change cannot be kept for undo: {self}; the \
             person can repair that, or switch undo off with `keep = false` in `[undo]` of the \
             manifest"
        )
    }
}

/// Does `deed`, which changes one file, with what it changes kept; the caller has the write turn.
pub(crate) fn around<T>(
    ctx: &RunContext,
    call: &CallFacts,
    target: &Target,
    deed: impl FnOnce(&Scope) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let reach = Reach::File(target.absolute().to_owned());
    let kept = match &ctx.keep {
        Some(keep) => Some(
            keep.before(&Deed { call, reach })
                .map_err(|error| FileError::new(error.not_run()))?,
        ),
        None => None,
    };
    let done = deed(&ctx.scope);
    if let Some(kept) = kept {
        kept.after();
    }
    done
}

/// Keeps what a command may change; `None` if nothing needs to be kept.
pub(crate) async fn before_command(
    ctx: &RunContext,
    call: &Arc<CallFacts>,
) -> Result<Option<Box<dyn Kept>>, ToolOutput> {
    let Some(keep) = &ctx.keep else {
        return Ok(None);
    };
    if only_reads(call.lowered(), ctx) {
        return Ok(None);
    }
    let (keep, call) = (Arc::clone(keep), Arc::clone(call));
    let work = move || {
        // A file tool is not half-way through its work meanwhile.
        let _turn = files::write_turn();
        let named = written_paths(call.lowered());
        keep.before(&Deed {
            call: &call,
            reach: Reach::Workspace { named },
        })
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(kept)) => Ok(Some(kept)),
        Ok(Err(error)) => Err(ToolOutput::failure(error.not_run())),
        Err(error) => {
            tracing::error!(%error, "keeping broke down");
            Err(ToolOutput::failure(
                NotKept::new("it failed inside podward").not_run(),
            ))
        }
    }
}

/// The command has ended.
pub(crate) async fn after_command(kept: Option<Box<dyn Kept>>) {
    let Some(kept) = kept else { return };
    let work = move || {
        let _turn = files::write_turn();
        kept.after();
    };
    if let Err(error) = tokio::task::spawn_blocking(work).await {
        tracing::error!(%error, "keeping broke down");
    }
}

/// The paths that a command is known to write or delete.
fn written_paths(lowered: &Lowered) -> Vec<PathBuf> {
    let Lowered::Operations(operations) = lowered else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = operations
        .iter()
        .filter(|operation| is_write(operation))
        .filter_map(|operation| match &operation.subject {
            Subject::Path(path) => path
                .resolved
                .as_ref()
                .unwrap_or(&path.lexical)
                .absolute
                .as_known()
                .map(PathBuf::from),
            // A tree stands beside the path of its directory.
            Subject::Tree(_)
            | Subject::Command(_)
            | Subject::Url(_)
            | Subject::Plain(_)
            | Subject::Unknown(_) => None,
        })
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Whether an operation says that a file is written.
fn is_write(operation: &Operation) -> bool {
    [names::FILE_WRITE, names::FILE_EDIT].contains(&operation.tool.as_str())
}

#[cfg(test)]
mod tests;
