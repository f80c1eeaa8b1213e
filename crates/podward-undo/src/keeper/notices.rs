//! What people should hear: where undo does not reach.

use std::collections::BTreeMap;

use crate::bytes::TreePath;
use crate::error::UndoError;
use crate::keeper::Settings;
use crate::node::{Node, Unkept};
use crate::record::Change;
use crate::snapshot::Snapshot;

/// Names that one notice shows.
const SHOWN: usize = 3;

/// What people should hear.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    waiting: Vec<String>,
    /// That not everything is kept was said.
    has_told: bool,
}

impl Notices {
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }

    /// The workspace was looked at. What is not kept is said once.
    pub(crate) fn looked(&mut self, snapshot: &Snapshot, settings: &Settings) {
        if self.has_told {
            return;
        }
        let mut missing: BTreeMap<Unkept, Vec<&TreePath>> = BTreeMap::new();
        for (path, item) in &snapshot.items {
            if let Some(why) = lost(Some(&item.node)) {
                missing.entry(why).or_default().push(path);
            }
        }
        if missing.is_empty() {
            return;
        }
        self.has_told = true;
        let parts: Vec<String> = missing
            .iter()
            .map(|(why, paths)| format!("{} ({})", some_of(paths), why.reason()))
            .collect();
        self.waiting.push(format!(
            "undo does not reach everything in the workspace: {}; `[undo]` has max_file = {} and \
             max_size = {} bytes",
            parts.join("; "),
            settings.max_file,
            settings.max_size
        ));
    }

    /// A file is about to be overwritten.
    pub(crate) fn overwrites(&mut self, path: &TreePath, node: Option<&Node>) {
        if let Some(why) = lost(node) {
            self.waiting.push(format!(
                "what `{path}` held cannot be brought back by undo: {}",
                why.reason()
            ));
        }
    }

    /// A deed has changed something.
    pub(crate) fn changed(&mut self, changes: &[Change]) {
        let paths: Vec<&TreePath> = changes
            .iter()
            .filter(|change| lost(change.before.as_ref()).is_some())
            .map(|change| &change.path)
            .collect();
        if !paths.is_empty() {
            self.waiting.push(format!(
                "a call changed what undo cannot bring back: {}",
                some_of(&paths)
            ));
        }
    }

    /// What a deed changed could not be written down.
    pub(crate) fn lost(&mut self, error: &UndoError) {
        let cause = std::error::Error::source(error);
        let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
        self.waiting.push(format!(
            "what a call changed could not be written down for undo ({error}{cause}); undo counts \
             it as cut off"
        ));
    }
}

/// Why a content that people made is not in the store. What can be made again, and what holds no
/// content, is not missed.
pub(crate) fn lost(node: Option<&Node>) -> Option<Unkept> {
    match node {
        Some(Node::Unkept { why, .. }) => match why {
            Unkept::TooLarge
            | Unkept::NoRoom
            | Unkept::Unreadable
            | Unkept::TooMany
            | Unkept::OtherMount => Some(*why),
            Unkept::Derived | Unkept::Special => None,
        },
        Some(Node::File { .. } | Node::Directory { .. } | Node::Link { .. }) | None => None,
    }
}

fn some_of(paths: &[&TreePath]) -> String {
    let shown: Vec<String> = paths
        .iter()
        .take(SHOWN)
        .map(|path| format!("`{path}`"))
        .collect();
    let shown = shown.join(", ");
    match paths.len().saturating_sub(SHOWN) {
        0 => shown,
        n => format!("{shown} and {n} more"),
    }
}
