//! What a workspace holds at one time. It is also the cache: a file that looks as it did is not
//! read again.

mod code;

use std::collections::BTreeMap;

use rustix::fs::Stat;

use crate::bytes::TreePath;
use crate::node::{Node, changed_of, len_of, modified_of};
use crate::record::Change;

pub(crate) use code::{decode, encode};

/// A file whose last change is not older than this when it is read may be changed again without
/// looking any different: it is read again next time. File systems keep times as coarse as this.
const RACE: i64 = 2_000_000_000;

/// What a workspace holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) items: BTreeMap<TreePath, Item>,
}

/// What stands under one name, and how it looked when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) node: Node,
    /// Of a file that was read.
    pub(crate) stamp: Option<Stamp>,
}

/// How a file looked when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) inode: u64,
    pub(crate) len: u64,
    pub(crate) modified: i64,
    pub(crate) changed: i64,
    /// When it was read.
    pub(crate) read: i64,
}

impl Stamp {
    pub(crate) fn new(stat: &Stat, read: i64) -> Self {
        Self {
            inode: stat.st_ino,
            len: len_of(stat),
            modified: modified_of(stat),
            changed: changed_of(stat),
            read,
        }
    }

    /// Whether a file that looks so cannot have changed since it was read.
    pub(crate) fn holds(&self, stat: &Stat) -> bool {
        *self == Self::new(stat, self.read) && self.changed < self.read.saturating_sub(RACE)
    }
}

impl Snapshot {
    pub(crate) fn node(&self, path: &TreePath) -> Option<&Node> {
        self.items.get(path).map(|item| &item.node)
    }

    /// Everything that is not the same in both, in order.
    pub(crate) fn changes(&self, after: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for (path, item) in &self.items {
            let now = after.node(path);
            if now.is_none_or(|now| !now.is_same(&item.node)) {
                changes.push(Change {
                    path: path.clone(),
                    before: Some(item.node.clone()),
                    after: now.cloned(),
                });
            }
        }
        for (path, item) in &after.items {
            if !self.items.contains_key(path) {
                changes.push(Change {
                    path: path.clone(),
                    before: None,
                    after: Some(item.node.clone()),
                });
            }
        }
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        changes
    }
}

#[cfg(test)]
mod tests;
