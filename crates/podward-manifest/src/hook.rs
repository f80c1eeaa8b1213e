//! Hooks: programs of the user that see an event and may have a say in it.

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use podward_policy::{Location, ToolGlob};

/// How long a hook may take when its `timeout` does not say.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// One `[[hook]]`.
#[derive(Debug, Clone)]
pub struct DeclaredHook {
    /// `name`; by default the file name of its program.
    pub name: HookName,
    /// `event`: what it sees.
    pub event: HookEvent,
    /// `tool`: the tools whose calls it sees; `None`: all, or the event is about no tool.
    pub tool: Option<ToolGlob>,
    /// The first word of `command`.
    pub program: HookProgram,
    /// The other words of `command`.
    pub arguments: Vec<HookArgument>,
    /// `timeout`.
    pub timeout: Duration,
    /// Where it is written.
    pub location: Location,
}

/// The name of a hook: 1 to 64 characters of `A-Z a-z 0-9 - _ .`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HookName(Arc<str>);

/// A text that can be no hook's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct HookNameError {
    why: &'static str,
}

/// What a hook sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    /// `pre_tool_call`: before a call runs or is asked about.
    PreToolCall,
    /// `prompt_submit`: before a prompt becomes part of the history.
    PromptSubmit,
    /// `post_tool`: after a call ran.
    PostTool,
    /// `turn_end`: after a turn ended.
    TurnEnd,
    /// `permission_asked`: when a call waits for a person's answer.
    PermissionAsked,
}

/// The program of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HookProgram {
    /// A name without `/`: looked for along the `PATH`.
    Named(String),
    /// A path; absolute if the directory of the layer is.
    At(PathBuf),
}

/// A further word of a hook's command.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HookArgument {
    /// It is passed on as it is written.
    Text(String),
    /// It was written with `./`, `../` or `~/` in front; absolute if the directory of the layer is.
    Path(PathBuf),
}

impl HookName {
    /// Checks a hook's name.
    ///
    /// # Errors
    /// The text is empty or too long, or holds another character.
    pub fn new(name: &str) -> Result<Self, HookNameError> {
        if name.is_empty() || name.len() > 64 {
            return Err(HookNameError {
                why: "a name has 1 to 64 characters",
            });
        }
        if !name.chars().all(is_of_name) {
            return Err(HookNameError {
                why: "a name has only letters, digits, `-`, `_` and `.`",
            });
        }
        Ok(Self(name.into()))
    }

    /// The name of a hook that has none of its own: the file name of its program; where that is one
    /// of the `PATH`, such as `sh`, of the first argument that is a path.
    pub(crate) fn of(program: &HookProgram, arguments: &[HookArgument]) -> Self {
        let path = match program {
            HookProgram::At(path) => Some(path),
            HookProgram::Named(_) => arguments.iter().find_map(|argument| match argument {
                HookArgument::Path(path) => Some(path),
                HookArgument::Text(_) => None,
            }),
        };
        let file = match (path, program) {
            (None, HookProgram::Named(name)) => name.as_str().into(),
            (Some(path), _) | (None, HookProgram::At(path)) => {
                path.file_name().unwrap_or_default().to_string_lossy()
            }
        };
        let fit = |c: char| if is_of_name(c) { c } else { '_' };
        let name: String = file.chars().take(64).map(fit).collect();
        Self(if name.is_empty() { "hook" } else { &name }.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

impl fmt::Display for HookName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HookEvent {
    /// Every event.
    pub const ALL: &'static [Self] = &[
        Self::PreToolCall,
        Self::PromptSubmit,
        Self::PostTool,
        Self::TurnEnd,
        Self::PermissionAsked,
    ];

    /// The word used in manifests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreToolCall => "pre_tool_call",
            Self::PromptSubmit => "prompt_submit",
            Self::PostTool => "post_tool",
            Self::TurnEnd => "turn_end",
            Self::PermissionAsked => "permission_asked",
        }
    }

    /// Whether the event is about a call, and so about a tool.
    #[must_use]
    pub const fn is_of_a_tool(self) -> bool {
        match self {
            Self::PreToolCall | Self::PostTool | Self::PermissionAsked => true,
            Self::PromptSubmit | Self::TurnEnd => false,
        }
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
