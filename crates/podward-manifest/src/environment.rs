//! Which variables the commands of a pod see.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt;
use std::sync::Arc;

use podward_scope::Withheld;

/// What every command sees, when podward's own environment has it: where programs and the home
/// directory are, who the user is, the language, the time zone.
pub const BASE_ENVIRONMENT: &[&str] = &[
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "NO_COLOR", "PATH", "SHELL", "TZ", "USER",
];

/// Where temporary files go: a directory of the session's own.
const TEMPORARY: &str = "TMPDIR";

/// The name of an environment variable: letters, digits and `_`, no digit in front.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableName(Arc<str>);

/// A text that can be no variable's name, or no pattern over them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableNameError {
    /// It is no name.
    #[error("{0}")]
    Form(&'static str),
    /// No command gets it, whoever lets it through.
    #[error("{0}")]
    Withheld(Withheld),
}

impl VariableName {
    /// Checks a variable's name.
    ///
    /// # Errors
    /// It is empty, longer than 256 bytes, or holds something else than letters, digits and `_`.
    pub fn new(name: &str) -> Result<Self, VariableNameError> {
        let error = |why| Err(VariableNameError::Form(why));
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
    /// names a variable that no command gets ([`podward_scope::withheld`]).
    pub fn new(pattern: &str) -> Result<Self, VariableNameError> {
        let (front, reach) = match pattern.strip_suffix('*') {
            Some("") => {
                let why = "`*` alone would hand over every variable, keys and tokens included";
                return Err(VariableNameError::Form(why));
            }
            Some(front) => (front, Reach::Prefix),
            None => (pattern, Reach::Exact),
        };
        let pattern = Self {
            name: VariableName::new(front)?,
            reach,
        };
        let withheld = match reach {
            Reach::Exact if front == TEMPORARY => Some(Withheld::Fixed),
            Reach::Exact => podward_scope::withheld(OsStr::new(front)),
            Reach::Prefix => podward_scope::withheld_among(front),
        };
        if let Some(reason) = withheld {
            return Err(VariableNameError::Withheld(reason));
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
