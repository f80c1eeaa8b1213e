//! What a pod tells its clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::child::ChildWorked;
use crate::connection::{ClientJoined, ClientLeft, Closing, Ping, SnapshotEnd, SnapshotStarted};
use crate::explanation::Change;
use crate::grant::{GrantAdded, GrantRevoked};
use crate::id::{CallId, SessionId};
use crate::permission::{PermissionRequest, PermissionSettled};
use crate::skill::{SkillEnded, SkillStarted};
use crate::time::Time;
use crate::verdict::{DecidedBy, Operation, RefusalCause, Ruling, is_false};

/// An event with when, where and in which place it happened: one line on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Envelope {
    /// When the pod sent it.
    pub time: Time,
    /// The session it belongs to.
    pub session: SessionId,
    /// Its place in this run of the session: events are counted from 0, without gaps. What is sent to
    /// one client alone (a snapshot, a ping, a farewell) bears the number of the last event before it.
    pub seq: u64,
    /// Whether it is part of a snapshot: it tells what already was. Left out where it is not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub snapshot: bool,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum Event {
    /// The first event of a run: what the pod is made of.
    SessionStarted(SessionStarted),
    /// Something the user should hear that stops nothing.
    Notice(Notice),
    /// What the pod is doing changed.
    Status(Status),
    /// A prompt was taken.
    TurnStarted(TurnStarted),
    /// The model wrote text.
    TextDelta(TextDelta),
    /// The model wrote down its thinking.
    ThinkingDelta(TextDelta),
    /// The model begins to write a tool call.
    ToolCallStarted(ToolCallStarted),
    /// The model's message is complete and holds a tool call.
    ToolCallArguments(ToolCallArguments),
    /// A tool call was judged.
    ToolCallVerdict(ToolCallVerdict),
    /// A tool call waits for an answer.
    PermissionRequest(PermissionRequest),
    /// A permission request is no longer open.
    PermissionSettled(PermissionSettled),
    /// A tool call has its result.
    ToolCallFinished(ToolCallFinished),
    /// A pod below does something.
    ChildWorked(ChildWorked),
    /// The tokens were counted.
    Usage(Usage),
    /// Something failed.
    Error(ErrorRaised),
    /// The pod is idle again.
    TurnEnded(TurnEnded),
    /// A skill is active: only what it lists may be called.
    SkillStarted(SkillStarted),
    /// A skill is active no longer.
    SkillEnded(SkillEnded),
    /// An approval is remembered.
    GrantAdded(GrantAdded),
    /// A remembered approval counts no longer.
    GrantRevoked(GrantRevoked),
    /// A client was welcomed.
    ClientJoined(ClientJoined),
    /// A client left.
    ClientLeft(ClientLeft),
    /// A snapshot begins; for one client alone, like all below.
    SnapshotStarted(SnapshotStarted),
    /// The snapshot is complete.
    SnapshotEnd(SnapshotEnd),
    /// Are you there?
    Ping(Ping),
    /// The pod closes the connection.
    Closing(Closing),
}

impl Event {
    /// The names of all events, in the order of their declaration.
    pub const NAMES: &'static [&'static str] = &[
        "session_started",
        "notice",
        "status",
        "turn_started",
        "text_delta",
        "thinking_delta",
        "tool_call_started",
        "tool_call_arguments",
        "tool_call_verdict",
        "permission_request",
        "permission_settled",
        "tool_call_finished",
        "child_worked",
        "usage",
        "error",
        "turn_ended",
        "skill_started",
        "skill_ended",
        "grant_added",
        "grant_revoked",
        "client_joined",
        "client_left",
        "snapshot_started",
        "snapshot_end",
        "ping",
        "closing",
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SessionStarted(_) => "session_started",
            Self::Notice(_) => "notice",
            Self::Status(_) => "status",
            Self::TurnStarted(_) => "turn_started",
            Self::TextDelta(_) => "text_delta",
            Self::ThinkingDelta(_) => "thinking_delta",
            Self::ToolCallStarted(_) => "tool_call_started",
            Self::ToolCallArguments(_) => "tool_call_arguments",
            Self::ToolCallVerdict(_) => "tool_call_verdict",
            Self::PermissionRequest(_) => "permission_request",
            Self::PermissionSettled(_) => "permission_settled",
            Self::ToolCallFinished(_) => "tool_call_finished",
            Self::ChildWorked(_) => "child_worked",
            Self::Usage(_) => "usage",
            Self::Error(_) => "error",
            Self::TurnEnded(_) => "turn_ended",
            Self::SkillStarted(_) => "skill_started",
            Self::SkillEnded(_) => "skill_ended",
            Self::GrantAdded(_) => "grant_added",
            Self::GrantRevoked(_) => "grant_revoked",
            Self::ClientJoined(_) => "client_joined",
            Self::ClientLeft(_) => "client_left",
            Self::SnapshotStarted(_) => "snapshot_started",
            Self::SnapshotEnd(_) => "snapshot_end",
            Self::Ping(_) => "ping",
            Self::Closing(_) => "closing",
        }
    }
}

