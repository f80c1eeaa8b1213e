//! What is kept for undo.

use std::time::Duration;

/// `[undo]`, with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    /// Whether anything is kept.
    pub keep: bool,
    /// Bytes of all that is kept of one workspace.
    pub max_size: u64,
    /// Bytes of the largest file that is kept.
    pub max_file: u64,
    /// How long a call can be undone.
    pub max_age: Duration,
}

impl Default for Undo {
    fn default() -> Self {
        Self {
            keep: true,
            max_size: 1 << 30,
            max_file: 32 << 20,
            max_age: Duration::from_secs(14 * 24 * 3600),
        }
    }
}
