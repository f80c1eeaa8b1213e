//! The name of a pod.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

/// The name of a pod: 1 to 64 characters of `a-z 0-9 -`, with a letter or digit at both ends.
///
/// It is safe as a file name and in a log line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodName(Arc<str>);

/// A text that can be no pod's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct PodNameError {
    why: &'static str,
}

impl PodName {
    /// Checks a pod's name.
    ///
    /// # Errors
    /// The text is empty or too long, or holds or ends in something else.
    pub fn new(name: &str) -> Result<Self, PodNameError> {
        let error = |why| Err(PodNameError { why });
        if name.is_empty() || name.len() > 64 {
            return error("a name has 1 to 64 characters");
        }
        let is_allowed =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !name.bytes().all(is_allowed) {
            return error("a name has only `a` to `z`, digits and `-`");
        }
        if name.starts_with('-') || name.ends_with('-') {
            return error("a name begins and ends with a letter or a digit");
        }
        Ok(Self(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `pod`: the name of a pod whose manifest gives none.
impl Default for PodName {
    fn default() -> Self {
        Self("pod".into())
    }
}

impl fmt::Display for PodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
