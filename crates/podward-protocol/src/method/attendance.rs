//! Whether a client is there, and can approve.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Says anew whether the client can approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attend {
    /// Whether it can; `false` where it only looks on.
    pub can_approve: bool,
}

/// It is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttendHeard {
    /// Whether the client counts as one that can approve from now on.
    pub can_approve: bool,
}

/// Answers a ping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pong {
    /// The ping's number.
    pub n: u64,
}

/// The pong was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PongHeard {}
