//! How a pod that runs is found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::SessionId;
use crate::time::Time;

/// The version of an entry's format.
pub const POD_ENTRY_FORMAT: u32 = 1;

/// What a pod writes about itself beside its socket: `<session>.json` beside `<session>.sock`, in the
/// directory of all sockets. An entry whose socket nobody listens at is left over from a pod that died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PodEntry {
    /// The version of this format.
    pub format: u32,
    /// The pod's name.
    pub pod: String,
    /// The session.
    pub session: SessionId,
    /// The number of its process.
    pub pid: u32,
    /// When it started.
    pub started_at: Time,
    /// The directory it works in.
    pub workspace: String,
    /// The file of its manifest; absent if it was made from no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The version of the protocol that the pod speaks.
    pub protocol: u32,
}
