//! Looking at the whole workspace, and writing down how it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::TreePath;
use crate::error::UndoError;
use crate::keeper::ending::{Ending, add_single, close};
use crate::keeper::{Settings, latest};
use crate::objects::Objects;
use crate::prune::{Bounds, prune};
use crate::record::Kind;
use crate::root::Root;
use crate::scan::Scan;
use crate::snapshot::Snapshot;
use crate::store::Store;

/// A workspace and its store; who has one has the store's lock.
pub(crate) struct Workspace<'a> {
    pub(crate) path: &'a Path,
    pub(crate) settings: &'a Settings,
    pub(crate) left_out: Vec<(u64, u64)>,
    pub(crate) store: &'a Store,
    pub(crate) objects: &'a mut Objects,
    /// The last snapshot and its number.
    pub(crate) latest: &'a mut (u64, Arc<Snapshot>),
    pub(crate) time: i64,
}

impl Workspace<'_> {
    /// The workspace as it is now, its contents in the store and its snapshot on the disk.
    pub(crate) fn look(&mut self, named: &[PathBuf]) -> Result<Arc<Snapshot>, UndoError> {
        let newest = self.store.snapshots()?.pop().unwrap_or(0);
        if newest != self.latest.0 {
            // Another process was here.
            *self.latest = latest(self.store)?;
        }
        let root = Root::open(self.path)?;
        let named: Vec<TreePath> = named
            .iter()
            .filter_map(|path| TreePath::below(self.path, path))
            .collect();
        let scan = Scan {
            root: &root,
            base: &self.latest.1,
            caps: self.settings.caps(),
            left_out: &self.left_out,
            named: &named,
        };
        let (store, bounds) = (self.store, self.settings.bounds(self.time));
        // Room for more than the next file.
        let bounds = Bounds {
            bytes: bounds.bytes / 4 * 3,
            ..bounds
        };
        let now = scan.run(self.objects, &mut |objects, so_far| {
            prune(store, objects, bounds, so_far)
        })?;
        if self.latest.0 == 0 || *self.latest.1 != now {
            self.objects.sync()?;
            let number = newest + 1;
            self.store.write_snapshot(number, &now)?;
            *self.latest = (number, Arc::new(now));
        }
        Ok(Arc::clone(&self.latest.1))
    }

    /// Ends the deeds that nobody will end any more, by what the workspace is now.
    pub(crate) fn close_orphans(&mut self, abandoned: &[u64]) -> Result<(), UndoError> {
        let root = Root::open(self.path)?;
        for open in self.store.open_records()? {
            let is_orphan = abandoned.contains(&open.number) || !self.store.is_alive(&open.owner);
            // An undo that was cut off is finished by the next undo.
            if !is_orphan || matches!(open.kind, Kind::UndoOf(_)) {
                continue;
            }
            let before = open.snapshot.and_then(|number| self.store.snapshot(number));
            let mut changes = before.map_or_else(Vec::new, |before| before.changes(&self.latest.1));
            add_single(&root, &open.before, &mut changes)?;
            close(self.store, open, changes, Ending::CutOff)?;
        }
        Ok(())
    }
}
