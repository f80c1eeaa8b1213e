//! What the program of a hook reads and writes.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::TurnEndReason;
use crate::id::{CallId, SessionId};
use crate::permission::PermissionRequest;
use crate::schema::schema_text;
use crate::verdict::{Operation, Ruling};

/// The version of what a hook reads. It grows when a hook written for the version before would
/// misread it; new events and new fields alone do not change it.
pub const HOOK_VERSION: u32 = 1;

/// What a hook reads on its standard input: one JSON object.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HookInput {
    /// The version of this format.
    pub version: u32,
    /// The hook's name.
    pub hook: String,
    /// The session.
    pub session: SessionId,
    /// The pod's name.
    pub pod: String,
    /// The directory the pod works in.
    pub workspace: String,
    /// The directory in which a call would run, and in which the hook runs.
    pub cwd: String,
    /// What the hook sees.
    #[serde(flatten)]
    pub event: HookEvent,
}

/// What a hook sees.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum HookEvent {
    /// A call will run, or be asked about, unless a hook refuses it.
    PreToolCall(PreToolCall),
    /// A prompt is about to become part of the history.
    PromptSubmit(PromptSubmit),
    /// A call ran.
    PostTool(PostTool),
    /// A turn ended.
    TurnEnd(TurnEnd),
    /// A call waits for a person's answer. What the hook writes, and how it ends, is no answer.
    PermissionAsked(Box<PermissionAsked>),
}

/// A call that the rules do not refuse.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PreToolCall {
    /// The call.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The arguments, as the tool would get them: secrets included.
    pub arguments: Value,
    /// What the call would do; empty if nothing would run.
    pub operations: Vec<Operation>,
    /// The verdict and its cause, with the rule's file and line.
    pub ruling: Ruling,
    /// What comes of the call if no hook refuses it.
    pub stage: HookStage,
}

/// What comes of a call if no hook refuses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookStage {
    /// It runs.
    Permitted,
    /// A person is asked; with nobody there it is refused.
    Asked,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PromptSubmit {
    /// Its text.
    pub prompt: String,
}

/// A call that ran.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PostTool {
    /// The call.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The arguments: secrets included.
    pub arguments: Value,
    /// What the call would do, as it was judged.
    pub operations: Vec<Operation>,
    /// What came of it.
    pub result: HookResult,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HookResult {
    /// What the model reads: secrets included, cut where it is long.
    pub content: String,
    /// Whether the call failed.
    pub is_error: bool,
    /// Whether `content` was cut for the hook.
    pub is_cut: bool,
}

/// A turn that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnEnd {
    /// Why.
    pub reason: TurnEndReason,
    /// How often the model was asked.
    pub n_steps: u32,
    /// How many calls were refused, bad ones included.
    pub n_refused: u32,
    /// Tokens sent in the turn.
    pub input_tokens: u64,
    /// Tokens written in the turn.
    pub output_tokens: u64,
}

/// A call that waits for a person's answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PermissionAsked {
    /// The question, as clients see it: secrets in its arguments included.
    pub request: PermissionRequest,
}

/// What a hook writes to its standard output: one JSON object, or nothing, which means `none`.
///
/// There is no word that permits: a hook can only tighten.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookOutput {
    /// What the hook does about what it sees.
    pub decision: HookDecision,
    /// Why: for the model and for people.
    #[serde(default)]
    pub message: Option<String>,
}

/// What a hook does about what it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookDecision {
    /// Nothing: the call runs, or is asked about, as the rules say.
    None,
    /// The call does not run, the model reads `message` in place of its result, and the turn goes
    /// on. A prompt that is refused ends its turn. Means nothing for what has already happened.
    Refuse,
    /// The turn ends, and `message` says why. Means nothing for what has already happened.
    Abort,
}

/// Output of a hook that says nothing it may say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookOutputError {
    /// It is not UTF-8.
    #[error("its output is not UTF-8")]
    NotUtf8,
    /// It is no JSON object.
    #[error("its output is no JSON object")]
    NotAnObject,
    /// It is cut, no JSON, or not the JSON of an answer.
    #[error("its output is no answer: {why}")]
    Malformed {
        /// What does not fit.
        why: String,
    },
}

impl HookOutput {
    /// Reads all that a hook wrote; `None`: nothing but blanks.
    ///
    /// # Errors
    /// It is anything else than one JSON object with a `decision` that there is and, where wanted,
    /// a `message`.
    pub fn parse(output: &[u8]) -> Result<Option<Self>, HookOutputError> {
        let text = std::str::from_utf8(output).map_err(|_| HookOutputError::NotUtf8)?;
        let text = text.trim_ascii();
        if text.is_empty() {
            return Ok(None);
        }
        // Serde would take a list of the values for the object.
        if !text.starts_with('{') {
            return Err(HookOutputError::NotAnObject);
        }
        serde_json::from_str(text)
            .map(Some)
            .map_err(|error| HookOutputError::Malformed {
                why: error.to_string(),
            })
    }
}

/// The JSON Schema of [`HookInput`], pretty-printed, with a final newline.
#[must_use]
pub fn hook_input_schema() -> String {
    schema_text::<HookInput>()
}

/// The JSON Schema of [`HookOutput`], pretty-printed, with a final newline.
#[must_use]
pub fn hook_output_schema() -> String {
    schema_text::<HookOutput>()
}
