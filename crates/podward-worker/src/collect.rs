//! From the events of a model's answer to a message.

use std::collections::BTreeMap;
use std::sync::Arc;

use podward_gate::CallId;
use podward_model::{Block, ModelEvent, StopReason, ThinkingSeal, ToolInput, Usage};
use serde_json::{Map, Value};

use crate::event::{Limit, WorkerEvent};
use crate::ids::{self, CallIds};
use crate::limits::TurnLimits;

/// What there is of a model's answer.
pub(crate) struct Answer<'a> {
    limits: &'a TurnLimits,
    ids: &'a mut CallIds,
    content: Vec<Block>,
    calls: Vec<WrittenCall>,
    /// The ids of calls that the model has begun to write.
    begun: BTreeMap<usize, CallId>,
    n_begun: usize,
    /// Bytes of complete parts.
    n_bytes: usize,
    /// Bytes of arguments that are not complete.
    n_open_bytes: usize,
    usage: Usage,
}

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WrittenCall {
    pub(crate) id: CallId,
    pub(crate) tool: Arc<str>,
    pub(crate) input: ToolInput,
}

impl WrittenCall {
    /// The arguments: JSON text, or not.
    pub(crate) fn arguments(&self) -> String {
        match &self.input {
            ToolInput::Json(value) => value.to_string(),
            ToolInput::Invalid { raw, .. } => raw.clone(),
        }
    }
}

/// What became of an event.
pub(crate) enum Added {
    /// It is part of the answer; to be told if there is something to tell.
    Part(Option<WorkerEvent>),
    /// It ends the answer.
    Stopped(StopReason),
    /// It does not fit in: the answer is too large.
    OverLimit(Limit),
}

impl<'a> Answer<'a> {
    pub(crate) const fn new(limits: &'a TurnLimits, ids: &'a mut CallIds) -> Self {
        Self {
            limits,
            ids,
            content: Vec::new(),
            calls: Vec::new(),
            begun: BTreeMap::new(),
            n_begun: 0,
            n_bytes: 0,
            n_open_bytes: 0,
            usage: Usage {
                input_tokens: 0,
                output_tokens: 0,
            },
        }
    }

    /// Adds an event.
    pub(crate) fn add(&mut self, event: ModelEvent) -> Added {
        // An event without content counts too: even those must come to an end.
        let n_more = 1 + match &event {
            ModelEvent::TextDelta(text) | ModelEvent::ThinkingDelta(text) => text.len(),
            ModelEvent::ToolInputDelta { json, .. } => json.len(),
            ModelEvent::ToolUseStarted { id, name, .. } => id.len().saturating_add(name.len()),
            ModelEvent::ThinkingSealed(seal) => seal_bytes(seal),
            ModelEvent::Retry { reason, .. } => reason.len(),
            ModelEvent::ToolUse {
                id, name, input, ..
            } => id
                .len()
                .saturating_add(name.len())
                .saturating_add(input_bytes(input)),
            ModelEvent::Usage(_) | ModelEvent::Stopped(_) => 0,
        };
        let n_open = match &event {
            ModelEvent::ToolUse { .. } => 0, // it holds what was open
            _ => self.n_open_bytes,          // everything else leaves that open
        };
        if self.n_bytes.saturating_add(n_open).saturating_add(n_more) > self.limits.message_bytes {
            return Added::OverLimit(Limit::Message);
        }
        match &event {
            ModelEvent::ToolInputDelta { .. } => self.n_open_bytes = n_open + n_more,
            _ => (self.n_bytes, self.n_open_bytes) = (self.n_bytes + n_more, n_open),
        }
        match event {
            ModelEvent::TextDelta(text) => {
                self.add_text(&text);
                Added::Part(Some(WorkerEvent::TextDelta(text)))
            }
            ModelEvent::ThinkingDelta(text) => {
                self.add_thought(&text);
                Added::Part(Some(WorkerEvent::ThinkingDelta(text)))
            }
            ModelEvent::ThinkingSealed(seal) => {
                self.seal_thought(seal);
                Added::Part(None)
            }
            ModelEvent::ToolUseStarted { idx, id, name } => self.begin(idx, &id, &name),
            ModelEvent::ToolInputDelta { .. } => Added::Part(None),
            ModelEvent::ToolUse {
                idx,
                id,
                name,
                input,
            } => self.add_call(idx, &id, &name, input),
            ModelEvent::Usage(usage) => {
                self.usage = usage;
                Added::Part(None)
            }
            ModelEvent::Retry {
                attempt,
                reason,
                after,
            } => Added::Part(Some(WorkerEvent::Retry {
                attempt,
                reason,
                after,
            })),
            ModelEvent::Stopped(reason) => Added::Stopped(reason),
        }
    }

