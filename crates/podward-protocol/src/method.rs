//! What a client asks of a pod, and what it gets back.
//!
//! How the two sides talk, and why so:
//!
//! - A client's line is a [`Request`], `{"method","params","id"}`; the pod answers each with exactly one
//!   [`Response`], `{"id","result"}` or `{"id","error"}`, in any order. A line that no id can be read
//!   from is answered with the id `null`. The pod's other lines are events.
//! - `hello` comes first. Its answer comes before the snapshot. A client of another version of the
//!   protocol gets the error `version`, which names the pod's, and the connection is closed.
//! - A snapshot is made of ordinary events, folded: a client that can follow a run can read a snapshot.
//!   It is opened by `snapshot_started` and closed by `snapshot_end`, and each of its lines says
//!   `"snapshot": true`, so that a reader without a memory can tell it from what is new. It holds, in this
//!   order: `session_started`, `client_joined` for each client, `grant_added` for each grant, `skill_started`
//!   for each active skill,
//!   `turn_started` of the turn that runs or ran last and what happened in it (text and thinking joined
//!   to as few deltas as fit a line; calls with their verdicts and results), `usage`, the open
//!   `permission_request`s, `turn_ended` if it ended, and `status`. Earlier turns are on disk.
//! - All lines of a snapshot bear the `seq` of the last event that it takes into account; the next event
//!   has the number after it. A client that chose its events sees gaps.
//! - What a client asks for is read strictly: a parameter that the pod does not know is
//!   `invalid_params`, for it may be what makes the request safe. Only those of `hello` are passed over.
//!   What a pod tells is read leniently: fields and events that are not known are passed over.
//! - Nothing is ever sent in pieces: lists that may be long are asked for in pages (`after`, `limit`).
//!
//! Version 2: version 1 had no methods, and fewer kinds of `by` and of a refusal's cause, which its
//! readers cannot read.

mod attendance;
mod params;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::explanation::{Explain, ExplainCall, ExplainedCall, Explanation};
use crate::grant::Grant;
use crate::id::{GrantId, RequestId, SessionId};
use crate::method_error::MethodError;
use crate::permission::{Answer, PermissionRequest, PermissionSettled};
use crate::preview::{PermissionPreview, Preview};
use crate::skill::{SkillEnd, SkillEndStarted};

pub use attendance::{Attend, AttendHeard, Pong, PongHeard};
pub use params::Params;

/// The number of a request on its connection; its response has the same. A client that never uses one
/// twice can always tell the responses apart.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MethodId(pub u64);

/// What a client asks of a pod: one line on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Request {
    /// What it asks for.
    #[serde(flatten)]
    pub method: Method,
    /// Its number.
    pub id: MethodId,
}

/// What became of a request: one line on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Response {
    /// The request's number; `None` where none could be read.
    pub id: Option<MethodId>,
    /// What it got.
    #[serde(flatten)]
    pub outcome: ResponseOutcome,
}

/// What a request got.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseOutcome {
    /// What it asked for.
    Result(Reply),
    /// An error: nothing was done.
    Error(MethodError),
}

impl From<Result<Reply, MethodError>> for ResponseOutcome {
    fn from(result: Result<Reply, MethodError>) -> Self {
        match result {
            Ok(reply) => Self::Result(reply),
            Err(error) => Self::Error(error),
        }
    }
}

/// What a client can ask for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "method", content = "params", rename_all = "snake_case")]
pub enum Method {
    /// Who the client is: the first request of a connection.
    Hello(Hello),
    /// Starts a turn with a prompt, or goes on with one that was cut off.
    Run(Run),
    /// Cancels the turn that runs; its open permission requests settle as `cancelled`.
    Cancel(Cancel),
    /// Stops the pod; open permission requests settle as `pod_stopped`, or wait for the next pod of the session.
    Stop(Stop),
    /// Chooses the events to be sent, and asks for a new snapshot.
    Subscribe(Subscribe),
    /// The open permission requests, oldest first.
    PermissionList(PermissionList),
    /// Answers a permission request.
    PermissionReply(PermissionReply),
    /// What an `always` would let run; nothing is decided by it.
    PermissionPreview(PermissionPreview),
    /// Says no to every open permission request.
    PermissionRejectAll(PermissionRejectAll),
    /// The grants that count for this session, oldest first.
    GrantsList(GrantsList),
    /// Takes back a grant.
    GrantsRevoke(GrantsRevoke),
    /// How the verdict over a call that is made up would come about; nothing is decided by it.
    Explain(Explain),
    /// How the verdict over a call of this session came about, and what its rules say of it now.
    ExplainCall(ExplainCall),
    /// Ends a skill that is active: its lists restrict nothing from the next model request on.
    SkillEnd(SkillEnd),
    /// Says anew whether the client can approve, as it did in `hello`.
    Attend(Attend),
    /// Answers the event `ping`.
    Pong(Pong),
}

