//! From a request to its JSON.

use serde_json::{Value, json};

use crate::endpoint::Endpoint;
use crate::message::Block;
use crate::model::ModelRequest;
use crate::outgoing::{FitWords, Part, distinct, offered_or_called, parts, unflagged};

/// The longest id of a call that every server takes.
const ID_LENGTH: usize = 40;

pub(super) fn body(endpoint: &Endpoint, request: &ModelRequest, names: &mut FitWords) -> Value {
    let mut ids = FitWords::ids(ID_LENGTH);
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for part in parts(&request.messages) {
        add(&mut messages, &part, &mut ids, names);
    }
    let mut body = json!({
        "model": endpoint.model(),
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": messages,
    });
    let Some(fields) = body.as_object_mut() else {
        return body;
    };
    // OpenAI's newer models do not take the older name, other servers do not know the newer one.
    let limit = if is_openai(endpoint.host()) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    fields.insert(limit.to_owned(), request.max_tokens.max(1).into());
    let tools = offered_or_called(request);
    if !tools.is_empty() {
        let tools: Vec<Value> = distinct(&tools)
            .map(|tool| {
                let function = json!({
                    "name": names.out(&tool.name),
                    "description": tool.description,
                    "parameters": tool.schema,
                });
                json!({"type": "function", "function": function})
            })
            .collect();
        fields.insert("tools".to_owned(), tools.into());
    }
    body
}

fn is_openai(host: &str) -> bool {
    ["openai.com", "openai.azure.com"].iter().any(|own| {
        host == *own
            || host
                .strip_suffix(own)
                .is_some_and(|rest| rest.ends_with('.'))
    })
}

fn add(messages: &mut Vec<Value>, part: &Part<'_>, ids: &mut FitWords, names: &mut FitWords) {
    match part {
        Part::User { results, texts } => {
            for result in results {
                messages.push(json!({
                    "role": "tool",
                    "tool_call_id": ids.out(result.id),
                    "content": unflagged(result),
                }));
            }
            if !texts.is_empty() {
                messages.push(json!({"role": "user", "content": texts.join("\n\n")}));
            }
        }
        Part::Model(blocks) => {
            let mut texts: Vec<&str> = Vec::new();
            let mut calls = Vec::new();
            for block in blocks {
                match block {
                    Block::Text { text } => texts.push(text),
                    Block::ToolUse { id, name, input } => {
                        let function = json!({
                            "name": names.out(name),
                            "arguments": input.to_string(),
                        });
                        let id = ids.out(id);
                        calls.push(json!({"id": id, "type": "function", "function": function}));
                    }
                    // The format takes no thoughts back.
                    Block::Thinking { .. } | Block::ToolResult { .. } => {}
                }
            }
            // Not null beside calls: some servers take only a string.
            let content = texts.join("\n\n");
            messages.push(if calls.is_empty() {
                json!({"role": "assistant", "content": content})
            } else {
                json!({"role": "assistant", "content": content, "tool_calls": calls})
            });
        }
    }
}
