//! Why a child did not do what it was to do.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use podward_client::ClientError;
use podward_worker::ReplayError;

use crate::error::StateError;
use crate::file::FileError;

/// Why a child did not do what it was to do, or why this process is none.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// This program starts no children.
    #[error("this program starts no children")]
    NoProgram,
    /// Its manifest was not among those that the outermost pod read.
    #[error("its manifest was not read when the outermost pod started")]
    NotRead,
    /// As many run as may.
    #[error(
        "{most} run below the pod `{pod}`, and its `limits.children` allows no more at a time: wait for one"
    )]
    TooMany {
        /// The pod that says so.
        pod: String,
        /// How many may.
        most: u32,
    },
    /// The turn above has no request to its model left.
    #[error(
        "no step is left of the turn's `limits.max_steps`, and what a child asks its model counts"
    )]
    NoSteps,
    /// No pod started this process, or it is gone.
    #[error("`podward child` is for pods to start: there is none above this process")]
    Foreign,
    /// What a child was given is not beside its session as it was put there.
    #[error("the session is that of a child, and what held for it cannot be read from `{}`", .path.display())]
    Kept {
        /// The file.
        path: PathBuf,
    },
    /// The same: the file cannot be read, or others could.
    #[error("the session is that of a child, and what held for it cannot be read")]
    File(#[from] FileError),
    /// Its session goes on, and cannot be read.
    #[error("its session cannot be gone on with")]
    Session(#[from] StateError),
    /// The same: what is in it makes no sense.
    #[error("its session makes no sense")]
    Unreadable(#[from] ReplayError),
    /// The system does not do it.
    #[error("cannot {what}")]
    System {
        /// What.
        what: &'static str,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// It ended, or said something that makes no sense.
    #[error("its process ended before its work ({why}){}", words(said))]
    Ended {
        /// Its last words.
        said: String,
        /// What is known of it.
        why: ClientError,
    },
    /// It was told to work, and its end was never heard of.
    #[error("its process ended before its work{}", words(said))]
    Lost {
        /// Its last words.
        said: String,
    },
    /// It took too long, and was ended.
    #[error("it did not end within its `turn_timeout` ({0:?}) and some time more, and was stopped")]
    TimedOut(Duration),
    /// Its time was over, and it answered no more.
    #[error("it hung at the end of its `turn_timeout` ({0:?}), and was killed")]
    Hung(Duration),
    /// The children of a turn together have asked their models more often than that has left.
    #[error(
        "`limits.max_steps` of the turn above was reached: what its children ask their models counts"
    )]
    Overdrawn,
    /// The turn was cancelled.
    #[error("it was cancelled")]
    Cancelled,
}

impl ChildError {
    pub(crate) const fn io(what: &'static str, source: io::Error) -> Self {
        Self::System { what, source }
    }

    /// The same, with what the child wrote to its standard error.
    pub(super) fn with_words(self, words: String) -> Self {
        match self {
            Self::Ended { why, .. } => Self::Ended { said: words, why },
            Self::Lost { .. } => Self::Lost { said: words },
            other => other,
        }
    }
}

/// What it said last, after all else: it may be of many lines.
fn words(said: &str) -> String {
    match said.is_empty() {
        true => String::new(),
        false => format!("; it said:\n{said}"),
    }
}
