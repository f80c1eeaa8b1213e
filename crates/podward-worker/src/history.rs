//! The conversation of a session: every call in it has its result.

use std::sync::Arc;

use podward_model::{Block, Message, Role};

use crate::journal::Entry;

/// The conversation of a session, valid for every model at any time: each call of the model is
/// answered, in call order, by the message that follows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    messages: Arc<Vec<Message>>,
}

/// A history read back from a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The history.
    pub history: History,
    /// What the journal lacked: to be appended to it before anything else.
    pub repairs: Vec<Entry>,
}

/// Entries that no worker wrote in this order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {entry} of the session does not fit: {why}")]
pub struct ReplayError {
    entry: usize,
    why: &'static str,
}

impl History {
    /// The messages.
    #[must_use]
    pub const fn messages(&self) -> &Arc<Vec<Message>> {
        &self.messages
    }

    /// Reads a history back from the entries of a journal.
    ///
    /// A call without a result gets an error result that says it was interrupted.
    ///
    /// # Errors
    /// The entries are in an order that no worker writes.
    pub fn replay(_entries: &[Entry]) -> Result<Replayed, ReplayError> {
        Ok(Replayed {
            history: Self::default(),
            repairs: Vec::new(),
        })
    }
}
