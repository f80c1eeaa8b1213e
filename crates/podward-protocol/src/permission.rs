//! A question on the wire: what is asked, how it can be answered, what became of it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::choice::Choice;
use crate::codec::{object, present};
use crate::grant::{Asker, GrantFor};
use crate::id::{CallId, GrantId, RequestId};
use crate::time::Time;
use crate::verdict::{DecidedBy, Operation, Ruling, is_false};

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
    /// The addresses that have led to this one by redirects, one after the other; empty where none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirected_from: Vec<String>,
    /// The tool's name.
    pub tool: String,
    /// The arguments as they would be used.
    pub arguments: Value,
    /// What a call of `skill` would start; absent for other tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<Box<AskedSkill>>,
    /// The directory that relative paths in them start from.
    pub cwd: String,
    /// What the call would do.
    pub operations: Vec<Operation>,
    /// The verdict that asks, its cause, the operation that decided, and whether all of the call was seen.
    pub ruling: Ruling,
    /// Why it is asked about.
    pub reason: AskReason,
    /// Everything that asks: each operation, and the layer and rule that asks about it. Parts that
    /// grants cover are left out; where that changes, the request is told again under its id, with
    /// another digest.
    pub asking: Vec<Asking>,
    /// What `always` may save, narrowest first; empty if `always` is not offered.
    pub choices: Vec<Choice>,
    /// Why `always` is not offered; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_always: Option<String>,
    /// The workspace in which an `always` counts, where the pod works on a copy of it: it is remembered
    /// for the workspace, and counts in later sessions that work in the workspace itself too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always_in: Option<String>,
    /// The digest of all that stands here but the times, with the session and the policy: an answer
    /// repeats it, so that it answers what was shown and nothing else.
    pub digest: String,
    /// When it was asked.
    pub asked_at: Time,
    /// When it settles as `expired`; absent if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// Nobody is asked: it settles at once, for want of a client, or as `--auto` says.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unasked: bool,
}

/// The skill that a call would start, as its file was when the question was put.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskedSkill {
    /// It is there.
    Found {
        /// Its `SKILL.md`.
        file: String,
        /// The digest of that file.
        digest: String,
        /// What it says that it is for.
        description: String,
        /// `allowed-tools`, each entry as it is written: while the skill is active, no other tool can be
        /// called. Absent: it restricts nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allowed_tools: Option<Vec<String>>,
        /// `disallowed-tools`, each entry as it is written.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        disallowed_tools: Vec<String>,
    },
    /// It would not start.
    Fails {
        /// Why not.
        why: String,
    },
}

/// Why a call is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskReason {
    /// The rules say so.
    Policy,
    /// The rules say so, and it is the same call with the same arguments for the third time (or
    /// more) in one turn, with nothing but reading permitted in between: no grant of earlier answers it.
    PolicyRepeated,
    /// The rules let it run, but it is the same call with the same arguments for the third time (or
    /// more) in one turn, with nothing but reading permitted in between: no `always` answers it.
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

/// An answer to a permission request. It is read strictly: a field that does not belong to its kind
/// is an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Always {
    /// What.
    #[serde(flatten)]
    pub what: Chosen,
    /// How long.
    #[serde(rename = "for")]
    pub lasts: GrantFor,
}

/// What is saved by an `always`: exactly one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

/// An answer as it is written, whatever its kind. A field that is there and `null` is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAnswer {
    kind: AnswerKind,
    #[serde(default, deserialize_with = "present")]
    width: Option<usize>,
    #[serde(default, deserialize_with = "chosen_patterns")]
    patterns: Option<Vec<ChosenPattern>>,
    #[serde(rename = "for", default, deserialize_with = "present")]
    lasts: Option<GrantFor>,
    #[serde(default, deserialize_with = "present")]
    feedback: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    arguments: Option<Map<String, Value>>,
}

fn chosen_patterns<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<ChosenPattern>>, D::Error> {
    patterns(deserializer).map(Some)
}

