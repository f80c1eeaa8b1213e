//! What an `always` would let run, before it is given.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::RequestId;
use crate::permission::ChosenPattern;

/// Asks what an `always` with these patterns would let run; nothing is decided by it, and nothing saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionPreview {
    /// The request.
    pub id: RequestId,
    /// Its digest.
    pub digest: String,
    /// A pattern for each part that asks, as in an answer: what could not be saved is refused in the same
    /// words.
    #[serde(deserialize_with = "crate::permission::patterns")]
    pub patterns: Vec<ChosenPattern>,
}

/// What an `always` would let run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Preview {
    /// For each part that asks, in the order of their operations.
    pub parts: Vec<PreviewPart>,
}

/// Calls like one part of a call, made up and judged by the pod as if the `always` had been given.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PreviewPart {
    /// The place of the operation, from 0, in the request's list.
    pub operation: usize,
    /// Calls that are asked about now and would run, at most three.
    pub covers: Vec<String>,
    /// Calls that would not: they would be asked about still, or are denied; at most three.
    pub covers_not: Vec<String>,
}
