//! OpenAI Responses.

mod write;

use std::collections::BTreeSet;

use podward_model::Block;
use serde_json::{Map, Value};

pub(super) use self::write::Writer;
use super::Asked;
use super::conversation::{
    Checked, Conversation, arguments, list, object, problem, schema, seal, streams, text, tokens,
    tool_name, unflagged_result, unique, word,
};

const FIELDS: &[&str] = &[
    "model",
    "instructions",
    "input",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "store",
    "include",
    "reasoning",
    "max_output_tokens",
];

/// Reads a request.
pub(super) fn read(body: &Value) -> Checked<Asked> {
    let body = object(body, "request", FIELDS)?;
    streams(body)?;
    if body.get("store") != Some(&Value::Bool(false)) {
        return problem("store: must be false; this server keeps nothing");
    }
    let model = text(body, "request", "model")?;
    check_tools(body)?;
    let mut reader = Reader {
        model,
        used: BTreeSet::new(),
        open: Vec::new(),
        last: Last::Nothing,
        conversation: Conversation::default(),
    };
    for (idx, item) in list(body, "request", "input")?.iter().enumerate() {
        reader.item(item, &format!("input[{idx}]"))?;
    }
    reader.end()?;
    // As gateways do whose model is of another format.
    if !body.contains_key("tools") && !reader.used.is_empty() {
        return problem("This model doesn't support tool calling without `tools=` param specified");
    }
    Ok(Asked {
        system: match body.get("instructions") {
            Some(Value::String(text)) => text.clone(),
            Some(_) => return problem("instructions: expected a string"),
            None => String::new(),
        },
        messages: reader.conversation.into_messages(),
        max_tokens: tokens(body, "max_output_tokens", 16)?,
        model: model.to_owned(),
    })
}

fn check_tools(body: &Map<String, Value>) -> Checked {
    if !body.contains_key("tools") {
        return Ok(());
    }
    let mut names = BTreeSet::new();
    for (idx, tool) in list(body, "request", "tools")?.iter().enumerate() {
        let place = format!("tools[{idx}]");
        let fields = ["type", "name", "description", "parameters", "strict"];
        let tool = object(tool, &place, &fields)?;
        if text(tool, &place, "type")? != "function" {
            return problem(format!("{place}.type: expected `function`"));
        }
        let name = text(tool, &place, "name")?;
        tool_name(name, &place)?;
        unique(&mut names, name, "tools: names must be unique")?;
        schema(tool, &place, "parameters")?;
        if tool.get("strict") != Some(&Value::Bool(false)) {
            return problem(format!("{place}.strict: the schema is none of strict mode"));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    User,
    Model,
    /// A thought without what follows from it.
    Reasoning,
    Output,
}

struct Reader<'a> {
    model: &'a str,
    used: BTreeSet<String>,
    /// Calls without an output.
    open: Vec<String>,
    last: Last,
    conversation: Conversation,
}

impl Reader<'_> {
    fn item(&mut self, item: &Value, place: &str) -> Checked {
        let kind = item.get("type").and_then(Value::as_str);
        let role = item.get("role").and_then(Value::as_str);
        // Before this item: a call is not answered by the item that makes it.
        let unanswered = self.open.first().cloned();
        let last = match (kind, role) {
            (Some("message"), Some("user")) => {
                for part in self.parts(item, place, "input_text")? {
                    self.conversation.prompt(&part);
                }
                Last::User
            }
            (Some("message"), Some("assistant")) => {
                for text in self.parts(item, place, "output_text")? {
                    self.conversation.say(Block::Text { text });
                }
                Last::Model
            }
            (Some("function_call"), None) => self.call(item, place)?,
            (Some("function_call_output"), None) => {
                let item = object(item, place, &["type", "call_id", "output"])?;
                let id = text(item, place, "call_id")?;
                let Some(idx) = self.open.iter().position(|open| open == id) else {
                    return problem(format!(
                        "No tool call found for function call output with call_id {id}."
                    ));
                };
                self.open.remove(idx);
                let output = text(item, place, "output")?;
                self.conversation.answer(unflagged_result(id, output));
                Last::Output
            }
            (Some("reasoning"), None) => {
                let item = object(item, place, &["type", "summary", "encrypted_content"])?;
                if !item.get("summary").is_some_and(Value::is_array) {
                    return problem(format!("{place}.summary: Missing required parameter"));
                }
                let content = text(item, place, "encrypted_content")?;
                if content != seal(self.model, "reasoning") {
                    return problem("The encrypted content could not be verified.");
                }
                Last::Reasoning
            }
            _ => return problem(format!("{place}.type: invalid value")),
        };
        if self.last == Last::Reasoning && !matches!(last, Last::Model | Last::Reasoning) {
            return self.lonely_reasoning();
        }
        // The API takes outputs anywhere; they belong right behind their calls.
        let is_model = matches!(last, Last::Model | Last::Reasoning);
        let breaks_in = last == Last::User || (is_model && self.last == Last::Output);
        if breaks_in && let Some(id) = unanswered {
            return problem(format!("No tool output found for function call {id}."));
        }
        self.last = last;
        Ok(())
    }

    fn call(&mut self, item: &Value, place: &str) -> Checked<Last> {
        let fields = ["type", "call_id", "name", "arguments"];
        let item = object(item, place, &fields)?;
        let id = text(item, place, "call_id")?;
        word(id, 64, &format!("{place}.call_id"))?;
        unique(&mut self.used, id, "input: call ids must be unique")?;
        let name = text(item, place, "name")?;
        tool_name(name, place)?;
        let input = arguments(text(item, place, "arguments")?, place)?;
        self.open.push(id.to_owned());
        self.conversation.say(Block::ToolUse {
            id: id.to_owned(),
            name: name.to_owned(),
            input,
        });
        Ok(Last::Model)
    }

    fn parts(&self, item: &Value, place: &str, kind: &str) -> Checked<Vec<String>> {
        let item = object(item, place, &["type", "role", "content"])?;
        list(item, place, "content")?
            .iter()
            .map(|part| {
                let part = object(part, place, &["type", "text"])?;
                if text(part, place, "type")? != kind {
                    return problem(format!("{place}.content: expected `{kind}`"));
                }
                Ok(text(part, place, "text")?.to_owned())
            })
            .collect()
    }

    fn lonely_reasoning<T>(&self) -> Checked<T> {
        problem("Item of type 'reasoning' was provided without its required following item.")
    }

    fn end(&self) -> Checked {
        if let Some(id) = self.open.first() {
            return problem(format!("No tool output found for function call {id}."));
        }
        match self.last {
            Last::Reasoning => self.lonely_reasoning(),
            Last::Nothing | Last::Model => {
                problem("input: the last item must be one of the user or an output")
            }
            Last::User | Last::Output => Ok(()),
        }
    }
}
