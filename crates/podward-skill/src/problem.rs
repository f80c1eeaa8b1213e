//! What the author of a skill should hear.

use podward_policy::ByteSpan;

/// How much a problem weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gravity {
    /// Worth a look: `lint` warns, loading says nothing.
    Hint,
    /// `lint` and loading warn.
    Warning,
    /// The skill loads and a warning says what is wrong; to `lint` it is an error.
    Fault,
    /// The skill does not load.
    Error,
}

/// One thing that is wrong in a `SKILL.md`. The reader of the file adds file, line and underline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How much it weighs.
    pub gravity: Gravity,
    /// The bytes of the text that are meant; empty at the end of a line or text.
    pub span: ByteSpan,
    /// What is wrong: lower case, no full stop, the author's text in backticks.
    pub message: String,
    /// What to write instead, or what it means.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(
        gravity: Gravity,
        span: ByteSpan,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            gravity,
            span,
            message: message.into(),
            help: Some(help.into()),
        }
    }

    pub(crate) fn error(
        span: ByteSpan,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::new(Gravity::Error, span, message, help)
    }

    pub(crate) fn warning(
        span: ByteSpan,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::new(Gravity::Warning, span, message, help)
    }
}
