//! What a manifest declares: values only.

use std::path::PathBuf;
use std::sync::Arc;

/// The roots a manifest declares, and how much must be enforced.
///
/// With no `allow` root, the workspace and the session's temporary directory may be written and
/// everything may be read. With `allow` roots, only those, and the temporary directory. A `deny`
/// root always wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeDecl {
    /// What may be touched; [`Access::Write`] implies reading.
    pub allow: Vec<Root>,
    /// What may not be touched: [`Access::Read`] takes away reading and writing,
    /// [`Access::Write`] only writing.
    pub deny: Vec<Root>,
    /// What happens when the kernel cannot enforce the declaration on child processes.
    pub enforce: Enforce,
}

/// One declared path and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Absolute, or relative to the workspace. An `allow` root is an existing directory.
    pub path: PathBuf,
    /// The right that is granted or taken away.
    pub access: Access,
    /// Where it was declared, for messages: `pod.toml:12`.
    pub declared: Option<Arc<str>>,
}

impl Root {
    /// A root with the right to read.
    #[must_use]
    pub fn read(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            access: Access::Read,
            declared: None,
        }
    }

    /// A root with the right to write.
    #[must_use]
    pub fn write(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            access: Access::Write,
            declared: None,
        }
    }

    /// The same root, declared at `place`.
    #[must_use]
    pub fn declared_at(mut self, place: impl Into<Arc<str>>) -> Self {
        self.declared = Some(place.into());
        self
    }
}

/// A right over files; the greater one implies the lesser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Files can be read, directories listed.
    Read,
    /// Files can be made, changed and deleted too.
    Write,
}

impl Access {
    /// The word that manifests use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// What happens when the kernel cannot enforce the declaration on child processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Enforce {
    /// The pod goes on with what the kernel gives, and shows it.
    #[default]
    Best,
    /// The pod does not start.
    Required,
}

/// A path that no declaration can open: podward's own.
///
/// A protected path that is missing and lies where bash could make it is made, as an empty
/// directory: what does not exist cannot be protected. So name directories, or files that exist.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Protected {
    /// Absolute, or relative to the workspace.
    pub path: PathBuf,
    /// What is taken away.
    pub shield: Shield,
}

impl Protected {
    /// A path that can be read but never written: a manifest, the project's `.podward/`.
    #[must_use]
    pub fn read_only(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            shield: Shield::ReadOnly,
        }
    }

    /// A path that can be neither read nor written: sessions, logs, sockets.
    #[must_use]
    pub fn hidden(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            shield: Shield::Hidden,
        }
    }
}

/// What is taken away from a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shield {
    /// It cannot be written.
    ReadOnly,
    /// It can be neither read nor written.
    Hidden,
}

impl Shield {
    /// The greatest access that is left, if any.
    #[must_use]
    pub(crate) fn leaves(self) -> Option<Access> {
        match self {
            Self::ReadOnly => Some(Access::Read),
            Self::Hidden => None,
        }
    }
}
