//! What a pod tells about its clients, and one client about its own connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A client was welcomed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ClientJoined {
    /// The number of its connection: no other client of this run has it.
    pub client: u64,
    /// The name it gave.
    pub name: String,
    /// Whether it can answer permission requests.
    pub can_approve: bool,
}

/// A client left, or was silent for too long.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ClientLeft {
    /// The number of its connection.
    pub client: u64,
    /// The name it gave.
    pub name: String,
    /// Whether it could answer permission requests.
    pub can_approve: bool,
}

/// Are you there? Answered with the method `pong` and the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Ping {
    /// Its number on this connection.
    pub n: u64,
}

/// A snapshot begins: what follows, up to `snapshot_end`, tells what already was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotStarted {}

/// The snapshot is complete: what follows is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotEnd {
    /// The `seq` of the last event that is part of the snapshot; the next event of the session has
    /// the number after it.
    pub seq: u64,
}

/// The pod closes this connection: no further line comes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Closing {
    /// Why.
    pub reason: CloseReason,
    /// The same, for people, with what can be done.
    pub message: String,
}

/// Why a pod closes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CloseReason {
    /// The client read too slowly: it can connect again and gets a new snapshot.
    TooSlow,
    /// The client answered no ping for too long.
    Silent,
    /// The client sent a line that the pod cannot go on after.
    BadLine,
    /// The pod stops.
    Stopping,
    /// A fault of podward itself.
    Internal,
}
