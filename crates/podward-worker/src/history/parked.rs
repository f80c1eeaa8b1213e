//! A message of the model with calls that go on when the session does.

use podward_gate::{Answer, Progress};
use podward_model::Block;
use serde_json::Value;

use super::replay::{MadeUp, interrupted_text};
use super::{History, Started};
use crate::gate::Earlier;
use crate::journal::{Entry, OwnSession};

/// The last message of the model in a session that ended while calls of it waited for an answer, or worked
/// in sessions of their own.
///
/// [`Worker::resume`](crate::Worker::resume) asks about them again, or runs them again;
/// [`Worker::turn`](crate::Worker::turn) refuses them as interrupted before it takes the prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Parked {
    pub(super) content: Vec<Block>,
    /// In call order.
    pub(super) calls: Vec<ParkedCall>,
    /// Skills that calls with a result have started: active once all have theirs.
    pub(super) started: Vec<Started>,
}

/// A call of such a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ParkedCall {
    /// It has its result.
    Done {
        id: String,
        tool: String,
        content: String,
        is_error: bool,
        made_up: MadeUp,
    },
    /// It goes on.
    Open {
        id: String,
        tool: String,
        /// Those that a person made of the model's, if one did.
        arguments: Value,
        earlier: Earlier,
        in_session: Option<OwnSession>,
    },
}

impl Parked {
    /// The ids of the calls that go on, in call order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().filter_map(|call| match call {
            ParkedCall::Open { id, .. } => Some(id.as_str()),
            ParkedCall::Done { .. } => None,
        })
    }

    /// The calls that go on in sessions of their own and wait for no answer: their ids, and their sessions.
    pub fn in_sessions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.calls.iter().filter_map(|call| match call {
            ParkedCall::Open {
                id,
                earlier: Earlier::Nothing,
                in_session: Some(own),
                ..
            } => Some((id.as_str(), own.id.as_str())),
            ParkedCall::Open { .. } | ParkedCall::Done { .. } => None,
        })
    }

    /// A call that waits for no answer had this one: what the rules ask about runs by it.
    pub fn approve(&mut self, call: &str, answer: Answer) {
        for open in &mut self.calls {
            if let ParkedCall::Open { id, earlier, .. } = open
                && id == call
                && *earlier == Earlier::Nothing
            {
                *earlier = Earlier::Approved(answer.clone());
            }
        }
    }

    /// The ids of all calls of the message.
    pub(crate) fn tool_use_ids(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(ParkedCall::id)
    }

    /// The message, its calls, and the skills that they have started.
    pub(crate) fn into_parts(self) -> (Vec<Block>, Vec<ParkedCall>, Vec<Started>) {
        (self.content, self.calls, self.started)
    }

    /// The skills that its calls have started.
    pub(crate) fn started(&self) -> &[Started] {
        &self.started
    }

    /// The results of the calls that go on, if nobody lets them.
    pub(super) fn interruptions(&self) -> Vec<Entry> {
        let interruption = |call: &ParkedCall| match call.clone().interrupted() {
            ParkedCall::Done {
                id,
                content,
                is_error,
                made_up: _,
                tool: _,
            } if matches!(call, ParkedCall::Open { .. }) => Some(Entry::Finished {
                call: id,
                content,
                is_error,
            }),
            ParkedCall::Done { .. } | ParkedCall::Open { .. } => None,
        };
        self.calls.iter().filter_map(interruption).collect()
    }

    /// The same with a result for each call.
    pub(super) fn interrupted(self) -> Self {
        let calls = self.calls.into_iter().map(ParkedCall::interrupted);
        Self {
            content: self.content,
            calls: calls.collect(),
            started: self.started,
        }
    }

    /// Appends the message and its results to the history.
    pub(super) fn close(self, history: &mut History) {
        let results = self.calls.into_iter().filter_map(|call| match call {
            ParkedCall::Done {
                id,
                content,
                is_error,
                made_up: _,
                tool: _,
            } => Some(Block::ToolResult {
                tool_use_id: id,
                content,
                is_error,
            }),
            ParkedCall::Open { .. } => None,
        });
        let results = results.collect();
        history.push_step(self.content, results, self.started);
    }
}

impl ParkedCall {
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Done { id, .. } | Self::Open { id, .. } => id,
        }
    }

    pub(crate) fn tool(&self) -> &str {
        match self {
            Self::Done { tool, .. } | Self::Open { tool, .. } => tool,
        }
    }

    fn interrupted(self) -> Self {
        match self {
            Self::Open {
                id,
                tool,
                arguments,
                earlier: _,
                in_session,
            } => Self::Done {
                content: interrupted_text(
                    (&id, &tool, &arguments),
                    Progress::NotStarted,
                    in_session.as_ref(),
                ),
                id,
                tool,
                is_error: true,
                made_up: MadeUp::Yes,
            },
            done @ Self::Done { .. } => done,
        }
    }
}
