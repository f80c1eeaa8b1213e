//! Which method gets what.

use crate::method::{
    Cancel, CancelStarted, Grants, GrantsList, GrantsRevoke, Hello, Method, OpenRequests,
    PermissionList, PermissionRejectAll, PermissionReply, Pong, PongHeard, Reply, Revoked, Run,
    RunStarted, Settled, Stop, StopStarted, Subscribe, Subscribed, Welcome,
};

/// The parameters of a method.
pub trait Params: Into<Method> {
    /// What the method gets.
    type Reply;

    /// What this method gets; `None` for a reply to another one.
    fn of(reply: Reply) -> Option<Self::Reply>;
}

macro_rules! params {
    ($($method:ident => $reply:ty;)*) => {$(
        impl From<$method> for Method {
            fn from(params: $method) -> Self {
                Self::$method(params)
            }
        }

        impl Params for $method {
            type Reply = $reply;

            fn of(reply: Reply) -> Option<$reply> {
                match reply {
                    Reply::$method(reply) => Some(reply),
                    _ => None, // of another method
                }
            }
        }
    )*};
}

params! {
    Hello => Welcome;
    Run => RunStarted;
    Cancel => CancelStarted;
    Stop => StopStarted;
    Subscribe => Subscribed;
    PermissionList => OpenRequests;
    PermissionReply => Settled;
    PermissionRejectAll => Settled;
    GrantsList => Grants;
    GrantsRevoke => Revoked;
    Pong => PongHeard;
}
