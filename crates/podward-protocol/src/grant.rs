//! A remembered approval on the wire.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::circumstances::Circumstances;
use crate::codec::{object, present};
use crate::id::GrantId;
use crate::time::Time;

/// A remembered approval: it turns ask into allow, for what its patterns match, and only for the
/// layers and rules that it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// What it covers; a call that asks in several parts needs each of them covered.
    pub rules: Vec<GrantRule>,
    /// How long it was given for.
    #[serde(rename = "for")]
    pub lasts: GrantFor,
    /// The name of the client that gave it.
    pub by: String,
    /// When it was given.
    pub at: Time,
    /// What was asked about when it was given, for people.
    pub why: String,
    /// When it ends; absent if it does not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// How many calls it still lets run; absent if they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses_left: Option<u32>,
}

/// One pattern of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct GrantRule {
    /// The tool it is for.
    pub tool: String,
    /// The pattern.
    pub pattern: String,
    /// What asked when it was given: nothing else is answered by it.
    pub askers: Vec<Asker>,
    /// What it was given for.
    #[serde(flatten)]
    pub given: Circumstances,
}

/// What asks about an operation, by what stays the same from one run to the next.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Asker {
    /// The layer, as in a ruling's cause.
    pub layer: String,
    /// What asks in it.
    pub by: AskedBy,
}

/// What asks in a layer.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskedBy {
    /// A rule.
    Rule {
        /// Its tool, as written.
        tool: String,
        /// Its pattern, as written.
        pattern: String,
    },
    /// `default_action`.
    Default,
    /// `unresolved`: the text holds parts that are not known before it runs.
    Unresolved,
    /// No rule names an address that is not public.
    Unnamed,
}

/// How long a remembered approval counts. It is read strictly: a field that does not belong to its kind
/// is an error.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(deny_unknown_fields)]
pub enum GrantFor {
    /// For this session, also when it is gone on with later.
    Session,
    /// For every session in this workspace.
    Project,
    /// For every session in this workspace, until a time.
    Until {
        /// When it ends.
        time: Time,
    },
    /// For so many calls of any session in this workspace.
    Uses {
        /// How many, from 1.
        #[schemars(range(min = 1))]
        n: u32,
    },
}

/// A time span as it is written, whatever its kind. A field that is there and `null` is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFor {
    kind: ForKind,
    #[serde(default, deserialize_with = "present")]
    time: Option<Time>,
    #[serde(default, deserialize_with = "present")]
    n: Option<NonZeroU32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ForKind {
    Session,
    Project,
    Until,
    Uses,
}

impl<'de> Deserialize<'de> for GrantFor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WrittenFor { kind, time, n } = object(deserializer)?;
        match (kind, time, n) {
            (ForKind::Session, None, None) => Ok(Self::Session),
            (ForKind::Project, None, None) => Ok(Self::Project),
            (ForKind::Until, Some(time), None) => Ok(Self::Until { time }),
            (ForKind::Uses, None, Some(n)) => Ok(Self::Uses { n: n.get() }),
            (kind, _, _) => Err(D::Error::custom(kind.takes())), // a field too many or too few
        }
    }
}

impl ForKind {
    const fn takes(self) -> &'static str {
        match self {
            Self::Session => "`for` of the kind `session` takes no other field",
            Self::Project => "`for` of the kind `project` takes no other field",
            Self::Until => "`for` of the kind `until` takes `time` and no other field",
            Self::Uses => "`for` of the kind `uses` takes `n` and no other field",
        }
    }
}

/// A grant counts from now on. Sent after it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantAdded {
    /// The grant.
    pub grant: Grant,
}

/// A grant counts no longer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct GrantRevoked {
    /// The grant.
    pub id: GrantId,
    /// Why.
    pub reason: GrantEnd,
}

/// Why a grant counts no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantEnd {
    /// Somebody took it back.
    Revoked,
    /// Its time is over.
    Expired,
    /// It let as many calls run as it was given for.
    UsedUp,
}
