//! What can go wrong, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::decl::{Access, Shield};
use crate::level::Level;

/// Why the scope refused or could not do something.
///
/// [`ScopeError::hint`] says what to do. The message of an operating system error is its source.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// No declared root holds the path.
    #[error("`{}` lies outside the roots that may be {}", .path.display(), participle(*.wanted))]
    Outside {
        /// The path as it was asked for.
        path: PathBuf,
        /// The right that was asked for.
        wanted: Access,
        /// The roots that would have given it, for the hint.
        roots: Vec<PathBuf>,
    },
    /// A declared root or podward itself takes the right away.
    #[error("`{}` may not be {}: {rule}", .path.display(), participle(*.wanted))]
    Denied {
        /// The path as it was asked for.
        path: PathBuf,
        /// The right that was asked for.
        wanted: Access,
        /// What denies it.
        rule: DenyRule,
    },
    /// The path names nothing.
    #[error("`{}` does not exist", .path.display())]
    Missing {
        /// The path as it was asked for.
        path: PathBuf,
    },
    /// The path names something else than was asked for.
    #[error("`{}` is {found}, not {wanted}", .path.display())]
    WrongKind {
        /// The path as it was asked for.
        path: PathBuf,
        /// What is there.
        found: Kind,
        /// What was asked for.
        wanted: Kind,
    },
    /// The path cannot name a file.
    #[error("`{}` is not a path: {reason}", .path.display())]
    NotAPath {
        /// The path as it was asked for.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Following the path's symbolic links does not end.
    #[error("`{}` leads through too many symbolic links", .path.display())]
    TooManyLinks {
        /// The path as it was asked for.
        path: PathBuf,
    },
    /// A path that was to hold no symbolic link holds one.
    #[error("`{}` leads through the symbolic link `{}`", .path.display(), .link.display())]
    LinkOnTheWay {
        /// The path as it was asked for.
        path: PathBuf,
        /// The link.
        link: PathBuf,
    },
    /// The file system changed under the call, again and again.
    #[error("`{}` kept changing while it was opened", .path.display())]
    Unstable {
        /// The path as it was asked for.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {doing} `{}`", .path.display())]
    Io {
        /// The path as it was asked for.
        path: PathBuf,
        /// A verb phrase.
        doing: &'static str,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// A declared root cannot be used.
    #[error("the scope's root `{}`{} cannot be used: {reason}", .path.display(), at(.declared.as_deref()))]
    UnusableRoot {
        /// The root, absolute.
        path: PathBuf,
        /// Where it was declared.
        declared: Option<std::sync::Arc<str>>,
        /// What is wrong with it.
        reason: String,
    },
    /// `enforce = "required"` and the kernel does not enforce everything.
    #[error("the scope must be enforced by the kernel and is not: {level}")]
    NotEnforced {
        /// What was reached.
        level: Level,
    },
    /// A child process could not be confined.
    #[error("cannot confine a child process: {reason}")]
    Confinement {
        /// What happened.
        reason: String,
    },
}

impl ScopeError {
    /// What the reader can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Outside { roots, wanted, .. } => Some(format!(
                "may be {}: {}",
                participle(*wanted),
                roots
                    .iter()
                    .map(|root| format!("`{}`", root.display()))
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
            Self::NotEnforced { .. } => Some(
                "`enforce = \"best\"` in `[scope]` goes on with what this kernel gives".to_owned(),
            ),
            Self::UnusableRoot { .. } => Some(
                "make the directory, name another one in `[scope]`, or remove the entry".to_owned(),
            ),
            Self::Denied { .. }
            | Self::Missing { .. }
            | Self::WrongKind { .. }
            | Self::NotAPath { .. }
            | Self::TooManyLinks { .. }
            | Self::LinkOnTheWay { .. }
            | Self::Unstable { .. }
            | Self::Io { .. }
            | Self::Confinement { .. } => None,
        }
    }

    pub(crate) fn io(path: &Path, doing: &'static str, source: impl Into<io::Error>) -> Self {
        Self::Io {
            path: path.to_owned(),
            doing,
            source: source.into(),
        }
    }
}

/// What takes a right away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenyRule {
    /// The denied path, absolute.
    pub path: PathBuf,
    /// What is taken away.
    pub shield: Shield,
    /// Who took it away.
    pub source: DenySource,
}

/// Who took a right away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DenySource {
    /// A `deny` root, declared at this place if that is known.
    Declared(Option<std::sync::Arc<str>>),
    /// Podward, for what is its own.
    Podward,
}

impl std::fmt::Display for DenyRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match &self.source {
            DenySource::Declared(declared) => {
                write!(f, "the scope denies `{path}`{}", at(declared.as_deref()))
            }
            DenySource::Podward => write!(f, "`{path}` is podward's own"),
        }
    }
}

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, a socket, a device.
    Special,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Directory => "a directory",
            Self::Symlink => "a symbolic link",
            Self::Special => "a pipe, a socket or a device",
        })
    }
}

fn participle(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "written",
    }
}

fn at(declared: Option<&str>) -> String {
    declared.map_or_else(String::new, |place| format!(" ({place})"))
}
