//! The JSON Schema of a layer, from the same lists of keys that the reader knows keys from.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use podward_policy::{Action, LayerKind};
use serde_json::{Map, Value, json};

use crate::effective::Origin;
use crate::layer::{LayerSource, Surroundings, Trust};
use crate::resolve::resolve;
use crate::schema::{
    ALLOWED_ROOT, DENIED_ROOT, EXAMPLES, HOOK, HOOKS, ItemSchema, RULE, TABLES, TEST, fixable,
};
use crate::unit;

/// What an editor may say of each key: its path, the shape of its value, and a sentence.
///
/// INVARIANT: it has every key of the reader and no other; a test holds that.
const KEYS: &[(&str, Shape, &str)] = {
    use Shape::{
        Actions, Age, Any, Count, Examples, Fixed, Flag, Hook, Roots, Rules, Size, Tests, Text,
        Texts, Time, Words,
    };
    &[
        ("pod.name", Text, "The pod's name."),
        (
            "pod.workspace",
            Text,
            "The directory that it works in; default: the current one.",
        ),
        (
            "pod.workspace_mode",
            Words(&["direct", "copy"]),
            "On the files themselves, or on a temporary copy.",
        ),
        (
            "model.provider",
            Words(&["anthropic", "openai", "openai-responses", "scripted"]),
            "The wire format of the model's provider.",
        ),
        (
            "model.script",
            Text,
            "Instead of a model: an embedded script's name, or a path.",
        ),
        ("model.model", Text, "The model's name at its provider."),
        (
            "model.base_url",
            Text,
            "Where the provider is; default: its own address.",
        ),
        ("model.key_env", Text, "The variable that holds the key."),
        (
            "model.key_file",
            Text,
            "The private file that holds the key.",
        ),
        (
            "model.key_command",
            Texts,
            "The command that prints the key.",
        ),
        ("model.max_tokens", Count, "The most tokens of one answer."),
        ("model.system", Text, "Put before the conversation."),
        (
            "model.allow",
            Texts,
            "Globs over `provider/model` that may be asked; machine's and user's layer only.",
        ),
        (
            "tools.offered",
            Texts,
            "The tools that the model is told of; default: all.",
        ),
        (
            "scope.allow",
            Roots,
            "What can be touched at all; default: everything read, the workspace written.",
        ),
        (
            "scope.deny",
            Roots,
            "What cannot be touched, whatever else is allowed.",
        ),
        (
            "scope.enforce",
            Words(&["required", "best"]),
            "Whether a pod starts where the kernel cannot hold it to its scope.",
        ),
        (
            "environment.pass",
            Texts,
            "Variables that commands see beside the basic ones.",
        ),
        (
            "programs.files",
            Texts,
            "Files with models of your own programs.",
        ),
        ("skills.directories", Texts, "Directories of skills."),
        (
            "limits.max_steps",
            Count,
            "Requests to the model in one turn.",
        ),
        (
            "limits.message_calls",
            Count,
            "Calls in one answer of the model.",
        ),
        ("limits.turn_timeout", Time, "The time of one turn."),
        ("limits.bash_timeout", Time, "The time of one command."),
        ("limits.output_size", Size, "The size of one tool's result."),
        ("limits.read_size", Size, "The size of what `read` returns."),
        ("limits.read_lines", Count, "The lines that `read` returns."),
        (
            "limits.line_size",
            Size,
            "The size of one line of a result.",
        ),
        (
            "limits.file_size",
            Size,
            "The largest file that is edited or searched.",
        ),
        ("limits.max_matches", Count, "Matching lines of `grep`."),
        (
            "limits.max_entries",
            Count,
            "Paths of `glob`, `list`, and `grep` for files.",
        ),
        (
            "limits.fetch_size",
            Size,
            "The largest page that `web_fetch` downloads.",
        ),
        (
            "limits.fetch_timeout",
            Time,
            "The time of one `web_fetch`, redirects included.",
        ),
        (
            "limits.history_size",
            Size,
            "What is sent of the conversation.",
        ),
        ("undo.keep", Flag, "Whether what calls change is kept."),
        ("undo.max_size", Size, "All that is kept of one workspace."),
        ("undo.max_file", Size, "The largest file that is kept."),
        ("undo.max_age", Age, "How long a call can be undone."),
        (
            "machine.fixed",
            Fixed,
            "Settings that no nearer layer may set to another value.",
        ),
        (
            "permissions.default_action",
            Actions,
            "What is said where no rule matches.",
        ),
        (
            "permissions.unresolved",
            Words(&["ask", "deny"]),
            "What is said of text that cannot be known before it runs; default: `deny` where `default_action` is, else `ask`.",
        ),
        (
            "permissions.on_ask",
            Words(&["wait", "refuse", "error"]),
            "What becomes of a question that nobody is there to answer.",
        ),
        (
            "permissions.ask_timeout",
            Time,
            "How long a question stays open, in whole seconds; default: no limit.",
        ),
        (
            "permissions.client_grace",
            Time,
            "How long questions stay open after the last client left.",
        ),
        (
            "permissions.auto",
            Words(&["allow", "forbid"]),
            "Whether `--auto` may answer.",
        ),
        (
            "permissions.rule",
            Rules,
            "Rules, in order: the first that matches decides.",
        ),
        (
            "permissions.test",
            Tests,
            "Calls, and what the rules of this file say of them.",
        ),
        (
            "permissions.rule.tool",
            Text,
            "A tool's name, or a glob over names.",
        ),
        (
            "permissions.rule.pattern",
            Text,
            "A glob over a command, a path or a URL.",
        ),
        ("permissions.rule.action", Actions, "What the rule says."),
        (
            "permissions.rule.message",
            Text,
            "What the model and the person read.",
        ),
        (
            "permissions.rule.ask_timeout",
            Time,
            "How long a question of this rule stays open. Only of a rule that asks.",
        ),
        (
            "permissions.rule.grantable",
            Flag,
            "Whether an answer may be remembered; default: `true`. Only of a rule that asks.",
        ),
        (
            "permissions.rule.examples",
            Examples,
            "Calls of this tool, and what the whole list says of them.",
        ),
        (
            "permissions.rule.examples.allow",
            Texts,
            "Calls that are allowed.",
        ),
        (
            "permissions.rule.examples.ask",
            Texts,
            "Calls that are asked about.",
        ),
        (
            "permissions.rule.examples.deny",
            Texts,
            "Calls that are denied.",
        ),
        ("permissions.test.tool", Text, "The tool that is called."),
        (
            "permissions.test.text",
            Text,
            "A command, a path, a URL or a name.",
        ),
        (
            "permissions.test.input",
            Any,
            "The arguments of the call, instead of `text`.",
        ),
        (
            "permissions.test.cwd",
            Text,
            "Where relative paths start from; default: the workspace.",
        ),
        ("permissions.test.expect", Actions, "The verdict."),
        ("permissions.test.why", Text, "Shown when the test fails."),
        (
            "scope.allow.path",
            Text,
            "A directory; relative ones start at the workspace.",
        ),
        (
            "scope.allow.access",
            Words(&["read", "write"]),
            "What can be done there; `write` includes reading.",
        ),
        ("scope.deny.path", Text, "A directory or a file."),
        (
            "scope.deny.access",
            Words(&["read", "write"]),
            "`write`: it can be read, not changed; `read`: neither.",
        ),
        (
            "hook",
            Hook,
            "Programs that see an event and may refuse it.",
        ),
        ("hook.name", Text, "The hook's name."),
        (
            "hook.event",
            Words(&[
                "pre_tool_call",
                "prompt_submit",
                "post_tool",
                "turn_end",
                "permission_asked",
            ]),
            "The event that it sees.",
        ),
        ("hook.tool", Text, "A tool's name, or a glob over names."),
        (
            "hook.command",
            Texts,
            "The program and its arguments; no shell.",
        ),
        (
            "hook.timeout",
            Time,
            "Then it is killed, and has failed; default: `10s`.",
        ),
    ]
};

