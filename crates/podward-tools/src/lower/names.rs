//! The names of the built-in tools, as values.

use podward_policy::ToolName;

pub(crate) const BASH: &str = "bash";
pub(crate) const FILE_EDIT: &str = "file_edit";
pub(crate) const FILE_WRITE: &str = "file_write";
pub(crate) const GLOB: &str = "glob";
pub(crate) const GREP: &str = "grep";
pub(crate) const LIST: &str = "list";
pub(crate) const READ: &str = "read";
pub(crate) const SKILL: &str = "skill";
pub(crate) const SPAWN: &str = "spawn";
pub(crate) const WEB_FETCH: &str = "web_fetch";

/// The name of a built-in tool.
#[expect(
    clippy::expect_used,
    reason = "every constant above is a tool name; a test makes each of them"
)]
pub(crate) fn built_in(name: &'static str) -> ToolName {
    ToolName::new(name).expect("a constant that is a tool name")
}
