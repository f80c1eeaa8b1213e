//! What can go wrong with what podward writes down.

use std::error::Error;
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::file::shown;

/// An error with all that is behind it, in a line.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// The beginning of an id that somebody gave, with nothing in it that a terminal obeys.
pub(crate) fn shown_id(id: &str) -> String {
    id.chars().take(128).flat_map(char::escape_debug).collect()
}

/// A file or directory of podward's own that cannot be used.
#[derive(Debug)]
pub struct StateError {
    path: PathBuf,
    kind: StateErrorKind,
}

#[derive(Debug)]
enum StateErrorKind {
    Io {
        verb: &'static str,
        source: io::Error,
    },
    Uncertain {
        source: io::Error,
    },
    Foreign {
        owner: u32,
    },
    Writable {
        mode: u32,
    },
    OpenToOthers {
        mode: u32,
        right: u32,
    },
    ManyNames,
    Locked,
    Busy,
    Poisoned,
    Corrupt {
        line: usize,
        why: String,
    },
}

impl StateError {
    pub(crate) fn io(verb: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::new(
            path,
            StateErrorKind::Io {
                verb,
                source: source.into(),
            },
        )
    }

    /// It was replaced, that failed, and what was there could not be put back.
    pub(crate) fn uncertain(path: &Path, source: io::Error) -> Self {
        Self::new(path, StateErrorKind::Uncertain { source })
    }

    pub(crate) fn foreign(path: &Path, owner: u32) -> Self {
        Self::new(path, StateErrorKind::Foreign { owner })
    }

    pub(crate) fn writable(path: &Path, mode: u32) -> Self {
        Self::new(path, StateErrorKind::Writable { mode })
    }

    pub(crate) fn open_to_others(path: &Path, metadata: &Metadata) -> Self {
        let kind = StateErrorKind::OpenToOthers {
            mode: metadata.mode() & 0o7777,
            right: if metadata.is_dir() { 0o700 } else { 0o600 },
        };
        Self::new(path, kind)
    }

    pub(crate) fn many_names(path: &Path) -> Self {
        Self::new(path, StateErrorKind::ManyNames)
    }

    pub(crate) fn busy(path: &Path) -> Self {
        Self::new(path, StateErrorKind::Busy)
    }

    pub(crate) fn locked(path: &Path) -> Self {
        Self::new(path, StateErrorKind::Locked)
    }

    pub(crate) fn poisoned(path: &Path) -> Self {
        Self::new(path, StateErrorKind::Poisoned)
    }

    /// `line` counts from 1.
    pub(crate) fn corrupt(path: &Path, line: usize, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::new(path, StateErrorKind::Corrupt { line, why })
    }

    fn new(path: &Path, kind: StateErrorKind) -> Self {
        Self {
            path: path.into(),
            kind,
        }
    }

    /// The same about a file that people know by another path.
    pub(crate) fn about(mut self, path: &Path) -> Self {
        self.path = path.into();
        self
    }

    /// The file or directory that is meant.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether nobody knows what the file says from now on.
    pub(crate) const fn is_uncertain(&self) -> bool {
        matches!(self.kind, StateErrorKind::Uncertain { .. })
    }

    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let path = shown(&self.path);
        match &self.kind {
            StateErrorKind::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    Some("nothing runs that cannot be written down: make room on the disk".into())
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Some(
                    "XDG_STATE_HOME names the directory in which podward keeps its files".into(),
                ),
                // The message says it.
                _ => None,
            },
            StateErrorKind::Uncertain { .. } => {
                Some("see to the disk, then look at what counts and do it again".into())
            }
            StateErrorKind::Foreign { .. } => {
                Some("make it yours with `chown`, or name another in XDG_STATE_HOME".into())
            }
            StateErrorKind::Writable { .. } => Some(format!("`chmod go-w {path}`")),
            StateErrorKind::OpenToOthers { right, .. } => Some(format!(
                "look at what it holds, then `chmod {right:o} {path}`"
            )),
            StateErrorKind::ManyNames => {
                Some(format!("remove the other name: `find / -samefile {path}`"))
            }
            StateErrorKind::Busy => {
                Some("try again; if it stays so, a process that is stopped holds it".into())
            }
            StateErrorKind::Locked => Some("wait until the other pod has ended".into()),
            StateErrorKind::Poisoned => Some("the first error says why".into()),
            StateErrorKind::Corrupt { .. } => Some(
                "it was changed by something other than podward; nothing was lost that is in it"
                    .into(),
            ),
        }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path);
        match &self.kind {
            StateErrorKind::Io { verb, .. } => write!(f, "cannot {verb} `{path}`"),
            StateErrorKind::Uncertain { .. } => write!(
                f,
                "`{path}` cannot be written nor put back: what it was to say may count all the same"
            ),
            StateErrorKind::Foreign { owner } => {
                write!(f, "`{path}` belongs to another user (uid {owner})")
            }
            StateErrorKind::Writable { mode } => {
                write!(f, "`{path}` can be written by others (mode {mode:04o})")
            }
            StateErrorKind::OpenToOthers { mode, .. } => {
                write!(f, "`{path}` is open to others (mode {mode:04o})")
            }
            StateErrorKind::ManyNames => {
                write!(f, "`{path}` has more than one name (hard links)")
            }
            StateErrorKind::Busy => write!(f, "`{path}` is locked by another process"),
            StateErrorKind::Locked => write!(f, "`{path}` is in use by another process"),
            StateErrorKind::Poisoned => write!(f, "`{path}` could not be written before"),
            StateErrorKind::Corrupt { line, why } => write!(f, "`{path}`, line {line}: {why}"),
        }
    }
}

impl Error for StateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            StateErrorKind::Io { source, .. } | StateErrorKind::Uncertain { source } => {
                Some(source)
            }
            _ => None,
        }
    }
}
