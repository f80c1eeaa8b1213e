//! A call in one line.

use serde_json::Value;

/// The argument that says most about a call of each built-in tool; others are shown as JSON.
const MAIN_ARGUMENTS: &[(&str, &str)] = &[
    ("bash", "command"),
    ("read", "path"),
    ("file_write", "path"),
    ("file_edit", "path"),
    ("list", "path"),
    ("grep", "pattern"),
    ("glob", "pattern"),
    ("web_fetch", "url"),
];

/// The main argument, or all arguments as JSON. Not yet safe to look at.
#[must_use]
pub fn summary(tool: &str, arguments: &Value) -> String {
    let main = MAIN_ARGUMENTS
        .iter()
        .find(|(name, _)| *name == tool)
        .and_then(|(_, key)| arguments.get(key))
        .and_then(Value::as_str);
    match (main, arguments.get("path").and_then(Value::as_str)) {
        (Some(pattern), Some(path)) if matches!(tool, "grep" | "glob") => {
            format!("{pattern}  in {path}")
        }
        (Some(main), _) => main.to_owned(),
        (None, _) => arguments.to_string(),
    }
}

#[cfg(test)]
mod tests;
