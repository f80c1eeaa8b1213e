//! Why a pod has no socket.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::StateError;
use crate::file::shown;

/// The run directory cannot be used, or the socket in it cannot be made.
#[derive(Debug)]
pub enum RunDirError {
    /// A file or directory is not as it has to be.
    Place(PathBuf, RunDirProblem),
    /// The entry cannot be written.
    State(StateError),
}

/// What is wrong with a file or directory.
#[derive(Debug)]
pub enum RunDirProblem {
    /// The system says no.
    Io {
        /// What was tried.
        verb: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// It is a symlink.
    Link,
    /// It is no directory.
    NotADirectory,
    /// It is another user's.
    ForeignOwner {
        /// Whose.
        owner: u32,
    },
    /// Others can open it.
    OpenToOthers {
        /// Its mode.
        mode: u32,
    },
    /// Others can put other files into it.
    Writable {
        /// Its mode.
        mode: u32,
    },
    /// The path of a socket is too long for the kernel.
    TooLong,
    /// Another process does not give it back.
    Locked,
}

impl RunDirError {
    pub(super) fn new(path: &Path, problem: RunDirProblem) -> Self {
        Self::Place(path.into(), problem)
    }

    pub(in crate::serve) fn io(verb: &'static str, path: &Path, source: io::Error) -> Self {
        Self::new(path, RunDirProblem::Io { verb, source })
    }

    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let (path, problem) = match self {
            Self::Place(path, problem) => (path, problem),
            Self::State(error) => return error.help(),
        };
        let path = shown(path);
        match problem {
            RunDirProblem::Io { .. } => Some(
                "XDG_RUNTIME_DIR names the directory in which podward makes its sockets".into(),
            ),
            RunDirProblem::Link | RunDirProblem::NotADirectory => {
                Some("remove it, or name another directory in XDG_RUNTIME_DIR".into())
            }
            RunDirProblem::ForeignOwner { .. } => {
                Some("name a directory of your own in XDG_RUNTIME_DIR".into())
            }
            RunDirProblem::OpenToOthers { .. } => Some(format!("`chmod go-rwx {path}`")),
            RunDirProblem::Writable { .. } => Some(format!(
                "`chmod go-w {path}`, or name a directory of your own in XDG_RUNTIME_DIR"
            )),
            RunDirProblem::TooLong => Some("name a shorter directory in XDG_RUNTIME_DIR".into()),
            RunDirProblem::Locked => Some(
                "end the process that holds it, or name another directory in XDG_RUNTIME_DIR"
                    .into(),
            ),
        }
    }
}

impl fmt::Display for RunDirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, problem) = match self {
            Self::Place(path, problem) => (shown(path), problem),
            Self::State(error) => return error.fmt(f),
        };
        match problem {
            RunDirProblem::Io { verb, .. } => write!(f, "cannot {verb} `{path}`"),
            RunDirProblem::Link => write!(f, "`{path}` is a symlink"),
            RunDirProblem::NotADirectory => write!(f, "`{path}` is no directory"),
            RunDirProblem::ForeignOwner { owner } => {
                write!(f, "`{path}` belongs to another user (uid {owner})")
            }
            RunDirProblem::OpenToOthers { mode } => {
                write!(f, "`{path}` is open to others (mode {mode:04o})")
            }
            RunDirProblem::Writable { mode } => {
                write!(f, "`{path}` can be written by others (mode {mode:04o})")
            }
            RunDirProblem::TooLong => write!(
                f,
                "the path of the socket `{path}` has {} bytes, the kernel takes {}",
                path.len(),
                super::PATH_BYTES
            ),
            RunDirProblem::Locked => write!(f, "`{path}` is locked by another process"),
        }
    }
}

impl Error for RunDirError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Place(_, RunDirProblem::Io { source, .. }) => Some(source),
            Self::State(error) => error.source(),
            Self::Place(..) => None,
        }
    }
}
