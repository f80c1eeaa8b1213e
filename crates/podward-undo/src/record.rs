//! What one deed changed, as it is written down.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bytes::TreePath;
use crate::node::Node;

/// The number of the format of records.
pub(crate) const FORMAT: u32 = 1;

/// One name whose meaning a deed changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The name.
    pub path: TreePath,
    /// What stood there before; `None`: nothing.
    pub before: Option<Node>,
    /// What stood there after; `None`: nothing.
    pub after: Option<Node>,
}

/// Whose deed it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeedName {
    /// The id of the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What it was called with, in short.
    pub summary: String,
}

/// What kind of deed changed something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Calls that ran at the same time.
    Calls(Vec<DeedName>),
    /// A deed was undone: the number of its record.
    UndoOf(u64),
}

/// A deed that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) format: u32,
    /// Its number in the store: a later deed has a greater one.
    pub(crate) number: u64,
    pub(crate) session: String,
    /// When it began, in milliseconds since 1970.
    pub(crate) time: i64,
    pub(crate) kind: Kind,
    /// It was never seen to end: what it changed may be the work of others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut_off: bool,
    /// In order.
    pub(crate) changes: Vec<Change>,
}

/// A deed that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenRecord {
    pub(crate) format: u32,
    pub(crate) number: u64,
    pub(crate) session: String,
    pub(crate) time: i64,
    pub(crate) kind: Kind,
    /// Who does it: the name of a file that is locked as long as they live.
    pub(crate) owner: String,
    /// The snapshot of the workspace before it, if it may change anything.
    pub(crate) snapshot: Option<u64>,
    /// What stood under single names before it.
    pub(crate) before: Vec<(TreePath, Option<Node>)>,
    /// Of an undo: everything it is about to do.
    pub(crate) steps: Vec<Change>,
}

impl Record {
    pub(crate) fn id(&self) -> String {
        id_of(&self.kind, self.number)
    }
}

/// How people name a deed: by the first of its calls, or as an undo: a call has no `:` in its id.
pub(crate) fn id_of(kind: &Kind, number: u64) -> String {
    match kind {
        Kind::Calls(calls) => calls
            .first()
            .map_or_else(|| number.to_string(), |deed| deed.call.clone()),
        Kind::UndoOf(_) => format!("undo:{number}"),
    }
}

impl fmt::Display for DeedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.call, self.tool)
    }
}
