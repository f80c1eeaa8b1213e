//! OpenAI Chat Completions, and the servers that are compatible with it.

mod write;

use std::collections::BTreeSet;

use podward_model::Block;
use serde_json::{Map, Value, json};

pub(super) use self::write::Writer;
use super::Asked;
use super::conversation::{
    Checked, Conversation, arguments, list, object, problem, schema, streams, text, tokens,
    tool_name, unflagged_result, unique, word,
};

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "parallel_tool_calls",
];

/// The longest id of a call that every server takes.
const ID_LENGTH: usize = 40;

/// The body of an error.
pub(super) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", json!("invalid_api_key")),
        429 => ("requests", json!("rate_limit_exceeded")),
        400..500 => ("invalid_request_error", Value::Null),
        _ => ("server_error", Value::Null),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

/// Reads a request.
pub(super) fn read(body: &Value) -> Checked<Asked> {
    let body = object(body, "request", FIELDS)?;
    streams(body)?;
    let limits = ["max_tokens", "max_completion_tokens"];
    let limit = match limits.map(|field| body.contains_key(field)) {
        [true, true] => return problem("Setting both limits of tokens is not supported"),
        [true, false] => "max_tokens",
        [false, _] => "max_completion_tokens",
    };
    check_tools(body)?;
    let mut reader = Reader {
        used: BTreeSet::new(),
        open: Vec::new(),
        last: Speaker::Nobody,
        system: String::new(),
        conversation: Conversation::default(),
    };
    for (idx, message) in list(body, "request", "messages")?.iter().enumerate() {
        reader.message(message, &format!("messages.[{idx}]"))?;
    }
    reader.check_open()?;
    // As gateways do whose model is of another format.
    if !body.contains_key("tools") && !reader.used.is_empty() {
        return problem("This model doesn't support tool calling without `tools=` param specified");
    }
    if matches!(reader.last, Speaker::Nobody | Speaker::Model) {
        return problem("messages: the last message must be one of the user or of a tool");
    }
    Ok(Asked {
        system: reader.system,
        messages: reader.conversation.into_messages(),
        max_tokens: tokens(body, limit, 1)?,
        model: text(body, "request", "model")?.to_owned(),
    })
}

fn check_tools(body: &Map<String, Value>) -> Checked {
    if !body.contains_key("tools") {
        return Ok(());
    }
    let mut names = BTreeSet::new();
    for (idx, tool) in list(body, "request", "tools")?.iter().enumerate() {
        let place = format!("tools[{idx}]");
        let tool = object(tool, &place, &["type", "function"])?;
        if text(tool, &place, "type")? != "function" {
            return problem(format!("{place}.type: expected `function`"));
        }
        let function = tool.get("function").unwrap_or(&Value::Null);
        let fields = ["name", "description", "parameters", "strict"];
        let function = object(function, &place, &fields)?;
        let name = text(function, &place, "name")?;
        tool_name(name, &place)?;
        unique(&mut names, name, "tools: names must be unique")?;
        schema(function, &place, "parameters")?;
    }
    Ok(())
}

#[derive(PartialEq, Eq)]
enum Speaker {
    Nobody,
    User,
    Model,
    Tool,
}

struct Reader {
    used: BTreeSet<String>,
    /// Calls without a result.
    open: Vec<String>,
    last: Speaker,
    system: String,
    conversation: Conversation,
}

impl Reader {
    fn message(&mut self, message: &Value, place: &str) -> Checked {
        let fields = ["role", "content", "tool_calls", "tool_call_id"];
        let message = object(message, place, &fields)?;
        let role = text(message, place, "role")?;
        if role != "tool" {
            self.check_open()?;
        }
        match role {
            "system" if self.last == Speaker::Nobody && self.system.is_empty() => {
                text(message, place, "content")?.clone_into(&mut self.system);
            }
            "user" if matches!(self.last, Speaker::Nobody | Speaker::Model | Speaker::Tool) => {
                self.conversation.prompt(text(message, place, "content")?);
                self.last = Speaker::User;
            }
            "assistant" if matches!(self.last, Speaker::User | Speaker::Tool) => {
                self.model_message(message, place)?;
                self.last = Speaker::Model;
            }
            "tool" => {
                let id = text(message, place, "tool_call_id")?;
                let Some(idx) = self.open.iter().position(|open| open == id) else {
                    return problem(format!(
                        "{place}: messages with role 'tool' must be a response to a preceeding \
                         message with 'tool_calls': {id}"
                    ));
                };
                self.open.remove(idx);
                let content = text(message, place, "content")?;
                self.conversation.answer(unflagged_result(id, content));
                self.last = Speaker::Tool;
            }
            _ => {
                return problem(format!(
                    "{place}: conversation roles must alternate user/assistant; found '{role}'"
                ));
            }
        }
        Ok(())
    }

    fn model_message(&mut self, message: &Map<String, Value>, place: &str) -> Checked {
        let content = match message.get("content") {
            Some(Value::String(content)) => content.as_str(),
            Some(Value::Null) | None => "",
            Some(_) => return problem(format!("{place}.content: expected a string")),
        };
        if !message.contains_key("tool_calls") {
            text(message, place, "content")?;
        }
        if !content.is_empty() {
            self.conversation.say(Block::Text {
                text: content.to_owned(),
            });
        }
        if !message.contains_key("tool_calls") {
            return Ok(());
        }
        for (idx, call) in list(message, place, "tool_calls")?.iter().enumerate() {
            let place = format!("{place}.tool_calls[{idx}]");
            let call = object(call, &place, &["id", "type", "function"])?;
            let id = text(call, &place, "id")?;
            word(id, ID_LENGTH, &format!("{place}.id"))?;
            unique(&mut self.used, id, "tool_calls: ids must be unique")?;
            if text(call, &place, "type")? != "function" {
                return problem(format!("{place}.type: expected `function`"));
            }
            let function = call.get("function").unwrap_or(&Value::Null);
            let function = object(function, &place, &["name", "arguments"])?;
            let name = text(function, &place, "name")?;
            tool_name(name, &place)?;
            let input = arguments(text(function, &place, "arguments")?, &place)?;
            self.open.push(id.to_owned());
            self.conversation.say(Block::ToolUse {
                id: id.to_owned(),
                name: name.to_owned(),
                input,
            });
        }
        Ok(())
    }

    fn check_open(&self) -> Checked {
        match self.open.first() {
            None => Ok(()),
            Some(id) => problem(format!(
                "An assistant message with 'tool_calls' must be followed by tool messages \
                 responding to each 'tool_call_id'. The following tool_call_ids did not have \
                 response messages: {id}"
            )),
        }
    }
}
