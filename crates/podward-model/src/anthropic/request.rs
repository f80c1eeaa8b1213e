//! From a request to its JSON.

use serde_json::{Map, Value, json};

use crate::message::{Block, ThinkingSeal};
use crate::model::ModelRequest;
use crate::outgoing::{FitWords, Part, distinct, offered_or_called, parts};

/// The longest id of a call; the API says only which characters it has.
const ID_LENGTH: usize = 64;

pub(super) fn body(model: &str, request: &ModelRequest, names: &mut FitWords) -> Value {
    let mut ids = FitWords::ids(ID_LENGTH);
    let mut messages: Vec<Value> = parts(&request.messages)
        .iter()
        .map(|part| message(model, part, &mut ids, names))
        .collect();
    // What does not change from one request to the next is read from the cache: all of the
    // conversation so far, and before it tools and system.
    if let Some(last) = messages
        .last_mut()
        .and_then(|message| message.pointer_mut("/content"))
        .and_then(Value::as_array_mut)
        .and_then(|blocks| blocks.last_mut())
        .and_then(Value::as_object_mut)
    {
        cache(last);
    }
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_tokens.max(1),
        "stream": true,
        "messages": messages,
    });
    let Some(fields) = body.as_object_mut() else {
        return body;
    };
    if !request.system.trim().is_empty() {
        let mut block = Map::new();
        block.insert("type".to_owned(), "text".into());
        block.insert("text".to_owned(), (*request.system).into());
        cache(&mut block);
        fields.insert("system".to_owned(), json!([block]));
    }
    let tools = offered_or_called(request);
    if !tools.is_empty() {
        let tools: Vec<Value> = distinct(&tools)
            .map(|tool| {
                json!({
                    "name": names.out(&tool.name),
                    "description": tool.description,
                    "input_schema": tool.schema,
                })
            })
            .collect();
        fields.insert("tools".to_owned(), tools.into());
    }
    body
}

fn message(model: &str, part: &Part<'_>, ids: &mut FitWords, names: &mut FitWords) -> Value {
    match part {
        Part::User { results, texts } => {
            let results = results.iter().map(|result| {
                json!({
                    "type": "tool_result",
                    "tool_use_id": ids.out(result.id),
                    "content": result.content,
                    "is_error": result.is_error,
                })
            });
            let mut content: Vec<Value> = results.collect();
            content.extend(
                texts
                    .iter()
                    .map(|text| json!({"type": "text", "text": text})),
            );
            json!({"role": "user", "content": content})
        }
        Part::Model(blocks) => {
            let content: Vec<Value> = blocks
                .iter()
                .filter_map(|block| model_block(model, block, ids, names))
                .collect();
            json!({"role": "assistant", "content": content})
        }
    }
}

fn model_block(
    model: &str,
    block: &Block,
    ids: &mut FitWords,
    names: &mut FitWords,
) -> Option<Value> {
    match block {
        Block::Text { text } => Some(json!({"type": "text", "text": text})),
        Block::ToolUse { id, name, input } => Some(json!({
            "type": "tool_use",
            "id": ids.out(id),
            "name": names.out(name),
            "input": input,
        })),
        Block::Thinking {
            text,
            seal:
                Some(ThinkingSeal::Signature {
                    model: thinker,
                    signature,
                }),
        } if thinker == model => {
            Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
        }
        Block::Thinking {
            seal:
                Some(ThinkingSeal::Redacted {
                    model: thinker,
                    data,
                }),
            ..
        } if thinker == model => Some(json!({"type": "redacted_thinking", "data": data})),
        // A thought of somebody else, or one that cannot be taken back.
        Block::Thinking { .. } | Block::ToolResult { .. } => None,
    }
}

fn cache(block: &mut Map<String, Value>) {
    block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
}