/// The name of a method.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// See [`Method::Hello`].
    Hello,
    /// See [`Method::Run`].
    Run,
    /// See [`Method::Cancel`].
    Cancel,
    /// See [`Method::Stop`].
    Stop,
    /// See [`Method::Subscribe`].
    Subscribe,
    /// See [`Method::PermissionList`].
    PermissionList,
    /// See [`Method::PermissionReply`].
    PermissionReply,
    /// See [`Method::PermissionPreview`].
    PermissionPreview,
    /// See [`Method::PermissionRejectAll`].
    PermissionRejectAll,
    /// See [`Method::GrantsList`].
    GrantsList,
    /// See [`Method::GrantsRevoke`].
    GrantsRevoke,
    /// See [`Method::Explain`].
    Explain,
    /// See [`Method::ExplainCall`].
    ExplainCall,
    /// See [`Method::SkillEnd`].
    SkillEnd,
    /// See [`Method::Attend`].
    Attend,
    /// See [`Method::Pong`].
    Pong,
}

impl MethodName {
    /// All of them, in the order of their declaration.
    pub const ALL: &'static [Self] = &[
        Self::Hello,
        Self::Run,
        Self::Cancel,
        Self::Stop,
        Self::Subscribe,
        Self::PermissionList,
        Self::PermissionReply,
        Self::PermissionPreview,
        Self::PermissionRejectAll,
        Self::GrantsList,
        Self::GrantsRevoke,
        Self::Explain,
        Self::ExplainCall,
        Self::SkillEnd,
        Self::Attend,
        Self::Pong,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Run => "run",
            Self::Cancel => "cancel",
            Self::Stop => "stop",
            Self::Subscribe => "subscribe",
            Self::PermissionList => "permission_list",
            Self::PermissionReply => "permission_reply",
            Self::PermissionPreview => "permission_preview",
            Self::PermissionRejectAll => "permission_reject_all",
            Self::GrantsList => "grants_list",
            Self::GrantsRevoke => "grants_revoke",
            Self::Explain => "explain",
            Self::ExplainCall => "explain_call",
            Self::SkillEnd => "skill_end",
            Self::Attend => "attend",
            Self::Pong => "pong",
        }
    }

    /// The method with this name on the wire.
    #[must_use]
    pub fn from_wire(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.as_str() == name)
    }
}

impl Method {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> MethodName {
        match self {
            Self::Hello(_) => MethodName::Hello,
            Self::Run(_) => MethodName::Run,
            Self::Cancel(_) => MethodName::Cancel,
            Self::Stop(_) => MethodName::Stop,
            Self::Subscribe(_) => MethodName::Subscribe,
            Self::PermissionList(_) => MethodName::PermissionList,
            Self::PermissionReply(_) => MethodName::PermissionReply,
            Self::PermissionPreview(_) => MethodName::PermissionPreview,
            Self::PermissionRejectAll(_) => MethodName::PermissionRejectAll,
            Self::GrantsList(_) => MethodName::GrantsList,
            Self::GrantsRevoke(_) => MethodName::GrantsRevoke,
            Self::Explain(_) => MethodName::Explain,
            Self::ExplainCall(_) => MethodName::ExplainCall,
            Self::SkillEnd(_) => MethodName::SkillEnd,
            Self::Attend(_) => MethodName::Attend,
            Self::Pong(_) => MethodName::Pong,
        }
    }
}

/// Who a client is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// Its name, shown to people and written into the decision log.
    pub client: String,
    /// Its own version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it can answer permission requests: while no such client is there, they are refused, or
    /// wait, as the manifest says. Such a client must answer pings.
    #[serde(default)]
    pub can_approve: bool,
    /// The names of the events to be sent, as in `subscribe`; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
}

/// The pod's answer to `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Welcome {
    /// The version of the protocol that the pod speaks.
    pub protocol: u32,
    /// The version of podward.
    pub version: String,
    /// The pod's name.
    pub pod: String,
    /// The names of the pods above it, outermost first.
    #[serde(default)]
    pub path: Vec<String>,
    /// The session.
    pub session: SessionId,
    /// The number of this connection, as in `client_joined`.
    pub client: u64,
    /// Whether the pod takes answers to permission requests from this client: it said that it can, and
    /// it does not descend from the pod.
    pub can_approve: bool,
    /// How often the pod sends a ping, in milliseconds.
    pub ping_interval_ms: u64,
    /// The longest line that the pod reads, in bytes.
    pub max_request_bytes: u64,
}

