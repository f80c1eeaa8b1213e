//! Calls that are no calls: refused before anything is judged.

use podward_policy::ToolName;

/// A call that cannot be judged: the tool is not known, or the arguments do not fit it.
///
/// The text is written for the model: what is wrong, and what would fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCall {
    /// No tool has this name.
    #[error("{0}")]
    UnknownTool(UnknownTool),
    /// The arguments do not fit the tool.
    #[error("{0}")]
    Arguments(BadArguments),
}

/// A name that no registered tool has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool `{name}`{}", hint_text(.hint.as_deref()))]
pub struct UnknownTool {
    name: String,
    hint: Option<String>,
}

/// Arguments that do not fit their tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad arguments for `{tool}`: {problem}{}", hint_text(.hint.as_deref()))]
pub struct BadArguments {
    tool: ToolName,
    problem: String,
    hint: Option<String>,
}

impl UnknownTool {
    /// The name, and what the model may have meant.
    #[must_use]
    pub fn new(name: &str, hint: Option<String>) -> Self {
        Self {
            name: shown(name),
            hint,
        }
    }
}

impl BadArguments {
    /// What is wrong with a call of `tool`.
    #[must_use]
    pub fn new(tool: &ToolName, problem: impl Into<String>) -> Self {
        Self {
            tool: tool.clone(),
            problem: problem.into(),
            hint: None,
        }
    }

    /// The same with what would fit.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<BadArguments> for BadCall {
    fn from(arguments: BadArguments) -> Self {
        Self::Arguments(arguments)
    }
}

impl From<UnknownTool> for BadCall {
    fn from(unknown: UnknownTool) -> Self {
        Self::UnknownTool(unknown)
    }
}

/// User text, safe to show: control and invisible characters escaped, cut at 100 characters.
pub(crate) fn shown(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown: String = chars
        .by_ref()
        .take(100)
        .flat_map(char::escape_debug)
        .collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

fn hint_text(hint: Option<&str>) -> String {
    hint.map(|hint| format!("; {hint}")).unwrap_or_default()
}
