//! What bounds a turn.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// What bounds a turn: nothing else ends one before the model is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnLimits {
    /// How often the model is asked in one turn.
    pub steps: NonZeroU32,
    /// How long a turn may take; `None`: as long as it likes.
    pub wall: Option<Duration>,
    /// Tokens that the model may write in one turn; `None`: any number.
    pub output_tokens: Option<u64>,
    /// Tokens that the model may write in one answer.
    pub max_tokens: NonZeroU32,
    /// Bytes of one answer of the model: text, thoughts and arguments.
    pub message_bytes: usize,
    /// Calls in one answer of the model.
    pub message_calls: usize,
    /// Calls that run at the same time.
    pub parallel: NonZeroUsize,
    /// Bytes of one result in the history; what is more is cut, with a mark. Tools have their own,
    /// smaller limits: this one is for tools that forget theirs.
    pub result_bytes: usize,
    /// Bytes of the conversation that one request carries; of a longer one the beginning is left
    /// out of the request, not of the history.
    pub history_bytes: usize,
    /// How long a running call may take to end after its turn was cancelled; then it is dropped.
    pub grace: Duration,
    /// How long the hooks at a turn's end may take together; then those that are left are dropped.
    pub turn_end: Duration,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            steps: const { NonZeroU32::new(100).unwrap() },
            wall: None,
            output_tokens: None,
            max_tokens: const { NonZeroU32::new(16_384).unwrap() },
            message_bytes: 4 * 1024 * 1024,
            message_calls: 64,
            parallel: const { NonZeroUsize::new(8).unwrap() },
            result_bytes: 1024 * 1024,
            history_bytes: 2 * 1024 * 1024,
            grace: Duration::from_secs(5),
            turn_end: Duration::from_secs(5),
        }
    }
}
