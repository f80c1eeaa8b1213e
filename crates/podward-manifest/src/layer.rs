//! What the caller hands in: the texts of the layers, and what they may refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use podward_policy::{KnownTools, LayerKind, ToolName};

/// The tools that a pod of this version can offer to its model.
pub const OFFERABLE_TOOLS: &[&str] = &[
    "bash",
    "file_edit",
    "file_write",
    "glob",
    "grep",
    "list",
    "read",
    "skill",
    "spawn",
    "web_fetch",
];

/// The text of one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerSource {
    /// Which layer it is.
    pub kind: LayerKind,
    /// The name shown in messages: the path as the user knows it, or `PODWARD_PERMISSIONS`.
    pub file: Arc<str>,
    /// The directory that relative paths of this text start from: the one that holds the file.
    pub directory: PathBuf,
    /// The TOML text.
    pub text: String,
    /// Whether the text may do more than tighten. Only read for [`LayerKind::Project`]: every
    /// other layer is the user's or the machine's own.
    pub trust: Trust,
}

/// Whether somebody vouched for the text of a project's layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trust {
    /// The digest of this very text was recorded as trusted.
    Trusted,
    /// Nobody vouched for it: it can only tighten.
    Untrusted,
}

/// The text of a file that `[programs] files` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramText {
    /// The name shown in messages.
    pub file: Arc<str>,
    /// The models: the format of docs/programs.md.
    pub text: String,
}

/// What a manifest's texts may refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// What `~/` stands for; `None`: a path that begins so is an error.
    pub home: Option<PathBuf>,
    /// The tools that rules may name.
    pub known_tools: KnownTools,
    /// The tools that `[tools] offered` may name, and that are offered when no layer has it.
    pub offerable_tools: BTreeSet<ToolName>,
    /// The files that [`crate::program_files`] names, by their paths. One that is not here does not
    /// exist; `None`: it cannot be used, and the caller says why.
    pub program_texts: BTreeMap<PathBuf, Option<ProgramText>>,
}

/// No home directory, the built-in tools.
impl Default for Surroundings {
    fn default() -> Self {
        Self {
            home: None,
            known_tools: KnownTools::default(),
            offerable_tools: OFFERABLE_TOOLS
                .iter()
                .filter_map(|name| ToolName::new(name).ok())
                .collect(),
            program_texts: BTreeMap::new(),
        }
    }
}
