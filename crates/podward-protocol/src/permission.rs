//! A question on the wire: what is asked, how it can be answered, what became of it.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::codec::object;
use crate::grant::{Asker, GrantFor};
use crate::id::{CallId, GrantId, RequestId};
use crate::time::Time;
use crate::verdict::{DecidedBy, Operation, Ruling};

/// A call that waits for an answer. Sent when the question is on disk, and again, under the same
/// id, by a pod that goes on with a session in which it is still open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRequest {
    /// What an answer names.
    pub id: RequestId,
    /// The pod's name.
    pub pod: String,
    /// The names of the pods above it, outermost first; empty for a pod that nobody spawned.
    #[serde(default)]
    pub path: Vec<String>,
    /// The call.
    pub call: CallId,
    /// The running call that turned out to need this one; absent for a call that the model made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<CallId>,
    /// The tool's name.
    pub tool: String,
    /// The arguments as they would be used.
    pub arguments: Value,
    /// The directory that relative paths in them start from.
    pub cwd: String,
    /// What the call would do.
    pub operations: Vec<Operation>,
    /// The verdict that asks, its cause, the operation that decided, and whether all of the call was
    /// seen.
    pub ruling: Ruling,
    /// Why it is asked about.
    pub reason: AskReason,
    /// Everything that asks: each operation, and the layer and rule that asks about it.
    pub asking: Vec<Asking>,
    /// What `always` may save, narrowest first; empty if `always` is not offered.
    pub choices: Vec<Choice>,
    /// Why `always` is not offered; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_always: Option<String>,
    /// The digest of the arguments, `cwd`, the policy and the tool: an answer repeats it, so that it
    /// answers what was shown and nothing else.
    pub digest: String,
    /// When it was asked.
    pub asked_at: Time,
    /// When it settles as `expired`; absent if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// Why a call is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskReason {
    /// The rules say so.
    Policy,
    /// The same call with the same arguments for the third time in one turn: no `always` answers it.
    Repeated,
    /// The rules let it run by now, but it was asked about before the session was interrupted, and
    /// nobody answered: no `always` answers it.
    Resumed,
}

/// One reason why a call is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Asking {
    /// The place of the operation, from 0, in the request's list.
    pub operation: usize,
    /// What asks about it.
    pub asker: Asker,
    /// Whether `always` may answer it.
    pub grantable: bool,
}

/// What one `always` would save: a pattern for each part of the call that asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The parts, in the order of their operations.
    pub parts: Vec<ChoicePart>,
}

/// What an `always` would save for one part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ChoicePart {
    /// The place of the operation, from 0, in the request's list.
    pub operation: usize,
    /// The tool that the pattern is for.
    pub tool: String,
    /// The pattern, exactly as it would be saved.
    pub pattern: String,
    /// How wide it is.
    pub width: Width,
}

/// How much more than this call a pattern covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    /// This text and no other.
    Exact,
    /// The same command; words that change from one time to the next (numbers, names of temporary files)
    /// are open.
    Similar,
    /// A program with this subcommand.
    Subcommand,
    /// A program with any arguments.
    Program,
    /// One file.
    File,
    /// All below a directory.
    Directory,
    /// One URL.
    Url,
    /// A host, with the front of a path.
    Host,
    /// The tool with these arguments.
    SameArguments,
    /// The tool with any arguments.
    Tool,
}

/// An answer to a permission request. It is read strictly: a field that does not belong to its kind
/// is an error.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// It runs, this once.
    Once,
    /// It runs, and what is like it is not asked about again.
    Always(Always),
    /// It does not run.
    Reject {
        /// What the model reads, word for word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// It runs with other arguments. They are judged again: what the rules deny is answered with
    /// `edit_denied` and the request stays open.
    Edit {
        /// All of the new arguments.
        arguments: Map<String, Value>,
    },
}

/// What is saved by an `always`, and how long it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Always {
    /// What.
    #[serde(flatten)]
    pub what: Chosen,
    /// How long.
    #[serde(rename = "for")]
    pub lasts: GrantFor,
}

/// What is saved by an `always`: exactly one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// The place of one of the request's `choices`, from 0.
    Width(usize),
    /// A pattern of one's own for each part that asks.
    Patterns(Vec<ChosenPattern>),
}

/// A pattern for one part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChosenPattern {
    /// The place of the operation, from 0, in the request's list.
    pub operation: usize,
    /// The pattern.
    pub pattern: String,
}

/// An answer as it is written, whatever its kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAnswer {
    kind: AnswerKind,
    width: Option<usize>,
    patterns: Option<Vec<ChosenPattern>>,
    #[serde(rename = "for")]
    lasts: Option<GrantFor>,
    feedback: Option<String>,
    arguments: Option<Map<String, Value>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerKind {
    Once,
    Always,
    Reject,
    Edit,
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written: WrittenAnswer = object(deserializer)?;
        written.read().map_err(D::Error::custom)
    }
}

