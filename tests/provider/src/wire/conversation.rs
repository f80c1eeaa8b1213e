//! What the formats have in common: fields that must be there, names, ids, calls with results.

use std::collections::BTreeSet;

use podward_model::{Block, Message, Role};
use serde_json::{Map, Value};

/// What is wrong with a request, in the provider's words.
#[derive(Debug)]
pub(crate) struct Problem(pub(crate) String);

pub(super) type Checked<T = ()> = Result<T, Problem>;

/// How a format without a flag for errors tells one.
pub(super) const ERROR_MARK: &str = "[error] ";

/// A problem as a `Result`.
pub(super) fn problem<T>(message: impl Into<String>) -> Checked<T> {
    Err(Problem(message.into()))
}

/// An object that has no other fields than these.
pub(super) fn object<'a>(
    value: &'a Value,
    place: &str,
    fields: &[&str],
) -> Checked<&'a Map<String, Value>> {
    let Some(object) = value.as_object() else {
        return problem(format!("{place}: Input should be an object"));
    };
    match object.keys().find(|key| !fields.contains(&key.as_str())) {
        Some(key) => problem(format!("{place}.{key}: Extra inputs are not permitted")),
        None => Ok(object),
    }
}

/// A text that is there and not empty.
pub(super) fn text<'a>(
    object: &'a Map<String, Value>,
    place: &str,
    field: &str,
) -> Checked<&'a str> {
    match object.get(field).and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => Ok(text),
        Some(_) => problem(format!("{place}.{field}: text must be non-empty")),
        None => problem(format!("{place}.{field}: Field required")),
    }
}

/// A list that is there and not empty.
pub(super) fn list<'a>(
    object: &'a Map<String, Value>,
    place: &str,
    field: &str,
) -> Checked<&'a [Value]> {
    match object.get(field).and_then(Value::as_array) {
        Some(list) if !list.is_empty() => Ok(list),
        Some(_) => problem(format!("{place}.{field}: [] is too short")),
        None => problem(format!("{place}.{field}: Field required")),
    }
}

/// A number of tokens.
pub(super) fn tokens(object: &Map<String, Value>, field: &str, least: u64) -> Checked<u32> {
    match object.get(field).and_then(Value::as_u64) {
        Some(number) if number >= least => {
            u32::try_from(number).or_else(|_| problem(format!("{field}: too large")))
        }
        Some(_) => problem(format!("{field}: must be at least {least}")),
        None => problem(format!("{field}: Field required")),
    }
}

/// The stream has to be asked for.
pub(super) fn streams(object: &Map<String, Value>) -> Checked {
    match object.get("stream") {
        Some(Value::Bool(true)) => Ok(()),
        _ => problem("stream: this server only streams"),
    }
}

/// A name of a tool.
pub(super) fn tool_name(name: &str, place: &str) -> Checked {
    word(name, 64, &format!("{place}.name"))
}

/// A word of letters, digits, `_` and `-`.
pub(super) fn word(text: &str, longest: usize, place: &str) -> Checked {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if text.is_empty() || text.len() > longest || !text.chars().all(is_fit) {
        return problem(format!(
            "{place}: String should match pattern '^[a-zA-Z0-9_-]{{1,{longest}}}$'"
        ));
    }
    Ok(())
}

/// The schema of a tool's arguments.
pub(super) fn schema(object: &Map<String, Value>, place: &str, field: &str) -> Checked {
    match object.get(field).and_then(|schema| schema.get("type")) {
        Some(Value::String(kind)) if kind == "object" => Ok(()),
        _ => problem(format!("{place}.{field}.type: Input should be 'object'")),
    }
}

/// Names that may be there once.
pub(super) fn unique(names: &mut BTreeSet<String>, name: &str, place: &str) -> Checked {
    if names.insert(name.to_owned()) {
        return Ok(());
    }
    problem(format!("{place}: `{name}` is there twice"))
}

/// Arguments that come as text.
pub(super) fn arguments(text: &str, place: &str) -> Checked<Value> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) | Err(_) => problem(format!("{place}: the arguments are no JSON object")),
    }
}

/// The result of a call whose format has no flag for errors.
pub(super) fn unflagged_result(id: &str, text: &str) -> Block {
    let (content, is_error) = match text.strip_prefix(ERROR_MARK) {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    Block::ToolResult {
        tool_use_id: id.to_owned(),
        content: content.to_owned(),
        is_error,
    }
}

/// A conversation in the making.
#[derive(Default)]
pub(super) struct Conversation {
    messages: Vec<Message>,
}

impl Conversation {
    /// Adds to what the model said.
    pub(super) fn say(&mut self, block: Block) {
        self.add(Role::Assistant, block);
    }

    /// Adds a result.
    pub(super) fn answer(&mut self, block: Block) {
        self.add(Role::User, block);
    }

    /// Adds a text of the user: always a message of its own, as it was when it was said.
    pub(super) fn prompt(&mut self, text: &str) {
        self.messages.push(Message::user(text));
    }

    pub(super) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    fn add(&mut self, role: Role, block: Block) {
        let is_prompt =
            |message: &Message| matches!(message.content.as_slice(), [Block::Text { .. }]);
        match self.messages.last_mut() {
            Some(last) if last.role == role && (role == Role::Assistant || !is_prompt(last)) => {
                last.content.push(block);
            }
            // Somebody else spoke.
            _ => self.messages.push(Message {
                role,
                content: vec![block],
            }),
        }
    }
}

/// A text that only who knows the model and the thought can make: a stand-in for a signature.
pub(super) fn seal(model: &str, thought: &str) -> String {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in model.bytes().chain([0]).chain(thought.bytes()) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("sealed-{state:016x}")
}
