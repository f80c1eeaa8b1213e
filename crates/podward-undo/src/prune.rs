//! Forgetting: the oldest deeds first, then the contents that nothing refers to.

use std::collections::BTreeMap;

use crate::error::UndoError;
use crate::node::{Digest, Node};
use crate::objects::Objects;
use crate::record::{Change, Record};
use crate::snapshot::Snapshot;
use crate::store::Store;

/// What may stay.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Bytes of all contents.
    pub(crate) bytes: u64,
    /// What began before this is forgotten, in milliseconds since 1970.
    pub(crate) since: i64,
}

/// Forgets what is too old and, oldest first, what is too much; never the newest deed for its
/// size, nor anything that a deed which has not ended may need. `also` is still needed too.
pub(crate) fn prune(
    store: &Store,
    objects: &mut Objects,
    bounds: Bounds,
    also: &Snapshot,
) -> Result<(), UndoError> {
    let mut live = Live::default();
    live.add_snapshot(also);
    for number in store.snapshots()? {
        if let Some(snapshot) = store.snapshot(number) {
            live.add_snapshot(&snapshot);
        }
    }
    for open in store.open_records()? {
        live.add_nodes(open.before.iter().filter_map(|(_, node)| node.as_ref()));
        live.add_nodes(nodes(&open.steps));
    }
    let mut forgotten: Vec<Record> = Vec::new();
    for (at, record) in store.records()?.into_iter().rev().enumerate() {
        let is_too_much =
            at > 0 && live.total.saturating_add(live.more(&record.changes)) > bounds.bytes;
        if !forgotten.is_empty() || record.time < bounds.since || is_too_much {
            forgotten.push(record);
        } else {
            live.add_nodes(nodes(&record.changes));
        }
    }
    for record in &forgotten {
        store.remove_record(record)?;
    }
    if forgotten.is_empty() && objects.total() <= live.total {
        // Every content is needed: looking for others would cost more than all the rest.
        return Ok(());
    }
    objects.sweep(&live.digests.into_keys().collect())
}

/// Removes the snapshots that neither the newest deed nor one that has not ended needs.
pub(crate) fn drop_snapshots(store: &Store) -> Result<(), UndoError> {
    let mut numbers = store.snapshots()?;
    numbers.pop();
    if numbers.is_empty() {
        return Ok(());
    }
    let open = store.open_records()?;
    for number in numbers {
        if !open.iter().any(|open| open.snapshot == Some(number)) {
            store.remove_snapshot(number)?;
        }
    }
    Ok(())
}

fn nodes(changes: &[Change]) -> impl Iterator<Item = &Node> {
    changes
        .iter()
        .flat_map(|change| [&change.before, &change.after])
        .filter_map(Option::as_ref)
}

/// The contents that are needed.
#[derive(Default)]
struct Live {
    digests: BTreeMap<Digest, u64>,
    total: u64,
}

impl Live {
    fn add_snapshot(&mut self, snapshot: &Snapshot) {
        self.add_nodes(snapshot.items.values().map(|item| &item.node));
    }

    fn add_nodes<'a>(&mut self, nodes: impl Iterator<Item = &'a Node>) {
        for (digest, len) in nodes.filter_map(Node::object) {
            if self.digests.insert(digest, len).is_none() {
                self.total = self.total.saturating_add(len);
            }
        }
    }

    /// Bytes that would come to them.
    fn more(&self, changes: &[Change]) -> u64 {
        let new: BTreeMap<Digest, u64> = nodes(changes)
            .filter_map(Node::object)
            .filter(|(digest, _)| !self.digests.contains_key(digest))
            .collect();
        new.values()
            .fold(0, |total, len| total.saturating_add(*len))
    }
}
