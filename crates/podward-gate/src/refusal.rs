//! A call that does not run, and why.

use std::fmt;
use std::sync::Arc;

use podward_policy::Ruling;

use crate::call::{CallFacts, CallId};
use crate::grant::{GrantId, Used};
use crate::question::{AskReason, Question};

/// A call that does not run. Its text for the model is [`refusal_text`](crate::refusal_text).
///
/// Anybody may refuse; only a gate permits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    call: RefusedCall,
    cause: RefusalCause,
    unused: Used,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RefusedCall {
    Judged {
        facts: Arc<CallFacts>,
        ruling: Ruling,
    },
    Asked(Question),
    Proposed {
        facts: Arc<CallFacts>,
    },
    /// The call never came as far as facts: its tool or its arguments are not known.
    Raw {
        id: CallId,
        tool: Box<str>,
        arguments: Box<str>,
    },
}

/// Whether a call that has no result of its own may have had effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Progress {
    /// It never started.
    NotStarted,
    /// It started, and may have run in part or to its end.
    Started,
}

/// Why a call does not run, or has no result of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalCause {
    /// The rules deny it.
    Policy,
    /// A question had to be asked and nobody is there to answer.
    NoClient {
        /// Why it had to be asked.
        asked: AskReason,
    },
    /// A question had to be asked, nobody is there to answer, and the run that was told to say yes
    /// says it only to what is known before it runs.
    NotAuto,
    /// A question had to be asked, and it is too large to be shown to anybody.
    TooLarge,
    /// A question had to be asked, and a yes could not have helped: nobody was asked.
    Futile {
        /// The error that the call would have ended with, as its tool words it.
        error: Box<str>,
    },
    /// Somebody who was asked said no.
    Rejected {
        /// Who.
        by: Box<str>,
        /// Their words for the model.
        feedback: Option<Box<str>>,
    },
    /// A question was asked and nobody answered in time.
    Expired,
    /// A question was asked and who could have answered it went away.
    ClientGone,
    /// The arguments do not fit the tool, or are no JSON.
    BadCall {
        /// What does not fit: lower case, no full stop.
        why: Box<str>,
    },
    /// No tool has this name.
    UnknownTool,
    /// A hook of the user refuses it.
    Hook {
        /// The hook.
        name: Box<str>,
        /// Its words.
        text: Box<str>,
    },
    /// A hook of the user, which could have refused it, failed.
    HookFailed {
        /// The hook.
        name: Box<str>,
        /// What went wrong: lower case, no full stop.
        why: Box<str>,
    },
    /// No permission check decided about it.
    NotJudged,
    /// A person cancelled the turn.
    Cancelled(Progress),
    /// The pod was told to stop.
    PodStopped(Progress),
    /// The turn ended around it: a limit, an error of the model, an abort by a hook, a crash.
    Interrupted(Progress),
}

impl Refusal {
    /// Refuses a call that was judged.
    #[must_use]
    pub const fn judged(facts: Arc<CallFacts>, ruling: Ruling, cause: RefusalCause) -> Self {
        Self {
            call: RefusedCall::Judged { facts, ruling },
            cause,
            unused: Used::NONE,
        }
    }

    /// Refuses a call that is asked about.
    #[must_use]
    pub fn asked(question: &Question, cause: RefusalCause) -> Self {
        Self {
            call: RefusedCall::Asked(question.clone()),
            cause,
            unused: Used::NONE,
        }
    }

    /// Refuses a call before anybody judged it.
    #[must_use]
    pub const fn proposed(facts: Arc<CallFacts>, cause: RefusalCause) -> Self {
        Self {
            call: RefusedCall::Proposed { facts },
            cause,
            unused: Used::NONE,
        }
    }

    /// Refuses a call as the model wrote it: its tool or arguments say nothing that could be
    /// judged, or nobody looked at them yet.
    #[must_use]
    pub fn raw(
        id: CallId,
        tool: impl Into<Box<str>>,
        arguments: impl Into<Box<str>>,
        cause: RefusalCause,
    ) -> Self {
        Self {
            call: RefusedCall::Raw {
                id,
                tool: tool.into(),
                arguments: arguments.into(),
            },
            cause,
            unused: Used::NONE,
        }
    }

    /// The same, after a use was taken of each of these grants.
    pub(crate) fn not_using(mut self, unused: Used) -> Self {
        self.unused = unused;
        self
    }

    /// The grants with limited uses of which one was taken for the call, for nothing: it is to be given
    /// back, once.
    #[must_use]
    pub fn unused(&self) -> &[GrantId] {
        self.unused.ids()
    }

