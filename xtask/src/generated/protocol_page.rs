//! The tables of the page about the protocol, made of the schemas of what is sent.

use serde_json::Value;

use crate::chores::Outcome;

/// What ends a table.
const END: &str = "<!-- end of table -->";

/// The page with its tables made anew.
///
/// # Errors
/// A schema cannot be read, or a table has no place in the page.
pub(super) fn fill(page: &str, method: &str, response: &str, event: &str) -> Outcome<String> {
    let method: Value = serde_json::from_str(method)?;
    let response: Value = serde_json::from_str(response)?;
    let event: Value = serde_json::from_str(event)?;
    let mut page = page.to_owned();
    for (name, table) in [
        ("methods", methods(&method, &response)),
        ("events", events(&event)),
        ("errors", errors(&response)),
        ("outcomes", outcomes(&event)),
    ] {
        page = place(&page, name, &table)?;
    }
    Ok(page)
}

/// Puts a table between its marks.
///
/// # Errors
/// The table has no place in the page.
pub(super) fn place(page: &str, name: &str, table: &str) -> Outcome<String> {
    let start = format!("<!-- table: {name} -->\n");
    let parts = page
        .split_once(&start)
        .and_then(|(before, rest)| rest.split_once(END).map(|(_, after)| (before, after)));
    let Some((before, after)) = parts else {
        let start = start.trim_end();
        return Err(format!("the page has no place for a table: `{start}` … `{END}`").into());
    };
    Ok(format!("{before}{start}\n{table}\n{END}{after}"))
}

fn methods(method: &Value, response: &Value) -> String {
    let mut table =
        "| method | parameters | result | what it does |\n|---|---|---|---|\n".to_owned();
    for one in list(method.get("oneOf")) {
        let name = constant(one, "method");
        let params = fields(method, one.pointer("/properties/params"));
        let of = format!("Of `{name}`.");
        let reply = list(response.pointer("/$defs/Reply/anyOf"))
            .iter()
            .find(|reply| description(reply) == of);
        let result = fields(response, reply);
        table += &format!(
            "| `{name}` | {params} | {result} | {} |\n",
            description(one)
        );
    }
    table
}

fn events(event: &Value) -> String {
    let mut table = "| event | data | what it tells |\n|---|---|---|\n".to_owned();
    for one in list(event.get("oneOf")) {
        let name = constant(one, "event");
        let data = fields(event, one.pointer("/properties/data"));
        table += &format!("| `{name}` | {data} | {} |\n", description(one));
    }
    table
}

fn errors(response: &Value) -> String {
    let mut table = "| code | data | what is wrong |\n|---|---|---|\n".to_owned();
    for one in list(response.pointer("/$defs/MethodError/oneOf")) {
        let name = constant(one, "code");
        let data = fields(response, one.pointer("/properties/data"));
        table += &format!("| `{name}` | {data} | {} |\n", description(one));
    }
    table
}

fn outcomes(event: &Value) -> String {
    let mut table =
        "| outcome | further fields | what became of the call |\n|---|---|---|\n".to_owned();
    for one in list(event.pointer("/$defs/Outcome/oneOf")) {
        let name = constant(one, "kind");
        let further = fields(event, Some(one));
        table += &format!("| `{name}` | {further} | {} |\n", description(one));
    }
    table
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The only value of a property.
fn constant<'a>(schema: &'a Value, property: &str) -> &'a str {
    let pointer = format!("/properties/{property}/const");
    schema
        .pointer(&pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// What a schema says about itself, in one line of a table.
fn description(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    text.unwrap_or_default()
        .replace('\n', " ")
        .replace('|', "\\|")
}

/// The names of an object's fields, in order; those that can be absent with a `?`.
fn fields(root: &Value, schema: Option<&Value>) -> String {
    let followed = schema
        .and_then(|schema| schema.get("$ref"))
        .and_then(Value::as_str)
        .and_then(|link| root.pointer(link.trim_start_matches('#')));
    let Some(schema) = followed.or(schema) else {
        return String::new();
    };
    let mut names = names(schema);
    // One of several forms, each with fields of its own.
    for one in list(schema.get("oneOf")) {
        for name in self::names(one) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.join(", ")
}

fn names(schema: &Value) -> Vec<String> {
    let required = list(schema.get("required"));
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        // Its value is in the first column.
        .filter(|(_, property)| property.get("const").is_none())
        .map(|(name, _)| {
            if required.iter().any(|one| one == name) {
                format!("`{name}`")
            } else {
                format!("`{name}?`")
            }
        })
        .collect()
}
