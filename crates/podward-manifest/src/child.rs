//! Children: the pods that a pod can start.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use podward_policy::Location;

use crate::name::PodName;

/// One `[children.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredChild {
    /// Its name: what `spawn` and the rules about it call it.
    pub name: PodName,
    /// `manifest`; absolute if the directory of the layer is.
    pub manifest: PathBuf,
    /// `mode`.
    pub mode: ChildMode,
    /// `limits.max_steps`: the most that its own manifest can have.
    pub max_steps: Option<u32>,
    /// `limits.turn_timeout`: the same.
    pub turn_timeout: Option<Duration>,
    /// Where it is written.
    pub location: Location,
}

/// What a child's rules are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ChildMode {
    /// Those of the pod that starts it, and its own: the strictest verdict counts.
    #[default]
    Ceiling,
    /// Its own, without those of the manifest of the pod that starts it: what else that is under holds.
    Independent,
}

impl ChildMode {
    /// The word used in manifests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ceiling => "ceiling",
            Self::Independent => "independent",
        }
    }
}

impl fmt::Display for ChildMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
