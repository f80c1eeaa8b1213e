//! From a request to its JSON.

use serde_json::{Value, json};

use crate::message::{Block, ThinkingSeal};
use crate::model::ModelRequest;
use crate::outgoing::{FitWords, Part, distinct, offered_or_called, parts, unflagged};

/// The longest id of a call.
const ID_LENGTH: usize = 64;
/// The least number of tokens that the API lets an answer have.
const MIN_TOKENS: u32 = 16;

pub(super) fn body(model: &str, request: &ModelRequest, names: &mut FitWords) -> Value {
    let mut ids = FitWords::ids(ID_LENGTH);
    let mut input = Vec::new();
    for part in parts(&request.messages) {
        add(&mut input, model, &part, &mut ids, names);
    }
    let mut body = json!({
        "model": model,
        "stream": true,
        "store": false,
        "max_output_tokens": request.max_tokens.max(MIN_TOKENS),
        "input": input,
    });
    let Some(fields) = body.as_object_mut() else {
        return body;
    };
    if thinks(model) {
        let include = json!(["reasoning.encrypted_content"]);
        fields.insert("include".to_owned(), include);
    }
    if !request.system.trim().is_empty() {
        fields.insert("instructions".to_owned(), (*request.system).into());
    }
    let tools = offered_or_called(request);
    if !tools.is_empty() {
        let tools: Vec<Value> = distinct(&tools)
            .map(|tool| {
                json!({
                    "type": "function",
                    "name": names.out(&tool.name),
                    "description": tool.description,
                    "parameters": tool.schema,
                    // Our schemas have optional fields, which strict mode has not.
                    "strict": false,
                })
            })
            .collect();
        fields.insert("tools".to_owned(), tools.into());
    }
    body
}

/// Whether a model may think: one that cannot refuses to be asked for its thoughts.
fn thinks(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    !["gpt-3", "gpt-4", "chatgpt-4"]
        .iter()
        .any(|older| name.starts_with(older))
}

fn add(
    input: &mut Vec<Value>,
    model: &str,
    part: &Part<'_>,
    ids: &mut FitWords,
    names: &mut FitWords,
) {
    match part {
        Part::User { results, texts } => {
            for result in results {
                input.push(json!({
                    "type": "function_call_output",
                    "call_id": ids.out(result.id),
                    "output": unflagged(result),
                }));
            }
            if !texts.is_empty() {
                let content: Vec<Value> = texts
                    .iter()
                    .map(|text| json!({"type": "input_text", "text": text}))
                    .collect();
                input.push(json!({"type": "message", "role": "user", "content": content}));
            }
        }
        Part::Model(blocks) => {
            // A thought without what follows from it is refused: it waits here for that.
            let mut thoughts = Vec::new();
            for block in blocks {
                match block {
                    Block::Text { text } => {
                        input.append(&mut thoughts);
                        let content = json!([{"type": "output_text", "text": text}]);
                        input.push(
                            json!({"type": "message", "role": "assistant", "content": content}),
                        );
                    }
                    Block::ToolUse {
                        id,
                        name,
                        input: arguments,
                    } => {
                        input.append(&mut thoughts);
                        input.push(json!({
                            "type": "function_call",
                            "call_id": ids.out(id),
                            "name": names.out(name),
                            "arguments": arguments.to_string(),
                        }));
                    }
                    Block::Thinking { text, seal } => {
                        thoughts.extend(reasoning(model, text, seal.as_ref()));
                    }
                    Block::ToolResult { .. } => {}
                }
            }
        }
    }
}

fn reasoning(model: &str, text: &str, seal: Option<&ThinkingSeal>) -> Option<Value> {
    match seal {
        Some(ThinkingSeal::Encrypted {
            model: thinker,
            content,
        }) if thinker == model => {
            let summary = if text.trim().is_empty() {
                json!([])
            } else {
                json!([{"type": "summary_text", "text": text}])
            };
            Some(json!({
                "type": "reasoning",
                "summary": summary,
                "encrypted_content": content,
            }))
        }
        // A thought of somebody else, or one that cannot be taken back.
        Some(_) | None => None,
    }
}
