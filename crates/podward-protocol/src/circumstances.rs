//! What a pattern was given for, beside the words of a command.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What has to be the same beside the words of a command; all of it is absent where a command of
/// literal words runs in the directory of the call and is given no input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Circumstances {
    /// Of a pattern that says all of a command: the directories in which it holds, as rules write
    /// paths; absent if that is the directory of the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    /// Of a pattern for commands: the words that the shell has to expand as it did here; absent if it
    /// expands none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expanded: Vec<ExpandedWord>,
    /// Of a pattern that says all of a command: what it reads as its standard input; absent if that is
    /// nothing, or nothing but data to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
}

/// A word of a command that is more for the shell than its characters: a file name pattern or a `~`
/// that is not quoted, or an assignment in front of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ExpandedWord {
    /// Its place among the words of the command, from 0.
    pub word: usize,
    /// As a shell has to be given it: what is literal in it is quoted.
    pub spelled: String,
}

/// What a command reads as its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Input {
    /// This text.
    Text {
        /// The text.
        text: String,
    },
    /// A file.
    File {
        /// Its name, as rules write paths.
        path: String,
    },
}
