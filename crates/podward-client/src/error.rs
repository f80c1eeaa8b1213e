//! What goes wrong between a client and a pod.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use podward_protocol::{Closing, DecodeError, MAX_LINE_BYTES, MAX_REQUEST_BYTES, MethodError};

/// Why a pod did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No process listens at the socket.
    #[error("no pod listens at `{}`", socket.display())]
    NotThere {
        /// The socket.
        socket: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The socket cannot be connected to.
    #[error("cannot connect to `{}`", socket.display())]
    NotReached {
        /// The socket.
        socket: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What listens at the socket belongs to another user: nothing was said to it.
    #[error("what listens at `{}` belongs to another user (uid {owner})", socket.display())]
    Foreign {
        /// The socket.
        socket: PathBuf,
        /// Whose process it is.
        owner: u32,
    },
    /// The pod took the connection and said nothing.
    #[error("the pod at `{}` did not answer `hello` in {seconds} s", socket.display())]
    Unanswered {
        /// The socket.
        socket: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The pod refuses.
    #[error("the pod refuses: {0}")]
    Refused(MethodError),
    /// The pod refuses, for a reason that only a later version knows.
    #[error("the pod refuses with the unknown error `{code}`: {message}")]
    UnknownCode {
        /// The kind of error.
        code: String,
        /// What is wrong.
        message: String,
    },
    /// The request is longer than a pod reads.
    #[error("the request has {n_bytes} bytes, and a pod reads at most {MAX_REQUEST_BYTES}")]
    RequestTooLong {
        /// Its bytes.
        n_bytes: usize,
    },
    /// The request has no JSON form, or the reply is not what the method gets.
    #[error("the pod at the other end does not speak this protocol")]
    Nonsense(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The connection is over.
    #[error("the connection to the pod is over")]
    Over(#[source] Ending),
}

impl ClientError {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::NotThere { .. } => Some("`podward pods` lists the pods that run"),
            Self::NotReached { .. } => {
                Some("only the user who started the pod can connect, and only while it runs")
            }
            Self::Foreign { .. } => Some(
                "it is no pod of yours: see who made the socket, and what XDG_RUNTIME_DIR names",
            ),
            Self::Unanswered { .. } => Some("it may be stopped or overloaded; look at its log"),
            Self::Refused(error) => error.help.as_deref(),
            Self::UnknownCode { .. } => {
                Some("use the version of podward that the pod was started with")
            }
            Self::RequestTooLong { .. } => {
                Some("put long text into a file in the workspace and name the file")
            }
            Self::Nonsense(_) => Some("use the version of podward that the pod was started with"),
            Self::Over(ending) => ending.help(),
        }
    }
}

/// How a connection came to its end.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Ending {
    /// The pod closed it without a word: it stopped, or died.
    #[error("the pod closed it without a word")]
    Closed,
    /// The pod closed it and said why.
    #[error("the pod closed it: {}", .0.message)]
    Told(Closing),
    /// It failed.
    #[error("it failed")]
    Failed(#[source] Arc<io::Error>),
    /// The pod sent a line that is none of this protocol.
    #[error("the pod sent a line that cannot be read")]
    BadLine(#[source] Arc<DecodeError>),
    /// The pod sent a line that is too long.
    #[error("the pod sent a line of more than {MAX_LINE_BYTES} bytes")]
    LongLine,
    /// The pod sent a line that is no UTF-8.
    #[error("the pod sent a line that is no UTF-8")]
    NotUtf8,
    /// Events came faster than they were taken. Requests are still answered.
    #[error("events came faster than they were taken")]
    FellBehind,
}

impl Ending {
    /// What can be done about it.
    #[must_use]
    pub const fn help(&self) -> Option<&'static str> {
        match self {
            Self::Closed => Some("the session is on disk, and the pod can go on with it"),
            Self::Failed(_) | Self::FellBehind => {
                Some("connect again: the snapshot tells what was missed")
            }
            // The message says it.
            Self::Told(_) => None,
            Self::BadLine(_) | Self::LongLine | Self::NotUtf8 => {
                Some("use the version of podward that the pod was started with")
            }
        }
    }
}