/// Starts a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What the model is told; absent to go on with a turn that was cut off. A prompt that begins
    /// with `/name` starts the skill of that name, and the rest is what it is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// A skill to start with the prompt; the prompt may then be absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
}

/// A turn began; that it ended is told by the event `turn_ended` with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunStarted {
    /// The turn's number in its session, from 1.
    pub turn: u64,
}

/// Cancels the turn that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancel {}

/// The turn is being cancelled: the event `turn_ended` tells when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelStarted {
    /// The turn's number in its session, from 1.
    pub turn: u64,
}

/// Stops the pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {}

/// The pod stops: the connection is closed when it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopStarted {}

/// Chooses the events to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subscribe {
    /// Their names; absent for all. `snapshot_started`, `snapshot_end`, `ping` and `closing` are always
    /// sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
}

/// The events are chosen; a snapshot of them follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subscribed {
    /// Their names, those that are always sent included.
    pub events: Vec<String>,
}

/// Asks for open permission requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionList {
    /// Only those after this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<RequestId>,
    /// At most so many; the pod may send fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Open permission requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenRequests {
    /// Oldest first.
    pub requests: Vec<PermissionRequest>,
    /// Whether there are more after the last of them.
    pub more: bool,
}

/// Answers a permission request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionReply {
    /// The request.
    pub id: RequestId,
    /// The digest that was shown with it.
    pub digest: String,
    /// The answer.
    pub answer: Answer,
    /// Who gave it, where the client is the pod above and passes it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Says no to every open permission request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionRejectAll {
    /// What the model reads, word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// What an answer settled; sent after it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// The request that was answered, and every other one that was settled with it.
    pub settled: Vec<PermissionSettled>,
}

/// Asks for grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantsList {
    /// Only those after this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<GrantId>,
    /// At most so many; the pod may send fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grants {
    /// Oldest first.
    pub grants: Vec<Grant>,
    /// Whether there are more after the last of them.
    pub more: bool,
}

/// Takes back a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantsRevoke {
    /// The grant.
    pub id: GrantId,
}

/// A grant was taken back; sent after it is gone from the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revoked {
    /// The grant as it was.
    pub grant: Grant,
}

/// What a method gets, one for each.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Reply {
    /// Of `hello`.
    Hello(Welcome),
    /// Of `run`.
    Run(RunStarted),
    /// Of `cancel`.
    Cancel(CancelStarted),
    /// Of `stop`.
    Stop(StopStarted),
    /// Of `subscribe`.
    Subscribe(Subscribed),
    /// Of `permission_list`.
    PermissionList(OpenRequests),
    /// Of `permission_reply`.
    PermissionReply(Settled),
    /// Of `permission_preview`.
    PermissionPreview(Preview),
    /// Of `permission_reject_all`.
    PermissionRejectAll(Settled),
    /// Of `grants_list`.
    GrantsList(Grants),
    /// Of `grants_revoke`.
    GrantsRevoke(Revoked),
    /// Of `explain`.
    Explain(Box<Explanation>),
    /// Of `explain_call`.
    ExplainCall(Box<ExplainedCall>),
    /// Of `skill_end`.
    SkillEnd(SkillEndStarted),
    /// Of `attend`.
    Attend(AttendHeard),
    /// Of `pong`.
    Pong(PongHeard),
}

impl Reply {
    /// The method it is of.
    #[must_use]
    pub const fn method(&self) -> MethodName {
        match self {
            Self::Hello(_) => MethodName::Hello,
            Self::Run(_) => MethodName::Run,
            Self::Cancel(_) => MethodName::Cancel,
            Self::Stop(_) => MethodName::Stop,
            Self::Subscribe(_) => MethodName::Subscribe,
            Self::PermissionList(_) => MethodName::PermissionList,
            Self::PermissionReply(_) => MethodName::PermissionReply,
            Self::PermissionPreview(_) => MethodName::PermissionPreview,
            Self::PermissionRejectAll(_) => MethodName::PermissionRejectAll,
            Self::GrantsList(_) => MethodName::GrantsList,
            Self::GrantsRevoke(_) => MethodName::GrantsRevoke,
            Self::Explain(_) => MethodName::Explain,
            Self::ExplainCall(_) => MethodName::ExplainCall,
            Self::SkillEnd(_) => MethodName::SkillEnd,
            Self::Attend(_) => MethodName::Attend,
            Self::Pong(_) => MethodName::Pong,
        }
    }
}
