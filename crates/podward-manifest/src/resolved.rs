//! What a pod is made from: every key has a value.

use std::collections::BTreeSet;
use std::path::PathBuf;

use podward_policy::{Policies, ToolName};
use podward_scope::ScopeDecl;

use crate::diagnostic::Diagnostic;
use crate::effective::Effective;
use crate::environment::{VariableName, VariablePattern};
use crate::limits::Limits;
use crate::name::PodName;

/// The manifest that results from all layers.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// `[pod]`.
    pub pod: Pod,
    /// `[model]`: who answers.
    pub model: Model,
    /// `[model] key_env`: the variable with the model's key, which is taken out of the pod's own
    /// environment before the first tool runs, whatever the provider.
    pub key_env: Option<VariableName>,
    /// `[model] system`: put before the conversation; may be empty.
    pub system: String,
    /// `[tools] offered`: the tools that the model may be told of.
    pub tools: BTreeSet<ToolName>,
    /// `[scope]`.
    pub scope: ScopeDecl,
    /// `[permissions]` of every layer that has it, outermost first.
    pub policies: Policies,
    /// The policies as bytes: equal exactly if the layers, their defaults and their rules are, in
    /// whatever form and with whatever comments they were written. The policy digest is a hash of
    /// them.
    pub policy_bytes: Vec<u8>,
    /// The variables that commands see: [`crate::BASE_ENVIRONMENT`] and `[environment] pass`.
    pub environment: Vec<VariablePattern>,
    /// `[skills] directories`, absolute if the directories of the layers are.
    pub skill_directories: Vec<PathBuf>,
    /// `[limits]`.
    pub limits: Limits,
    /// What the author should hear although the manifest loads.
    pub warnings: Vec<Diagnostic>,
    /// Every setting with its origin.
    pub effective: Effective,
}

/// `[pod]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pod {
    /// `name`.
    pub name: PodName,
    /// `workspace` and `workspace_mode`.
    pub workspace: Workspace,
}

/// Where a pod works.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workspace {
    /// `workspace`.
    pub path: WorkspacePath,
    /// `workspace_mode`.
    pub mode: WorkspaceMode,
}

/// Which directory a pod works in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WorkspacePath {
    /// No layer says: the directory that podward was started in.
    #[default]
    CurrentDirectory,
    /// This one; absolute if the directory of the layer is.
    At(PathBuf),
}

/// How a pod works in its workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum WorkspaceMode {
    /// `direct`: on the files themselves.
    #[default]
    Direct,
    /// `copy`: on a temporary copy that is removed at the end.
    Copy,
}

impl WorkspaceMode {
    /// The word used in manifests: `direct` or `copy`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Copy => "copy",
        }
    }
}

/// Who answers the requests of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Model {
    /// No layer has a `[model]`: enough to judge calls, not to run a pod.
    Undeclared,
    /// A script of model steps.
    Scripted(Script),
}

/// A script of model steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// Part of the program, by name: `demo`.
    Embedded(&'static str),
    /// A file; absolute if the directory of the layer is.
    File(PathBuf),
}
