//! For the process that changes files: before each deed, what may be lost is in the store.

pub(crate) mod ending;
mod notices;
pub(crate) mod workspace;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bytes::TreePath;
use crate::error::UndoError;
use crate::node::Node;
use crate::objects::Objects;
use crate::prune::{Bounds, drop_snapshots, prune};
use crate::record::{DeedName, FORMAT, Kind, OpenRecord};
use crate::root::Root;
use crate::scan::{Caps, keep_one, observe};
use crate::snapshot::Snapshot;
use crate::store::{Held, Store};
use ending::{Ending, add_single, close};
use notices::Notices;
use workspace::Workspace;

/// How much is kept, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Bytes of all contents of one workspace's store.
    pub max_size: u64,
    /// Bytes of the largest file that is kept.
    pub max_file: u64,
    /// How long a deed can be undone.
    pub max_age: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_size: 1 << 30,
            max_file: 32 << 20,
            max_age: Duration::from_secs(14 * 24 * 3600),
        }
    }
}

/// Tells the keepers of one process apart.
static N_OPENED: AtomicU64 = AtomicU64::new(0);

/// Names that are looked at in one workspace.
const MOST_NAMES: usize = 500_000;

impl Settings {
    pub(crate) fn caps(&self) -> Caps {
        Caps {
            file: self.max_file,
            total: self.max_size,
            derived: self.max_size / 4,
            names: MOST_NAMES,
        }
    }

    pub(crate) fn bounds(&self, now: i64) -> Bounds {
        let age = i64::try_from(self.max_age.as_millis()).unwrap_or(i64::MAX);
        Bounds {
            bytes: self.max_size,
            since: now.saturating_sub(age),
        }
    }
}

/// A deed that may change files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// Whose it is.
    pub name: DeedName,
    /// What it may change.
    pub reach: Reach,
    /// When it begins, in milliseconds since 1970.
    pub time: i64,
}

/// What a deed may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// This file, and the directories above it that are missing; absolute, without symlinks.
    File(PathBuf),
    /// Anything in the workspace; what it is known to write or delete, absolute, is kept first.
    Workspace(Vec<PathBuf>),
}

/// Keeps what the deeds of one session are about to change.
///
/// Deeds that run at the same time are one deed to it, and undone together.
pub struct Keeper {
    base: PathBuf,
    workspace: PathBuf,
    session: String,
    settings: Settings,
    left_out: Vec<PathBuf>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    opened: Option<Opened>,
    running: Option<Group>,
    /// Deeds that nobody waits for any more.
    abandoned: Vec<u64>,
    notices: Notices,
}

/// The store, once it is needed.
struct Opened {
    store: Store,
    objects: Objects,
    owner: String,
    /// Says that this process is alive.
    _alive: Held,
    /// The last snapshot and its number.
    latest: (u64, Arc<Snapshot>),
}

/// Deeds that run at the same time.
struct Group {
    n_running: usize,
    open: OpenRecord,
    before: Arc<Snapshot>,
}

/// A deed that is being done. Dropped without [`Running::after`], it counts as cut off.
pub struct Running {
    keeper: Arc<Keeper>,
    is_settled: bool,
}

impl Keeper {
    /// Keeps below `base`, whose parent exists, what deeds of `session` change in `workspace`.
    ///
    /// `left_out` are directories that do not belong to the workspace wherever they lie, such as
    /// the store itself. Nothing is read or written before the first deed.
    #[must_use]
    pub fn new(
        base: impl Into<PathBuf>,
        workspace: impl Into<PathBuf>,
        session: impl Into<String>,
        settings: Settings,
        left_out: Vec<PathBuf>,
    ) -> Arc<Self> {
        Arc::new(Self {
            base: base.into(),
            workspace: workspace.into(),
            session: session.into(),
            settings,
            left_out,
            inner: Mutex::default(),
        })
    }

