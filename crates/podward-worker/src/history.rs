//! The conversation of a session: every call in it has its result.

mod parked;
mod replay;

use std::sync::Arc;

use podward_model::{Block, Message, Role};

pub use self::parked::Parked;
pub(crate) use self::parked::ParkedCall;
pub use self::replay::{ReplayError, Replayed};

/// The conversation of a session, valid for every model at any time: each call of the model is
/// answered, in call order, by the message that follows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    messages: Arc<Vec<Message>>,
}

impl History {
    /// The messages.
    #[must_use]
    pub const fn messages(&self) -> &Arc<Vec<Message>> {
        &self.messages
    }

    /// Whether the model has the last word; it has not when there is something to answer.
    pub(crate) fn is_answered(&self) -> bool {
        self.messages
            .last()
            .is_none_or(|message| message.role == Role::Assistant)
    }

    pub(crate) fn push_prompt(&mut self, text: &str) {
        Arc::make_mut(&mut self.messages).push(Message::user(text));
    }

    /// Appends a message of the model and the results of its calls, in call order, at once; an
    /// empty message is left out.
    pub(crate) fn push_step(&mut self, content: Vec<Block>, results: Vec<Block>) {
        let messages = Arc::make_mut(&mut self.messages);
        for (role, content) in [(Role::Assistant, content), (Role::User, results)] {
            if !content.is_empty() {
                messages.push(Message { role, content });
            }
        }
    }
}
