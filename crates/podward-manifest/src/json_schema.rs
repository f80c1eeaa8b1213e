//! The JSON Schema of a layer, from the same lists of keys that the reader knows keys from.

mod keys;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use podward_policy::{Action, LayerKind};
use serde_json::{Map, Value, json};

use self::keys::{KEYS, Shape};
use crate::effective::Origin;
use crate::layer::{LayerSource, Surroundings, Trust};
use crate::resolve::resolve;
use crate::schema::{
    ALLOWED_ROOT, CHILD, CHILD_LIMITS, CHILDREN, DENIED_ROOT, EXAMPLES, HOOK, HOOKS, ItemSchema,
    RULE, TABLES, TEST, fixable,
};
use crate::unit;

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
    properties.insert(CHILDREN.to_owned(), of_key(CHILDREN));
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
        Shape::Child => json!({
            "type": "object",
            "minProperties": 1,
            "additionalProperties": item(path, &CHILD, &["manifest"]),
        }),
        Shape::ChildLimits => item(path, &CHILD_LIMITS, &[]),
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
    let mut keys = vec![HOOKS.to_owned(), CHILDREN.to_owned()];
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
    add(CHILDREN, CHILD.keys);
    add("children.limits", CHILD_LIMITS.keys);
    keys.sort();
    keys
}
