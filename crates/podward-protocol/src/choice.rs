//! What an `always` would save.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::circumstances::Circumstances;

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
    /// What it would be given for.
    #[serde(flatten)]
    pub given: Circumstances,
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