    /// Whether the model has said anything.
    pub(crate) fn has_begun(&self) -> bool {
        !self.content.is_empty() || self.n_begun > 0
    }

    /// Tokens used.
    pub(crate) const fn usage(&self) -> Usage {
        self.usage
    }

    /// The content of the message, without what providers do not take back, and its calls.
    pub(crate) fn finish(self) -> (Vec<Block>, Vec<WrittenCall>) {
        let mut content = self.content;
        content.retain(|block| match block {
            Block::Text { text } | Block::Thinking { text, seal: None } => !text.trim().is_empty(),
            Block::Thinking { seal: Some(_), .. } => true,
            Block::ToolUse { .. } | Block::ToolResult { .. } => true,
        });
        if !content
            .iter()
            .any(|block| matches!(block, Block::Text { .. } | Block::ToolUse { .. }))
        {
            content.clear(); // thoughts alone are no message
        }
        (content, self.calls)
    }

    fn add_text(&mut self, text: &str) {
        match self.content.last_mut() {
            Some(Block::Text { text: before }) => before.push_str(text),
            // Another block.
            _ => self.content.push(Block::Text { text: text.into() }),
        }
    }

    fn add_thought(&mut self, text: &str) {
        match self.content.last_mut() {
            Some(Block::Thinking {
                text: before,
                seal: None,
            }) => before.push_str(text),
            // Another block, or a thought that is complete.
            _ => self.content.push(Block::Thinking {
                text: text.into(),
                seal: None,
            }),
        }
    }

    fn seal_thought(&mut self, sealed: ThinkingSeal) {
        match self.content.last_mut() {
            Some(Block::Thinking {
                seal: seal @ None, ..
            }) => *seal = Some(sealed),
            // A thought of which no text is shown.
            _ => self.content.push(Block::Thinking {
                text: String::new(),
                seal: Some(sealed),
            }),
        }
    }

    fn begin(&mut self, idx: usize, id: &str, name: &str) -> Added {
        if self.n_begun >= self.limits.message_calls {
            return Added::OverLimit(Limit::Message);
        }
        self.n_begun += 1;
        let id = self.ids.take(id);
        self.begun.insert(idx, id.clone());
        Added::Part(Some(WorkerEvent::CallAnnounced {
            id,
            tool: name.into(),
        }))
    }

    fn add_call(&mut self, idx: usize, id: &str, name: &str, input: ToolInput) -> Added {
        if self.calls.len() >= self.limits.message_calls {
            return Added::OverLimit(Limit::Message);
        }
        let object = match &input {
            ToolInput::Json(Value::Object(object)) => object.clone(),
            // The history holds objects only; the call's result says what is wrong.
            ToolInput::Json(_) | ToolInput::Invalid { .. } => Map::new(),
        };
        let id = match self.begun.remove(&idx) {
            Some(id) => id,
            None => self.ids.take(id),
        };
        self.content.push(Block::ToolUse {
            id: id.as_str().to_owned(),
            name: ids::tool_name(name),
            input: Value::Object(object),
        });
        self.calls.push(WrittenCall {
            id,
            tool: name.into(),
            input,
        });
        Added::Part(None)
    }
}

fn seal_bytes(seal: &ThinkingSeal) -> usize {
    match seal {
        ThinkingSeal::Signature {
            signature: text, ..
        }
        | ThinkingSeal::Redacted { data: text, .. }
        | ThinkingSeal::Encrypted { content: text, .. } => text.len(),
    }
}

/// The length of the arguments as text.
fn input_bytes(input: &ToolInput) -> usize {
    match input {
        ToolInput::Json(value) => value.to_string().len(),
        ToolInput::Invalid { raw, .. } => raw.len(),
    }
}

#[cfg(test)]
mod tests;
