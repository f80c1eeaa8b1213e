//! Inline scripts of sed and awk: what they write, read and run.

mod awk;
mod sed;

pub(crate) use awk::awk;
pub(crate) use sed::sed;

/// What an inline script does besides printing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) writes: Vec<String>,
    /// It writes to a file whose name only the run shows.
    pub(crate) writes_unknown: bool,
    pub(crate) reads: Vec<String>,
    /// It runs commands, or what it does cannot be told.
    pub(crate) runs_code: bool,
    /// Commands that are known.
    pub(crate) commands: Vec<String>,
}
