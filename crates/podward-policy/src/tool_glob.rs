//! Tools by name or by a glob over names, for what can only restrict.

#[cfg(test)]
mod tests;

use std::fmt;

use crate::action::Action;
use crate::compile::tool_pattern;
use crate::rule::tools::ToolPattern;
use crate::source::ByteSpan;
use crate::tool::{EXTERNAL_DIRECTORY, KnownTools, ToolName};

/// The tools that something restrictive is about: a name, or a glob over names, with the meaning
/// of the `tool` of a deny rule (D4.5).
#[derive(Debug, Clone)]
pub struct ToolGlob {
    pattern: ToolPattern,
    written: Box<str>,
}

/// Why a text names no tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolProblem {
    /// Bytes of the text that are meant; `None`: all of it.
    pub part: Option<ByteSpan>,
    /// What is wrong: lower case, no full stop, user text in backticks.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl ToolGlob {
    /// Reads a tool's name or a glob over names.
    ///
    /// # Errors
    /// It is empty, no glob, the name of no known tool, or that of the pseudo-tool that nobody
    /// calls.
    pub fn new(written: &str, known: &KnownTools) -> Result<Self, Vec<ToolProblem>> {
        if written == EXTERNAL_DIRECTORY {
            return Err(vec![ToolProblem {
                part: None,
                message: format!("`{EXTERNAL_DIRECTORY}` judges paths and is never called"),
                help: Some("name the tool that is called, or `*`".to_owned()),
            }]);
        }
        Ok(Self {
            pattern: tool_pattern(written, known)?,
            written: written.into(),
        })
    }

    /// Whether a tool is one of them.
    #[must_use]
    pub fn matches(&self, tool: &ToolName) -> bool {
        self.pattern.matches(tool, Action::Deny)
    }

    /// Whether any tool there can be is one of them.
    #[must_use]
    pub fn fits_some(&self, known: &KnownTools) -> bool {
        self.pattern.fits_some(known, Action::Deny)
    }

    /// The text as it was written.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        &self.written
    }
}

impl fmt::Display for ToolGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}
