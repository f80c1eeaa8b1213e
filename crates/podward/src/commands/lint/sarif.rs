//! Findings as SARIF 2.1.0 (OASIS Static Analysis Results Interchange Format).

use podward_lint::{Code, Severity};
use podward_manifest::Place;
use serde_json::{Value, json};

use super::json::end_column;
use super::sources::Bad;
use super::{Shown, ShownWitness, text};
use crate::failure::Failure;

/// A manifest that does not load is a result as well.
const DOES_NOT_LOAD: &str = "does-not-load";

/// One log with one run.
pub(super) fn log(shown: &[Shown], bad: &[Bad]) -> Result<String, Failure> {
    let mut results: Vec<Value> = bad
        .iter()
        .map(|bad| {
            json!({
                "ruleId": DOES_NOT_LOAD,
                "ruleIndex": Code::ALL.len(),
                "level": "error",
                "message": { "text": bad.problem },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": uri(&bad.file) },
                } }],
            })
        })
        .collect();
    results.extend(shown.iter().map(result));
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "podward lint",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    let text = serde_json::to_string_pretty(&log).map_err(Failure::Json)?;
    Ok(text + "\n")
}

fn rules() -> Vec<Value> {
    let rule = |id: &str, title: &str, severity: Severity| {
        json!({
            "id": id,
            "shortDescription": { "text": title },
            "defaultConfiguration": { "level": severity.as_str() },
        })
    };
    let codes = Code::ALL.iter();
    let codes = codes.map(|code| rule(code.as_str(), code.title(), code.severity()));
    let bad = rule(
        DOES_NOT_LOAD,
        "A manifest that does not load",
        Severity::Error,
    );
    codes.chain([bad]).collect()
}

fn result(shown: &Shown) -> Value {
    let mut message = format!("{}.", shown.message);
    for witness in &shown.witnesses {
        message.push_str(&format!("\nWitness: {}.", text::witness(witness)));
    }
    message.push_str(&format!("\nWhat to do: {}.", shown.help));
    let mut result = json!({
        "ruleId": shown.code.as_str(),
        "ruleIndex": Code::ALL.iter().position(|code| *code == shown.code),
        "level": shown.code.severity().as_str(),
        "message": { "text": message },
        "locations": shown.place.iter().map(|place| location(place, None)).collect::<Vec<_>>(),
        "properties": {
            "layer": shown.layer.kind.as_str(),
            "witnesses": shown.witnesses.iter().map(witness).collect::<Vec<_>>(),
        },
    });
    if !shown.related.is_empty() {
        let related = shown
            .related
            .iter()
            .map(|(idx, place)| location(place, Some(format!("rule {}", idx.0 + 1))));
        let related: Vec<Value> = related.collect();
        if let Some(result) = result.as_object_mut() {
            result.insert("relatedLocations".to_owned(), related.into());
        }
    }
    result
}

fn witness(shown: &ShownWitness) -> Value {
    json!({
        "tool": shown.witness.call.tool.as_str(),
        "input": shown.witness.call.arguments,
        "verdict": shown.witness.action.as_str(),
    })
}

fn location(place: &Place, message: Option<String>) -> Value {
    let at = &place.location;
    let mut location = json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&at.file) },
        "region": {
            "startLine": at.line,
            "startColumn": at.column,
            "endColumn": end_column(place),
        },
    } });
    if let (Some(message), Some(location)) = (message, location.as_object_mut()) {
        location.insert("message".to_owned(), json!({ "text": message }));
    }
    location
}

/// A path as a URI reference: relative ones stay relative.
fn uri(path: &str) -> String {
    let is_plain =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~' | b'/');
    let encoded: String = path
        .bytes()
        .map(|b| match is_plain(b) {
            true => char::from(b).to_string(),
            false => format!("%{b:02X}"),
        })
        .collect();
    match path.starts_with('/') {
        true => format!("file://{encoded}"),
        false => encoded,
    }
}
