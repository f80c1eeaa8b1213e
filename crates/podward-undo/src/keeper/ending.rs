//! How a deed is written down when it has ended.

use crate::bytes::TreePath;
use crate::error::UndoError;
use crate::node::Node;
use crate::record::{Change, FORMAT, OpenRecord, Record};
use crate::root::Root;
use crate::scan::observe;
use crate::store::Store;

/// How a deed came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It was looked at when it ended.
    Seen,
    /// Nobody saw it end.
    CutOff,
}

/// Writes down what a deed changed, if it changed anything.
pub(crate) fn close(
    store: &Store,
    open: OpenRecord,
    changes: Vec<Change>,
    ending: Ending,
) -> Result<(), UndoError> {
    let number = open.number;
    if !changes.is_empty() {
        store.write_record(&Record {
            format: FORMAT,
            number,
            session: open.session,
            time: open.time,
            kind: open.kind,
            is_cut_off: ending == Ending::CutOff,
            changes,
        })?;
    }
    store.remove_open(number)
}

/// Adds what became of single names; what is known of them counts more than a snapshot.
pub(crate) fn add_single(
    root: &Root,
    before: &[(TreePath, Option<Node>)],
    changes: &mut Vec<Change>,
) -> Result<(), UndoError> {
    for (path, before) in before {
        let after = observe_like(root, path, before.as_ref())?;
        changes.retain(|change| change.path != *path);
        let is_same = match (before, &after) {
            (Some(before), Some(after)) => before.is_same(after),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !is_same {
            changes.push(Change {
                path: path.clone(),
                before: before.clone(),
                after,
            });
        }
    }
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(())
}

/// What stands under a name now; what was known by its looks alone is looked at the same way.
pub(crate) fn observe_like(
    root: &Root,
    path: &TreePath,
    like: Option<&Node>,
) -> Result<Option<Node>, UndoError> {
    if let Some(Node::Unkept { why, what, mark }) = like {
        let stat = root
            .stat(path)
            .map_err(|errno| UndoError::workspace("look at", path, errno))?;
        if let Some(stat) = stat
            && let now @ Node::Unkept {
                what: what_now,
                mark: mark_now,
                ..
            } = Node::unkept(*why, &stat)
            && (what_now, mark_now) == (*what, *mark)
        {
            return Ok(Some(now));
        }
    }
    observe(root, path)
}
