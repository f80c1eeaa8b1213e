//! Calls that a text of a rule would be the text of.

use podward_policy::{ToolName, ToolOrigin, written_words};
use serde_json::{Value, json};

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub tool: ToolName,
    /// Its arguments: a JSON object.
    pub arguments: Value,
}

impl Call {
    fn new(tool: &str, arguments: Value) -> Option<Self> {
        Some(Self {
            tool: ToolName::new(tool).ok()?,
            arguments,
        })
    }

    /// A command line.
    pub(crate) fn bash(command: &str) -> Option<Self> {
        Self::new("bash", json!({ "command": command }))
    }

    /// The call that a text of a tool's rules is the text of.
    pub(crate) fn of_text(tool: &ToolName, text: &str) -> Option<Self> {
        let path = text;
        let arguments = match tool.as_str() {
            "bash" => return Self::bash(&command_line(text)),
            "read" | "list" => json!({ "path": path }),
            // Only what lies outside of the workspace is one of its texts.
            "external_directory" if path.starts_with(['/', '~']) => {
                return Self::new("read", json!({ "path": path }));
            }
            "external_directory" => {
                return Self::new("read", json!({ "path": format!("/outside/{path}") }));
            }
            "file_write" => json!({ "path": path, "content": "" }),
            "file_edit" => json!({ "path": path, "old_string": "a", "new_string": "b" }),
            "grep" => json!({ "pattern": "a", "path": path }),
            "glob" => json!({ "pattern": "*", "path": path }),
            "web_fetch" => json!({ "url": text }),
            "skill" => json!({ "name": text }),
            "spawn" => json!({ "child": text, "prompt": "x" }),
            _ => match tool.origin() {
                ToolOrigin::Mcp { .. } => {
                    let object: Value = serde_json::from_str(text).ok()?;
                    object.is_object().then_some(object)?
                }
                ToolOrigin::Local => json!({ "text": text }),
            },
        };
        Some(Self {
            tool: tool.clone(),
            arguments,
        })
    }

    /// What the call is about, where that is one text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        ["command", "path", "url", "name", "child", "text"]
            .into_iter()
            .find_map(|key| self.arguments.get(key)?.as_str())
    }
}

/// A command line that runs the command of a text: each word quoted where a shell would read it
/// otherwise.
pub(crate) fn command_line(text: &str) -> String {
    let words = written_words(text);
    let quoted: Vec<String> = words.iter().map(|word| quoted(&word.word)).collect();
    quoted.join(" ")
}

/// A word as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '-' | '_' | '.' | '/' | ',' | '+' | '@' | '%' | ':' | '=')
    };
    let is_home = word == "~" || word.starts_with("~/");
    let rest = word.strip_prefix('~').filter(|_| is_home).unwrap_or(word);
    if !word.is_empty() && rest.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
