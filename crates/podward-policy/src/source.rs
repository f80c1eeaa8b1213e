//! Where a rule, or a part of a call, stands in the text it came from.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A half-open range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSpan {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl ByteSpan {
    /// A span from a range.
    #[must_use]
    pub const fn new(range: Range<usize>) -> Self {
        Self {
            start: range.start,
            end: range.end,
        }
    }

    /// The span as a range, for slicing.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A place in a policy's source: shown as `file:line:column`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The file's name as the user knows it, or what stands for one (`PODWARD_PERMISSIONS`).
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, counted in characters.
    pub column: u32,
}

impl Location {
    /// The place in the source of the program that calls this: for rules that stand in code.
    #[must_use]
    #[track_caller]
    pub fn here() -> Self {
        let caller = std::panic::Location::caller();
        Self {
            file: caller.file().into(),
            line: caller.line(),
            column: caller.column(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
