//! Calls like a part of one that is asked about, made up to be judged: what a pattern covers is shown by
//! them.
//!
//! Only the judge says which of them a pattern covers; here they are merely near enough to be of use.

use podward_protocol::{Operation, SubjectKind};
use serde_json::{Map, Value, json};

/// A call that nobody made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MadeUp {
    /// What is told of it.
    pub(super) shown: String,
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// The longest text that others are made from, in bytes: nobody reads examples that are longer.
const MAX_TEXT: usize = 512;

/// Calls like a part of a call, the nearest first; none where not all of it is known.
pub(super) fn like(operation: &Operation) -> Vec<MadeUp> {
    if !operation.known || operation.text.len() > MAX_TEXT {
        return Vec::new();
    }
    let (text, tool) = (operation.text.as_str(), operation.tool.as_str());
    let made = |shown: String, arguments: Value| MadeUp {
        shown,
        tool: tool.to_owned(),
        arguments,
    };
    match operation.subject {
        SubjectKind::Command => commands(text)
            .into_iter()
            .map(|command| made(command.clone(), json!({ "command": command })))
            .collect(),
        SubjectKind::Path | SubjectKind::Tree => paths(text)
            .into_iter()
            .filter_map(|path| Some(made(path.clone(), of_path(tool, &path)?)))
            .collect(),
        SubjectKind::Url => urls(text)
            .into_iter()
            .map(|url| made(url.clone(), json!({ "url": url })))
            .collect(),
        SubjectKind::Plain => others(text)
            .into_iter()
            .map(|arguments| made(arguments.to_string(), arguments))
            .collect(),
        SubjectKind::Unknown => Vec::new(),
    }
}

fn commands(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let Some((last, front)) = words.split_last() else {
        return Vec::new();
    };
    let front = front.join(" ");
    let program = words.first().copied().unwrap_or_default();
    let mut all = Vec::new();
    if words.len() > 1 {
        all.push(format!("{front} {}", other_word(last)));
    }
    all.push(format!("{text} more"));
    all.push(format!("{text} --force"));
    if words.len() > 2 {
        let second = words.get(1).copied().unwrap_or_default();
        all.push(format!("{program} {second} other"));
        all.push(format!("{program} {second}"));
    }
    all.push(format!("{program} other"));
    all.push(program.to_owned());
    all.push(format!("sudo {text}"));
    all.push(format!("{text} > out.txt"));
    all.push(format!("{text} && rm -rf ."));
    unlike(text, all)
}

fn paths(text: &str) -> Vec<String> {
    let path = text.trim_end_matches('/');
    let (directory, name) = match path.rsplit_once('/') {
        Some((directory, name)) => (format!("{directory}/"), name),
        None => (String::new(), path),
    };
    let all = vec![
        format!("{directory}{}", other_word(name)),
        format!("{directory}below/{name}"),
        format!("{path}/file"),
        format!("other/{name}"),
        ".env".to_owned(),
        format!("{directory}../other/{name}"),
        "/etc/passwd".to_owned(),
    ];
    unlike(text, all)
}

fn urls(text: &str) -> Vec<String> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Vec::new();
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let base = path.rsplit_once('/').map_or("", |(base, _)| base);
    let slash = if base.is_empty() { "" } else { "/" };
    let all = vec![
        format!("{scheme}://{host}/{base}{slash}other"),
        format!("{scheme}://{host}/{base}{slash}below/other"),
        format!("{scheme}://{host}/"),
        format!("{scheme}://{host}.example/{path}"),
        format!("{scheme}://other.example/{path}"),
        format!("http://{host}/{path}"),
    ];
    unlike(text, all)
}

/// The same object with each of its texts another one.
fn others(text: &str) -> Vec<Value> {
    let Ok(Value::Object(arguments)) = serde_json::from_str(text) else {
        return Vec::new();
    };
    let other = |(key, value): (&String, &Value)| {
        let mut others = arguments.clone();
        others.insert(key.clone(), json!(other_word(value.as_str()?)));
        Some(Value::Object(others))
    };
    let mut all: Vec<Value> = arguments.iter().filter_map(other).collect();
    all.push(Value::Object(Map::new()));
    all
}

/// The arguments with which a tool does something to a path.
fn of_path(tool: &str, path: &str) -> Option<Value> {
    match tool {
        "read" | "list" => Some(json!({ "path": path })),
        "file_write" => Some(json!({ "path": path, "content": "" })),
        "file_edit" => Some(json!({ "path": path, "old_string": "a", "new_string": "b" })),
        // A regular expression, and a glob.
        "grep" | "glob" => Some(json!({ "pattern": "a", "path": path })),
        _ => None, // such a call cannot be made by itself
    }
}

/// A word of the same kind as another.
fn other_word(word: &str) -> String {
    if let Ok(number) = word.parse::<u32>() {
        return number.wrapping_add(1).to_string();
    }
    let end = word.rfind(['.', '\'', '"']).filter(|at| *at > 0);
    let (front, end) = word.split_at(end.unwrap_or(word.len()));
    match front.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/other{end}"),
        None if front.starts_with(['\'', '"', '$', '-']) => format!("{front}-other{end}"),
        None => format!("other{end}"),
    }
}

fn unlike(text: &str, all: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for one in all {
        if one != text && !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}
