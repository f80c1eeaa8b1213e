//! From the events of a stream to those of an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::call::{self, Calls, OpenCall, cut, protocol};
use crate::error::ModelError;
use crate::event::{ModelEvent, StopReason, Usage};
use crate::exchange::{self, Out, Progress, error_event};
use crate::json;
use crate::message::ThinkingSeal;
use crate::outgoing::FitWords;

/// The most items of one answer.
const MAX_ITEMS: usize = 4096;

/// Reads a stream.
#[derive(Debug, Clone)]
pub(super) struct Decoder {
    model: String,
    calls: Calls,
    /// Calls that are not complete, by their item.
    open: BTreeMap<String, OpenCall>,
    /// A call that is complete unless the answer was cut behind it.
    last_call: Option<OpenCall>,
    /// Items of which something was told in deltas.
    streamed: BTreeSet<String>,
}

impl Decoder {
    pub(super) fn new(model: &str, names: Arc<FitWords>) -> Self {
        Self {
            model: model.to_owned(),
            calls: Calls::new(names),
            open: BTreeMap::new(),
            last_call: None,
            streamed: BTreeSet::new(),
        }
    }

    fn item_added(&mut self, event: &Value, out: &mut Out) -> Result<(), ModelError> {
        self.tell_last_call(None, out);
        let item = event.get("item").unwrap_or(&Value::Null);
        if text(item, "type") == "function_call" {
            let call = self
                .calls
                .begin(text(item, "call_id"), text(item, "name"))?;
            call::started(&call, out);
            self.open.insert(key(event), call);
        }
        Ok(())
    }

    fn item_done(&mut self, event: &Value, out: &mut Out) -> Result<(), ModelError> {
        self.tell_last_call(None, out);
        let item = event.get("item").unwrap_or(&Value::Null);
        let key = key(event);
        let was_streamed = self.streamed.contains(&key);
        match text(item, "type") {
            "function_call" => {
                let mut call = match self.open.remove(&key) {
                    Some(call) => call,
                    None => {
                        let call = self
                            .calls
                            .begin(text(item, "call_id"), text(item, "name"))?;
                        call::started(&call, out);
                        call
                    }
                };
                let whole = text(item, "arguments");
                if call.arguments.is_empty() {
                    self.calls.push(&mut call, whole, out)?;
                } else if !whole.is_empty() {
                    // What counts is the item; the deltas were for showing.
                    whole.clone_into(&mut call.arguments);
                }
                self.last_call = Some(call);
            }
            "reasoning" => {
                if !was_streamed {
                    push_parts(item.get("summary"), ModelEvent::ThinkingDelta, out);
                }
                let content = text(item, "encrypted_content");
                if !content.is_empty() {
                    out.push_back(ModelEvent::ThinkingSealed(ThinkingSeal::Encrypted {
                        model: self.model.clone(),
                        content: content.to_owned(),
                    }));
                }
            }
            "message" if !was_streamed => {
                push_parts(item.get("content"), ModelEvent::TextDelta, out);
            }
            _ => {} // told already, or an item of a newer version
        }
        Ok(())
    }

    fn delta(
        &mut self,
        event: &Value,
        into: impl FnOnce(String) -> ModelEvent,
        out: &mut Out,
    ) -> Result<(), ModelError> {
        let delta = text(event, "delta");
        if !delta.is_empty() {
            self.streamed.insert(key(event));
            out.push_back(into(delta.to_owned()));
        }
        if self.streamed.len() > MAX_ITEMS {
            return Err(protocol("it has too many items"));
        }
        Ok(())
    }

    fn tell_last_call(&mut self, stop: Option<&StopReason>, out: &mut Out) {
        if let Some(call) = self.last_call.take() {
            call::completed(call, stop, out);
        }
    }

    fn complete(&mut self, response: &Value, out: &mut Out) {
        let incomplete = response
            .pointer("/incomplete_details/reason")
            .and_then(Value::as_str);
        let reason = match incomplete {
            Some("max_output_tokens") => StopReason::MaxTokens,
            Some(other) => StopReason::Other(other.to_owned()),
            None if self.calls.is_empty() => StopReason::EndTurn,
            None => StopReason::ToolUse,
        };
        let open = std::mem::take(&mut self.open);
        if !open.is_empty() {
            self.tell_last_call(None, out);
        }
        self.tell_last_call(Some(&reason), out);
        let mut open: Vec<OpenCall> = open.into_values().collect();
        open.sort_by_key(|call| call.idx);
        for call in open {
            call::completed(call, Some(&reason), out);
        }
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            let count = |field: &str| usage.get(field).and_then(Value::as_u64).unwrap_or_default();
            out.push_back(ModelEvent::Usage(Usage {
                // Tokens from the cache are counted in.
                input_tokens: count("input_tokens"),
                output_tokens: count("output_tokens"),
            }));
        }
        out.push_back(ModelEvent::Stopped(reason));
    }
}

impl exchange::Decoder for Decoder {
    fn event(&mut self, name: &str, data: &str, out: &mut Out) -> Result<Progress, ModelError> {
        if data.trim() == "[DONE]" {
            return Ok(Progress::More); // not of this format, but some servers send it
        }
        let event =
            json::parse(data).map_err(|error| protocol(format!("an event is no JSON: {error}")))?;
        let kind = match text(&event, "type") {
            "" => name,
            kind => kind,
        };
        let response = event.get("response").unwrap_or(&Value::Null);
        match kind {
            "response.output_item.added" => self.item_added(&event, out)?,
            "response.output_item.done" => self.item_done(&event, out)?,
            "response.output_text.delta" | "response.refusal.delta" => {
                self.delta(&event, ModelEvent::TextDelta, out)?;
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.delta(&event, ModelEvent::ThinkingDelta, out)?;
            }
            "response.function_call_arguments.delta" => {
                // A delta of no call adds nothing: the item that is done has all.
                if let Some(call) = self.open.get_mut(&key(&event)) {
                    self.calls.push(call, text(&event, "delta"), out)?;
                }
            }
            "response.completed" | "response.incomplete" => {
                self.complete(response, out);
                return Ok(Progress::Done);
            }
            "response.failed" => {
                return Err(error_event(response.get("error").unwrap_or(&Value::Null)));
            }
            "error" => return Err(error_event(event.get("error").unwrap_or(&event))),
            _ => {} // progress, and what newer versions have
        }
        Ok(Progress::More)
    }

    fn end(&mut self, _out: &mut Out) -> Result<(), ModelError> {
        Err(cut())
    }
}

/// What names an item in all its events: some servers change the id on the way.
fn key(event: &Value) -> String {
    match event.get("output_index").and_then(Value::as_u64) {
        Some(index) => index.to_string(),
        None => text(event, "item_id").to_owned(),
    }
}

fn push_parts(parts: Option<&Value>, event: impl Fn(String) -> ModelEvent, out: &mut Out) {
    let parts = parts.and_then(Value::as_array).into_iter().flatten();
    for text in parts.filter_map(|part| part.get("text").and_then(Value::as_str)) {
        if !text.is_empty() {
            out.push_back(event(text.to_owned()));
        }
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