    /// Why.
    #[must_use]
    pub const fn cause(&self) -> &RefusalCause {
        &self.cause
    }

    /// The call's id.
    #[must_use]
    pub fn id(&self) -> &CallId {
        match &self.call {
            RefusedCall::Judged { facts, .. } | RefusedCall::Proposed { facts } => facts.id(),
            RefusedCall::Asked(question) => question.facts().id(),
            RefusedCall::Raw { id, .. } => id,
        }
    }

    /// The tool's name, as far as the call had one: not checked.
    #[must_use]
    pub fn tool(&self) -> &str {
        match &self.call {
            RefusedCall::Judged { facts, .. } | RefusedCall::Proposed { facts } => {
                facts.tool().as_str()
            }
            RefusedCall::Asked(question) => question.facts().tool().as_str(),
            RefusedCall::Raw { tool, .. } => tool,
        }
    }

    /// The arguments: canonical JSON, or what the model wrote in its place.
    #[must_use]
    pub fn arguments(&self) -> &str {
        match &self.call {
            RefusedCall::Judged { facts, .. } | RefusedCall::Proposed { facts } => {
                facts.arguments()
            }
            RefusedCall::Asked(question) => question.facts().arguments(),
            RefusedCall::Raw { arguments, .. } => arguments,
        }
    }

    /// What is known of the call; `None` for a bad call and an unknown tool.
    #[must_use]
    pub fn facts(&self) -> Option<&Arc<CallFacts>> {
        match &self.call {
            RefusedCall::Judged { facts, .. } | RefusedCall::Proposed { facts } => Some(facts),
            RefusedCall::Asked(question) => Some(question.facts()),
            RefusedCall::Raw { .. } => None,
        }
    }

    /// The verdict over it, if it came that far.
    #[must_use]
    pub fn ruling(&self) -> Option<&Ruling> {
        match &self.call {
            RefusedCall::Judged { ruling, .. } => Some(ruling),
            RefusedCall::Asked(question) => Some(question.ruling()),
            RefusedCall::Proposed { .. } | RefusedCall::Raw { .. } => None,
        }
    }

    /// The question that was asked about it, if one was.
    #[must_use]
    pub const fn question(&self) -> Option<&Question> {
        match &self.call {
            RefusedCall::Asked(question) => Some(question),
            RefusedCall::Judged { .. } | RefusedCall::Proposed { .. } | RefusedCall::Raw { .. } => {
                None
            }
        }
    }

    /// Why it was asked about, if it was.
    #[must_use]
    pub fn asked_for(&self) -> Option<AskReason> {
        match &self.call {
            RefusedCall::Asked(question) => Some(question.reason()),
            RefusedCall::Judged { .. } | RefusedCall::Proposed { .. } | RefusedCall::Raw { .. } => {
                None
            }
        }
    }
}

impl Progress {
    /// The word used in logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::Started => "started",
        }
    }
}

impl RefusalCause {
    /// The word used in logs and output.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::NoClient { .. } => "no_client",
            Self::NotAuto => "not_auto",
            Self::TooLarge => "too_large",
            Self::Futile { .. } => "futile",
            Self::Rejected { .. } => "rejected",
            Self::Expired => "expired",
            Self::ClientGone => "client_gone",
            Self::BadCall { .. } => "bad_call",
            Self::UnknownTool => "unknown_tool",
            Self::Hook { .. } => "hook",
            Self::HookFailed { .. } => "hook_failed",
            Self::NotJudged => "not_judged",
            Self::Cancelled(_) => "cancelled",
            Self::PodStopped(_) => "pod_stopped",
            Self::Interrupted(_) => "interrupted",
        }
    }

    /// Whether it counts as a no to the call: not where the turn ended around it, nor where the call fails as
    /// it would have failed.
    #[must_use]
    pub const fn is_no(&self) -> bool {
        match self {
            Self::Policy
            | Self::NoClient { .. }
            | Self::NotAuto
            | Self::TooLarge
            | Self::Rejected { .. }
            | Self::Expired
            | Self::ClientGone
            | Self::BadCall { .. }
            | Self::UnknownTool
            | Self::Hook { .. }
            | Self::HookFailed { .. }
            | Self::NotJudged => true,
            Self::Futile { .. }
            | Self::Cancelled(_)
            | Self::PodStopped(_)
            | Self::Interrupted(_) => false,
        }
    }

    /// The same of a cause of which only the word is on record.
    #[must_use]
    pub fn is_no_word(word: &str) -> bool {
        !matches!(word, "futile" | "cancelled" | "pod_stopped" | "interrupted")
    }
}

impl fmt::Display for RefusalCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
