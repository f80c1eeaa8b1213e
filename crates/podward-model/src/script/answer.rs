//! From a step to the events of an answer.

use std::num::NonZeroUsize;

use futures_util::stream::{self, StreamExt};
use serde_json::{Map, Value};

use super::file::{End, Input, InputValue, ScriptedCall, Step};
use super::template::Seen;
use crate::error::ModelError;
use crate::event::{ModelEvent, StopReason, ToolInput, Usage};
use crate::message::{Block, Message};
use crate::model::ModelStream;

/// A step with everything filled in.
pub(super) struct Answer {
    events: Vec<ModelEvent>,
    end: End,
}

/// What the script says when it has no further step.
const NO_FURTHER_STEP: &str = "The script has no further step.";

impl Answer {
    /// The answer after the last step.
    pub(super) fn after_the_end(messages: &[Message]) -> Self {
        let mut events = deltas(NO_FURTHER_STEP, NonZeroUsize::MAX, ModelEvent::TextDelta);
        let usage = estimate(messages, NO_FURTHER_STEP.len());
        events.extend([
            ModelEvent::Usage(usage),
            ModelEvent::Stopped(StopReason::EndTurn),
        ]);
        Self {
            events,
            end: End::Normal,
        }
    }

    /// Fills in a step.
    ///
    /// # Errors
    /// A capture that finds nothing.
    pub(super) fn new(step: &Step, messages: &[Message], seen: &Seen<'_>) -> Result<Self, String> {
        let mut events = Vec::new();
        let mut n_bytes = 0;
        if let Some(thinking) = &step.thinking {
            let thinking = thinking.fill(seen)?;
            n_bytes += thinking.len();
            events.extend(deltas(&thinking, step.chunk, ModelEvent::ThinkingDelta));
        }
        if let Some(text) = &step.text {
            let text = text.fill(seen)?.repeat(step.repeat);
            n_bytes += text.len();
            events.extend(deltas(&text, step.chunk, ModelEvent::TextDelta));
        }
        for (idx, call) in step.calls.iter().enumerate() {
            let (json, input) = call.input.fill(seen)?;
            n_bytes += json.len();
            let is_cut = idx + 1 == step.calls.len() && matches!(step.end, End::Cut | End::Error);
            events.extend(call_events(
                call,
                idx,
                messages.len(),
                step.chunk,
                &json,
                input,
                is_cut,
            ));
        }
        if matches!(step.end, End::Normal | End::MaxTokens) {
            let usage = step.usage.unwrap_or_else(|| estimate(messages, n_bytes));
            let reason = match (step.end, step.calls.is_empty()) {
                (End::MaxTokens, _) => StopReason::MaxTokens,
                (_, true) => StopReason::EndTurn,
                (_, false) => StopReason::ToolUse,
            };
            events.extend([ModelEvent::Usage(usage), ModelEvent::Stopped(reason)]);
        }
        Ok(Self {
            events,
            end: step.end,
        })
    }

    /// The answer as a stream that gives way after each event.
    pub(super) fn stream(self) -> ModelStream {
        let events = stream::iter(self.events).map(Ok);
        let events = match self.end {
            End::Normal | End::MaxTokens | End::Cut => events.boxed(),
            End::Error => events
                .chain(stream::iter([Err(ModelError::Provider {
                    message: "the script ends this answer with an error".to_owned(),
                })]))
                .boxed(),
            End::Endless => {
                let more = stream::repeat_with(|| Ok(ModelEvent::TextDelta("and so on ".into())));
                events.chain(more).boxed()
            }
            End::Hang => events.chain(stream::pending()).boxed(),
        };
        events
            .then(async |event| {
                tokio::task::yield_now().await;
                event
            })
            .boxed()
    }
}

impl Input {
    /// The arguments as text, and as the model's reader makes of it.
    fn fill(&self, seen: &Seen<'_>) -> Result<(String, ToolInput), String> {
        match self {
            Self::Json(value) => {
                let value = value.fill(seen)?;
                Ok((value.to_string(), ToolInput::Json(value)))
            }
            Self::Raw(raw) => {
                let raw = raw.fill(seen)?;
                let input = ToolInput::parse(&raw);
                Ok((raw, input))
            }
        }
    }
}

impl InputValue {
    fn fill(&self, seen: &Seen<'_>) -> Result<Value, String> {
        Ok(match self {
            Self::Text(text) => Value::String(text.fill(seen)?),
            Self::List(values) => Value::Array(
                values
                    .iter()
                    .map(|value| value.fill(seen))
                    .collect::<Result<_, _>>()?,
            ),
            Self::Object(values) => Value::Object(
                values
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), value.fill(seen)?)))
                    .collect::<Result<Map<_, _>, String>>()?,
            ),
            Self::Plain(value) => value.clone(),
        })
    }
}

fn call_events(
    call: &ScriptedCall,
    idx: usize,
    n_messages: usize,
    chunk: NonZeroUsize,
    json: &str,
    input: ToolInput,
    is_cut: bool,
) -> Vec<ModelEvent> {
    let id = match &call.id {
        Some(id) => id.clone(),
        None => format!("call_{n_messages}_{}", idx + 1),
    };
    let mut events = vec![ModelEvent::ToolUseStarted {
        idx,
        id: id.clone(),
        name: call.tool.clone(),
    }];
    let mut inputs = deltas(json, chunk, |json| ModelEvent::ToolInputDelta { idx, json });
    if is_cut {
        inputs.truncate(inputs.len() / 2);
        events.extend(inputs);
    } else {
        events.extend(inputs);
        events.push(ModelEvent::ToolUse {
            idx,
            id,
            name: call.tool.clone(),
            input,
        });
    }
    events
}

/// A text in pieces of `chunk` characters.
fn deltas(
    text: &str,
    chunk: NonZeroUsize,
    event: impl Fn(String) -> ModelEvent,
) -> Vec<ModelEvent> {
    let mut rest = text;
    let mut deltas = Vec::new();
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .nth(chunk.get())
            .map_or(rest.len(), |(end, _)| end);
        let (delta, after) = rest.split_at(end);
        deltas.push(event(delta.to_owned()));
        rest = after;
    }
    deltas
}

/// Tokens, at four bytes each.
fn estimate(messages: &[Message], n_bytes: usize) -> Usage {
    let n_input: usize = messages
        .iter()
        .flat_map(|message| &message.content)
        .map(|block| match block {
            Block::Text { text } | Block::Thinking { text, .. } => text.len(),
            Block::ToolUse { name, .. } => name.len() + 40,
            Block::ToolResult { content, .. } => content.len(),
        })
        .sum();
    let tokens = |n_bytes: usize| u64::try_from(n_bytes / 4 + 1).unwrap_or(u64::MAX);
    Usage {
        input_tokens: tokens(n_input),
        output_tokens: tokens(n_bytes),
    }
}
