//! The page with every key of a manifest, made of its schema.

use serde_json::Value;

use crate::chores::Outcome;

/// What stands above the tables.
const TOP: &str = "\
<!-- made by `cargo xtask gen` of docs/schemas/manifest.json -->

# Keys of a manifest

Every table and key that a manifest, or another layer, may have. How layers join and what stands behind the
settings is in [pod.md](pod.md), what rules mean in [permissions.md](permissions.md);
[manifests/reference.toml](../manifests/reference.toml) is a manifest with all of them. A bold key must be there.
";

/// The page.
///
/// # Errors
/// The schema cannot be read.
pub(super) fn page(schema: &str) -> Outcome<String> {
    let schema: Value = serde_json::from_str(schema)?;
    let mut page = TOP.to_owned();
    for (name, table) in properties(&schema) {
        let lists = table.get("items").is_some();
        let heading = match lists {
            true => format!("[[{name}]]"),
            false => format!("[{name}]"),
        };
        section(&mut page, name, &heading, table);
    }
    Ok(page)
}

/// A table, or an entry of a list of tables, and those inside.
fn section(page: &mut String, path: &str, heading: &str, schema: &Value) {
    page.push_str(&format!("\n## `{heading}`\n\n"));
    let object = schema.get("items").unwrap_or(schema);
    if let Some(about) = text(schema, "description") {
        page.push_str(&format!("{about}\n\n"));
    }
    page.push_str("| key | value | default | |\n|---|---|---|---|\n");
    let required = strings(object.get("required"));
    let mut inner = Vec::new();
    for (key, value) in properties(object) {
        let shown = match required.contains(&key.as_str()) {
            true => format!("**`{key}`**"),
            false => format!("`{key}`"),
        };
        let default = value.get("default").map_or_else(String::new, in_toml);
        let about = text(value, "description").unwrap_or_default();
        page.push_str(&format!(
            "| {shown} | {} | {default} | {about} |\n",
            kind(value)
        ));
        let entry = value.get("items").unwrap_or(value);
        if entry.get("properties").is_some() {
            inner.push((key, value));
        }
    }
    for (key, value) in inner {
        let path = format!("{path}.{key}");
        let heading = match (value.get("items").is_some(), path.as_str()) {
            (true, "permissions.rule" | "permissions.test") => format!("[[{path}]]"),
            (true, _) => format!("{path} = [{{ … }}]"),
            (false, _) => format!("{path} = {{ … }}"),
        };
        section(page, &path, &heading, value);
    }
}

/// What a value looks like.
fn kind(schema: &Value) -> String {
    let choices = strings(schema.get("enum"));
    if !choices.is_empty() {
        return quoted(&choices, ", ");
    }
    if let Some(title) = text(schema, "title") {
        return format!(
            "{title}: {}",
            quoted(&strings(schema.get("examples")), ", ")
        );
    }
    match text(schema, "type") {
        Some("string") => "a text".to_owned(),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("integer") => "a whole number from 1 on".to_owned(),
        Some("array") => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            match text(items, "type") {
                Some("object") => "a list of tables, see below".to_owned(),
                _ if items.get("enum").is_some() => format!("a list of: {}", kind(items)),
                _ => "a list of texts".to_owned(),
            }
        }
        _ if schema.get("properties").is_some() => "a table, see below".to_owned(),
        _ => "a table".to_owned(),
    }
}

fn quoted(words: &[&str], between: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(between)
}

/// A value as TOML writes it.
fn in_toml(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("`[{}]`", items.join(", "))
        }
        other => format!("`{other}`"),
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

fn text<'a>(schema: &'a Value, key: &str) -> Option<&'a str> {
    schema.get(key).and_then(Value::as_str)
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    let all = value.and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests;
