//! What a pod keeps for undo, and the session that something is undone in.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_gate::CallFacts;
use podward_manifest::WorkspaceMode;
use podward_protocol::SessionId;
use podward_tools::{Deed, Keep, Kept, NotKept, Reach};
use podward_undo::{DeedName, Keeper, Running, Settings};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::error::{StateError, with_causes};
use crate::layers::Loaded;
use crate::places::Places;
use crate::pod::PodError;
use crate::private::{LEFT_BEHIND, lock_within};
use crate::redact::Secrets;
use crate::session::{SESSION_FILE, find_session};
use crate::workplace::Workplace;

/// Characters of a call's arguments that a list shows.
const SUMMARY: usize = 200;

/// Notices that may wait for being told.
pub(crate) const N_NOTICES: usize = 64;

/// Where the stores are.
pub(crate) fn base(places: &Places) -> PathBuf {
    places.state_dir().join("undo")
}

/// Keeps what the calls of a pod change.
pub(crate) struct PodKeep {
    keeper: Arc<Keeper>,
    clock: Arc<dyn Clock>,
    secrets: Secrets,
    notices: mpsc::Sender<String>,
}

/// What a pod's keeper is made of.
pub(crate) struct KeepRequest<'a> {
    pub(crate) places: &'a Places,
    pub(crate) loaded: &'a Loaded,
    pub(crate) workplace: &'a Workplace,
    pub(crate) session: &'a SessionId,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) secrets: Secrets,
}

/// What keeps the changes of a pod's calls, if they shall be kept, and what people should hear.
///
/// A copied workspace is thrown away: nothing of it is kept, and the original is not changed.
pub(crate) fn keep(request: KeepRequest<'_>) -> (Option<Arc<dyn Keep>>, mpsc::Receiver<String>) {
    let (sender, notices) = mpsc::channel(N_NOTICES);
    let resolved = &request.loaded.resolved;
    let is_copy = resolved.pod.workspace.mode == WorkspaceMode::Copy;
    if is_copy || !resolved.undo.keep {
        return (None, notices);
    }
    let workspace = &request.loaded.workspace;
    // Paths of calls come resolved.
    let workspace = workspace
        .canonicalize()
        .unwrap_or_else(|_| workspace.clone());
    let settings = Settings {
        max_size: resolved.undo.max_size,
        max_file: resolved.undo.max_file,
        max_age: resolved.undo.max_age,
    };
    let left_out = vec![
        request.places.state_dir().to_owned(),
        base(request.places),
        request.workplace.root().to_owned(),
    ];
    let session = request.session.as_str();
    let keeper = Keeper::new(base(request.places), workspace, session, settings, left_out);
    let keep = PodKeep {
        keeper,
        clock: request.clock,
        secrets: request.secrets,
        notices: sender,
    };
    (Some(Arc::new(keep)), notices)
}

impl Keep for PodKeep {
    fn before(&self, deed: &Deed<'_>) -> Result<Box<dyn Kept>, NotKept> {
        let running = self.keeper.before(podward_undo::Deed {
            name: DeedName {
                call: deed.call.id().as_str().to_owned(),
                tool: deed.call.tool().as_str().to_owned(),
                summary: self.summary(deed.call),
            },
            reach: match &deed.reach {
                Reach::File(path) => podward_undo::Reach::File(path.clone()),
                Reach::Workspace { named } => podward_undo::Reach::Workspace(named.clone()),
            },
            time: self.clock.now().unix_milliseconds(),
        });
        pass_on(&self.keeper, &self.notices);
        match running {
            Ok(running) => Ok(Box::new(PodKept {
                running,
                keeper: Arc::clone(&self.keeper),
                notices: self.notices.clone(),
            })),
            Err(error) => Err(NotKept::new(with_causes(&error))),
        }
    }
}

impl PodKeep {
    /// A command, or the path of a file.
    fn summary(&self, call: &CallFacts) -> String {
        let arguments: Value = serde_json::from_str(call.arguments()).unwrap_or_default();
        let text = ["command", "path"]
            .iter()
            .find_map(|key| arguments.get(key)?.as_str())
            .unwrap_or(call.arguments());
        let (text, _) = self.secrets.redact(text);
        if text.chars().count() <= SUMMARY {
            return text;
        }
        let head: String = text.chars().take(SUMMARY).collect();
        format!("{head}…")
    }
}

struct PodKept {
    running: Running,
    keeper: Arc<Keeper>,
    notices: mpsc::Sender<String>,
}

impl Kept for PodKept {
    fn after(self: Box<Self>) {
        let Self {
            running,
            keeper,
            notices,
        } = *self;
        running.after();
        pass_on(&keeper, &notices);
    }
}

fn pass_on(keeper: &Keeper, notices: &mpsc::Sender<String>) {
    for notice in keeper.take_notices() {
        tracing::info!(notice, "undo");
        // Nobody reads, or too much is waiting: the log has it.
        let _ = notices.try_send(notice);
    }
}

/// A session in which something is undone: no pod works in it meanwhile.
#[derive(Debug)]
pub struct UndoSession {
    id: SessionId,
    base: PathBuf,
    left_out: Vec<(u64, u64)>,
    /// The lock, where something is to be changed.
    _held: Option<File>,
}

impl UndoSession {
    /// Finds the session whose id begins so, to look at what was changed in it.
    ///
    /// # Errors
    /// There is no such session.
    pub fn find(places: &Places, prefix: &str) -> Result<Self, PodError> {
        let id = find_session(places, prefix).map_err(PodError::Session)?;
        Ok(Self {
            id,
            base: base(places),
            left_out: [places.state_dir(), &base(places)]
                .into_iter()
                .filter_map(identity)
                .collect(),
            _held: None,
        })
    }

    /// Takes hold of the session whose id begins so.
    ///
    /// # Errors
    /// There is no such session, or a pod works in it.
    pub fn open(places: &Places, prefix: &str) -> Result<Self, PodError> {
        let found = Self::find(places, prefix)?;
        let path = places
            .sessions_dir()
            .join(found.id.as_str())
            .join(SESSION_FILE);
        let file = File::open(&path).map_err(|error| StateError::io("open", &path, error))?;
        let is_ours = lock_within(&file, LEFT_BEHIND);
        if !is_ours.map_err(|error| StateError::io("lock", &path, error))? {
            return Err(StateError::locked(&path).into());
        }
        Ok(Self {
            _held: Some(file),
            ..found
        })
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// Where the stores are.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Directories, by device and inode, that belong to no workspace.
    #[must_use]
    pub fn left_out(&self) -> &[(u64, u64)] {
        &self.left_out
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}
