//! Every tool call has its result, at the only place where providers take it.

use std::collections::BTreeSet;

use crate::message::{Block, Message, Role};

/// What is wrong with a conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PairingError {
    /// A message without content.
    #[error("message {message} is empty")]
    Empty {
        /// The message's place, from 0.
        message: usize,
    },
    /// A tool call outside the model's messages, or a result outside the user's.
    #[error("message {message} holds a block that its role cannot say")]
    Role {
        /// The message's place, from 0.
        message: usize,
    },
    /// Two calls with the same id.
    #[error("message {message} uses the call id `{id}` a second time")]
    DuplicateId {
        /// The message's place, from 0.
        message: usize,
        /// The id.
        id: String,
    },
    /// The results do not answer exactly the calls of the message before, in their order.
    #[error("message {message} answers {found:?} where {expected:?} were called")]
    Results {
        /// The place, from 0, of the message that should hold the results.
        message: usize,
        /// The calls of the message before.
        expected: Vec<String>,
        /// The results.
        found: Vec<String>,
    },
    /// Something stands before a result in its message.
    #[error("message {message} has a result after other content")]
    ResultAfterContent {
        /// The message's place, from 0.
        message: usize,
    },
    /// The arguments of a call are not a JSON object.
    #[error("the arguments of the call `{id}` are no object")]
    Input {
        /// The call's id.
        id: String,
    },
}

/// Checks that a conversation can be sent to every provider: every tool call is answered exactly
/// once, in the message right after its own, in call order and before any other content; every
/// result answers a call; call ids are unique; no message is empty.
///
/// ```
/// use podward_model::{Message, PairingError, check_pairing};
///
/// assert_eq!(check_pairing(&[Message::user("hello")]), Ok(()));
/// let mut empty = Message::user("hello");
/// empty.content.clear();
/// assert_eq!(check_pairing(&[empty]), Err(PairingError::Empty { message: 0 }));
/// ```
///
/// # Errors
/// The first thing that is wrong.
pub fn check_pairing(messages: &[Message]) -> Result<(), PairingError> {
    let mut ids = BTreeSet::new();
    let mut called: Vec<&str> = Vec::new();
    for (idx, message) in messages.iter().enumerate() {
        check_message(idx, message, &mut ids)?;
        check_results(idx, &called, message.tool_result_ids().collect())?;
        called = message.tool_use_ids().collect();
    }
    check_results(messages.len(), &called, Vec::new())
}

fn check_message<'a>(
    idx: usize,
    message: &'a Message,
    ids: &mut BTreeSet<&'a str>,
) -> Result<(), PairingError> {
    if message.content.is_empty() {
        return Err(PairingError::Empty { message: idx });
    }
    let mut has_other = false;
    for block in &message.content {
        match (message.role, block) {
            (Role::Assistant, Block::ToolUse { id, input, .. }) => {
                if !ids.insert(id) {
                    return Err(PairingError::DuplicateId {
                        message: idx,
                        id: id.clone(),
                    });
                }
                if !input.is_object() {
                    return Err(PairingError::Input { id: id.clone() });
                }
            }
            (Role::User, Block::ToolResult { .. }) if has_other => {
                return Err(PairingError::ResultAfterContent { message: idx });
            }
            (Role::User, Block::ToolResult { .. }) => {}
            (Role::User, Block::Text { .. }) => has_other = true,
            (Role::Assistant, Block::Text { .. } | Block::Thinking { .. }) => {}
            (Role::User, Block::ToolUse { .. } | Block::Thinking { .. })
            | (Role::Assistant, Block::ToolResult { .. }) => {
                return Err(PairingError::Role { message: idx });
            }
        }
    }
    Ok(())
}

fn check_results(idx: usize, called: &[&str], results: Vec<&str>) -> Result<(), PairingError> {
    if called == results {
        return Ok(());
    }
    Err(PairingError::Results {
        message: idx,
        expected: called.iter().map(|&id| id.to_owned()).collect(),
        found: results.into_iter().map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests;
