//! Tool names: who a tool is, told by its name alone.

use std::fmt;
use std::sync::Arc;
use std::sync::LazyLock;

/// The tools that podward brings, offered or not, and the pseudo-tools that rules may name.
pub const BUILT_IN_TOOLS: &[&str] = &[
    "bash",
    "external_directory",
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

/// The pseudo-tool that judges paths outside the workspace.
pub const EXTERNAL_DIRECTORY: &str = "external_directory";

/// Where a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolOrigin<'a> {
    /// Built in, or registered by the program that embeds podward.
    Local,
    /// A tool of an MCP server: `mcp__<server>__<tool>`.
    Mcp {
        /// The server's name.
        server: &'a str,
        /// The tool's name at that server.
        tool: &'a str,
    },
}

/// The exact name of one tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Arc<str>);

/// A text that can be no tool's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a tool name: {why}")]
pub struct ToolNameError {
    name: String,
    why: &'static str,
}

impl ToolName {
    /// Checks a tool's name.
    ///
    /// A name is 1 to 128 characters of `A-Z a-z 0-9 _ - .`; one that begins with `mcp__` is
    /// `mcp__<server>__<tool>` with neither part empty.
    ///
    /// # Errors
    /// The name breaks one of these rules.
    pub fn new(name: &str) -> Result<Self, ToolNameError> {
        let error = |why| ToolNameError {
            name: name.escape_debug().to_string(),
            why,
        };
        if name.is_empty() || name.len() > 128 {
            return Err(error("a name has 1 to 128 characters"));
        }
        if !name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        {
            return Err(error("a name has only letters, digits, `_`, `-` and `.`"));
        }
        if name.starts_with("mcp__") && split_mcp(name).is_none() {
            return Err(error("an MCP tool is named `mcp__<server>__<tool>`"));
        }
        Ok(Self(name.into()))
    }

    /// The name as rules and models write it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the tool comes from.
    #[must_use]
    pub fn origin(&self) -> ToolOrigin<'_> {
        match split_mcp(&self.0) {
            Some((server, tool)) => ToolOrigin::Mcp { server, tool },
            None => ToolOrigin::Local,
        }
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tool whose calls are command lines.
#[expect(
    clippy::expect_used,
    reason = "the name of a built-in tool is a tool name"
)]
pub(crate) static BASH: LazyLock<ToolName> =
    LazyLock::new(|| ToolName::new("bash").expect("a built-in tool's name"));

/// The server and the tool of an MCP name; the server ends at the first `__`.
fn split_mcp(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

/// The tools whose names rules may use, beside any `mcp__<server>__<tool>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTools(Vec<ToolName>);

impl KnownTools {
    /// The tools that podward brings and its pseudo-tools.
    #[must_use]
    pub fn built_in() -> Self {
        Self::with(std::iter::empty())
    }

    /// The same, and the tools that the program around podward has registered.
    #[must_use]
    pub fn with(registered: impl IntoIterator<Item = ToolName>) -> Self {
        let built_in = BUILT_IN_TOOLS
            .iter()
            .filter_map(|name| ToolName::new(name).ok());
        let mut names: Vec<_> = built_in.chain(registered).collect();
        names.sort();
        names.dedup();
        Self(names)
    }

    /// The names, sorted, each once.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ToolName> + '_ {
        self.0.iter()
    }

    /// Whether a tool of this exact name is known: one of these, or any MCP tool.
    #[must_use]
    pub fn knows(&self, name: &ToolName) -> bool {
        matches!(name.origin(), ToolOrigin::Mcp { .. }) || self.0.binary_search(name).is_ok()
    }
}

/// The tools that podward brings.
impl Default for KnownTools {
    fn default() -> Self {
        Self::built_in()
    }
}
