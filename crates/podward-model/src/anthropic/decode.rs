//! From the events of a stream to those of an answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::call::{self, Calls, OpenCall, cut, protocol};
use crate::error::ModelError;
use crate::event::{ModelEvent, StopReason, Usage};
use crate::exchange::{self, Out, Progress, error_event};
use crate::json;
use crate::message::ThinkingSeal;
use crate::outgoing::FitWords;

/// The most blocks that may be open at the same time; the provider opens one.
const MAX_OPEN: usize = 1024;

/// Reads a stream.
#[derive(Debug, Clone)]
pub(super) struct Decoder {
    model: String,
    calls: Calls,
    open: BTreeMap<u64, Open>,
    /// A call that is complete unless the answer was cut behind it.
    last_call: Option<OpenCall>,
    usage: AllUsage,
    stop: Option<StopReason>,
}

#[derive(Debug, Clone)]
enum Open {
    Call(OpenCall),
    /// With the signature so far.
    Thinking(String),
    /// Text, or a block that means nothing here.
    Other,
}

/// Tokens as the provider counts them.
#[derive(Debug, Clone, Copy, Default)]
struct AllUsage {
    input: u64,
    cache_read: u64,
    cache_written: u64,
    output: u64,
}

impl Decoder {
    pub(super) fn new(model: &str, names: Arc<FitWords>) -> Self {
        Self {
            model: model.to_owned(),
            calls: Calls::new(names),
            open: BTreeMap::new(),
            last_call: None,
            usage: AllUsage::default(),
            stop: None,
        }
    }

    fn start(&mut self, event: &Value, out: &mut Out) -> Result<(), ModelError> {
        let index = index(event)?;
        self.tell_last_call(out);
        let block = event.get("content_block").unwrap_or(&Value::Null);
        let open = match text(block, "type") {
            "tool_use" => {
                let mut call = self.calls.begin(text(block, "id"), text(block, "name"))?;
                call::started(&call, out);
                // Some servers write them all at once, here.
                let input = block.get("input").and_then(Value::as_object);
                if let Some(input) = input.filter(|input| !input.is_empty()) {
                    let json = Value::Object(input.clone()).to_string();
                    self.calls.push(&mut call, &json, out)?;
                }
                Open::Call(call)
            }
            "thinking" => {
                push_text(text(block, "thinking"), ModelEvent::ThinkingDelta, out);
                Open::Thinking(text(block, "signature").to_owned())
            }
            "redacted_thinking" => {
                out.push_back(ModelEvent::ThinkingSealed(ThinkingSeal::Redacted {
                    model: self.model.clone(),
                    data: text(block, "data").to_owned(),
                }));
                Open::Other
            }
            "text" => {
                push_text(text(block, "text"), ModelEvent::TextDelta, out);
                Open::Other
            }
            _ => Open::Other, // a block of a newer version
        };
        if self.open.len() >= MAX_OPEN {
            return Err(protocol("it opens too many blocks"));
        }
        match self.open.insert(index, open) {
            None => Ok(()),
            Some(_) => Err(protocol(format!("block {index} is opened twice"))),
        }
    }

    fn delta(&mut self, event: &Value, out: &mut Out) -> Result<(), ModelError> {
        let index = index(event)?;
        let Some(open) = self.open.get_mut(&index) else {
            return Err(protocol(format!(
                "block {index} goes on and was not opened"
            )));
        };
        let delta = event.get("delta").unwrap_or(&Value::Null);
        match (text(delta, "type"), open) {
            ("text_delta", _) => push_text(text(delta, "text"), ModelEvent::TextDelta, out),
            ("thinking_delta", _) => {
                push_text(text(delta, "thinking"), ModelEvent::ThinkingDelta, out);
            }
            ("signature_delta", Open::Thinking(signature)) => {
                signature.push_str(text(delta, "signature"));
            }
            ("input_json_delta", Open::Call(call)) => {
                self.calls.push(call, text(delta, "partial_json"), out)?;
            }
            _ => {} // citations, and what newer versions have
        }
        Ok(())
    }

