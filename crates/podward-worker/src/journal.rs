//! What is written down before it has an effect.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use podward_model::Block;
use podward_skill::WorkflowRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decision::Decision;

/// Keeps a session.
///
/// What was appended is on disk when the call returns. A worker appends before the effect: a prompt
/// before the model sees it, a decision and a start before a tool runs, a result before the model
/// reads it. When an append fails, the turn ends and nothing that is not on record happens.
#[async_trait]
pub trait Journal: Send {
    /// Appends entries, all or none, in their order.
    ///
    /// # Errors
    /// They could not be written.
    async fn append(&mut self, entries: &[Entry]) -> Result<(), JournalError>;

    /// Appends decisions: [`Entry::ruled`] of each, and whatever more is to be kept of them.
    ///
    /// # Errors
    /// They could not be written.
    async fn decide(&mut self, decisions: &[Arc<Decision>]) -> Result<(), JournalError>;
}

/// One entry of a session. Its JSON is the format of session files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    /// A prompt of the user: a turn begins.
    Prompt {
        /// Its text.
        text: String,
    },
    /// A message of the model.
    Assistant {
        /// What it holds; calls have unique ids.
        content: Vec<Block>,
    },
    /// It was decided about a call.
    Ruled {
        /// The call's id.
        call: String,
        /// The running call that turned out to need this one; absent for a call of the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part_of: Option<String>,
        /// What was decided.
        outcome: RuledOutcome,
        /// One word for why.
        cause: String,
    },
    /// A call starts to run, or is run again after the session was cut off.
    Started {
        /// The call's id.
        call: String,
        /// The session that it works in, if it works in one of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_session: Option<OwnSession>,
    },
    /// A call has its result.
    Finished {
        /// The call's id.
        call: String,
        /// What the model reads.
        content: String,
        /// It failed or was refused.
        is_error: bool,
    },
    /// A skill starts: it is active once the message that holds its instructions is in the history.
    SkillStarted {
        /// The skill.
        skill: WorkflowRecord,
        /// Which message that is.
        message: SkillMessage,
    },
    /// A skill ends: its instructions are in no request from now on.
    SkillEnded {
        /// Its name.
        name: Box<str>,
        /// Why.
        why: SkillEnd,
    },
    /// The turn ended.
    TurnEnded {
        /// One word for why.
        reason: String,
    },
}

/// The session that a call works in: whoever goes on with the session of the call goes on with this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSession {
    /// Its id.
    pub id: String,
    /// What the call runs with, where a person changed what the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
}

/// The message that holds the instructions of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SkillMessage {
    /// The prompt that is the next entry: a client started it.
    Prompt {
        /// The instructions, which stand in front of the prompt.
        instructions: String,
    },
    /// The result of a call, which holds the instructions unless it is an error: the model started
    /// it.
    Result {
        /// The call's id.
        call: String,
    },
}

/// Why a skill ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SkillEnd {
    /// Its turn did, in the ordinary way.
    TurnEnded,
    /// A client ended it.
    Client {
        /// Who.
        by: Box<str>,
    },
    /// It never began: the session ended before the message that it was to begin with.
    Interrupted,
}

/// What was decided about a call, in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuledOutcome {
    /// It runs.
    Run,
    /// It waits for an answer.
    Ask,
    /// It does not run.
    Refuse,
}

/// A journal could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the session could not be written")]
pub struct JournalError {
    #[source]
    source: Box<dyn Error + Send + Sync>,
}

/// A journal that is gone with the process: for an agent whose sessions nobody resumes, and for
/// tests. Its clones are one journal.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    entries: Arc<Mutex<Vec<Entry>>>,
}

impl MemoryJournal {
    /// An empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was appended so far, in order.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        // INVARIANT: a list that is only appended to is whole even where a panic poisoned the lock.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        self.lock().extend_from_slice(entries);
        Ok(())
    }

    async fn decide(&mut self, decisions: &[Arc<Decision>]) -> Result<(), JournalError> {
        self.lock()
            .extend(decisions.iter().map(|decision| Entry::ruled(decision)));
        Ok(())
    }
}

impl SkillEnd {
    /// The word used in logs and output.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::TurnEnded => "turn_ended",
            Self::Client { .. } => "client",
            Self::Interrupted => "interrupted",
        }
    }
}

impl JournalError {
    /// The error with its cause.
    #[must_use]
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

impl Entry {
    /// The entry of a decision.
    #[must_use]
    pub fn ruled(decision: &Decision) -> Self {
        Self::Ruled {
            call: decision.id().as_str().to_owned(),
            part_of: decision.part_of().map(|id| id.as_str().to_owned()),
            outcome: match decision {
                Decision::Run { .. } => RuledOutcome::Run,
                Decision::Ask(_) => RuledOutcome::Ask,
                Decision::Refuse(_) => RuledOutcome::Refuse,
            },
            cause: decision.cause_word().to_owned(),
        }
    }
}
