//! Writing an answer.

use podward_model::{ModelEvent, StopReason, Usage};
use serde_json::{Value, json};

use super::super::SseEvent;
use super::super::conversation::seal;

/// Writes an answer.
pub(crate) struct Writer {
    model: String,
    sequence: u64,
    /// The open item's index.
    index: usize,
    open: Open,
    usage: Usage,
}

enum Open {
    Nothing,
    Message(String),
    Reasoning(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
}

impl Writer {
    pub(crate) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            sequence: 0,
            index: 0,
            open: Open::Nothing,
            usage: Usage::default(),
        }
    }

    pub(crate) fn begin(&mut self) -> Vec<SseEvent> {
        let response = json!({
            "id": "resp_test",
            "object": "response",
            "status": "in_progress",
            "model": self.model,
            "output": [],
        });
        vec![
            self.event("response.created", json!({"response": response})),
            self.event("response.in_progress", json!({"response": response})),
        ]
    }

    pub(crate) fn write(&mut self, event: ModelEvent) -> Vec<SseEvent> {
        let mut events = Vec::new();
        match event {
            ModelEvent::TextDelta(text) => self.text(&mut events, &text),
            ModelEvent::ThinkingDelta(text) => self.thinking(&mut events, &text),
            ModelEvent::ToolUseStarted { id, name, .. } => {
                self.close(&mut events);
                self.open = Open::Call {
                    id,
                    name,
                    arguments: String::new(),
                };
                let item = self.item("in_progress");
                events.push(self.item_event("response.output_item.added", item));
            }
            ModelEvent::ToolInputDelta { json, .. } => {
                if let Open::Call { arguments, .. } = &mut self.open {
                    arguments.push_str(&json);
                }
                let delta =
                    json!({"item_id": "fc_test", "output_index": self.index, "delta": json});
                events.push(self.event("response.function_call_arguments.delta", delta));
            }
            ModelEvent::ToolUse { .. } => self.close(&mut events),
            ModelEvent::Usage(usage) => self.usage = usage,
            ModelEvent::Stopped(reason) => {
                self.close(&mut events);
                let end = self.end(&reason);
                events.push(end);
            }
            ModelEvent::ThinkingSealed(_) | ModelEvent::Retry { .. } => {}
        }
        events
    }

    pub(crate) fn error(&mut self, message: &str) -> SseEvent {
        let response = json!({
            "id": "resp_test",
            "status": "failed",
            "error": {"code": "server_error", "message": message},
        });
        self.event("response.failed", json!({"response": response}))
    }

    fn text(&mut self, events: &mut Vec<SseEvent>, text: &str) {
        if !matches!(self.open, Open::Message(_)) {
            self.close(events);
            self.open = Open::Message(String::new());
            let item =
                json!({"type": "message", "id": "msg_test", "role": "assistant", "content": []});
            events.push(self.item_event("response.output_item.added", item));
            let part = json!({
                "item_id": "msg_test",
                "output_index": self.index,
                "content_index": 0,
                "part": {"type": "output_text", "text": "", "annotations": []},
            });
            events.push(self.event("response.content_part.added", part));
        }
        if let Open::Message(before) = &mut self.open {
            before.push_str(text);
        }
        let delta = json!({
            "item_id": "msg_test",
            "output_index": self.index,
            "content_index": 0,
            "delta": text,
        });
        events.push(self.event("response.output_text.delta", delta));
    }

    fn thinking(&mut self, events: &mut Vec<SseEvent>, text: &str) {
        if !matches!(self.open, Open::Reasoning(_)) {
            self.close(events);
            self.open = Open::Reasoning(String::new());
            let item = json!({"type": "reasoning", "id": "rs_test", "summary": []});
            events.push(self.item_event("response.output_item.added", item));
        }
        if let Open::Reasoning(before) = &mut self.open {
            before.push_str(text);
        }
        let delta = json!({
            "item_id": "rs_test",
            "output_index": self.index,
            "summary_index": 0,
            "delta": text,
        });
        events.push(self.event("response.reasoning_summary_text.delta", delta));
    }

    fn close(&mut self, events: &mut Vec<SseEvent>) {
        let item = self.item("completed");
        match &self.open {
            Open::Nothing => return,
            Open::Message(_) | Open::Reasoning(_) => {}
            Open::Call { arguments, .. } => {
                let done = json!({
                    "item_id": "fc_test",
                    "output_index": self.index,
                    "arguments": arguments,
                });
                events.push(self.event("response.function_call_arguments.done", done));
            }
        }
        events.push(self.item_event("response.output_item.done", item));
        self.open = Open::Nothing;
        self.index += 1;
    }

    /// The open item as it is so far.
    fn item(&self, status: &str) -> Value {
        match &self.open {
            Open::Nothing => Value::Null,
            Open::Message(text) => json!({
                "type": "message",
                "id": "msg_test",
                "role": "assistant",
                "status": status,
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            }),
            Open::Reasoning(text) => json!({
                "type": "reasoning",
                "id": "rs_test",
                "summary": [{"type": "summary_text", "text": text}],
                "encrypted_content": seal(&self.model, "reasoning"),
            }),
            Open::Call {
                id,
                name,
                arguments,
            } => json!({
                "type": "function_call",
                "id": "fc_test",
                "call_id": id,
                "name": name,
                "arguments": arguments,
                "status": status,
            }),
        }
    }

    fn end(&mut self, reason: &StopReason) -> SseEvent {
        let usage = json!({
            "input_tokens": self.usage.input_tokens,
            "input_tokens_details": {"cached_tokens": self.usage.input_tokens / 2},
            "output_tokens": self.usage.output_tokens,
            "total_tokens": self.usage.input_tokens + self.usage.output_tokens,
        });
        let (kind, details) = match reason {
            StopReason::EndTurn | StopReason::ToolUse => ("response.completed", Value::Null),
            StopReason::MaxTokens => (
                "response.incomplete",
                json!({"reason": "max_output_tokens"}),
            ),
            StopReason::Other(reason) => ("response.incomplete", json!({"reason": reason})),
        };
        let response = json!({
            "id": "resp_test",
            "status": kind.trim_start_matches("response."),
            "incomplete_details": details,
            "usage": usage,
        });
        self.event(kind, json!({"response": response}))
    }

    fn item_event(&mut self, kind: &'static str, item: Value) -> SseEvent {
        let data = json!({"output_index": self.index, "item": item});
        self.event(kind, data)
    }

    fn event(&mut self, kind: &'static str, mut data: Value) -> SseEvent {
        if let Some(data) = data.as_object_mut() {
            data.insert("type".to_owned(), kind.into());
            data.insert("sequence_number".to_owned(), self.sequence.into());
        }
        self.sequence += 1;
        SseEvent::named(kind, &data)
    }
}
