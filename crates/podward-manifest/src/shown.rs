//! Values as TOML, the same for equal values however they were written.

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use podward_policy::ToolName;
use podward_scope::{Enforce, Root};

use crate::approvals::{AutoAnswers, OnAsk};
use crate::diagnostic::is_invisible;
use crate::environment::VariablePattern;
use crate::hook::{HookArgument, HookProgram};
use crate::model::{BaseUrl, KeySource, ModelName, ModelPattern, Script};
use crate::name::PodName;
use crate::raw::RawProvider;
use crate::reader::Sited;
use crate::resolved::WorkspaceMode;
use crate::unit;

/// A value that can be written as TOML.
pub(crate) trait Shown {
    /// The value as TOML.
    fn shown(&self) -> String;
}

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bytes(pub(crate) u64);

/// How long something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Age(pub(crate) Duration);

/// A string as TOML, in which nothing can hide.
pub(crate) fn toml_string(text: &str) -> String {
    let mut toml = String::with_capacity(text.len() + 2);
    toml.push('"');
    for char in text.chars() {
        match char {
            '"' => toml.push_str("\\\""),
            '\\' => toml.push_str("\\\\"),
            '\n' => toml.push_str("\\n"),
            '\t' => toml.push_str("\\t"),
            '\r' => toml.push_str("\\r"),
            char if is_invisible(char) => toml.push_str(&format!("\\U{:08X}", u32::from(char))),
            char => toml.push(char),
        }
    }
    toml.push('"');
    toml
}

/// A command of a program and its arguments.
pub(crate) fn argv(program: &HookProgram, arguments: &[HookArgument]) -> String {
    let program = match program {
        HookProgram::Named(name) => toml_string(name),
        HookProgram::At(file) => path(file),
    };
    let arguments = arguments.iter().map(|argument| match argument {
        HookArgument::Text(text) => toml_string(text),
        HookArgument::Path(file) => path(file),
    });
    let words: Vec<_> = std::iter::once(program).chain(arguments).collect();
    format!("[{}]", words.join(", "))
}

/// The paths of a manifest come from its text and the caller's directories; one that is not UTF-8
/// can only be one of the latter.
fn path(path: &std::path::Path) -> String {
    toml_string(&path.to_string_lossy())
}

impl Shown for String {
    fn shown(&self) -> String {
        toml_string(self)
    }
}

impl Shown for u32 {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for bool {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for Age {
    fn shown(&self) -> String {
        toml_string(&unit::age_text(self.0))
    }
}

impl Shown for Bytes {
    fn shown(&self) -> String {
        toml_string(&unit::size_text(self.0))
    }
}

impl Shown for Duration {
    fn shown(&self) -> String {
        toml_string(&unit::duration_text(*self))
    }
}

impl Shown for PathBuf {
    fn shown(&self) -> String {
        path(self)
    }
}

impl Shown for PodName {
    fn shown(&self) -> String {
        toml_string(self.as_str())
    }
}

impl Shown for ModelName {
    fn shown(&self) -> String {
        toml_string(self.as_str())
    }
}

impl Shown for BaseUrl {
    fn shown(&self) -> String {
        toml_string(self.as_str())
    }
}

impl Shown for ModelPattern {
    fn shown(&self) -> String {
        toml_string(self.as_str())
    }
}

/// Where the key is, never the key.
impl Shown for KeySource {
    fn shown(&self) -> String {
        match self {
            Self::Nowhere => toml_string(""),
            Self::Variable(name) => toml_string(name.as_str()),
            Self::File(file) => path(file),
            Self::Command(command) => {
                let words = command.argv.iter().map(|word| toml_string(word));
                format!("[{}]", words.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Shown for VariablePattern {
    fn shown(&self) -> String {
        toml_string(&self.to_string())
    }
}

impl Shown for ToolName {
    fn shown(&self) -> String {
        toml_string(self.as_str())
    }
}

impl Shown for WorkspaceMode {
    fn shown(&self) -> String {
        toml_string(self.as_str())
    }
}

impl Shown for RawProvider {
    fn shown(&self) -> String {
        toml_string(self.as_str())
    }
}

impl Shown for Script {
    fn shown(&self) -> String {
        match self {
            Self::Embedded(name) => toml_string(name),
            Self::File(file) => path(file),
        }
    }
}

impl Shown for OnAsk {
    fn shown(&self) -> String {
        toml_string(self.as_str())
    }
}

impl Shown for AutoAnswers {
    fn shown(&self) -> String {
        toml_string(self.as_str())
    }
}

impl Shown for Enforce {
    fn shown(&self) -> String {
        match self {
            Self::Required => toml_string("required"),
            Self::Best => toml_string("best"),
        }
    }
}

impl Shown for Root {
    fn shown(&self) -> String {
        let access = toml_string(self.access.as_str());
        format!("{{ path = {}, access = {access} }}", path(&self.path))
    }
}

/// Sorted: in no list of settings does the order mean anything.
impl<T: Shown> Shown for Vec<T> {
    fn shown(&self) -> String {
        let mut items: Vec<_> = self.iter().map(Shown::shown).collect();
        items.sort();
        format!("[{}]", items.join(", "))
    }
}

impl<T: Shown> Shown for Sited<T> {
    fn shown(&self) -> String {
        self.value.shown()
    }
}
