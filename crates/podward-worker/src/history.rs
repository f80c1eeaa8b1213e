//! The conversation of a session: every call in it has its result.

mod parked;
mod replay;
mod skills;

use std::sync::Arc;

use podward_model::{Block, Message, Role};
use podward_skill::WorkflowRecord;

use self::skills::Active;

pub use self::parked::Parked;
pub(crate) use self::parked::ParkedCall;
pub use self::replay::{ReplayError, Replayed};
pub(crate) use self::skills::{Begun, Started};

/// The conversation of a session, valid for every model at any time: each call of the model is
/// answered, in call order, by the message that follows.
///
/// It also says which skills are active: those whose instructions it holds. A worker that goes on with
/// a history is held to them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    messages: Arc<Vec<Message>>,
    /// The workflows whose messages are among these: they live and die with them.
    skills: Vec<Active>,
}

impl History {
    /// The messages.
    #[must_use]
    pub const fn messages(&self) -> &Arc<Vec<Message>> {
        &self.messages
    }

    /// The active skills, the one that began first at the front.
    pub fn skills(&self) -> impl ExactSizeIterator<Item = &Arc<WorkflowRecord>> {
        self.skills.iter().map(Active::record)
    }

    /// Whether the model has the last word; it has not when there is something to answer.
    pub(crate) fn is_answered(&self) -> bool {
        self.messages
            .last()
            .is_none_or(|message| message.role == Role::Assistant)
    }

    /// Appends a prompt, and in front of it the instructions of the skill that begins with it.
    pub(crate) fn push_prompt(&mut self, text: &str, begun: Option<Begun>) {
        let mut message = Message::user(text);
        if let Some(begun) = begun {
            if text.is_empty() {
                message.content.clear();
            }
            let instructions = Block::Text {
                text: begun.instructions.to_string(),
            };
            message.content.insert(0, instructions);
            self.skills
                .push(Active::in_prompt(begun, self.messages.len()));
        }
        Arc::make_mut(&mut self.messages).push(message);
    }

    /// Appends a message of the model and the results of its calls, in call order, at once; an
    /// empty message is left out. Skills that were started by these calls are active from now on.
    pub(crate) fn push_step(
        &mut self,
        content: Vec<Block>,
        results: Vec<Block>,
        started: Vec<Started>,
    ) {
        self.skills.extend(skills::in_results(&results, started));
        let messages = Arc::make_mut(&mut self.messages);
        for (role, content) in [(Role::Assistant, content), (Role::User, results)] {
            if !content.is_empty() {
                messages.push(Message { role, content });
            }
        }
    }
}
