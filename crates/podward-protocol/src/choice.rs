//! What an `always` would save.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grant::{ExpandedWord, Input};

/// What one `always` would save: a pattern for each part of the call that asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The parts, in the order of their operations.
    pub parts: Vec<ChoicePart>,
}

/// What an `always` would save for one part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ChoicePart {
    /// The place of the operation, from 0, in the request's list.
    pub operation: usize,
    /// The tool that the pattern is for.
    pub tool: String,
    /// The pattern, exactly as it would be saved.
    pub pattern: String,
    /// How wide it is.
    pub width: Width,
    /// Of a pattern that says all of a command: the directories in which it would hold, as rules write
    /// paths; absent if that is the directory of the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    /// Of a pattern for commands: the words that the shell would have to expand as it does here; absent
    /// if it expands none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expanded: Vec<ExpandedWord>,
    /// Of a pattern that says all of a command: what it would have to read as its standard input; absent
    /// if that is nothing, or nothing but data to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
}

/// How much more than this call a pattern covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    /// This text and no other.
    Exact,
    /// The same command, with any number (or word that begins like one) and any path below `/tmp` where there
    /// is one now.
    Similar,
    /// A program with this subcommand.
    Subcommand,
    /// A program with any arguments.
    Program,
    /// One file.
    File,
    /// All below a directory.
    Directory,
    /// One URL.
    Url,
    /// A host, with the front of a path.
    Host,
    /// The tool with these arguments.
    SameArguments,
    /// The tool with any arguments.
    Tool,
}
