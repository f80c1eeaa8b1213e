//! Undoing: what is overwritten is kept first, what is begun is finished.

use std::path::Path;

use crate::error::UndoError;
use crate::history::{History, Kept};
use crate::keeper::ending::{Ending, close};
use crate::keeper::workspace::Workspace;
use crate::keeper::{Settings, latest};
use crate::node::{Node, Rights};
use crate::objects::Objects;
use crate::plan::{Force, Plan, Step, is_same};
use crate::record::{Change, FORMAT, Kind, OpenRecord, Record};
use crate::restore::{Tick, clean, restore};
use crate::root::Root;
use crate::scan::keep_one;
use crate::store::{Held, Store};

/// What shall be undone.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// The session.
    pub session: &'a str,
    /// A call by its id or an undo as `undo:7`; `None`: the last call that is not undone.
    pub call: Option<&'a str>,
    /// Whether what stands against it is overridden.
    pub force: Force,
    /// The present, in milliseconds since 1970.
    pub time: i64,
    /// Directories that do not belong to any workspace, such as the store.
    pub left_out: Vec<(u64, u64)>,
}

/// What became of an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undone {
    /// It is done.
    Done {
        /// What was undone.
        of: String,
        /// The undo itself; `None` if everything was as it should be already.
        by: Option<String>,
        /// What was done.
        plan: Plan,
    },
    /// An earlier undo had been cut off and is finished now. Nothing else was done.
    Finished {
        /// The undo.
        by: String,
        /// What was left to do.
        plan: Plan,
    },
    /// Something stands against it: nothing was done.
    Refused {
        /// What should have been undone.
        of: String,
        /// What would have been done.
        plan: Plan,
    },
}

impl History {
    /// Undoes a deed. An undo that was cut off earlier is finished first.
    ///
    /// # Errors
    /// There is no such deed, a call is just running, or something cannot be read or written:
    /// then what was begun is finished by the next undo.
    pub fn undo(base: &Path, wanted: &Wanted<'_>) -> Result<Undone, UndoError> {
        undo_with(base, wanted, &mut || Ok(()))
    }

    /// What the undo of a deed would do, and the deed; the workspace is not changed.
    ///
    /// # Errors
    /// As for [`History::undo`].
    pub fn plan(base: &Path, wanted: &Wanted<'_>) -> Result<(String, Plan), UndoError> {
        let _locked = lock(base, wanted)?;
        let history = Self::read(base, wanted.session)?;
        for kept in &history.stores {
            if let Some(open) = kept.open.iter().find(|open| is_undo(open)) {
                let root = Root::open(&kept.workspace)?;
                let plan = Plan::to_finish(&root, &open.steps, wanted.force)?;
                return Ok((crate::record::id_of(&open.kind, open.number), plan));
            }
        }
        let (kept, record) = history.find(wanted.call)?;
        let root = Root::open(&kept.workspace)?;
        Ok((record.id(), kept.plan(&root, record, wanted.force)?))
    }
}

/// The same, where every step can be the last one.
pub(crate) fn undo_with(
    base: &Path,
    wanted: &Wanted<'_>,
    tick: Tick<'_>,
) -> Result<Undone, UndoError> {
    let locked = lock(base, wanted)?;
    let history = History::read(base, wanted.session)?;
    for kept in &history.stores {
        let unfinished = kept.open.iter().find(|open| is_undo(open));
        let Some(open) = unfinished else { continue };
        let finished = finish(kept, open, wanted.force, tick)?;
        let is_wanted = wanted.call.is_none_or(|call| {
            let named = history.named(call);
            named.is_ok_and(|(its, record)| {
                std::ptr::eq(its, kept) && open.kind == Kind::UndoOf(record.number)
            })
        });
        if is_wanted || matches!(finished, Undone::Refused { .. }) {
            return Ok(finished);
        }
        drop(locked);
        return undo_with(base, wanted, tick);
    }
    let (kept, record) = history.find(wanted.call)?;
    begin(kept, record, wanted, tick)
}

/// Locks the stores of the session, and ends the deeds that nobody will end any more.
fn lock(base: &Path, wanted: &Wanted<'_>) -> Result<Vec<Held>, UndoError> {
    let mut locked = Vec::new();
    for kept in &History::read(base, wanted.session)?.stores {
        locked.push(kept.store.lock()?);
        let open = kept.store.open_records()?;
        if open.iter().any(|open| kept.store.is_alive(&open.owner)) {
            return Err(UndoError::Busy);
        }
        if open.iter().any(|open| !is_undo(open)) {
            close_orphans(kept, wanted)?;
        }
    }
    Ok(locked)
}

fn is_undo(open: &OpenRecord) -> bool {
    matches!(open.kind, Kind::UndoOf(_))
}

fn close_orphans(kept: &Kept, wanted: &Wanted<'_>) -> Result<(), UndoError> {
    let settings: Settings = kept.store.value("settings.json").unwrap_or_default();
    let mut workspace = Workspace {
        path: &kept.workspace,
        settings: &settings,
        left_out: wanted.left_out.clone(),
        store: &kept.store,
        objects: &mut Objects::open(&kept.store.objects())?,
        latest: &mut latest(&kept.store)?,
        time: wanted.time,
    };
    workspace.look(&[])?;
    workspace.close_orphans(&[])
}

