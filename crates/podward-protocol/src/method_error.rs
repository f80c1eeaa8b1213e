//! Why a method did nothing.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::permission::Outcome;
use crate::verdict::{DecidedBy, Operation, Ruling};

/// An error of a method: nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MethodError {
    /// What kind of error it is.
    #[serde(flatten)]
    pub code: MethodErrorCode,
    /// What is wrong, for people: lower case, no full stop.
    pub message: String,
    /// What can be done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl MethodError {
    /// An error without help.
    #[must_use]
    pub fn new(code: MethodErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: None,
        }
    }

    /// The same, with what can be done.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for MethodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MethodError {}

/// Kinds of errors of methods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", content = "data", rename_all = "snake_case")]
pub enum MethodErrorCode {
    /// The line is no request. The connection stays open.
    Malformed,
    /// The line is longer than the pod reads. The connection is closed.
    TooLong,
    /// There is no such method.
    UnknownMethod,
    /// The parameters do not fit the method, or one of them is not known.
    InvalidParams,
    /// Nothing is answered before `hello`. The connection is closed.
    HelloFirst,
    /// The pod speaks another version of the protocol. The connection is closed.
    Version {
        /// The version that it speaks.
        protocol: u32,
    },
    /// This client may not do that: it descends from the pod, or it did not say that it can approve.
    NotAllowed,
    /// Too many requests of this client are without a response.
    TooMany,
    /// A turn runs already.
    Busy,
    /// No turn runs.
    Idle,
    /// No turn was cut off that could be gone on with.
    NothingToResume,
    /// This session never had a permission request with this id.
    UnknownRequest,
    /// The permission request was settled before this answer came.
    AlreadySettled(Box<AlreadySettled>),
    /// The answer is to something else than what is asked now: it was not counted.
    DigestMismatch,
    /// The rules deny the new arguments. The permission request stays open.
    EditDenied(Box<EditDenied>),
    /// The new arguments do not fit the tool. The permission request stays open.
    EditInvalid,
    /// The pattern covers too much, does not compile, or does not cover the call. The permission request
    /// stays open.
    PatternRefused {
        /// The place of the operation it was for, from 0, in the request's list.
        operation: usize,
    },
    /// `always` cannot answer this. The permission request stays open.
    NotGrantable,
    /// This session has no call with this id.
    UnknownCall,
    /// There is no grant with this id.
    UnknownGrant,
    /// There is no skill of this name, or none that is active.
    UnknownSkill,
    /// The skill cannot start: its `SKILL.md` has errors, it is active already, or too many are.
    SkillRefused,
    /// The session, the decision log or the grants cannot be written.
    Storage,
    /// The pod stops.
    Stopping,
    /// A fault of podward itself.
    Internal,
}

/// Who was faster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlreadySettled {
    /// What became of the permission request.
    pub outcome: Outcome,
    /// Who settled it.
    pub by: DecidedBy,
}

/// Why new arguments are denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditDenied {
    /// What the call would do with them.
    pub operations: Vec<Operation>,
    /// The verdict and its cause.
    pub ruling: Ruling,
}

impl MethodErrorCode {
    /// The words on the wire, the values of `code`, in the order of their declaration.
    pub const NAMES: &'static [&'static str] = &[
        "malformed",
        "too_long",
        "unknown_method",
        "invalid_params",
        "hello_first",
        "version",
        "not_allowed",
        "too_many",
        "busy",
        "idle",
        "nothing_to_resume",
        "unknown_request",
        "already_settled",
        "digest_mismatch",
        "edit_denied",
        "edit_invalid",
        "pattern_refused",
        "not_grantable",
        "unknown_call",
        "unknown_grant",
        "unknown_skill",
        "skill_refused",
        "storage",
        "stopping",
        "internal",
    ];

    /// The word on the wire, the value of `code`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::TooLong => "too_long",
            Self::UnknownMethod => "unknown_method",
            Self::InvalidParams => "invalid_params",
            Self::HelloFirst => "hello_first",
            Self::Version { .. } => "version",
            Self::NotAllowed => "not_allowed",
            Self::TooMany => "too_many",
            Self::Busy => "busy",
            Self::Idle => "idle",
            Self::NothingToResume => "nothing_to_resume",
            Self::UnknownRequest => "unknown_request",
            Self::AlreadySettled(_) => "already_settled",
            Self::DigestMismatch => "digest_mismatch",
            Self::EditDenied(_) => "edit_denied",
            Self::EditInvalid => "edit_invalid",
            Self::PatternRefused { .. } => "pattern_refused",
            Self::NotGrantable => "not_grantable",
            Self::UnknownCall => "unknown_call",
            Self::UnknownGrant => "unknown_grant",
            Self::UnknownSkill => "unknown_skill",
            Self::SkillRefused => "skill_refused",
            Self::Storage => "storage",
            Self::Stopping => "stopping",
            Self::Internal => "internal",
        }
    }
}
