//! What a model says while it answers.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::ThinkingSeal;

/// One event of a model's answer.
///
/// An answer is any number of deltas and tool calls, then one [`ModelEvent::Stopped`]; a stream
/// that ends without it was cut. Deltas of a tool's input are for showing only: what counts is the
/// [`ModelEvent::ToolUse`] that ends them.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More text.
    TextDelta(String),
    /// More of what the model thinks.
    ThinkingDelta(String),
    /// The thought that was streamed last is complete, and this goes back to the provider with it.
    ThinkingSealed(ThinkingSeal),
    /// The model begins to write a tool call.
    ToolUseStarted {
        /// The call's place among the calls of this answer.
        idx: usize,
        /// The id as the model gave it: not checked.
        id: String,
        /// The tool's name as the model gave it: not checked.
        name: String,
    },
    /// More of the JSON text of a call's arguments.
    ToolInputDelta {
        /// The call's place among the calls of this answer.
        idx: usize,
        /// The next piece: not JSON by itself.
        json: String,
    },
    /// A tool call is complete.
    ToolUse {
        /// The call's place among the calls of this answer.
        idx: usize,
        /// The id as the model gave it: perhaps empty, or used before.
        id: String,
        /// The tool's name as the model gave it.
        name: String,
        /// The arguments.
        input: ToolInput,
    },
    /// Tokens used by this answer so far: each event replaces the one before.
    Usage(Usage),
    /// The request failed and is made again.
    Retry {
        /// The attempt that comes next: 2 for the first retry.
        attempt: u32,
        /// Why, for people.
        reason: String,
        /// How long the model waits before it.
        after: std::time::Duration,
    },
    /// The answer is complete.
    Stopped(StopReason),
}

/// The arguments of a tool call as the model wrote them.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// They are JSON; perhaps not an object.
    Json(Value),
    /// They are not.
    Invalid {
        /// What the model wrote.
        raw: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model said what it had to say.
    EndTurn,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The answer reached the request's `max_tokens`.
    MaxTokens,
    /// Another reason, in the provider's words.
    Other(String),
}

/// Tokens used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

impl ToolInput {
    /// Reads the JSON text of a call's arguments; no text at all is an empty object.
    #[must_use]
    pub fn parse(raw: &str) -> Self {
        if raw.trim().is_empty() {
            return Self::Json(Value::Object(serde_json::Map::new()));
        }
        match crate::json::parse(raw) {
            Ok(value) => Self::Json(value),
            Err(error) => Self::Invalid {
                raw: raw.to_owned(),
                why: error.to_string(),
            },
        }
    }
}

impl StopReason {
    /// The word used in logs and output.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::Other(reason) => reason.as_str(),
        }
    }
}

#[cfg(test)]
mod tests;