fn begin(
    kept: &Kept,
    record: &Record,
    wanted: &Wanted<'_>,
    tick: Tick<'_>,
) -> Result<Undone, UndoError> {
    let root = Root::open(&kept.workspace)?;
    let mut plan = kept.plan(&root, record, wanted.force)?;
    let of = record.id();
    if !plan.is_clear() {
        return Ok(Undone::Refused { of, plan });
    }
    if plan.steps.iter().all(is_idle) {
        // Everything is as it was: that it is undone is all there is to write down.
        plan.steps.clear();
    }
    let mut objects = Objects::open(&kept.store.objects())?;
    keep_present(&root, &mut objects, &mut plan.steps)?;
    check_past(&objects, &plan.steps)?;
    objects.sync()?;
    let open = OpenRecord {
        format: FORMAT,
        number: kept.store.next_number()?,
        session: wanted.session.to_owned(),
        time: wanted.time,
        kind: Kind::UndoOf(record.number),
        owner: format!("undo-{}", std::process::id()),
        snapshot: None,
        before: Vec::new(),
        steps: plan.steps.clone(),
    };
    let by = crate::record::id_of(&open.kind, open.number);
    if plan.steps.is_empty() && plan.left.iter().any(|left| left.why.is_loss()) {
        // Nothing was undone.
        return Ok(Undone::Done { of, by: None, plan });
    }
    kept.store.write_open(&open)?;
    restore(&root, &objects, open.number, &plan.steps, tick)?;
    end(&kept.store, &root, open, tick)?;
    let by = Some(by);
    Ok(Undone::Done { of, by, plan })
}

/// Does the rest of an undo that was cut off.
fn finish(
    kept: &Kept,
    open: &OpenRecord,
    force: Force,
    tick: Tick<'_>,
) -> Result<Undone, UndoError> {
    let root = Root::open(&kept.workspace)?;
    clean(&root, open.number, &open.steps)?;
    let mut plan = Plan::to_finish(&root, &open.steps, force)?;
    let by = crate::record::id_of(&open.kind, open.number);
    if !plan.is_clear() {
        return Ok(Undone::Refused { of: by, plan });
    }
    let mut objects = Objects::open(&kept.store.objects())?;
    keep_present(&root, &mut objects, &mut plan.steps)?;
    check_past(&objects, &plan.steps)?;
    objects.sync()?;
    let open = with_overwritten(open, &plan.steps);
    kept.store.write_open(&open)?;
    restore(&root, &objects, open.number, &plan.steps, tick)?;
    end(&kept.store, &root, open, tick)?;
    Ok(Undone::Finished { by, plan })
}

/// The undo as it goes on: what has come to stand in its way, and is overwritten, belongs to it.
fn with_overwritten(open: &OpenRecord, steps: &[Step]) -> OpenRecord {
    let mut open = open.clone();
    for step in steps {
        let Some(begun) = open.steps.iter_mut().find(|begun| begun.path == step.path) else {
            open.steps.push(step.clone());
            continue;
        };
        let is_of_others = step.before.as_ref().is_some_and(|now| {
            !now.is_directory()
                && !is_same(Some(now), begun.before.as_ref())
                && !is_same(Some(now), begun.after.as_ref())
        });
        if is_of_others {
            begun.before.clone_from(&step.before);
        }
    }
    open.steps.sort_by(|one, other| one.path.cmp(&other.path));
    open
}

/// Keeps what is about to be overwritten, however large it is.
fn keep_present(root: &Root, objects: &mut Objects, steps: &mut [Step]) -> Result<(), UndoError> {
    for step in steps {
        let was = match &step.before {
            Some(before) if before.size().is_some() => before,
            Some(_) | None => continue,
        };
        let now = keep_one(root, objects, &step.path, u64::MAX)?;
        let is_same = match (was, &now) {
            (Node::Unkept { mark, .. }, Some(Node::File { len, .. })) => mark.len == *len,
            (was, now) => is_same(Some(was), now.as_ref()),
        };
        if !is_same {
            let error = std::io::Error::other("it is just being changed by something else");
            return Err(UndoError::workspace("keep", &step.path, error));
        }
        step.before = now;
    }
    Ok(())
}

/// Nothing is begun that cannot be done to its end.
fn check_past(objects: &Objects, steps: &[Step]) -> Result<(), UndoError> {
    steps
        .iter()
        .filter_map(|step| step.after.as_ref()?.object())
        .try_for_each(|(digest, _)| objects.check(&digest))
}

/// Writes down what an undo did.
fn end(store: &Store, root: &Root, open: OpenRecord, tick: Tick<'_>) -> Result<(), UndoError> {
    tick()?;
    let mut changes = Vec::new();
    for step in open.steps.iter().filter(|step| !is_idle(step)) {
        changes.push(Change {
            path: step.path.clone(),
            before: step.before.clone(),
            after: as_done(root, step)?,
        });
    }
    if changes.is_empty() {
        return write_empty(store, open);
    }
    close(store, open, changes, Ending::Seen)
}

/// That a deed is undone is written down although its undo had nothing to change.
fn write_empty(store: &Store, open: OpenRecord) -> Result<(), UndoError> {
    let number = open.number;
    store.write_record(&Record {
        format: FORMAT,
        number,
        session: open.session,
        time: open.time,
        kind: open.kind,
        is_cut_off: false,
        changes: Vec::new(),
    })?;
    store.remove_open(number)
}

/// A step that only lets the owner into a directory meanwhile.
fn is_idle(step: &Step) -> bool {
    step.before == step.after
}

/// What a step came to: who may not give files away keeps them.
fn as_done(root: &Root, step: &Step) -> Result<Option<Node>, UndoError> {
    let stat = root
        .stat(&step.path)
        .map_err(|errno| UndoError::workspace("look at", &step.path, errno))?;
    let rights = stat.as_ref().map(Rights::of);
    Ok(match (&step.after, rights) {
        (Some(Node::File { digest, len, .. }), Some(rights)) => Some(Node::File {
            digest: *digest,
            len: *len,
            rights,
        }),
        (Some(Node::Directory { .. }), Some(rights)) => Some(Node::Directory { rights }),
        (after, _) => after.clone(),
    })
}
