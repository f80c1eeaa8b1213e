//! Which variables the commands of a pod see.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

/// What every command sees, when podward's own environment has it: where programs, the home
/// directory and temporary files are, who the user is, the language, the terminal, the time zone.
pub const BASE_ENVIRONMENT: &[&str] = &[
    "COLORTERM",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "NO_COLOR",
    "PATH",
    "SHELL",
    "TERM",
    "TZ",
    "USER",
];

/// What bash reads before it runs the command: it would run or rename something else.
const BEFORE_BASH: &[&str] = &["BASHOPTS", "BASH_ENV", "ENV", "PS4", "SHELLOPTS"];

/// The prefix of the variables that hold functions for bash.
const BASH_FUNCTION: &str = "BASH_FUNC_";

/// The name of an environment variable: letters, digits and `_`, no digit in front.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableName(Arc<str>);

/// A text that can be no variable's name, or no pattern over them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct VariableNameError {
    why: &'static str,
}

impl VariableName {
    /// Checks a variable's name.
    ///
    /// # Errors
    /// It is empty, longer than 256 bytes, or holds something else than letters, digits and `_`.
    pub fn new(name: &str) -> Result<Self, VariableNameError> {
        let error = |why| Err(VariableNameError { why });
        if name.is_empty() || name.len() > 256 {
            return error("a variable's name has 1 to 256 characters");
        }
        if !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return error("a variable's name has only letters, digits and `_`");
        }
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            return error("a variable's name does not begin with a digit");
        }
        Ok(Self(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for VariableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A variable's name, or the front of several names followed by `*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariablePattern {
    name: VariableName,
    reach: Reach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Reach {
    Exact,
    Prefix,
}

impl VariablePattern {
    /// Checks a pattern.
    ///
    /// # Errors
    /// It is no name with at most one `*`, at its end; it would let every variable through; or it
    /// names a variable that bash reads before it runs a command.
    pub fn new(pattern: &str) -> Result<Self, VariableNameError> {
        let (front, reach) = match pattern.strip_suffix('*') {
            Some("") => {
                let why = "`*` alone would hand over every variable, keys and tokens included";
                return Err(VariableNameError { why });
            }
            Some(front) => (front, Reach::Prefix),
            None => (pattern, Reach::Exact),
        };
        let pattern = Self {
            name: VariableName::new(front)?,
            reach,
        };
        if BEFORE_BASH.iter().any(|name| pattern.matches(name))
            || front.starts_with(BASH_FUNCTION)
            || pattern.matches(BASH_FUNCTION)
        {
            let why = "bash acts on this variable before it runs the command that was judged";
            return Err(VariableNameError { why });
        }
        Ok(pattern)
    }

    /// Whether a variable is one of these.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        match self.reach {
            Reach::Exact => name == self.name.as_str(),
            Reach::Prefix => name.starts_with(self.name.as_str()),
        }
    }

    /// What every command sees: [`BASE_ENVIRONMENT`].
    pub(crate) fn base() -> impl Iterator<Item = Self> {
        BASE_ENVIRONMENT
            .iter()
            .filter_map(|pattern| Self::new(pattern).ok())
    }
}

impl fmt::Display for VariablePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_str())?;
        match self.reach {
            Reach::Exact => Ok(()),
            Reach::Prefix => f.write_str("*"),
        }
    }
}