/// What a value looks like.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    Texts,
    Words(&'static [&'static str]),
    /// `allow`, `ask` or `deny`.
    Actions,
    Count,
    Flag,
    /// A time with its unit.
    Time,
    /// The same, with days.
    Age,
    /// A size with its unit.
    Size,
    /// Settings that can be fixed.
    Fixed,
    Roots,
    Rules,
    Tests,
    Examples,
    Hook,
    /// Any table.
    Any,
}

/// The JSON Schema of a layer, as TOML editors use it: pretty-printed, with a final newline.
#[must_use]
pub fn manifest_schema() -> String {
    let tables = TABLES.iter().map(|table| {
        let schema = object(table.name, table.keys);
        let schema = match table.name {
            "permissions" => with(schema, "required", json!(["default_action"])),
            _ => schema,
        };
        (table.name.to_owned(), schema)
    });
    let mut properties: Map<String, Value> = tables.collect();
    properties.insert(HOOKS.to_owned(), of_key(HOOKS));
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A manifest, or another layer, of podward",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    for (path, default) in defaults() {
        let key = format!("/properties/{}", path.replace('.', "/properties/"));
        if let Some(key) = schema.pointer_mut(&key).and_then(Value::as_object_mut) {
            key.insert("default".to_owned(), default);
        }
    }
    // `Value`'s alternate display is its pretty form and cannot fail.
    format!("{schema:#}\n")
}

