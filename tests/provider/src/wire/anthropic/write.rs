//! Writing an answer.

use podward_model::{ModelEvent, StopReason, Usage};
use serde_json::{Value, json};

use super::super::SseEvent;
use super::super::conversation::seal;

/// Writes an answer.
pub(crate) struct Writer {
    model: String,
    /// The next block's index.
    index: usize,
    open: Open,
    usage: Usage,
}

enum Open {
    Nothing,
    Text,
    Thinking(String),
    ToolUse,
}

impl Writer {
    pub(crate) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            index: 0,
            open: Open::Nothing,
            usage: Usage::default(),
        }
    }

    pub(crate) fn begin(&mut self) -> Vec<SseEvent> {
        let message = json!({
            "id": "msg_test",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        });
        vec![
            event("message_start", json!({"message": message})),
            event("ping", json!({})),
        ]
    }

    pub(crate) fn write(&mut self, model_event: ModelEvent) -> Vec<SseEvent> {
        let mut events = Vec::new();
        match model_event {
            ModelEvent::TextDelta(text) => {
                if !matches!(self.open, Open::Text) {
                    let block = json!({"type": "text", "text": ""});
                    self.start(&mut events, Open::Text, block);
                }
                events.push(self.delta(json!({"type": "text_delta", "text": text})));
            }
            ModelEvent::ThinkingDelta(text) => self.thinking(&mut events, &text),
            ModelEvent::ToolUseStarted { id, name, .. } => {
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                self.start(&mut events, Open::ToolUse, block);
            }
            ModelEvent::ToolInputDelta { json, .. } => {
                events.push(self.delta(json!({"type": "input_json_delta", "partial_json": json})));
            }
            ModelEvent::ToolUse { .. } => self.stop(&mut events),
            ModelEvent::Usage(usage) => self.usage = usage,
            ModelEvent::Stopped(reason) => {
                self.stop(&mut events);
                events.extend(self.end(&reason));
            }
            ModelEvent::ThinkingSealed(_) | ModelEvent::Retry { .. } => {}
        }
        events
    }

    /// A thought that begins with `[redacted]` is one that nobody may read.
    fn thinking(&mut self, events: &mut Vec<SseEvent>, text: &str) {
        if let Open::Thinking(before) = &mut self.open {
            before.push_str(text);
        } else if text.starts_with("[redacted]") {
            let data = seal(&self.model, "redacted");
            let block = json!({"type": "redacted_thinking", "data": data});
            self.start(events, Open::Nothing, block);
            self.stop_index(events);
            return;
        } else {
            let block = json!({"type": "thinking", "thinking": "", "signature": ""});
            self.start(events, Open::Thinking(text.to_owned()), block);
        }
        events.push(self.delta(json!({"type": "thinking_delta", "thinking": text})));
    }

    fn start(&mut self, events: &mut Vec<SseEvent>, open: Open, block: Value) {
        self.stop(events);
        self.open = open;
        events.push(event(
            "content_block_start",
            json!({"index": self.index, "content_block": block}),
        ));
    }

    fn delta(&self, delta: Value) -> SseEvent {
        event(
            "content_block_delta",
            json!({"index": self.index, "delta": delta}),
        )
    }

    fn stop(&mut self, events: &mut Vec<SseEvent>) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => return,
            Open::Text | Open::ToolUse => {}
            Open::Thinking(thought) => {
                let signature = seal(&self.model, &thought);
                let delta = json!({"type": "signature_delta", "signature": signature});
                events.push(self.delta(delta));
            }
        }
        self.stop_index(events);
    }

    fn stop_index(&mut self, events: &mut Vec<SseEvent>) {
        events.push(event("content_block_stop", json!({"index": self.index})));
        self.index += 1;
    }

    /// A third each of the tokens was read from the cache and written to it.
    fn end(&self, reason: &StopReason) -> [SseEvent; 2] {
        let third = self.usage.input_tokens / 3;
        let usage = json!({
            "input_tokens": self.usage.input_tokens - 2 * third,
            "cache_read_input_tokens": third,
            "cache_creation_input_tokens": third,
            "output_tokens": self.usage.output_tokens,
        });
        let delta = json!({"stop_reason": reason.as_str(), "stop_sequence": null});
        [
            event("message_delta", json!({"delta": delta, "usage": usage})),
            event("message_stop", json!({})),
        ]
    }
}

fn event(kind: &'static str, mut data: Value) -> SseEvent {
    if let Some(data) = data.as_object_mut() {
        data.insert("type".to_owned(), kind.into());
    }
    SseEvent::named(kind, &data)
}
