//! Why something could not be kept or brought back.

use std::io;
use std::path::{Path, PathBuf};

use crate::bytes::TreePath;

/// Why something could not be kept or brought back.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// A file of the store cannot be used.
    #[error("cannot {verb} `{}`", .path.display())]
    Store {
        /// What was tried.
        verb: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A file of the store does not hold what was written.
    #[error("`{}` is damaged: {why}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file of the workspace cannot be used.
    #[error("cannot {verb} `{path}`")]
    Workspace {
        /// What was tried.
        verb: &'static str,
        /// The file or directory.
        path: TreePath,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The workspace itself cannot be used.
    #[error("the workspace `{}` cannot be opened", .path.display())]
    Root {
        /// The workspace.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Nothing was kept under this name.
    #[error("{0}")]
    Nothing(String),
    /// Somebody is just changing files of the workspace.
    #[error("a call is running in this workspace")]
    Busy,
}

impl UndoError {
    pub(crate) fn store(verb: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Store {
            verb,
            path: path.to_owned(),
            source: source.into(),
        }
    }

    pub(crate) fn workspace(
        verb: &'static str,
        path: &TreePath,
        source: impl Into<io::Error>,
    ) -> Self {
        Self::Workspace {
            verb,
            path: path.clone(),
            source: source.into(),
        }
    }

    pub(crate) fn damaged(path: &Path, why: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            why: why.into(),
        }
    }

    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Store { source, .. } | Self::Workspace { source, .. }
                if matches!(
                    source.kind(),
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
                ) =>
            {
                Some("make room on the disk")
            }
            Self::Busy => Some("wait until the pods that work there have ended"),
            Self::Nothing(_) => Some(
                "`podward undo SESSION --list` shows what was changed, and the undos that can be undone",
            ),
            Self::Store { .. }
            | Self::Damaged { .. }
            | Self::Workspace { .. }
            | Self::Root { .. } => None,
        }
    }
}
