//! What is wrong in a manifest, and how it is shown.

mod render;
#[cfg(test)]
mod tests;
mod underlined;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use podward_policy::{ByteSpan, Location};

use crate::source::Source;

pub(crate) use render::{is_invisible, visible_line};
pub use underlined::underlined;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The manifest loads.
    Warning,
    /// The manifest does not load.
    Error,
}

impl Severity {
    /// The word in front of the message: `warning` or `error`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing that the author of a manifest should hear. Its `Display` is the text for people:
/// message, `file:line:column`, the line with the part underlined, help; no newline at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop, the author's text in backticks.
    pub message: String,
    /// Where; `None` if it is about no place of any text.
    pub place: Option<Place>,
    /// Other places that belong to it.
    pub related: Vec<Related>,
    /// What to write instead, or what it means.
    pub help: Option<String>,
}

/// A place in a text, with the line that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// File, line and column.
    pub location: Location,
    /// The line without its end; a very long one is cut around the underlined part, with `…`
    /// where something is left out.
    pub source_line: String,
    /// The bytes of `source_line` that are meant; empty at the end of a line or text.
    pub underline: Range<usize>,
}

/// Another place that belongs to a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// What is there: `first written here`.
    pub message: String,
    /// Where.
    pub place: Place,
}

impl Place {
    /// The place of a span in any text, by the name that people know the text under.
    #[must_use]
    pub fn in_text(file: &Arc<str>, text: &str, span: ByteSpan) -> Self {
        Source::new(Arc::clone(file), text).place(span)
    }

    /// The same with `***` for the marked part: it may hold a secret.
    pub(crate) fn masked(mut self) -> Self {
        const MASK: &str = "***";
        if self.source_line.get(self.underline.clone()).is_some() {
            self.source_line.replace_range(self.underline.clone(), MASK);
            self.underline.end = self.underline.start + MASK.len();
        }
        self
    }
}

impl Diagnostic {
    pub(crate) fn error(message: impl Into<String>, place: Place) -> Self {
        Self::new(Severity::Error, message.into(), Some(place))
    }

    pub(crate) fn warning(message: impl Into<String>, place: Place) -> Self {
        Self::new(Severity::Warning, message.into(), Some(place))
    }

    pub(crate) const fn new(severity: Severity, message: String, place: Option<Place>) -> Self {
        Self {
            severity,
            message,
            place,
            related: Vec::new(),
            help: None,
        }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn with_related(mut self, message: impl Into<String>, place: Place) -> Self {
        self.related.push(Related {
            message: message.into(),
            place,
        });
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render::diagnostic(self, f)
    }
}

/// Why a manifest does not load: at least one error, and the warnings found beside it, in the
/// order of the layers and of their text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    left_out: usize,
}

/// More errors than this are counted, not shown: nobody reads them, and a hostile text could make
/// millions.
const MOST: usize = 100;

impl Diagnostics {
    /// INVARIANT: `list` holds at least one error.
    pub(crate) fn new(mut list: Vec<Diagnostic>) -> Self {
        let left_out = list.len().saturating_sub(MOST);
        if left_out > 0 {
            // Stable: errors first, each kind in order, so that the cut cannot drop every error.
            list.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
            list.truncate(MOST);
        }
        Self { list, left_out }
    }

    /// Errors that were found behind the reading; `None` if there are none.
    #[must_use]
    pub fn from_errors(errors: Vec<Diagnostic>) -> Option<Self> {
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        errors.iter().any(is_error).then(|| Self::new(errors))
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// How many there are beyond those that [`Diagnostics::iter`] gives.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// All of them, separated by an empty line; no newline at the end.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, diagnostic) in self.list.iter().enumerate() {
            if idx > 0 {
                f.write_str("\n\n")?;
            }
            diagnostic.fmt(f)?;
        }
        if self.left_out > 0 {
            write!(f, "\n\nand {} more", self.left_out)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
