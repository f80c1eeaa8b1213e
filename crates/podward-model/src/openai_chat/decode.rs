//! From the chunks of a stream to the events of an answer.
//!
//! Servers differ in what they leave out: ids, the index of a call, usage, `[DONE]`, the finish
//! reason of calls. What is there is used; nothing but a beginning and an end is needed.

use std::sync::Arc;

use serde_json::Value;

use crate::call::{self, Calls, OpenCall, cut, protocol};
use crate::error::ModelError;
use crate::event::{ModelEvent, StopReason, Usage};
use crate::exchange::{self, Out, Progress, error_event};
use crate::json;
use crate::outgoing::FitWords;

/// Reads a stream.
#[derive(Debug, Clone)]
pub(super) struct Decoder {
    calls: Calls,
    open: Vec<ChatCall>,
    finish: Option<String>,
    /// A choice was seen: this is an answer.
    has_begun: bool,
}

#[derive(Debug, Clone)]
struct ChatCall {
    index: Option<u64>,
    call: OpenCall,
    told: Told,
}

/// Whether it was told that a call has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Its name is not there yet.
    NotYet,
    Yes,
}

impl Decoder {
    pub(super) const fn new(names: Arc<FitWords>) -> Self {
        Self {
            calls: Calls::new(names),
            open: Vec::new(),
            finish: None,
            has_begun: false,
        }
    }

    fn choice(&mut self, choice: &Value, out: &mut Out) -> Result<(), ModelError> {
        self.has_begun = true;
        // A server that does not stream sends the whole message.
        let delta = choice
            .get("delta")
            .filter(|delta| delta.is_object())
            .or_else(|| choice.get("message"))
            .unwrap_or(&Value::Null);
        for field in ["reasoning_content", "reasoning"] {
            if let Some(text) = delta.get(field).and_then(Value::as_str)
                && !text.is_empty()
            {
                out.push_back(ModelEvent::ThinkingDelta(text.to_owned()));
                break; // some servers send both, with the same text
            }
        }
        for field in ["content", "refusal"] {
            let text = content(delta.get(field));
            if !text.is_empty() {
                out.push_back(ModelEvent::TextDelta(text));
            }
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            self.call(call, out)?;
        }
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str)
            && !finish.is_empty()
        {
            self.finish = Some(finish.to_owned());
        }
        Ok(())
    }

    fn call(&mut self, delta: &Value, out: &mut Out) -> Result<(), ModelError> {
        let index = delta.get("index").and_then(Value::as_u64);
        let id = delta.get("id").and_then(Value::as_str).unwrap_or_default();
        let function = delta.get("function").unwrap_or(&Value::Null);
        let name = function
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let place = match self.place(index, id, name) {
            Some(place) => place,
            None => {
                let call = self.calls.begin(id, name)?;
                self.open.push(ChatCall {
                    index,
                    call,
                    told: Told::NotYet,
                });
                self.open.len() - 1
            }
        };
        let Some(open) = self.open.get_mut(place) else {
            return Ok(());
        };
        if open.call.name.is_empty() && !name.is_empty() {
            open.call.name = self.calls.name(name);
        }
        if open.call.id.is_empty() {
            open.call.id = id.to_owned();
        }
        if open.told == Told::NotYet && !open.call.name.is_empty() {
            open.told = Told::Yes;
            call::started(&open.call, out);
        }
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(value @ Value::Object(_)) => value.to_string(),
            _ => String::new(), // not there, or nothing that arguments could be
        };
        self.calls.push(&mut open.call, &arguments, out)
    }

    /// The open call that a delta goes on with; `None`: it begins another.
    fn place(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let is_other = |open: &ChatCall| {
            !id.is_empty() && !name.is_empty() && !open.call.id.is_empty() && open.call.id != id
        };
        match index {
            // Some servers give all calls the same index.
            Some(_) => self
                .open
                .iter()
                .rposition(|open| open.index == index)
                .filter(|&place| self.open.get(place).is_some_and(|open| !is_other(open))),
            // Without an index, a name begins a call, unless it is repeated with its id.
            None => {
                let last = self.open.last()?;
                let goes_on = name.is_empty() || (!id.is_empty() && last.call.id == id);
                goes_on.then(|| self.open.len() - 1)
            }
        }
    }

    fn complete(&mut self, out: &mut Out) {
        let finish = self.finish.take().unwrap_or_default();
        let has_calls = !self.calls.is_empty();
        let reason = match finish.as_str() {
            "length" => StopReason::MaxTokens,
            // Some servers say `stop` also when there are calls.
            "" | "stop" | "tool_calls" | "function_call" | "eos" if has_calls => {
                StopReason::ToolUse
            }
            "" | "stop" | "tool_calls" | "function_call" | "eos" => StopReason::EndTurn,
            other => StopReason::Other(other.to_owned()),
        };
        let open = std::mem::take(&mut self.open);
        let n_open = open.len();
        for (place, open) in open.into_iter().enumerate() {
            let is_last = place + 1 == n_open;
            call::completed(open.call, is_last.then_some(&reason), out);
        }
        out.push_back(ModelEvent::Stopped(reason));
    }
}

impl exchange::Decoder for Decoder {
    fn event(&mut self, name: &str, data: &str, out: &mut Out) -> Result<Progress, ModelError> {
        let data = data.trim();
        if data == "[DONE]" {
            if !self.has_begun {
                return Err(protocol("it ends before it began"));
            }
            self.complete(out);
            return Ok(Progress::Done);
        }
        let chunk =
            json::parse(data).map_err(|error| protocol(format!("an event is no JSON: {error}")))?;
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(error_event(error));
        }
        if name == "error" {
            return Err(error_event(&chunk));
        }
        let choices = chunk.get("choices").and_then(Value::as_array);
        let is_ours =
            |choice: &&Value| matches!(choice.get("index").and_then(Value::as_u64), None | Some(0));
        for choice in choices.into_iter().flatten().filter(is_ours) {
            self.choice(choice, out)?;
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            let count = |field: &str| usage.get(field).and_then(Value::as_u64).unwrap_or_default();
            out.push_back(ModelEvent::Usage(Usage {
                // Tokens from the cache are counted in.
                input_tokens: count("prompt_tokens"),
                output_tokens: count("completion_tokens"),
            }));
        }
        Ok(Progress::More)
    }

    fn end(&mut self, out: &mut Out) -> Result<(), ModelError> {
        if self.finish.is_none() {
            return Err(cut());
        }
        self.complete(out);
        Ok(())
    }
}

/// A text, or the texts among parts.
fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect(),
        _ => String::new(), // not there, or nothing that text could be
    }
}