    fn close(&mut self, open: Open, out: &mut Out) {
        match open {
            Open::Call(call) => {
                self.tell_last_call(out);
                self.last_call = Some(call);
            }
            Open::Thinking(signature) if !signature.is_empty() => {
                out.push_back(ModelEvent::ThinkingSealed(ThinkingSeal::Signature {
                    model: self.model.clone(),
                    signature,
                }));
            }
            Open::Thinking(_) | Open::Other => {}
        }
    }

    fn tell_last_call(&mut self, out: &mut Out) {
        if let Some(call) = self.last_call.take() {
            call::completed(call, self.stop.as_ref(), out);
        }
    }

    fn message_delta(&mut self, event: &Value, out: &mut Out) {
        let reason = event.pointer("/delta/stop_reason").and_then(Value::as_str);
        if let Some(reason) = reason {
            self.stop = Some(match reason {
                "end_turn" | "stop_sequence" => StopReason::EndTurn,
                "tool_use" => StopReason::ToolUse,
                "max_tokens" => StopReason::MaxTokens,
                other => StopReason::Other(other.to_owned()),
            });
        }
        self.usage(event.get("usage"), out);
    }

    fn usage(&mut self, found: Option<&Value>, out: &mut Out) {
        let Some(found) = found.filter(|found| found.is_object()) else {
            return;
        };
        let usage = &mut self.usage;
        for (field, count) in [
            ("input_tokens", &mut usage.input),
            ("cache_read_input_tokens", &mut usage.cache_read),
            ("cache_creation_input_tokens", &mut usage.cache_written),
            ("output_tokens", &mut usage.output),
        ] {
            if let Some(found) = found.get(field).and_then(Value::as_u64) {
                *count = found;
            }
        }
        out.push_back(ModelEvent::Usage(Usage {
            input_tokens: usage
                .input
                .saturating_add(usage.cache_read)
                .saturating_add(usage.cache_written),
            output_tokens: usage.output,
        }));
    }

    fn stop(&mut self, out: &mut Out) {
        for (_, open) in std::mem::take(&mut self.open) {
            self.close(open, out);
        }
        self.tell_last_call(out);
        let reason = self.stop.take().unwrap_or(if self.calls.is_empty() {
            StopReason::EndTurn
        } else {
            StopReason::ToolUse
        });
        out.push_back(ModelEvent::Stopped(reason));
    }
}

impl exchange::Decoder for Decoder {
    fn event(&mut self, name: &str, data: &str, out: &mut Out) -> Result<Progress, ModelError> {
        let event =
            json::parse(data).map_err(|error| protocol(format!("an event is no JSON: {error}")))?;
        let kind = match text(&event, "type") {
            "" => name,
            kind => kind,
        };
        match kind {
            "message_start" => self.usage(event.pointer("/message/usage"), out),
            "content_block_start" => self.start(&event, out)?,
            "content_block_delta" => self.delta(&event, out)?,
            "content_block_stop" => {
                let index = index(&event)?;
                match self.open.remove(&index) {
                    Some(open) => self.close(open, out),
                    None => {
                        return Err(protocol(format!("block {index} ends and was not opened")));
                    }
                }
            }
            "message_delta" => self.message_delta(&event, out),
            "message_stop" => {
                self.stop(out);
                return Ok(Progress::Done);
            }
            "error" => return Err(error_event(event.get("error").unwrap_or(&event))),
            "message" => return Err(protocol("it is no stream though one was asked for")),
            _ => {} // `ping`, and what newer versions have
        }
        Ok(Progress::More)
    }

    fn end(&mut self, out: &mut Out) -> Result<(), ModelError> {
        if self.stop.is_none() {
            return Err(cut());
        }
        self.stop(out);
        Ok(())
    }
}

fn index(event: &Value) -> Result<u64, ModelError> {
    event
        .get("index")
        .and_then(Value::as_u64)
        .ok_or_else(|| protocol("an event about a block does not say which"))
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn push_text(text: &str, event: impl FnOnce(String) -> ModelEvent, out: &mut Out) {
    if !text.is_empty() {
        out.push_back(event(text.to_owned()));
    }
}
