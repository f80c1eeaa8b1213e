//! Skills: which are active, since when and by whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::CallId;

/// A skill is active: beside the rules, only what it lists may be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillStarted {
    /// Its name.
    pub name: String,
    /// The digest of its `SKILL.md` as it was when it started.
    pub digest: String,
    /// How many of the tools that the model is told of it leaves anything to do, as far as the rules
    /// do too; absent if it restricts nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_tools: Option<u64>,
    /// Its `allowed-tools`, entry by entry as written; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    /// Its `disallowed-tools`, entry by entry as written; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disallowed_tools: Vec<String>,
    /// Who started it.
    pub by: SkillStarter,
}

/// Who started a skill.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SkillStarter {
    /// A person, with a prompt.
    Prompt,
    /// The model, by its tool `skill`.
    Model {
        /// The call.
        call: CallId,
    },
    /// Nobody now: it was active when the session's last run ended.
    Session,
}

/// A skill is active no longer; what it restricted is free again from the next model request on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillEnded {
    /// Its name.
    pub name: String,
    /// Why it ended.
    pub why: SkillEndReason,
}

/// Why a skill ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SkillEndReason {
    /// Its turn is done.
    Turn,
    /// A client ended it.
    Client {
        /// Which.
        name: String,
    },
}

/// Ends a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillEnd {
    /// Its name.
    pub name: String,
}

/// The skill ends: the event `skill_ended` tells when it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillEndStarted {
    /// The turn that runs: the skill ends before its next model request, and calls that were made
    /// before are judged under it. Absent if none runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}
