//! The skills whose instructions a history holds.

use std::sync::Arc;

use podward_model::{Block, Role};
use podward_skill::WorkflowRecord;

use super::History;

/// A skill that begins with a prompt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Begun {
    pub(crate) record: Arc<WorkflowRecord>,
    pub(crate) instructions: Box<str>,
}

/// A skill that a call has started, whose result is its instructions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Started {
    pub(crate) record: Arc<WorkflowRecord>,
    pub(crate) call: String,
}

/// An active skill, and where its instructions are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Active {
    record: Arc<WorkflowRecord>,
    place: Place,
}

#[derive(Debug, Clone, PartialEq)]
enum Place {
    /// The first block of a message.
    Prompt { message: usize, text: Box<str> },
    /// The result of a call.
    Result { call: String },
}

impl Active {
    pub(super) fn in_prompt(begun: Begun, message: usize) -> Self {
        Self {
            record: begun.record,
            place: Place::Prompt {
                message,
                text: begun.instructions,
            },
        }
    }

    pub(super) const fn record(&self) -> &Arc<WorkflowRecord> {
        &self.record
    }

    /// Whether a block holds the instructions.
    fn is_in(&self, block: &Block) -> bool {
        match (&self.place, block) {
            (Place::Prompt { text, .. }, Block::Text { text: other }) => **text == **other,
            (Place::Result { call }, Block::ToolResult { tool_use_id, .. }) => call == tool_use_id,
            (
                Place::Prompt { .. } | Place::Result { .. },
                Block::Text { .. }
                | Block::Thinking { .. }
                | Block::ToolUse { .. }
                | Block::ToolResult { .. },
            ) => false,
        }
    }
}

/// The skills that are active once these results are in the history.
pub(super) fn in_results(results: &[Block], started: Vec<Started>) -> Vec<Active> {
    let has_instructions = |started: &Started| {
        results.iter().any(|block| match block {
            Block::ToolResult {
                tool_use_id,
                is_error,
                ..
            } => *tool_use_id == started.call && !is_error,
            Block::Text { .. } | Block::Thinking { .. } | Block::ToolUse { .. } => false,
        })
    };
    let active = |started: Started| Active {
        record: started.record,
        place: Place::Result { call: started.call },
    };
    let started = started.into_iter().filter(has_instructions);
    started.map(active).collect()
}

impl History {
    /// Whether a block has to be in every request: it holds the instructions of an active skill.
    pub(crate) fn is_pinned(&self, block: &Block) -> bool {
        self.skills.iter().any(|skill| skill.is_in(block))
    }

    /// Ends a skill: one line takes the place of its instructions. Whether it was active.
    pub(crate) fn end_skill(&mut self, name: &str) -> bool {
        let Some(idx) = self
            .skills
            .iter()
            .position(|skill| *skill.record.name == *name)
        else {
            return false;
        };
        let skill = self.skills.remove(idx);
        let messages = Arc::make_mut(&mut self.messages).iter_mut().enumerate();
        let users = messages.filter(|(_, message)| message.role == Role::User);
        for (at, message) in users {
            let is_elsewhere = match &skill.place {
                Place::Prompt { message, .. } => *message != at,
                Place::Result { .. } => false,
            };
            if is_elsewhere {
                continue;
            }
            for block in &mut message.content {
                if skill.is_in(block) {
                    match block {
                        Block::Text { text } | Block::ToolResult { content: text, .. } => {
                            *text = ended_text(name);
                        }
                        Block::Thinking { .. } | Block::ToolUse { .. } => {}
                    }
                }
            }
        }
        true
    }
}

/// What the model reads in the place of instructions that hold no longer.
fn ended_text(name: &str) -> String {
    format!(
        "(The skill `{name}` has ended: its instructions were left out, and what it allowed and \
         disallowed holds no longer.)"
    )
}
