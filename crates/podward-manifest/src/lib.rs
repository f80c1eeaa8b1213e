//! Reads pod manifests: TOML text of several layers becomes one resolved manifest, or diagnostics
//! that name file, line and column.
//!
//! It must never know where a text was stored, whether a file exists, what the environment holds
//! or what time it is: text in, values out, no I/O.
//!
//! ```
//! use podward_manifest::{LayerKind, LayerSource, Surroundings, Trust, resolve};
//!
//! let manifest = LayerSource {
//!     kind: LayerKind::Manifest,
//!     file: "pod.toml".into(),
//!     directory: "/work".into(),
//!     text: "[permissions]\ndefault_action = \"ask\"\n".to_owned(),
//!     trust: Trust::Trusted,
//! };
//! let resolved = resolve(&[manifest], &Surroundings::default()).map_err(|e| e.to_string());
//! assert_eq!(resolved.map(|resolved| resolved.limits.max_steps), Ok(100));
//! ```

mod approvals;
mod canonical;
mod child;
mod diagnostic;
mod document;
mod effective;
mod environment;
mod hook;
mod isolated;
mod join;
mod json_schema;
mod layer;
mod limits;
mod model;
mod name;
mod permissions;
mod policy_test;
mod programs;
mod raw;
mod read;
mod reader;
mod resolve;
mod resolved;
mod schema;
mod shown;
mod source;
mod string_offsets;
mod suggestion;
#[cfg(test)]
mod tests;
mod undo;
mod unit;
mod written;

pub use approvals::{Approvals, AutoAnswers, OnAsk};
pub use child::{ChildMode, DeclaredChild};
pub use diagnostic::{Diagnostic, Diagnostics, Place, Related, Severity, underlined};
pub use effective::{Effective, EffectiveLine, Origin};
pub use environment::{BASE_ENVIRONMENT, VariableName, VariableNameError, VariablePattern};
pub use hook::{DeclaredHook, HookArgument, HookEvent, HookName, HookNameError, HookProgram};
pub use isolated::{Isolated, isolated, isolated_layer};
pub use json_schema::manifest_schema;
pub use layer::{LayerSource, OFFERABLE_TOOLS, ProgramText, Surroundings, Trust};
pub use limits::Limits;
pub use model::{
    BaseUrl, BaseUrlError, Exposure, Key, KeyCommand, KeySource, Model, ModelName, ModelPattern,
    Provider, RemoteModel, Script,
};
pub use name::{PodName, PodNameError};
pub use podward_policy::{LayerKind, LayerName};
pub use policy_test::{PolicyTest, TEST_HOME, TEST_WORKSPACE, TestCall};
pub use programs::{ProgramFile, program_files};
pub use resolve::{mentioned, resolve, workspace};
pub use resolved::{KeyPlaces, Mentioned, Pod, Resolved, Workspace, WorkspaceMode, WorkspacePath};
pub use source::decode;
pub use undo::Undo;
pub use written::{WrittenPermissions, WrittenRule, written};
