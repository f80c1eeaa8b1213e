//! A skill's name.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

/// The most characters that a name has.
const MOST_CHARS: usize = 64;

/// The name of a skill, which is also that of its directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(Arc<str>);

/// A text that can be no skill's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a skill's name: {why}")]
pub struct SkillNameError {
    name: String,
    why: &'static str,
    suggestion: Option<String>,
}

impl SkillName {
    /// Checks a skill's name: 1 to 64 characters of `a-z 0-9 -`, no hyphen at either end, no two in a
    /// row. The format's pages say the same of Latin letters; other alphabets are refused, since a
    /// name is typed in prompts, matched by rules, and must not look like another one.
    ///
    /// # Errors
    /// The name breaks one of these rules.
    pub fn new(name: &str) -> Result<Self, SkillNameError> {
        let why = if name.is_empty() || name.chars().count() > MOST_CHARS {
            "a name has 1 to 64 characters"
        } else if !name.bytes().all(is_name_byte) {
            "a name has only lower-case letters `a-z`, digits and `-`"
        } else if name.starts_with('-') || name.ends_with('-') {
            "a name neither begins nor ends with `-`"
        } else if name.contains("--") {
            "a name has no two `-` in a row"
        } else {
            return Ok(Self(name.into()));
        };
        Err(SkillNameError {
            name: name.escape_debug().to_string(),
            why,
            suggestion: suggestion(name),
        })
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SkillNameError {
    /// What to write instead.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.suggestion {
            Some(name) => format!("such as `{name}`, and name the directory the same"),
            None => "choose a name such as `pdf-forms`, and name the directory the same".to_owned(),
        }
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// The nearest text that is a name.
fn suggestion(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let joined = words.join("-");
    let is_near = lower.is_ascii() && !joined.is_empty() && joined.len() <= MOST_CHARS;
    is_near.then_some(joined)
}
