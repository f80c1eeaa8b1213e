//! What settles a question, and what lets a call run.

use podward_policy::Ruling;

use crate::grant::GrantId;
use crate::question::RequestId;

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this once.
    Once {
        /// Who said so.
        by: Box<str>,
    },
    /// Yes, and the like of it from now on.
    Always {
        /// Who said so.
        by: Box<str>,
        /// What is remembered of it.
        grant: GrantId,
        /// Grants of earlier that cover what this one does not, in the order of the parts.
        with: Box<[GrantId]>,
    },
    /// Yes, with other arguments.
    Edited {
        /// Who changed them.
        by: Box<str>,
    },
    /// Yes, by a run that was told to say so.
    Auto,
    /// It was covered by grants when another question was answered, or before it was put.
    Granted {
        /// All that it took, in the order of the parts that they cover.
        grants: Box<[GrantId]>,
        /// Who gave the last of them.
        by: Box<str>,
    },
    /// No.
    Rejected {
        /// Who said so.
        by: Box<str>,
        /// What the model shall read.
        feedback: Option<Box<str>>,
    },
    /// Nobody answered in time.
    Expired,
    /// Nobody is there who could answer.
    NoClient,
    /// Nobody is there who could answer, and the run that was told to say yes says it only to what is
    /// known before it runs.
    NotAuto,
    /// It is too large to be shown to anybody.
    TooLarge,
    /// The call can only fail: nobody is asked.
    Futile {
        /// The error that it would end with.
        error: Box<str>,
    },
    /// Who could have answered went away.
    ClientGone,
    /// The turn was cancelled.
    Cancelled,
    /// The pod was told to stop.
    PodStopped,
    /// The turn ended around it.
    Interrupted,
    /// A hook of the user refuses the call.
    Hook {
        /// The hook.
        name: Box<str>,
        /// Its words.
        text: Box<str>,
    },
    /// A hook of the user, which could have refused the call, failed.
    HookFailed {
        /// The hook.
        name: Box<str>,
        /// What went wrong: lower case, no full stop.
        why: Box<str>,
    },
}

/// Who let a call run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecidedBy {
    /// The rules.
    Policy,
    /// The answer to a question.
    Answer(Answer),
    /// Answers of earlier.
    Grants {
        /// All that it took, in the order of the parts that they cover.
        grants: Box<[GrantId]>,
        /// Who gave the last of them.
        by: Box<str>,
    },
}

/// Why an answer changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// An earlier answer settled the question.
    #[error("the request `{id}` is already settled: {}", .by.as_str())]
    AlreadySettled {
        /// The question.
        id: RequestId,
        /// The answer that was first.
        by: Answer,
    },
    /// There is no such question, it was settled very long ago, or it is not put yet.
    #[error("there is no request `{id}`")]
    Unknown {
        /// The id that was given.
        id: RequestId,
    },
    /// No grant may cover a part of the call, so that it can be approved once only.
    #[error("the request `{id}` can only be approved once: no approval may be remembered for it")]
    NotGrantable {
        /// The question.
        id: RequestId,
    },
    /// The grant does not cover the call that it shall answer, not together with those that count
    /// already either: one of these may have ended.
    #[error("what is remembered, with what would be, does not cover all of the request `{id}`")]
    NotCovered {
        /// The question.
        id: RequestId,
    },
    /// It is no answer that can be given in this way: a grant and other arguments come with theirs.
    #[error("the request `{id}` cannot be answered with a bare `{word}`")]
    Incomplete {
        /// The question.
        id: RequestId,
        /// The answer's word.
        word: &'static str,
    },
}

/// Why other arguments changed nothing: the question is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The rules deny the call with these arguments.
    #[error("the request `{id}` stays open: the rules deny these arguments")]
    Denied {
        /// The question.
        id: RequestId,
        /// The verdict over the call with these arguments.
        ruling: Box<Ruling>,
    },
    /// It is a part of a running call, whose arguments are that call's own.
    #[error("the request `{id}` stays open: a part of a running call cannot be edited")]
    PartOfCall {
        /// The question.
        id: RequestId,
    },
    /// It is another call: its id or its tool differ.
    #[error("the request `{id}` stays open: these are the arguments of another call")]
    OtherCall {
        /// The question.
        id: RequestId,
    },
    /// The question is not there to be answered.
    #[error(transparent)]
    Answer(#[from] AnswerError),
}

impl Answer {
    /// Whether the call runs.
    #[must_use]
    pub const fn is_approval(&self) -> bool {
        match self {
            Self::Once { .. }
            | Self::Always { .. }
            | Self::Edited { .. }
            | Self::Auto
            | Self::Granted { .. } => true,
            Self::Rejected { .. }
            | Self::Expired
            | Self::NoClient
            | Self::NotAuto
            | Self::TooLarge
            | Self::Futile { .. }
            | Self::ClientGone
            | Self::Cancelled
            | Self::PodStopped
            | Self::Interrupted
            | Self::Hook { .. }
            | Self::HookFailed { .. } => false,
        }
    }

    /// The word used in logs and output.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Once { .. } => "once",
            Self::Always { .. } => "always",
            Self::Edited { .. } => "edited",
            Self::Auto => "auto",
            Self::Granted { .. } => "granted",
            Self::Rejected { .. } => "rejected",
            Self::Expired => "expired",
            Self::NoClient => "no_client",
            Self::NotAuto => "not_auto",
            Self::TooLarge => "too_large",
            Self::Futile { .. } => "futile",
            Self::ClientGone => "client_gone",
            Self::Cancelled => "cancelled",
            Self::PodStopped => "pod_stopped",
            Self::Interrupted => "interrupted",
            Self::Hook { .. } => "hook",
            Self::HookFailed { .. } => "hook_failed",
        }
    }
}

impl DecidedBy {
    /// The word used in logs and output.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Answer(answer) => answer.as_str(),
            Self::Grants { .. } => "granted",
        }
    }
}