/// What a pod is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStarted {
    /// The version of the protocol that the following lines are written in.
    pub protocol: u32,
    /// The version of podward.
    pub version: String,
    /// The pod's name.
    pub pod: String,
    /// The directory it works in.
    pub workspace: String,
    /// The directory of the session's files.
    pub session_dir: String,
    /// The model's name.
    pub model: String,
    /// The tools offered to the model, by name.
    pub tools: Vec<String>,
    /// The tools the manifest asks for that no rule could ever let run, by name.
    pub withheld_tools: Vec<String>,
    /// The digest of all rules, as in the decision log.
    pub policy_digest: String,
    /// What keeps the commands of `bash` inside the declared directories.
    pub confinement: Confinement,
    /// Whether an earlier run of the session goes on.
    pub resumed: bool,
}

/// What keeps the commands of `bash` inside the declared directories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Confinement {
    /// How far.
    pub level: ConfinementLevel,
    /// By what, or why not, for people.
    pub detail: String,
}

/// How far commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfinementLevel {
    /// By the kernel.
    Kernel,
    /// By the kernel, with gaps.
    Partial,
    /// Not at all.
    None,
}

/// Something the user should hear that stops nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// What it is.
    pub message: String,
    /// What can be done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// What a pod is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Status {
    /// Nothing: it waits for a prompt.
    Idle,
    /// The model or a tool works.
    Busy,
    /// It waits for a person's answer.
    Waiting,
    /// It will send the same model request again.
    Retry {
        /// The number of the next attempt; the first request is attempt 1.
        attempt: u32,
        /// Why the last one failed.
        reason: String,
        /// When the next one is sent.
        at: Time,
    },
}

/// A prompt was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    /// The turn's number in its session, from 1.
    pub turn: u64,
    /// The prompt.
    pub prompt: String,
}

/// A piece of what the model writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextDelta {
    /// The piece.
    pub text: String,
}

/// The model begins to write a tool call; its message may still be cut, and the call with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallStarted {
    /// The call.
    pub call: CallId,
    /// The tool's name, as the model wrote it.
    pub tool: String,
}

/// The model's message is complete and holds a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallArguments {
    /// The call.
    pub call: CallId,
    /// The tool's name, as the model wrote it.
    pub tool: String,
    /// The arguments; a JSON string where what the model wrote is no JSON.
    pub arguments: Value,
}

/// A tool call was judged; sent after the ruling is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallVerdict {
    /// The call.
    pub call: CallId,
    /// The running call that turned out to need this one: a redirect of a fetch, an address that a
    /// name led to. Absent for a call that the model made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<CallId>,
    /// The tool's name.
    pub tool: String,
    /// What the call would do; empty if nothing would run or the call was never judged.
    pub operations: Vec<Operation>,
    /// The verdict and its cause.
    pub ruling: Ruling,
    /// Why the call will not run; absent if it will.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RefusalCause>,
    /// Who turned the verdict into what happens.
    pub by: DecidedBy,
    /// What would have allowed the call; only where it was asked about and nobody answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_by: Option<Change>,
}

/// A tool call has its result; sent after the result is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallFinished {
    /// The call.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// What became of it.
    pub outcome: ToolOutcome,
    /// What the model reads.
    pub content: String,
}

/// What became of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolOutcome {
    /// It ran and said so.
    Done,
    /// It ran and reports an error.
    Failed,
    /// It did not run.
    Refused {
        /// Why.
        cause: RefusalCause,
    },
    /// It began to run and was stopped: what it did until then remains.
    Stopped {
        /// Why.
        cause: RefusalCause,
    },
}

/// What the turn has used so far, running children included, and this run of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens sent in this turn.
    pub input_tokens: u64,
    /// Tokens written in this turn.
    pub output_tokens: u64,
    /// Tokens sent in this run of the session.
    pub total_input_tokens: u64,
    /// Tokens written in this run of the session.
    pub total_output_tokens: u64,
    /// Requests to models in this turn.
    #[serde(default)]
    pub n_steps: u64,
}

/// Something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorRaised {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// What happened, with its causes.
    pub message: String,
    /// What can be done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The model cannot be reached or answers with nonsense.
    Model,
    /// The session or the decision log cannot be written: nothing more runs.
    Storage,
    /// A fault of podward itself.
    Internal,
}

/// The pod is idle again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnded {
    /// The turn's number in its session, from 1.
    pub turn: u64,
    /// Why it ended.
    pub reason: TurnEndReason,
    /// How many calls were refused in it: by a rule or a hook, for want of somebody to ask, or
    /// because they were no valid calls.
    pub n_refused: u64,
    /// How many calls there were in it.
    pub n_calls: u64,
    /// How often the model was asked in it, requests of children included.
    #[serde(default)]
    pub n_steps: u64,
    /// The calls of children, theirs included, which are not among its own. Left out where there are none.
    #[serde(default, skip_serializing_if = "CallCount::is_zero")]
    pub children: CallCount,
}

/// How many calls there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallCount {
    /// All of them.
    pub n_calls: u64,
    /// Those that were refused.
    pub n_refused: u64,
}

impl CallCount {
    const fn is_zero(&self) -> bool {
        self.n_calls == 0
    }
}

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnEndReason {
    /// The model has nothing more to do.
    Done,
    /// A limit of the manifest was reached.
    Limit {
        /// Which.
        limit: LimitName,
    },
    /// A hook of the user ended it.
    Aborted {
        /// What it said.
        reason: String,
    },
    /// It was cancelled.
    Cancelled,
    /// Something failed; an `error` event came before.
    Failed,
}

/// The name of a limit, as in `[limits]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LimitName(pub String);