/// Patterns, each written as an object.
pub(crate) fn patterns<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ChosenPattern>, D::Error> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Written(#[serde(deserialize_with = "object")] ChosenPattern);
    let written = Vec::<Written>::deserialize(deserializer)?;
    Ok(written.into_iter().map(|Written(one)| one).collect())
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
        let kind = written.kind;
        written.read().ok_or_else(|| D::Error::custom(kind.takes()))
    }
}

impl WrittenAnswer {
    /// The answer; `None` where a field of its kind is missing or one of another kind is there.
    fn read(self) -> Option<Answer> {
        let Self {
            kind,
            width,
            patterns,
            lasts,
            feedback,
            arguments,
        } = self;
        match (kind, width, patterns, lasts, feedback, arguments) {
            (AnswerKind::Once, None, None, None, None, None) => Some(Answer::Once),
            (AnswerKind::Always, Some(width), None, Some(lasts), None, None) => {
                let what = Chosen::Width(width);
                Some(Answer::Always(Always { what, lasts }))
            }
            (AnswerKind::Always, None, Some(patterns), Some(lasts), None, None) => {
                let what = Chosen::Patterns(patterns);
                Some(Answer::Always(Always { what, lasts }))
            }
            (AnswerKind::Reject, None, None, None, feedback, None) => {
                let feedback = feedback.flatten();
                Some(Answer::Reject { feedback })
            }
            (AnswerKind::Edit, None, None, None, None, Some(arguments)) => {
                Some(Answer::Edit { arguments })
            }
            _ => None, // a field too many or too few
        }
    }
}

/// Written by hand, like the reader: a derived one would take the fields of any kind.
impl JsonSchema for Answer {
    fn schema_name() -> Cow<'static, str> {
        "Answer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let lasts = generator.subschema_for::<GrantFor>();
        let width = generator.subschema_for::<usize>();
        let patterns = generator.subschema_for::<Vec<ChosenPattern>>();
        json_schema!({
            "description": "An answer to a permission request.",
            "oneOf": [
                {
                    "description": "It runs, this once.",
                    "type": "object",
                    "properties": { "kind": { "const": "once" } },
                    "required": ["kind"],
                    "additionalProperties": false,
                },
                {
                    "description": "It runs, and what is like it is not asked about again: `width` is \
                        the place of one of the request's `choices`, from 0.",
                    "type": "object",
                    "properties": { "kind": { "const": "always" }, "width": width, "for": lasts },
                    "required": ["kind", "width", "for"],
                    "additionalProperties": false,
                },
                {
                    "description": "It runs, and what is like it is not asked about again: `patterns` \
                        has a pattern of one's own for each part that asks.",
                    "type": "object",
                    "properties": {
                        "kind": { "const": "always" }, "patterns": patterns, "for": lasts,
                    },
                    "required": ["kind", "patterns", "for"],
                    "additionalProperties": false,
                },
                {
                    "description": "It does not run; the model reads `feedback` word for word.",
                    "type": "object",
                    "properties": {
                        "kind": { "const": "reject" }, "feedback": { "type": ["string", "null"] },
                    },
                    "required": ["kind"],
                    "additionalProperties": false,
                },
                {
                    "description": "It runs with other arguments: all of them are given. They are \
                        judged again; what the rules deny is answered with `edit_denied` and the \
                        request stays open.",
                    "type": "object",
                    "properties": {
                        "kind": { "const": "edit" }, "arguments": { "type": "object" },
                    },
                    "required": ["kind", "arguments"],
                    "additionalProperties": false,
                },
            ],
        })
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
        /// What was saved: one grant, or those that together cover every part that is asked about. Empty
        /// where a pod that has gone on with the session no longer knows.
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
    /// Nobody who could answer was there, and it is not known before it runs: the person who started the
    /// run answered beforehand what is.
    NotAuto,
    /// The question is too long for a line: nobody was asked.
    TooLarge,
    /// The call could only fail by then: nobody was asked again.
    Futile {
        /// The error that it would have ended with.
        error: String,
    },
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
        "not_auto",
        "too_large",
        "futile",
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
            Self::NotAuto => "not_auto",
            Self::TooLarge => "too_large",
            Self::Futile { .. } => "futile",
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
            | Self::NotAuto
            | Self::TooLarge
            | Self::Futile { .. }
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
