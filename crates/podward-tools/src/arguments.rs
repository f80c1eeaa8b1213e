//! JSON arguments to typed ones, once.

use podward_policy::ToolName;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{BadArguments, shown};

/// The deepest nesting of arguments: what `serde_json` reads from text.
const DEPTH_MAX: usize = 128;

/// The JSON Schema of a tool's arguments, without what a model has no use for.
pub(crate) fn schema_of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<A>());
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(simplify);
    }
    schema
}

/// An optional key is left out, so its schema need not say null; Rust's widths of integers and the
/// line breaks of its comments are noise.
fn simplify(property: &mut Value) {
    let Some(property) = property.as_object_mut() else {
        return;
    };
    property.remove("format");
    if let Some(Value::String(description)) = property.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            property.insert("type".to_owned(), kind);
        }
    }
}

/// Parses arguments that fit `schema`, which is [`schema_of`] the same type.
pub(crate) fn parse<A: DeserializeOwned>(
    tool: &ToolName,
    schema: &Value,
    arguments: Value,
) -> Result<A, BadArguments> {
    let Value::Object(given) = &arguments else {
        let problem = format!("they are {}, not an object", kind_of(&arguments));
        return Err(BadArguments::new(tool, problem).with_hint(usage(schema)));
    };
    check_keys(tool, schema, given)?;
    check_types(tool, schema, given)?;
    serde_json::from_value(arguments)
        .map_err(|error| BadArguments::new(tool, error.to_string()).with_hint(usage(schema)))
}

/// The arguments as canonical JSON (RFC 8785): the text by which they are judged, logged and
/// compared.
///
/// It is what [`Proposal::arguments`](crate::Proposal::arguments) holds. `tool` is who the errors
/// are about.
///
/// # Errors
/// The nesting is too deep, or a number has no exact canonical form: RFC 8785 knows only what an
/// IEEE 754 double can hold, so two different calls would have one text.
pub fn canonical(tool: &ToolName, arguments: &Value) -> Result<Box<str>, BadArguments> {
    check_shape(tool, arguments)?;
    serde_json_canonicalizer::to_string(arguments)
        .map(String::into_boxed_str)
        .map_err(|error| BadArguments::new(tool, error.to_string()))
}

/// Without recursion: the depth is what is being checked.
fn check_shape(tool: &ToolName, arguments: &Value) -> Result<(), BadArguments> {
    let mut open = vec![(arguments, 1_usize)];
    while let Some((value, depth)) = open.pop() {
        if depth > DEPTH_MAX {
            let problem = format!("they are nested more than {DEPTH_MAX} deep");
            return Err(BadArguments::new(tool, problem));
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                open.extend(members.values().map(|member| (member, depth + 1)));
            }
            Value::Number(number) if !is_exact(number) => {
                return Err(BadArguments::new(
                    tool,
                    format!("the number {number} is too large to be exact"),
                )
                .with_hint("write it as a string"));
            }
            Value::Number(_) | Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

/// Whether a double holds the number exactly (a number read as a double does by definition).
fn is_exact(number: &serde_json::Number) -> bool {
    const LARGEST: u64 = 1 << 53;
    match (number.as_u64(), number.as_i64()) {
        (Some(unsigned), _) => unsigned <= LARGEST,
        (None, Some(signed)) => signed.unsigned_abs() <= LARGEST,
        (None, None) => number.as_f64().is_some_and(f64::is_finite),
    }
}

fn check_keys(
    tool: &ToolName,
    schema: &Value,
    given: &Map<String, Value>,
) -> Result<(), BadArguments> {
    let known: Vec<&str> = properties(schema).map(|(name, _)| name).collect();
    if let Some(unknown) = given.keys().find(|key| !known.contains(&key.as_str())) {
        let problem = format!("unknown key `{}`", shown(unknown));
        let hint = match nearest(unknown, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? {}", usage(schema)),
            None => usage(schema),
        };
        return Err(BadArguments::new(tool, problem).with_hint(hint));
    }
    let missing: Vec<String> = required(schema)
        .filter(|name| !given.contains_key(*name))
        .map(|name| format!("`{name}`"))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let problem = format!("{} missing", is_or_are(&missing));
    Err(BadArguments::new(tool, problem).with_hint(usage(schema)))
}

fn check_types(
    tool: &ToolName,
    schema: &Value,
    given: &Map<String, Value>,
) -> Result<(), BadArguments> {
    let required: Vec<&str> = required(schema).collect();
    for (name, property) in properties(schema) {
        let (Some(value), Some(kind)) = (
            given.get(name),
            property.get("type").and_then(Value::as_str),
        ) else {
            continue;
        };
        // Null for a key that can be left out is as good as leaving it out.
        let is_left_out = value.is_null() && !required.contains(&name);
        if is_left_out || fits(kind, value) {
            continue;
        }
        let problem = format!(
            "`{name}` must be {}, not {}",
            described(kind),
            kind_of(value)
        );
        return Err(BadArguments::new(tool, problem));
    }
    Ok(())
}

/// What fits: `it takes path (required), limit, offset`; the order is not that of a map.
fn usage(schema: &Value) -> String {
    let required: Vec<&str> = required(schema).collect();
    let mut optional: Vec<&str> = properties(schema)
        .map(|(name, _)| name)
        .filter(|name| !required.contains(name))
        .collect();
    optional.sort_unstable();
    let required = required.iter().map(|name| format!("`{name}` (required)"));
    let optional = optional.iter().map(|name| format!("`{name}`"));
    let keys: Vec<String> = required.chain(optional).collect();
    format!("it takes {}", keys.join(", "))
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, property)| (name.as_str(), property))
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn fits(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        // The arguments of the built-in tools have no other type; serde has the last word.
        _ => true,
    }
}

fn described(kind: &str) -> &'static str {
    match kind {
        "string" => "a string",
        "integer" => "a whole number",
        "boolean" => "true or false",
        _ => "of another type",
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a number with a fraction or exponent",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The candidate that a mistyped name most likely meant.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // A longer name is no typing error, and the distance is quadratic in the length.
    if name.len() > 64 {
        return None;
    }
    let name = name.to_ascii_lowercase();
    candidates
        .map(|candidate| (strsim::jaro_winkler(&name, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

fn is_or_are(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", names.join(", "))
}

#[cfg(test)]
mod tests;
