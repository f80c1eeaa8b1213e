//! Anthropic Messages.

mod write;

use std::collections::BTreeSet;

use podward_model::Block;
use serde_json::{Map, Value, json};

pub(super) use self::write::Writer;
use super::Asked;
use super::conversation::{
    Checked, Conversation, list, object, problem, schema, seal, streams, text, tokens, tool_name,
    unique, word,
};

const FIELDS: &[&str] = &[
    "model",
    "max_tokens",
    "stream",
    "system",
    "messages",
    "tools",
    "tool_choice",
    "temperature",
    "thinking",
    "metadata",
];

/// The error kind of a status.
pub(super) const fn error_kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    }
}

/// The body of an error.
pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": "req_test",
    })
}

/// Reads a request.
pub(super) fn read(body: &Value) -> Checked<Asked> {
    let body = object(body, "request", FIELDS)?;
    let model = text(body, "request", "model")?;
    streams(body)?;
    let mut reader = Reader {
        model,
        used: BTreeSet::new(),
        n_breakpoints: 0,
        conversation: Conversation::default(),
    };
    let system = reader.system(body)?;
    reader.tools(body)?;
    reader.messages(list(body, "request", "messages")?)?;
    let has_tools = body.get("tools").and_then(Value::as_array);
    if has_tools.is_none_or(Vec::is_empty) && !reader.used.is_empty() {
        return problem(
            "Requests which include `tool_use` or `tool_result` blocks must define tools.",
        );
    }
    if reader.n_breakpoints > 4 {
        return problem("A maximum of 4 blocks with cache_control may be provided");
    }
    Ok(Asked {
        system,
        messages: reader.conversation.into_messages(),
        max_tokens: tokens(body, "max_tokens", 1)?,
        model: model.to_owned(),
    })
}

struct Reader<'a> {
    model: &'a str,
    /// All ids of calls.
    used: BTreeSet<String>,
    n_breakpoints: usize,
    conversation: Conversation,
}

