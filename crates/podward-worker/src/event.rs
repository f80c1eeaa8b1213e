//! What a worker tells while it works.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use podward_gate::CallId;
use podward_model::{ModelError, Usage};
use podward_tools::ToolOutput;

use crate::decision::Decision;
use crate::journal::SkillEnd;
use crate::skill::ActiveSkill;
use crate::spending::{CallCount, Spent};

/// Something that happened in a turn. Decisions and results are told only after the journal has
/// them.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkerEvent {
    /// A turn begins with this prompt; `None` when it goes on after an interruption.
    TurnStarted {
        /// The prompt as the hooks left it.
        prompt: Option<Arc<str>>,
    },
    /// The model is asked.
    StepStarted {
        /// The step's number in its turn, from 1.
        step: u32,
    },
    /// More of the model's text.
    TextDelta(String),
    /// More of what the model thinks.
    ThinkingDelta(String),
    /// The request is made again.
    Retry {
        /// The attempt that comes next: 2 for the first retry.
        attempt: u32,
        /// Why, for people.
        reason: String,
        /// How long the model waits before it.
        after: Duration,
    },
    /// The model begins to write a call.
    CallAnnounced {
        /// The call.
        id: CallId,
        /// The tool's name as the model wrote it.
        tool: Arc<str>,
    },
    /// The model's message is complete and holds this call.
    CallProposed {
        /// The call.
        id: CallId,
        /// The tool's name as the model wrote it.
        tool: Arc<str>,
        /// The arguments as the model wrote them: JSON text, or not.
        arguments: Arc<str>,
    },
    /// It was decided about a call.
    CallDecided(Arc<Decision>),
    /// Nothing goes on before somebody answers a question.
    Waiting,
    /// Something goes on again.
    Working,
    /// A permitted call starts to run.
    CallStarted {
        /// The call.
        id: CallId,
    },
    /// A call has its result, its own or that of a refusal.
    CallFinished {
        /// The call.
        id: CallId,
        /// The tool that was called.
        tool: Arc<str>,
        /// The result.
        output: Arc<ToolOutput>,
    },
    /// A skill is active: from the next request on.
    SkillStarted {
        /// The skill.
        skill: ActiveSkill,
        /// The call that started it; `None`: the prompt did.
        call: Option<CallId>,
    },
    /// A skill is active no longer.
    SkillEnded {
        /// Its name.
        name: Box<str>,
        /// Why.
        why: SkillEnd,
    },
    /// A hook that only looks on failed: nothing hangs on it, but people should hear.
    HookFailed(HookFailure),
    /// What this turn has used so far, with what running calls have others do.
    Usage(Spent),
    /// The turn ended.
    TurnEnded(Arc<TurnEnd>),
}

/// A hook that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFailure {
    /// The hook.
    pub hook: Box<str>,
    /// What went wrong: lower case, no full stop.
    pub why: Box<str>,
}

/// How a turn ended. Hooks see it as the event "turn end".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnEnd {
    /// Why it ended.
    pub reason: EndReason,
    /// How often the model was asked, requests of children included.
    pub n_steps: u32,
    /// How many calls were refused: by a rule or a hook, for want of somebody to ask, or because
    /// they were none.
    pub n_refused: u32,
    /// How many of these were none: an unknown tool, or arguments that do not fit.
    pub n_bad_calls: u32,
    /// Tokens used.
    pub usage: Usage,
    /// The calls of children, which are not among its own.
    pub of_children: CallCount,
}

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// The model has nothing more to do.
    Done,
    /// A limit was reached.
    Limit(Limit),
    /// A hook ended it.
    Aborted {
        /// The hook.
        hook: Box<str>,
        /// Its words.
        reason: Box<str>,
    },
    /// The caller cancelled it.
    Cancelled,
    /// The caller cancelled it and leaves its questions as they are: it is not over, and goes on with the
    /// session ([`SharedGate::keep_questions`](crate::SharedGate::keep_questions)).
    Kept,
    /// The model failed.
    Model(ModelError),
}

/// The limits that can end a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// [`TurnLimits::steps`](crate::TurnLimits::steps).
    Steps,
    /// [`TurnLimits::wall`](crate::TurnLimits::wall).
    Wall,
    /// [`TurnLimits::output_tokens`](crate::TurnLimits::output_tokens), or an answer that was cut
    /// at [`TurnLimits::max_tokens`](crate::TurnLimits::max_tokens).
    OutputTokens,
    /// [`TurnLimits::message_bytes`](crate::TurnLimits::message_bytes) or
    /// [`TurnLimits::message_calls`](crate::TurnLimits::message_calls).
    Message,
}

impl Limit {
    /// The word used in logs and output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Wall => "wall",
            Self::OutputTokens => "output_tokens",
            Self::Message => "message",
        }
    }
}

impl EndReason {
    /// The word used in logs and output.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Limit(_) => "limit",
            Self::Aborted { .. } => "aborted",
            Self::Cancelled => "cancelled",
            Self::Kept => "kept",
            Self::Model(_) => "model_error",
        }
    }
}

/// For people: lower case, no full stop.
impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Limit(limit) => write!(f, "the limit `{}` was reached", limit.as_str()),
            Self::Aborted { hook, reason } => write!(f, "the hook `{hook}` ended it: {reason}"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Kept => f.write_str("its questions stay open"),
            Self::Model(error) => match error.hint() {
                Some(hint) => write!(f, "{error} ({hint})"),
                None => error.fmt(f),
            },
        }
    }
}
