//! The wire types of a pod: methods, events, ids, versions and their JSON Lines codec.
//!
//! It must never know a policy, a worker, a file or a clock: it says what is sent, not what it
//! means. Domain types are turned into these by hand, where the pod meets its clients.
//!
//! One value is one line; what a client sends, what it gets, and what a pod tells:
//!
//! ```text
//! {"method":"run","params":{"prompt":"Hi"},"id":1}
//! {"id":1,"result":{"turn":1}}
//! {"time":"2026-01-02T03:04:05.678Z","session":"01JD…","seq":7,"event":"text_delta","data":{"text":"Hi"}}
//! ```
//!
//! A client tolerates fields it does not know; an event it does not know is a typed error
//! ([`DecodeError::UnknownEvent`]) that it may skip. A pod does not tolerate parameters it does not
//! know: see [`Method`].

mod child;
mod choice;
mod circumstances;
mod codec;
mod connection;
mod event;
mod explanation;
mod grant;
pub mod hook;
mod id;
mod method;
mod method_error;
mod permission;
mod preview;
mod registry;
mod schema;
mod skill;
mod time;
mod verdict;

pub use child::{ChildWork, ChildWorked};
pub use choice::{Choice, ChoicePart, Width};
pub use circumstances::{Circumstances, ExpandedWord, Input};
pub use codec::{
    DecodeError, EncodeError, Line, MAX_LINE_BYTES, MAX_REQUEST_BYTES, RawReply, RawResponse,
    RefusedRequest, decode, decode_line, decode_request, encode, encode_request, encode_response,
    is_invisible, json_line,
};
pub use connection::{
    ClientJoined, ClientLeft, CloseReason, Closing, Ping, SnapshotEnd, SnapshotStarted,
};
pub use event::{
    CallCount, Confinement, ConfinementLevel, Envelope, ErrorCode, ErrorRaised, Event, LimitName,
    Notice, SessionStarted, Status, TextDelta, ToolCallArguments, ToolCallFinished,
    ToolCallStarted, ToolCallVerdict, ToolOutcome, TurnEndReason, TurnEnded, TurnStarted, Usage,
};
pub use explanation::{
    Change, Explain, ExplainCall, ExplainedCall, ExplainedOperation, Explanation, HoleKind,
    LayerSays, PastDecision, RuleToAdd, Stands, Tried, TriedRule,
};
pub use grant::{AskedBy, Asker, Grant, GrantAdded, GrantEnd, GrantFor, GrantRevoked, GrantRule};
pub use id::{CallId, GrantId, RequestId, SessionId, SessionIdError};
pub use method::{
    Attend, AttendHeard, Cancel, CancelStarted, Grants, GrantsList, GrantsRevoke, Hello, Method,
    MethodId, MethodName, OpenRequests, Params, PermissionList, PermissionRejectAll,
    PermissionReply, Pong, PongHeard, Reply, Request, Response, ResponseOutcome, Revoked, Run,
    RunStarted, Settled, Stop, StopStarted, Subscribe, Subscribed, Welcome,
};
pub use method_error::{AlreadySettled, EditDenied, MethodError, MethodErrorCode};
pub use permission::{
    Always, Answer, AskReason, AskedSkill, Asking, Chosen, ChosenPattern, Outcome,
    PermissionRequest, PermissionSettled,
};
pub use preview::{PermissionPreview, Preview, PreviewPart};
pub use registry::{POD_ENTRY_FORMAT, PodEntry};
pub use schema::{
    events_schema, explained_call_schema, explanation_schema, methods_schema, responses_schema,
};
pub use skill::{
    SkillEnd, SkillEndReason, SkillEndStarted, SkillEnded, SkillStarted, SkillStarter,
};
pub use time::{Time, TimeError};
pub use verdict::{
    Cause, Coverage, DecidedBy, Need, Operation, Place, RefusalCause, Ruling, SkillSays, Span,
    SubjectKind, Verdict,
};

/// The version of this protocol. It grows when a reader of the version before would misread a
/// line; new events, methods and fields alone do not change it.
pub const PROTOCOL_VERSION: u32 = 2;
