//! What ends a turn, and how much a tool may return.

use std::time::Duration;

/// Tokens of one answer of the model, unless a layer says otherwise.
pub(crate) const DEFAULT_MAX_TOKENS: u32 = 16_384;

/// `[limits]`, with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Requests to the model in one turn.
    pub max_steps: u32,
    /// Calls in one answer of the model: as many run or wait for an answer at most.
    pub message_calls: u32,
    /// How long one turn may take.
    pub turn_timeout: Duration,
    /// How long a command may run, when the call does not say, and at most.
    pub bash_timeout: Duration,
    /// Bytes of one tool result.
    pub output_bytes: u64,
    /// Bytes that `read` returns.
    pub read_bytes: u64,
    /// Lines that `read` returns unless the call asks for fewer.
    pub read_lines: u32,
    /// Bytes of one line in a result.
    pub line_bytes: u64,
    /// Bytes of the largest file that `file_edit` loads and `grep` searches.
    pub file_bytes: u64,
    /// Matching lines that `grep` returns.
    pub max_matches: u32,
    /// Paths that `glob`, `list`, and `grep` for files return.
    pub max_entries: u32,
    /// Bytes of the largest page that `web_fetch` downloads.
    pub fetch_bytes: u64,
    /// How long `web_fetch` may take, redirects included.
    pub fetch_timeout: Duration,
    /// Bytes of the conversation that are sent to the model; older turns beyond them are left out.
    pub history_bytes: u64,
    /// Children that run at the same time, theirs included.
    pub children: u32,
    /// Generations of children below this pod.
    pub child_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 100,
            message_calls: 64,
            turn_timeout: Duration::from_secs(3600),
            bash_timeout: Duration::from_secs(120),
            output_bytes: 64 * 1024,
            read_bytes: 64 * 1024,
            read_lines: 2000,
            line_bytes: 2000,
            file_bytes: 32 * 1024 * 1024,
            max_matches: 200,
            max_entries: 1000,
            fetch_bytes: 5 * 1024 * 1024,
            fetch_timeout: Duration::from_secs(30),
            history_bytes: 2 * 1024 * 1024,
            children: 8,
            child_depth: 3,
        }
    }
}