    /// Keeps what a deed may change. Blocks until that is on the disk.
    ///
    /// # Errors
    /// It cannot be kept: the deed must not be done.
    pub fn before(self: &Arc<Self>, deed: Deed) -> Result<Running, UndoError> {
        let mut inner = self.inner();
        let inner = &mut *inner;
        let opened = match &mut inner.opened {
            Some(opened) => opened,
            None => inner.opened.insert(self.open(deed.time)?),
        };
        match &mut inner.running {
            Some(group) => self.join(opened, group, deed)?,
            None => {
                let abandoned = std::mem::take(&mut inner.abandoned);
                let group = self.begin(opened, &abandoned, deed, &mut inner.notices)?;
                inner.running = Some(group);
            }
        }
        Ok(Running {
            keeper: Arc::clone(self),
            is_settled: false,
        })
    }

    /// What people should hear, said since this was asked last.
    pub fn take_notices(&self) -> Vec<String> {
        self.inner().notices.take()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // What a panic leaves behind is on disk as a deed that was cut off.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, time: i64) -> Result<Opened, UndoError> {
        let store = Store::create(&self.base, &self.workspace)?;
        let _held = store.lock()?;
        store.forget_owners()?;
        let number = N_OPENED.fetch_add(1, Ordering::Relaxed);
        let owner = format!("{}-{}-{number}", self.session, std::process::id());
        let alive = store.own(&owner)?;
        store.write_value("settings.json", &self.settings)?;
        let mut objects = Objects::open(&store.objects())?;
        prune(
            &store,
            &mut objects,
            self.settings.bounds(time),
            &Snapshot::default(),
        )?;
        let latest = latest(&store)?;
        Ok(Opened {
            store,
            objects,
            owner,
            _alive: alive,
            latest,
        })
    }

    /// A deed that begins while no other runs.
    fn begin(
        &self,
        opened: &mut Opened,
        abandoned: &[u64],
        deed: Deed,
        notices: &mut Notices,
    ) -> Result<Group, UndoError> {
        let store = opened.store.clone();
        let _held = store.lock()?;
        let mut open = OpenRecord {
            format: FORMAT,
            number: 0,
            session: self.session.clone(),
            time: deed.time,
            kind: Kind::Calls(vec![deed.name]),
            owner: opened.owner.clone(),
            snapshot: None,
            before: Vec::new(),
            steps: Vec::new(),
        };
        let before = match &deed.reach {
            Reach::File(path) => {
                open.before = self.keep_file(opened, path, notices)?;
                Arc::default()
            }
            Reach::Workspace(named) => {
                let mut workspace = self.workspace(opened, deed.time);
                let before = workspace.look(named)?;
                workspace.close_orphans(abandoned)?;
                open.snapshot = Some(opened.latest.0);
                notices.looked(&before, &self.settings);
                before
            }
        };
        opened.objects.sync()?;
        open.number = store.next_number()?;
        store.write_open(&open)?;
        drop_snapshots(&store)?;
        Ok(Group {
            n_running: 1,
            open,
            before,
        })
    }

    /// A deed that begins while others run: they count as one.
    fn join(&self, opened: &mut Opened, group: &mut Group, deed: Deed) -> Result<(), UndoError> {
        let store = opened.store.clone();
        let _held = store.lock()?;
        let mut open = group.open.clone();
        if let Kind::Calls(calls) = &mut open.kind {
            calls.push(deed.name);
        }
        let mut before = Arc::clone(&group.before);
        if open.snapshot.is_none() {
            match &deed.reach {
                Reach::File(path) => {
                    let kept = self.keep_file(opened, path, &mut Notices::default())?;
                    for (path, node) in kept {
                        if !open.before.iter().any(|(known, _)| *known == path) {
                            open.before.push((path, node));
                        }
                    }
                }
                // What single files were before is in the record, and counts more.
                Reach::Workspace(named) => {
                    before = self.workspace(opened, deed.time).look(named)?;
                    open.snapshot = Some(opened.latest.0);
                }
            }
            opened.objects.sync()?;
        }
        store.write_open(&open)?;
        group.open = open;
        group.before = before;
        group.n_running += 1;
        Ok(())
    }

