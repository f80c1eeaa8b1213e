//! One call judged by rules, without a way to run it.

use podward_policy::{Action, Lowered, Policies, Ruling};
use podward_protocol as wire;
use podward_tools::{BadCall, Place, lower};
use serde_json::Value;

/// What became of a call.
#[derive(Debug)]
pub(crate) enum Judged {
    /// It is no call: never judged, which refuses it.
    BadCall(BadCall),
    /// It was judged.
    Ruled { lowered: Lowered, ruling: Ruling },
}

/// Lowers a call and judges it.
pub(crate) fn judge(policies: &Policies, tool: &str, arguments: Value, place: &Place) -> Judged {
    match lower(tool, arguments, place) {
        Err(bad_call) => Judged::BadCall(bad_call),
        Ok((_, lowered)) => {
            let ruling = policies.judge(&lowered);
            Judged::Ruled { lowered, ruling }
        }
    }
}

impl Judged {
    /// The verdict; a bad call is refused.
    pub(crate) const fn action(&self) -> Action {
        match self {
            Self::BadCall(_) => Action::Deny,
            Self::Ruled { ruling, .. } => ruling.action,
        }
    }

    /// The verdict with its cause, as it is sent.
    pub(crate) fn wire_ruling(&self) -> wire::Ruling {
        match self {
            Self::BadCall(bad_call) => podward_pod::wire::bad_call(bad_call),
            Self::Ruled { ruling, .. } => podward_pod::wire::ruling(ruling),
        }
    }

    /// What the call would do, as it is sent.
    pub(crate) fn wire_operations(&self) -> Vec<wire::Operation> {
        match self {
            Self::BadCall(_) => Vec::new(),
            Self::Ruled { lowered, .. } => podward_pod::wire::operations(lowered),
        }
    }
}
