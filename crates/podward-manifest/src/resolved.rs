//! What a pod is made from: every key has a value.

use std::collections::BTreeSet;
use std::path::PathBuf;

use podward_policy::{Policies, ToolName};
use podward_scope::ScopeDecl;
use podward_shell::AddedPrograms;

use crate::approvals::Approvals;
use crate::child::DeclaredChild;
use crate::diagnostic::Diagnostic;
use crate::effective::Effective;
use crate::environment::{VariableName, VariablePattern};
use crate::hook::DeclaredHook;
use crate::limits::Limits;
use crate::model::{Key, KeyCommand, Model};
use crate::name::PodName;
use crate::policy_test::PolicyTest;
use crate::undo::Undo;

/// The manifest that results from all layers.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// `[pod]`.
    pub pod: Pod,
    /// `[model]`: who answers.
    pub model: Model,
    /// `[model]`: where the model's key is; `None`: nowhere.
    pub key: Option<Key>,
    /// Every place that any layer names as that of a key: no tool gets at them.
    pub key_places: KeyPlaces,
    /// `[model] max_tokens`: the most tokens that one answer may have.
    pub max_tokens: u32,
    /// `[model] system`: put before the conversation; may be empty.
    pub system: String,
    /// `[tools] offered`: the tools that the model may be told of.
    pub tools: BTreeSet<ToolName>,
    /// `[scope]`.
    pub scope: ScopeDecl,
    /// `[permissions]` of every layer that has it, outermost first.
    pub policies: Policies,
    /// The keys of `[permissions]` that are about questions.
    pub approvals: Approvals,
    /// The policies as bytes: equal exactly if the layers, their defaults and their rules are, in
    /// whatever form and with whatever comments they were written, and the models of programs that
    /// the layers add. The policy digest is a hash of them.
    pub policy_bytes: Vec<u8>,
    /// The variables that commands see: [`crate::BASE_ENVIRONMENT`] and `[environment] pass`.
    pub environment: Vec<VariablePattern>,
    /// `[programs] files` of every layer: models of programs beside those that are built in.
    pub programs: AddedPrograms,
    /// `[skills] directories`, absolute if the directories of the layers are.
    pub skill_directories: Vec<PathBuf>,
    /// `[[hook]]` of every layer, outermost first: the order in which they run.
    pub hooks: Vec<DeclaredHook>,
    /// `[children]`: the pods that it can start, by name.
    pub children: Vec<DeclaredChild>,
    /// `[limits]`.
    pub limits: Limits,
    /// `[undo]`.
    pub undo: Undo,
    /// What the layers say their rules say. [`resolve`](crate::resolve()) does not run them: whoever
    /// can lower a call does, and takes one that fails for an error.
    pub tests: Vec<PolicyTest>,
    /// What the author should hear although the manifest loads.
    pub warnings: Vec<Diagnostic>,
    /// Every setting with its origin.
    pub effective: Effective,
}

/// What layers name that lies outside of them.
#[derive(Debug, Clone)]
pub struct Mentioned {
    /// `[pod]`: where the pod works.
    pub workspace: Workspace,
    /// `[children]`.
    pub children: Vec<DeclaredChild>,
    /// `[[hook]]`.
    pub hooks: Vec<DeclaredHook>,
    /// `[model]`: where the key is.
    pub key: Option<Key>,
    /// Every place of a key.
    pub key_places: KeyPlaces,
    /// `[skills] directories`.
    pub skill_directories: Vec<PathBuf>,
    /// `[programs] files`.
    pub program_files: Vec<PathBuf>,
}

/// Where keys are, whichever layer's counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyPlaces {
    /// Variables.
    pub variables: Vec<VariableName>,
    /// Files; absolute if the directories of the layers are.
    pub files: Vec<PathBuf>,
    /// Commands that print one.
    pub commands: Vec<KeyCommand>,
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