    /// Keeps one file and what is missing above it; nothing outside the workspace.
    fn keep_file(
        &self,
        opened: &mut Opened,
        path: &Path,
        notices: &mut Notices,
    ) -> Result<Vec<(TreePath, Option<Node>)>, UndoError> {
        let Some(path) = TreePath::below(&self.workspace, path) else {
            return Ok(Vec::new());
        };
        let root = Root::open(&self.workspace)?;
        let node = keep_one(&root, &mut opened.objects, &path, self.settings.max_file)?;
        notices.overwrites(&path, node.as_ref());
        let mut kept = Vec::new();
        for above in path.ancestors() {
            let node = observe(&root, &above)?;
            let is_there = node.is_some();
            kept.push((above, node));
            if is_there {
                break;
            }
        }
        kept.push((path, node));
        Ok(kept)
    }

    fn workspace<'a>(&'a self, opened: &'a mut Opened, time: i64) -> Workspace<'a> {
        let left_out = self.left_out.iter().filter_map(|path| {
            let metadata = path.metadata().ok()?;
            Some((metadata.dev(), metadata.ino()))
        });
        Workspace {
            path: &self.workspace,
            settings: &self.settings,
            left_out: left_out.collect(),
            store: &opened.store,
            objects: &mut opened.objects,
            latest: &mut opened.latest,
            time,
        }
    }

    /// A deed has ended.
    fn settle(&self) {
        let mut inner = self.inner();
        let inner = &mut *inner;
        let Some(group) = &mut inner.running else {
            return;
        };
        group.n_running = group.n_running.saturating_sub(1);
        if group.n_running > 0 {
            return;
        }
        let (Some(group), Some(opened)) = (inner.running.take(), &mut inner.opened) else {
            return;
        };
        let number = group.open.number;
        if let Err(error) = self.end(opened, group, &mut inner.notices) {
            tracing::warn!(%error, "what a call changed was not written down");
            inner.notices.lost(&error);
            inner.abandoned.push(number);
        }
    }

    /// Writes down what the deeds of a group changed.
    fn end(
        &self,
        opened: &mut Opened,
        group: Group,
        notices: &mut Notices,
    ) -> Result<(), UndoError> {
        let store = opened.store.clone();
        let _held = store.lock()?;
        let open = group.open;
        let mut changes = Vec::new();
        if open.snapshot.is_some() {
            let after = self.workspace(opened, open.time).look(&[])?;
            changes = group.before.changes(&after);
        }
        let root = Root::open(&self.workspace)?;
        add_single(&root, &open.before, &mut changes)?;
        notices.changed(&changes);
        opened.objects.sync()?;
        let time = open.time;
        close(&store, open, changes, Ending::Seen)?;
        drop_snapshots(&store)?;
        if opened.objects.total() > self.settings.max_size {
            let bounds = self.settings.bounds(time);
            prune(&store, &mut opened.objects, bounds, &Snapshot::default())?;
        }
        Ok(())
    }

    /// Nobody waits for a deed any more: what it does from now on is not known.
    fn abandon(&self) {
        let mut inner = self.inner();
        let Some(group) = &mut inner.running else {
            return;
        };
        group.n_running = group.n_running.saturating_sub(1);
        let number = group.open.number;
        inner.abandoned.push(number);
        inner.running.take_if(|group| group.n_running == 0);
    }
}

impl Running {
    /// The deed is done, well or not: writes down what it changed.
    pub fn after(mut self) {
        self.is_settled = true;
        self.keeper.settle();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_settled {
            self.keeper.abandon();
        }
    }
}

/// The last snapshot, or none.
pub(crate) fn latest(store: &Store) -> Result<(u64, Arc<Snapshot>), UndoError> {
    let Some(number) = store.snapshots()?.pop() else {
        return Ok((0, Arc::default()));
    };
    // A damaged one costs time, nothing else.
    let snapshot = store.snapshot(number).unwrap_or_default();
    Ok((number, Arc::new(snapshot)))
}

#[cfg(test)]
mod tests;