impl WrittenAnswer {
    fn read(self) -> Result<Answer, String> {
        let Self {
            kind,
            width,
            patterns,
            lasts,
            feedback,
            arguments,
        } = self;
        let has_choice = width.is_some() || patterns.is_some() || lasts.is_some();
        let is_foreign = match kind {
            AnswerKind::Once => has_choice || feedback.is_some() || arguments.is_some(),
            AnswerKind::Always => feedback.is_some() || arguments.is_some(),
            AnswerKind::Reject => has_choice || arguments.is_some(),
            AnswerKind::Edit => has_choice || feedback.is_some(),
        };
        if is_foreign {
            return Err(kind.takes().to_owned());
        }
        match kind {
            AnswerKind::Once => Ok(Answer::Once),
            AnswerKind::Always => {
                let what = match (width, patterns) {
                    (Some(width), None) => Chosen::Width(width),
                    (None, Some(patterns)) => Chosen::Patterns(patterns),
                    (None, None) | (Some(_), Some(_)) => return Err(kind.takes().to_owned()),
                };
                let lasts = lasts.ok_or_else(|| kind.takes().to_owned())?;
                Ok(Answer::Always(Always { what, lasts }))
            }
            AnswerKind::Reject => Ok(Answer::Reject { feedback }),
            AnswerKind::Edit => {
                let arguments = arguments.ok_or_else(|| kind.takes().to_owned())?;
                Ok(Answer::Edit { arguments })
            }
        }
    }
}

impl AnswerKind {
    const fn takes(self) -> &'static str {
        match self {
            Self::Once => "the answer `once` takes no other field",
            Self::Always => {
                "the answer `always` takes `for` and one of `width` and `patterns`, no other field"
            }
            Self::Reject => "the answer `reject` takes `feedback` or no other field",
            Self::Edit => "the answer `edit` takes `arguments` and no other field",
        }
    }
}

/// A permission request is no longer open. Sent after what settled it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PermissionSettled {
    /// The request.
    pub id: RequestId,
    /// What became of it.
    pub outcome: Outcome,
    /// Who settled it.
    pub by: DecidedBy,
}

/// What became of a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The call runs; somebody said yes to it.
    ApprovedOnce,
    /// The call runs; somebody said `always`, to it or to another one that is like it.
    ApprovedAlways {
        /// What was saved: one grant, or those that together cover every part that is asked about.
        grants: Vec<GrantId>,
    },
    /// The call runs with other arguments.
    ApprovedEdited,
    /// The call runs; the person who started the run answered every question beforehand.
    Auto,
    /// The call does not run; somebody said no.
    Rejected,
    /// The call does not run; somebody said no, and something to the model.
    RejectedWithFeedback {
        /// What the model reads.
        feedback: String,
    },
    /// Nobody answered in time.
    Expired,
    /// Nobody who could answer was there.
    NoClient,
    /// Whoever could have answered left.
    ClientGone,
    /// The turn was cancelled.
    Cancelled,
    /// The pod was told to stop.
    PodStopped,
    /// The turn ended around it: the pod died and its session was not gone on with.
    Interrupted,
    /// The rules deny the call by now.
    Policy,
    /// A hook of the user refuses the call.
    Hook {
        /// Its name.
        name: String,
        /// What it said.
        text: String,
    },
    /// A hook of the user, which could have refused the call, failed.
    HookFailed {
        /// Its name.
        name: String,
        /// What went wrong.
        why: String,
    },
}

impl Outcome {
    /// The words on the wire, the values of `kind`, in the order of their declaration.
    pub const NAMES: &'static [&'static str] = &[
        "approved_once",
        "approved_always",
        "approved_edited",
        "auto",
        "rejected",
        "rejected_with_feedback",
        "expired",
        "no_client",
        "client_gone",
        "cancelled",
        "pod_stopped",
        "interrupted",
        "policy",
        "hook",
        "hook_failed",
    ];

    /// The word on the wire, the value of `kind`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::ApprovedOnce => "approved_once",
            Self::ApprovedAlways { .. } => "approved_always",
            Self::ApprovedEdited => "approved_edited",
            Self::Auto => "auto",
            Self::Rejected => "rejected",
            Self::RejectedWithFeedback { .. } => "rejected_with_feedback",
            Self::Expired => "expired",
            Self::NoClient => "no_client",
            Self::ClientGone => "client_gone",
            Self::Cancelled => "cancelled",
            Self::PodStopped => "pod_stopped",
            Self::Interrupted => "interrupted",
            Self::Policy => "policy",
            Self::Hook { .. } => "hook",
            Self::HookFailed { .. } => "hook_failed",
        }
    }

    /// Whether the call runs.
    #[must_use]
    pub const fn is_approved(&self) -> bool {
        match self {
            Self::ApprovedOnce
            | Self::ApprovedAlways { .. }
            | Self::ApprovedEdited
            | Self::Auto => true,
            Self::Rejected
            | Self::RejectedWithFeedback { .. }
            | Self::Expired
            | Self::NoClient
            | Self::ClientGone
            | Self::Cancelled
            | Self::PodStopped
            | Self::Interrupted
            | Self::Policy
            | Self::Hook { .. }
            | Self::HookFailed { .. } => false,
        }
    }
}
