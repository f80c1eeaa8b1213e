//! From a journal back to a history.

use std::collections::BTreeMap;

use podward_gate::{CallId, Progress, Refusal, RefusalCause, refusal_text};
use podward_model::{Block, PairingError, check_pairing};

use super::History;
use crate::journal::Entry;

/// A history read back from a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The history.
    pub history: History,
    /// What the journal lacks: to be appended to it before anything else.
    pub repairs: Vec<Entry>,
}

/// Entries that no worker writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// An entry about a call that is not open at its place.
    #[error("entry {entry} is about the call `{call}`, which is not open there")]
    Call {
        /// The entry's place, from 0.
        entry: usize,
        /// The call's id.
        call: String,
    },
    /// A message that no worker writes.
    #[error("the messages do not fit together")]
    Messages(#[source] PairingError),
}

impl History {
    /// Reads a history back from the entries of a journal, which may end anywhere.
    ///
    /// A call without a result gets an error result that says it was interrupted, and whether it
    /// had started.
    ///
    /// # Errors
    /// The entries are none that a worker writes in this order.
    pub fn replay(entries: &[Entry]) -> Result<Replayed, ReplayError> {
        let mut history = Self::default();
        let mut open = OpenStep::default();
        for (idx, entry) in entries.iter().enumerate() {
            let unknown = |call: &String| ReplayError::Call {
                entry: idx,
                call: call.clone(),
            };
            match entry {
                Entry::Prompt { text } => {
                    std::mem::take(&mut open).close(&mut history);
                    history.push_prompt(text);
                }
                Entry::Assistant { content } => {
                    std::mem::take(&mut open).close(&mut history);
                    open = OpenStep::new(content.clone());
                }
                Entry::Ruled { call, part_of, .. } => {
                    let call = part_of.as_ref().unwrap_or(call);
                    open.unfinished(call).ok_or_else(|| unknown(call))?;
                }
                Entry::Started { call } => {
                    *open.unfinished(call).ok_or_else(|| unknown(call))? =
                        CallState::Open(Progress::Started);
                }
                Entry::Finished {
                    call,
                    content,
                    is_error,
                } => {
                    *open.unfinished(call).ok_or_else(|| unknown(call))? =
                        CallState::Finished(content.clone(), *is_error);
                }
                Entry::TurnEnded { .. } => std::mem::take(&mut open).close(&mut history),
            }
        }
        let repairs = open.repairs();
        open.close(&mut history);
        check_pairing(history.messages()).map_err(ReplayError::Messages)?;
        Ok(Replayed { history, repairs })
    }
}

/// A message of the model whose calls may lack results.
#[derive(Default)]
struct OpenStep {
    content: Vec<Block>,
    calls: BTreeMap<String, CallState>,
}

enum CallState {
    Open(Progress),
    Finished(String, bool),
}

impl OpenStep {
    fn new(content: Vec<Block>) -> Self {
        let calls = content
            .iter()
            .filter_map(|block| match block {
                Block::ToolUse { id, .. } => {
                    Some((id.clone(), CallState::Open(Progress::NotStarted)))
                }
                Block::Text { .. } | Block::Thinking { .. } | Block::ToolResult { .. } => None,
            })
            .collect();
        Self { content, calls }
    }

    fn unfinished(&mut self, call: &str) -> Option<&mut CallState> {
        self.calls
            .get_mut(call)
            .filter(|state| matches!(state, CallState::Open(_)))
    }

    /// The result of each call, in call order, and whether it had to be made up.
    fn results(&self) -> impl Iterator<Item = (&str, String, bool, MadeUp)> {
        self.content.iter().filter_map(|block| {
            let Block::ToolUse { id, name, input } = block else {
                return None;
            };
            Some(match self.calls.get(id)? {
                CallState::Finished(content, is_error) => {
                    (id.as_str(), content.clone(), *is_error, MadeUp::No)
                }
                CallState::Open(progress) => {
                    let refusal = Refusal::raw(
                        CallId::from_model(id),
                        name.as_str(),
                        input.to_string(),
                        RefusalCause::Interrupted(*progress),
                    );
                    (id.as_str(), refusal_text(&refusal), true, MadeUp::Yes)
                }
            })
        })
    }

    fn repairs(&self) -> Vec<Entry> {
        self.results()
            .filter(|(.., made_up)| *made_up == MadeUp::Yes)
            .map(|(call, content, is_error, _)| Entry::Finished {
                call: call.to_owned(),
                content,
                is_error,
            })
            .collect()
    }

    fn close(self, history: &mut History) {
        let results = self
            .results()
            .map(|(id, content, is_error, _)| Block::ToolResult {
                tool_use_id: id.to_owned(),
                content,
                is_error,
            })
            .collect();
        history.push_step(self.content, results);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MadeUp {
    Yes,
    No,
}

#[cfg(test)]
mod tests;