/// A table with these keys and no others.
fn object(path: &str, keys: &[&str]) -> Value {
    let properties = keys
        .iter()
        .map(|key| ((*key).to_owned(), of_key(&format!("{path}.{key}"))));
    json!({
        "type": "object",
        "minProperties": 1,
        "properties": properties.collect::<Map<String, Value>>(),
        "additionalProperties": false,
    })
}

fn item(path: &str, schema: &ItemSchema, required: &[&str]) -> Value {
    with(object(path, schema.keys), "required", json!(required))
}

/// The schema with one more keyword.
fn with(mut schema: Value, keyword: &str, value: Value) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(keyword.to_owned(), value);
    }
    schema
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn of_key(path: &str) -> Value {
    let Some((_, shape, about)) = KEYS.iter().find(|(known, ..)| *known == path) else {
        return json!({}); // a test holds that there is none
    };
    let actions = [Action::Allow, Action::Ask, Action::Deny].map(Action::as_str);
    let schema = match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Texts => list(json!({ "type": "string" })),
        Shape::Words(words) => json!({ "type": "string", "enum": words }),
        Shape::Actions => json!({ "type": "string", "enum": actions }),
        Shape::Count => json!({ "type": "integer", "minimum": 1 }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Time => amount("a time", &of_units(unit::TIME_UNITS), &["90s", "1h30m"]),
        Shape::Age => amount("a time", &of_units(unit::AGE_UNITS), &["14d", "36h"]),
        Shape::Size => {
            let units: Vec<&str> = unit::SIZE_UNITS.iter().map(|(name, _)| *name).collect();
            let pattern = format!("^[0-9]+({})$", units.join("|"));
            amount("a size", &pattern, &["64KiB", "1MB"])
        }
        Shape::Fixed => {
            let settings: Vec<String> = fixable().collect();
            list(json!({ "type": "string", "enum": settings }))
        }
        Shape::Any => json!({ "type": "object" }),
        Shape::Roots if path == "scope.allow" => list(item(path, &ALLOWED_ROOT, ALLOWED_ROOT.keys)),
        Shape::Roots => list(item(path, &DENIED_ROOT, DENIED_ROOT.keys)),
        Shape::Rules => list(item(path, &RULE, &["tool", "pattern", "action"])),
        Shape::Tests => list(item(path, &TEST, &["tool", "expect"])),
        Shape::Examples => item(path, &EXAMPLES, &[]),
        Shape::Hook => list(item(path, &HOOK, &["event", "command"])),
    };
    with(schema, "description", json!(about))
}

/// A number with its unit.
fn amount(title: &str, pattern: &str, examples: &[&str]) -> Value {
    json!({
        "title": title, "type": "string", "minLength": 1, "pattern": pattern, "examples": examples,
    })
}

/// Numbers with these units, in order, each at most once.
fn of_units(units: &[(&str, u64)]) -> String {
    let parts = units.iter().map(|(name, _)| format!("([0-9]+{name})?"));
    format!("^{}$", parts.collect::<String>())
}

/// What a setting is where no layer says anything: what the resolver says of a layer without it.
fn defaults() -> BTreeMap<String, Value> {
    let bare = LayerSource {
        kind: LayerKind::User,
        file: "".into(),
        directory: PathBuf::from("/"),
        text: "[permissions]\ndefault_action = \"ask\"\n".to_owned(),
        trust: Trust::Trusted,
    };
    // A test holds that it is resolved.
    let Ok(resolved) = resolve(&[bare], &Surroundings::default()) else {
        return BTreeMap::new();
    };
    let lines = resolved.effective.lines();
    lines
        .iter()
        .filter(|line| !matches!(line.origin, Origin::Written { .. }))
        .map(|line| (format!("{}.{}", line.table, line.key), &line.value))
        // It hangs on another one.
        .filter(|(path, _)| path != "permissions.unresolved")
        // Its numbers, texts, flags and lists are written as in JSON.
        .filter_map(|(path, value)| Some((path, serde_json::from_str(value).ok()?)))
        .collect()
}

/// Every key of the reader, by its path.
#[cfg(test)]
fn keys_of_the_reader() -> Vec<String> {
    let mut keys = vec![HOOKS.to_owned()];
    let mut add = |path: &str, names: &[&str]| {
        keys.extend(names.iter().map(|name| format!("{path}.{name}")));
    };
    for table in TABLES {
        add(table.name, table.keys);
    }
    add("scope.allow", ALLOWED_ROOT.keys);
    add("scope.deny", DENIED_ROOT.keys);
    add("permissions.rule", RULE.keys);
    add("permissions.rule.examples", EXAMPLES.keys);
    add("permissions.test", TEST.keys);
    add(HOOKS, HOOK.keys);
    keys.sort();
    keys
}
