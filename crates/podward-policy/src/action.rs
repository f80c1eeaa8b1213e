//! What a rule says.

use std::fmt;

/// What a rule, a default or a verdict says about a call.
///
/// The order is by severity, so the strictest of several is their `max()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The call runs.
    Allow,
    /// A person is asked.
    Ask,
    /// The call is refused.
    Deny,
}

impl Action {
    /// The word used in manifests, logs and output: `allow`, `ask` or `deny`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