impl Reader<'_> {
    fn system(&mut self, body: &Map<String, Value>) -> Checked<String> {
        match body.get("system") {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => {
                let mut system = String::new();
                for block in list(body, "request", "system")? {
                    let block = object(block, "system", &["type", "text", "cache_control"])?;
                    system += text(block, "system", "text")?;
                    self.breakpoint(block, "system")?;
                }
                Ok(system)
            }
        }
    }

    fn tools(&mut self, body: &Map<String, Value>) -> Checked {
        let mut names = BTreeSet::new();
        let Some(tools) = body.get("tools") else {
            return Ok(());
        };
        let Some(tools) = tools.as_array() else {
            return problem("tools: Input should be a valid list");
        };
        if tools.is_empty() {
            return problem("tools: [] is too short");
        }
        for (idx, tool) in tools.iter().enumerate() {
            let place = format!("tools.{idx}");
            let fields = ["name", "description", "input_schema", "cache_control"];
            let tool = object(tool, &place, &fields)?;
            let name = text(tool, &place, "name")?;
            tool_name(name, &place)?;
            unique(&mut names, name, "tools: Tool names must be unique")?;
            text(tool, &place, "description")?;
            schema(tool, &place, "input_schema")?;
            self.breakpoint(tool, &place)?;
        }
        Ok(())
    }

    fn messages(&mut self, messages: &[Value]) -> Checked {
        let mut called: Vec<String> = Vec::new();
        for (idx, message) in messages.iter().enumerate() {
            let place = format!("messages.{idx}");
            let message = object(message, &place, &["role", "content"])?;
            let expected = if idx % 2 == 0 { "user" } else { "assistant" };
            let role = text(message, &place, "role")?;
            if role != expected {
                return problem(format!(
                    "{place}: roles must alternate between \"user\" and \"assistant\", beginning \
                     with \"user\", but found \"{role}\""
                ));
            }
            let mut answered = Vec::new();
            let mut calls = Vec::new();
            if let Some(Value::String(prompt)) = message.get("content") {
                text(message, &place, "content")?;
                match role {
                    "user" => self.conversation.prompt(prompt),
                    _ => self.conversation.say(Block::Text {
                        text: prompt.clone(),
                    }),
                }
            } else {
                for (idx, block) in list(message, &place, "content")?.iter().enumerate() {
                    let place = format!("{place}.content.{idx}");
                    match role {
                        "user" => {
                            let may_answer = answered.len() == idx;
                            answered.extend(self.user_block(block, &place, may_answer)?);
                        }
                        _ => calls.extend(self.model_block(block, &place)?),
                    }
                }
            }
            check_answers(&place, &called, &answered)?;
            called = calls;
        }
        if messages.len().is_multiple_of(2) {
            return problem("the conversation must end with a user message");
        }
        Ok(())
    }

    /// Gives the id that a result answers.
    fn user_block(
        &mut self,
        block: &Value,
        place: &str,
        may_answer: bool,
    ) -> Checked<Option<String>> {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let block = object(block, place, &["type", "text", "cache_control"])?;
                self.breakpoint(block, place)?;
                self.conversation.prompt(text(block, place, "text")?);
                Ok(None)
            }
            Some("tool_result") => {
                let fields = [
                    "type",
                    "tool_use_id",
                    "content",
                    "is_error",
                    "cache_control",
                ];
                let block = object(block, place, &fields)?;
                self.breakpoint(block, place)?;
                if !may_answer {
                    return problem(format!(
                        "{place}: tool_result blocks must come before other content"
                    ));
                }
                let id = text(block, place, "tool_use_id")?;
                self.conversation.answer(Block::ToolResult {
                    tool_use_id: id.to_owned(),
                    content: text(block, place, "content")?.to_owned(),
                    is_error: block.get("is_error").and_then(Value::as_bool) == Some(true),
                });
                Ok(Some(id.to_owned()))
            }
            Some(kind) => problem(format!(
                "{place}: `{kind}` blocks are not permitted in user messages"
            )),
            None => problem(format!("{place}.type: Field required")),
        }
    }

    /// Gives the id of a call.
    fn model_block(&mut self, block: &Value, place: &str) -> Checked<Option<String>> {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let block = object(block, place, &["type", "text", "cache_control"])?;
                self.breakpoint(block, place)?;
                self.conversation.say(Block::Text {
                    text: text(block, place, "text")?.to_owned(),
                });
                Ok(None)
            }
            Some("thinking") => {
                let block = object(block, place, &["type", "thinking", "signature"])?;
                let thought = block.get("thinking").and_then(Value::as_str);
                let Some(thought) = thought else {
                    return problem(format!("{place}.thinking: Field required"));
                };
                if text(block, place, "signature")? != seal(self.model, thought) {
                    return problem(format!("{place}: Invalid `signature` in `thinking` block"));
                }
                Ok(None)
            }
            Some("redacted_thinking") => {
                let block = object(block, place, &["type", "data"])?;
                if text(block, place, "data")? != seal(self.model, "redacted") {
                    return problem(format!(
                        "{place}: Invalid `data` in `redacted_thinking` block"
                    ));
                }
                Ok(None)
            }
            Some("tool_use") => {
                let fields = ["type", "id", "name", "input", "cache_control"];
                let block = object(block, place, &fields)?;
                let id = text(block, place, "id")?;
                word(id, 64, &format!("{place}.id"))?;
                unique(
                    &mut self.used,
                    id,
                    "messages: `tool_use` ids must be unique",
                )?;
                let name = text(block, place, "name")?;
                tool_name(name, place)?;
                let Some(input) = block.get("input").filter(|input| input.is_object()) else {
                    return problem(format!("{place}.input: Input should be an object"));
                };
                self.conversation.say(Block::ToolUse {
                    id: id.to_owned(),
                    name: name.to_owned(),
                    input: input.clone(),
                });
                Ok(Some(id.to_owned()))
            }
            Some(kind) => problem(format!(
                "{place}: `{kind}` blocks are not permitted in assistant messages"
            )),
            None => problem(format!("{place}.type: Field required")),
        }
    }

    fn breakpoint(&mut self, block: &Map<String, Value>, place: &str) -> Checked {
        match block.get("cache_control") {
            None => Ok(()),
            Some(control) if control == &json!({"type": "ephemeral"}) => {
                self.n_breakpoints += 1;
                Ok(())
            }
            Some(_) => problem(format!("{place}.cache_control: Input should be ephemeral")),
        }
    }
}

fn check_answers(place: &str, called: &[String], answered: &[String]) -> Checked {
    let mut seen = BTreeSet::new();
    for id in answered {
        if !called.contains(id) {
            return problem(format!(
                "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                 `tool_result` block must have a corresponding `tool_use` block in the previous \
                 message."
            ));
        }
        unique(&mut seen, id, "each tool_use must have a single result")?;
    }
    match called.iter().find(|id| !answered.contains(id)) {
        Some(id) => problem(format!(
            "{place}: `tool_use` ids were found without `tool_result` blocks immediately after: \
             {id}"
        )),
        None => Ok(()),
    }
}
