//! What a conversation is made of. The JSON of these types is the format of session files.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, and the tools that answer the model.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
///
/// As JSON: `{"role": "user", "content": [{"type": "text", "text": "hello"}]}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<Block>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Block {
    /// Text.
    Text {
        /// The text; not empty in a message that is sent.
        text: String,
    },
    /// What a model thought before it spoke.
    Thinking {
        /// The text; empty if the provider shows none.
        text: String,
        /// What the provider needs to take the thought back; a thought without it stays here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<ThinkingSeal>,
    },
    /// The model calls a tool; only in its own messages.
    ToolUse {
        /// The call's id, unique in the conversation.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments: a JSON object.
        input: Value,
    },
    /// A tool's answer; only in the message that follows the call's.
    ToolResult {
        /// The id of the call.
        tool_use_id: String,
        /// What the tool says.
        content: String,
        /// The call failed or was refused.
        is_error: bool,
    },
}

/// What a provider gives with a thought and takes back unchanged: only the same model can read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ThinkingSeal {
    /// Anthropic Messages: the signature of a `thinking` block.
    Signature {
        /// The model that thought it.
        model: String,
        /// The signature.
        signature: String,
    },
    /// Anthropic Messages: a `redacted_thinking` block.
    Redacted {
        /// The model that thought it.
        model: String,
        /// The encrypted thought.
        data: String,
    },
    /// OpenAI Responses: a `reasoning` item.
    Encrypted {
        /// The model that thought it.
        model: String,
        /// The encrypted thought.
        content: String,
    },
}

impl Message {
    /// A message of the user.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            content: vec![Block::Text { text: text.into() }],
        }
    }

    /// The ids of the tool calls in it, in order.
    pub fn tool_use_ids(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolUse { id, .. } => Some(id.as_str()),
            Block::Text { .. } | Block::Thinking { .. } | Block::ToolResult { .. } => None,
        })
    }

    /// The ids of the calls that it answers, in order.
    pub fn tool_result_ids(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            Block::Text { .. } | Block::Thinking { .. } | Block::ToolUse { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests;
