//! Writing an answer.

use podward_model::{ModelEvent, StopReason, Usage};
use serde_json::{Value, json};

use super::super::SseEvent;
use crate::setup::ChatStyle;

/// Writes an answer.
pub(crate) struct Writer {
    model: String,
    style: ChatStyle,
    has_calls: bool,
    /// The id, name and arguments of the call that is being written.
    call: (String, String, String),
    usage: Usage,
}

impl Writer {
    pub(crate) fn new(model: &str, style: ChatStyle) -> Self {
        Self {
            model: model.to_owned(),
            style,
            has_calls: false,
            call: Default::default(),
            usage: Usage::default(),
        }
    }

    pub(crate) fn begin(&self) -> Vec<SseEvent> {
        vec![self.delta(json!({"role": "assistant", "content": ""}))]
    }

    pub(crate) fn write(&mut self, event: ModelEvent) -> Vec<SseEvent> {
        match event {
            ModelEvent::TextDelta(text) => vec![self.delta(json!({"content": text}))],
            ModelEvent::ThinkingDelta(text) => {
                let field = match self.style {
                    ChatStyle::Ollama | ChatStyle::OpenAi => "reasoning",
                    ChatStyle::Vllm | ChatStyle::LlamaCpp | ChatStyle::LmStudio => {
                        "reasoning_content"
                    }
                };
                vec![self.delta(json!({ field: text }))]
            }
            ModelEvent::ToolUseStarted { idx, id, name } => self.begin_call(idx, id, name),
            ModelEvent::ToolInputDelta { idx, json } => self.arguments(idx, json),
            ModelEvent::ToolUse { idx, .. } => self.end_call(idx),
            ModelEvent::Usage(usage) => {
                self.usage = usage;
                Vec::new()
            }
            ModelEvent::Stopped(reason) => self.end(&reason),
            ModelEvent::ThinkingSealed(_) | ModelEvent::Retry { .. } => Vec::new(),
        }
    }

    fn begin_call(&mut self, idx: usize, id: String, name: String) -> Vec<SseEvent> {
        self.has_calls = true;
        let function = json!({"name": name, "arguments": ""});
        let call = match self.style {
            ChatStyle::Ollama | ChatStyle::LmStudio => None,
            ChatStyle::LlamaCpp => {
                Some(json!({"index": idx, "type": "function", "function": function}))
            }
            ChatStyle::OpenAi | ChatStyle::Vllm => {
                Some(json!({"index": idx, "id": id, "type": "function", "function": function}))
            }
        };
        self.call = (id, name, String::new());
        call.map(|call| self.delta(json!({"tool_calls": [call]})))
            .into_iter()
            .collect()
    }

    fn arguments(&mut self, idx: usize, arguments: String) -> Vec<SseEvent> {
        let (id, name, before) = &mut self.call;
        let call = match self.style {
            ChatStyle::OpenAi | ChatStyle::LlamaCpp => {
                json!({"index": idx, "function": {"arguments": arguments}})
            }
            ChatStyle::Vllm => json!({
                "index": idx,
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }),
            ChatStyle::Ollama | ChatStyle::LmStudio => {
                before.push_str(&arguments);
                return Vec::new();
            }
        };
        vec![self.delta(json!({"tool_calls": [call]}))]
    }

    fn end_call(&mut self, idx: usize) -> Vec<SseEvent> {
        let (id, name, arguments) = std::mem::take(&mut self.call);
        let function = json!({"name": name, "arguments": arguments});
        let call = match self.style {
            ChatStyle::OpenAi | ChatStyle::Vllm | ChatStyle::LlamaCpp => return Vec::new(),
            ChatStyle::Ollama => {
                json!({"index": idx, "id": id, "type": "function", "function": function})
            }
            ChatStyle::LmStudio => json!({"id": id, "type": "function", "function": function}),
        };
        vec![self.delta(json!({"tool_calls": [call]}))]
    }

    fn end(&self, reason: &StopReason) -> Vec<SseEvent> {
        let reason = match reason {
            StopReason::ToolUse if self.style == ChatStyle::Ollama => "stop",
            StopReason::ToolUse => "tool_calls",
            StopReason::EndTurn => "stop",
            StopReason::MaxTokens => "length",
            StopReason::Other(reason) => reason,
        };
        let usage = json!({
            "prompt_tokens": self.usage.input_tokens,
            "completion_tokens": self.usage.output_tokens,
            "total_tokens": self.usage.input_tokens + self.usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": self.usage.input_tokens / 2},
        });
        let finish = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
        let done = SseEvent {
            name: None,
            data: "[DONE]".to_owned(),
        };
        match self.style {
            ChatStyle::OpenAi | ChatStyle::Ollama | ChatStyle::Vllm => vec![
                self.chunk(finish, Value::Null),
                self.chunk(json!([]), usage),
                done,
            ],
            ChatStyle::LlamaCpp => vec![self.chunk(finish, usage), done],
            ChatStyle::LmStudio => vec![self.chunk(finish, Value::Null)],
        }
    }

    fn delta(&self, mut delta: Value) -> SseEvent {
        if self.style == ChatStyle::Ollama
            && let Some(delta) = delta.as_object_mut()
        {
            delta.insert("role".to_owned(), "assistant".into());
        }
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
        self.chunk(choices, Value::Null)
    }

    fn chunk(&self, choices: Value, usage: Value) -> SseEvent {
        let mut chunk = json!({
            "id": "chatcmpl-test",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.model,
            "choices": choices,
        });
        let has_usage = !usage.is_null() || self.style == ChatStyle::Vllm;
        if let Some(chunk) = chunk.as_object_mut()
            && has_usage
        {
            chunk.insert("usage".to_owned(), usage);
        }
        SseEvent::unnamed(&chunk)
    }
}
