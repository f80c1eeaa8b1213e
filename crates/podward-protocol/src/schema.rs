//! The JSON Schemas of what is sent: they take what the reader takes, and nothing else.

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::event::Envelope;
use crate::explanation::{ExplainedCall, Explanation};
use crate::method::{Request, Response};

/// The JSON Schema of an event's line, pretty-printed, with a final newline.
#[must_use]
pub fn events_schema() -> String {
    schema_text::<Envelope>()
}

/// The JSON Schema of a request's line, pretty-printed, with a final newline.
///
/// It takes what [`decode_request`](crate::decode_request) takes, but for numbers that are whole and
/// written with a fraction or an exponent (`1.0`): JSON Schema cannot tell them from `1`.
#[must_use]
pub fn methods_schema() -> String {
    let mut schema = schema_of::<Request>();
    let optional = optional_params(&schema);
    if let Some(Value::Array(methods)) = schema.get_mut("oneOf") {
        for method in methods {
            let params = method
                .pointer("/properties/params/$ref")
                .and_then(Value::as_str);
            let may_be_absent =
                params.is_some_and(|params| optional.iter().any(|one| one == params));
            if may_be_absent && let Some(required) = method.get_mut("required") {
                *required = json!(["method"]);
            }
        }
    }
    pretty(&schema)
}

/// The JSON Schema of a response's line, pretty-printed, with a final newline.
#[must_use]
pub fn responses_schema() -> String {
    schema_text::<Response>()
}

/// The JSON Schema of what `podward explain --format json` prints of a call that is made up,
/// pretty-printed, with a final newline.
#[must_use]
pub fn explanation_schema() -> String {
    schema_text::<Explanation>()
}

/// The same of a call of a session.
#[must_use]
pub fn explained_call_schema() -> String {
    schema_text::<ExplainedCall>()
}

/// The JSON Schema of a type, pretty-printed, with a final newline.
pub(crate) fn schema_text<T: JsonSchema>() -> String {
    pretty(&schema_of::<T>())
}

fn schema_of<T: JsonSchema>() -> Schema {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<T>();
    RecursiveTransform(bound_integer).transform(&mut schema);
    schema
}

/// Writes down the largest number of an integer type: `format` alone says nothing to most readers.
fn bound_integer(schema: &mut Schema) {
    let max = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => json!(u32::MAX),
        Some("uint" | "uint64") => json!(u64::MAX),
        _ => return, // no integer, or one that has a bound
    };
    schema.insert("maximum".to_owned(), max);
}

/// The references to those parameters of which none must be there.
fn optional_params(schema: &Schema) -> Vec<String> {
    let Some(Value::Object(definitions)) = schema.get("$defs") else {
        return Vec::new();
    };
    definitions
        .iter()
        .filter(|(_, definition)| definition.get("required").is_none())
        .map(|(name, _)| format!("#/$defs/{name}"))
        .collect()
}

fn pretty(schema: &Schema) -> String {
    // `Value`'s alternate display is its pretty form and cannot fail.
    format!("{:#}\n", schema.as_value())
}

#[cfg(test)]
mod tests;
