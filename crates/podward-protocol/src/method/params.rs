//! Which method gets what.

use crate::explanation::{Explain, ExplainCall, ExplainedCall, Explanation};
use crate::method::{
    Attend, AttendHeard, Cancel, CancelStarted, Grants, GrantsList, GrantsRevoke, Hello, Method,
    OpenRequests, PermissionList, PermissionRejectAll, PermissionReply, Pong, PongHeard, Reply,
    Revoked, Run, RunStarted, Settled, SkillEnd, SkillEndStarted, Stop, StopStarted, Subscribe,
    Subscribed, Welcome,
};
use crate::preview::{PermissionPreview, Preview};

/// The parameters of a method.
pub trait Params: Into<Method> {
    /// What the method gets.
    type Reply;

    /// What this method gets; `None` for a reply to another one.
    fn of(reply: Reply) -> Option<Self::Reply>;
}

impl From<Hello> for Method {
    fn from(params: Hello) -> Self {
        Self::Hello(params)
    }
}

impl Params for Hello {
    type Reply = Welcome;

    fn of(reply: Reply) -> Option<Welcome> {
        match reply {
            Reply::Hello(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<Run> for Method {
    fn from(params: Run) -> Self {
        Self::Run(params)
    }
}

impl Params for Run {
    type Reply = RunStarted;

    fn of(reply: Reply) -> Option<RunStarted> {
        match reply {
            Reply::Run(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<Cancel> for Method {
    fn from(params: Cancel) -> Self {
        Self::Cancel(params)
    }
}

impl Params for Cancel {
    type Reply = CancelStarted;

    fn of(reply: Reply) -> Option<CancelStarted> {
        match reply {
            Reply::Cancel(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<Stop> for Method {
    fn from(params: Stop) -> Self {
        Self::Stop(params)
    }
}

impl Params for Stop {
    type Reply = StopStarted;

    fn of(reply: Reply) -> Option<StopStarted> {
        match reply {
            Reply::Stop(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<Subscribe> for Method {
    fn from(params: Subscribe) -> Self {
        Self::Subscribe(params)
    }
}

impl Params for Subscribe {
    type Reply = Subscribed;

    fn of(reply: Reply) -> Option<Subscribed> {
        match reply {
            Reply::Subscribe(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<PermissionList> for Method {
    fn from(params: PermissionList) -> Self {
        Self::PermissionList(params)
    }
}

impl Params for PermissionList {
    type Reply = OpenRequests;

    fn of(reply: Reply) -> Option<OpenRequests> {
        match reply {
            Reply::PermissionList(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<PermissionReply> for Method {
    fn from(params: PermissionReply) -> Self {
        Self::PermissionReply(params)
    }
}

impl Params for PermissionReply {
    type Reply = Settled;

    fn of(reply: Reply) -> Option<Settled> {
        match reply {
            Reply::PermissionReply(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<PermissionRejectAll> for Method {
    fn from(params: PermissionRejectAll) -> Self {
        Self::PermissionRejectAll(params)
    }
}

impl Params for PermissionRejectAll {
    type Reply = Settled;

    fn of(reply: Reply) -> Option<Settled> {
        match reply {
            Reply::PermissionRejectAll(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<GrantsList> for Method {
    fn from(params: GrantsList) -> Self {
        Self::GrantsList(params)
    }
}

impl Params for GrantsList {
    type Reply = Grants;

    fn of(reply: Reply) -> Option<Grants> {
        match reply {
            Reply::GrantsList(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<GrantsRevoke> for Method {
    fn from(params: GrantsRevoke) -> Self {
        Self::GrantsRevoke(params)
    }
}

impl Params for GrantsRevoke {
    type Reply = Revoked;

    fn of(reply: Reply) -> Option<Revoked> {
        match reply {
            Reply::GrantsRevoke(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<Explain> for Method {
    fn from(params: Explain) -> Self {
        Self::Explain(params)
    }
}

impl Params for Explain {
    type Reply = Explanation;

    fn of(reply: Reply) -> Option<Explanation> {
        match reply {
            Reply::Explain(reply) => Some(*reply),
            _ => None, // of another method
        }
    }
}

impl From<PermissionPreview> for Method {
    fn from(params: PermissionPreview) -> Self {
        Self::PermissionPreview(params)
    }
}

impl Params for PermissionPreview {
    type Reply = Preview;

    fn of(reply: Reply) -> Option<Preview> {
        match reply {
            Reply::PermissionPreview(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<ExplainCall> for Method {
    fn from(params: ExplainCall) -> Self {
        Self::ExplainCall(params)
    }
}

impl Params for ExplainCall {
    type Reply = ExplainedCall;

    fn of(reply: Reply) -> Option<ExplainedCall> {
        match reply {
            Reply::ExplainCall(reply) => Some(*reply),
            _ => None, // of another method
        }
    }
}

impl From<SkillEnd> for Method {
    fn from(params: SkillEnd) -> Self {
        Self::SkillEnd(params)
    }
}

impl Params for SkillEnd {
    type Reply = SkillEndStarted;

    fn of(reply: Reply) -> Option<SkillEndStarted> {
        match reply {
            Reply::SkillEnd(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<Attend> for Method {
    fn from(params: Attend) -> Self {
        Self::Attend(params)
    }
}

impl Params for Attend {
    type Reply = AttendHeard;

    fn of(reply: Reply) -> Option<AttendHeard> {
        match reply {
            Reply::Attend(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}

impl From<Pong> for Method {
    fn from(params: Pong) -> Self {
        Self::Pong(params)
    }
}

impl Params for Pong {
    type Reply = PongHeard;

    fn of(reply: Reply) -> Option<PongHeard> {
        match reply {
            Reply::Pong(reply) => Some(reply),
            _ => None, // of another method
        }
    }
}
