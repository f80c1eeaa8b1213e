//! A walk over all that is below a directory, in a fixed order.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::vec;

use podward_scope::{Entry, Kind, Scope, ScopeError};
use tokio_util::sync::CancellationToken;

use crate::search::ignored::Ignored;

/// How far below its root a walk goes: each directory is looked up from the top, so that one that is
/// nested deeply costs as much as many.
const MAX_DEPTH: usize = 256;

/// An entry that a walk found: not ignored, and no directory.
pub(super) struct Found<'a> {
    /// Its names below the root.
    pub(super) below: &'a [OsString],
    /// Its absolute path.
    pub(super) path: &'a Path,
    /// What it is.
    pub(super) kind: Kind,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// All was seen.
    Whole,
    /// The visitor had enough.
    Stopped,
    /// The call was cancelled.
    Cancelled,
}

/// A walk that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Walked {
    pub(super) ended: Ended,
    /// Directories that could not be listed, or are nested too deeply.
    pub(super) n_unreadable: usize,
}

/// One directory on the way down, and what is left of it.
struct Level {
    path: PathBuf,
    entries: vec::IntoIter<Entry>,
}

/// Visits the entries below `root`, depth first, in the order of their names.
///
/// # Errors
/// The root cannot be listed.
pub(super) fn walk(
    scope: &Scope,
    root: &Path,
    ancestors: &[PathBuf],
    cancel: &CancellationToken,
    mut visit: impl FnMut(&Found<'_>) -> ControlFlow<()>,
) -> Result<Walked, ScopeError> {
    let mut ignored = Ignored::default();
    for ancestor in ancestors {
        ignored.enter(scope, ancestor);
    }
    let mut levels = vec![enter(scope, root, &mut ignored)?];
    let mut below: Vec<OsString> = Vec::new();
    let mut walked = Walked {
        ended: Ended::Whole,
        n_unreadable: 0,
    };
    while let Some(level) = levels.last_mut() {
        if cancel.is_cancelled() {
            walked.ended = Ended::Cancelled;
            return Ok(walked);
        }
        let Some(entry) = level.entries.next() else {
            ignored.leave(&level.path);
            levels.pop();
            below.pop();
            continue;
        };
        let path = level.path.join(&entry.name);
        if ignored.is_ignored(&path, entry.kind) {
            continue;
        }
        below.push(entry.name);
        if entry.kind == Kind::Directory && below.len() > MAX_DEPTH {
            walked.n_unreadable += 1;
        } else if entry.kind == Kind::Directory {
            match enter(scope, &path, &mut ignored) {
                Ok(level) => {
                    levels.push(level);
                    continue;
                }
                Err(_) => walked.n_unreadable += 1,
            }
        } else {
            let found = Found {
                below: &below,
                path: &path,
                kind: entry.kind,
            };
            if visit(&found).is_break() {
                walked.ended = Ended::Stopped;
                return Ok(walked);
            }
        }
        below.pop();
    }
    Ok(walked)
}

fn enter(scope: &Scope, path: &Path, ignored: &mut Ignored) -> Result<Level, ScopeError> {
    let entries = scope.read_dir(path)?;
    ignored.enter(scope, path);
    Ok(Level {
        path: path.to_owned(),
        entries: entries.into_iter(),
    })
}

#[cfg(test)]
mod tests;
