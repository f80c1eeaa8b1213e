//! What the tests share: a workspace, its store, and deeds done in it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::TempDir;

use crate::error::UndoError;
use crate::history::{History, Undone, Wanted};
use crate::keeper::{Deed, Keeper, Reach, Running, Settings};
use crate::plan::Force;
use crate::record::DeedName;

/// The session of all deeds.
pub(crate) const SESSION: &str = "S";

/// A workspace and its store.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) settings: Settings,
    pub(crate) keeper: Arc<Keeper>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::inside(TempDir::new().unwrap(), settings)
    }

    pub(crate) fn inside(dir: TempDir, settings: Settings) -> Self {
        fs::create_dir(dir.path().join("w")).unwrap();
        fs::create_dir(dir.path().join("state")).unwrap();
        let keeper = keeper(dir.path(), settings, SESSION);
        Self {
            dir,
            settings,
            keeper,
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("w")
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.dir.path().join("state/undo")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Another pod of the same session begins.
    pub(crate) fn restart(&mut self) {
        self.keeper = keeper(self.dir.path(), self.settings, "other");
        self.keeper = keeper(self.dir.path(), self.settings, SESSION);
    }

    pub(crate) fn before(&self, call: &str, reach: Reach) -> Result<Running, UndoError> {
        self.keeper.before(Deed {
            name: name(call),
            reach,
            time: 1_000_000,
        })
    }

    pub(crate) fn command(&self, call: &str) -> Running {
        self.before(call, Reach::Workspace(Vec::new())).unwrap()
    }

    /// Does a deed that may change anything.
    pub(crate) fn run(&self, call: &str, deed: impl FnOnce()) {
        let running = self.command(call);
        deed();
        running.after();
    }

    /// Writes one file as a file tool would.
    pub(crate) fn write_file(&self, call: &str, name: &str, content: &str) {
        let reach = Reach::File(self.path(name));
        let running = self.before(call, reach).unwrap();
        self.write(name, content);
        running.after();
    }

    pub(crate) fn wanted<'a>(&self, call: Option<&'a str>, force: Force) -> Wanted<'a> {
        Wanted {
            session: SESSION,
            call,
            force,
            time: 2_000_000,
            left_out: Vec::new(),
        }
    }

    pub(crate) fn undo(&self, call: &str) -> Undone {
        let wanted = self.wanted(Some(call), Force::No);
        History::undo(&self.base(), &wanted).unwrap()
    }

    pub(crate) fn undo_last(&self) -> Undone {
        History::undo(&self.base(), &self.wanted(None, Force::No)).unwrap()
    }

    pub(crate) fn force(&self, call: &str) -> Undone {
        let wanted = self.wanted(Some(call), Force::Yes);
        History::undo(&self.base(), &wanted).unwrap()
    }

    pub(crate) fn undo_error(&self, call: Option<&str>) -> String {
        let wanted = self.wanted(call, Force::No);
        History::undo(&self.base(), &wanted)
            .unwrap_err()
            .to_string()
    }

    pub(crate) fn history(&self) -> History {
        History::read(&self.base(), SESSION).unwrap()
    }

    pub(crate) fn tree(&self) -> Tree {
        tree(&self.root())
    }

    /// Contents in the store.
    pub(crate) fn n_objects(&self) -> usize {
        let stores = fs::read_dir(self.base()).unwrap();
        let all = stores.map(|store| tree(&store.unwrap().path().join("objects")));
        all.map(|tree| {
            tree.values()
                .filter(|seen| seen.mode & 0o170_000 == 0o100_000)
                .count()
        })
        .sum()
    }

    /// Bytes of all contents in the store.
    pub(crate) fn n_bytes(&self) -> usize {
        let stores = fs::read_dir(self.base()).unwrap();
        let all = stores.map(|store| tree(&store.unwrap().path().join("objects")));
        all.map(|tree| tree.values().map(|seen| seen.content.len()).sum::<usize>())
            .sum()
    }
}

fn keeper(dir: &Path, settings: Settings, session: &str) -> Arc<Keeper> {
    let left_out = vec![dir.join("state")];
    Keeper::new(
        dir.join("state/undo"),
        dir.join("w"),
        session,
        settings,
        left_out,
    )
}

fn name(call: &str) -> DeedName {
    DeedName {
        call: call.to_owned(),
        tool: "bash".to_owned(),
        summary: "a command".to_owned(),
    }
}

/// Everything below a directory, byte for byte.
pub(crate) type Tree = BTreeMap<PathBuf, Seen>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Kind and rights; of links only the kind.
    pub(crate) mode: u32,
    owner: (u32, u32),
    pub(crate) content: Vec<u8>,
}

pub(crate) fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(directory) = ahead.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let kind = metadata.file_type();
            let content = if kind.is_file() {
                fs::read(&path).unwrap()
            } else if kind.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .as_os_str()
                    .as_bytes()
                    .to_vec()
            } else {
                Vec::new()
            };
            let seen = Seen {
                mode: if kind.is_symlink() {
                    metadata.mode() & 0o170_000
                } else {
                    metadata.mode()
                },
                owner: (metadata.uid(), metadata.gid()),
                content,
            };
            if kind.is_dir() {
                ahead.push(path.clone());
            }
            tree.insert(path.strip_prefix(root).unwrap().to_owned(), seen);
        }
    }
    tree
}

/// One thing that a program does to files. What does not work is not done.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Write(OsString, Vec<u8>),
    Append(OsString, Vec<u8>),
    MakeDirectory(OsString),
    Link(OsString, OsString),
    HardLink(OsString, OsString),
    SetMode(OsString, u32),
    Remove(OsString),
    RemoveAll(OsString),
    Move(OsString, OsString),
}

impl Act {
    pub(crate) fn run(&self, root: &Path) {
        use std::io::Write as _;
        let at = |name: &OsStr| root.join(name);
        // Whether it works depends on what is there.
        let _ = match self {
            Self::Write(name, content) => {
                let path = at(name);
                if let Some(parent) = path.parent() {
                    let _ = fs::create_dir_all(parent);
                }
                fs::write(path, content)
            }
            Self::Append(name, content) => fs::OpenOptions::new()
                .append(true)
                .open(at(name))
                .and_then(|mut file| file.write_all(content)),
            Self::MakeDirectory(name) => fs::create_dir_all(at(name)),
            Self::Link(target, name) => symlink(target, at(name)),
            Self::HardLink(from, to) => fs::hard_link(at(from), at(to)),
            Self::SetMode(name, mode) => {
                let path = at(name);
                // Not through a link: it may lead out.
                if path
                    .symlink_metadata()
                    .is_ok_and(|found| !found.is_symlink())
                {
                    let _ = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
                }
                Ok(())
            }
            Self::Remove(name) => fs::remove_file(at(name)).or_else(|_| fs::remove_dir(at(name))),
            Self::RemoveAll(name) => fs::remove_dir_all(at(name)),
            Self::Move(from, to) => fs::rename(at(from), at(to)),
        };
    }
}

/// Names of few kinds, so that deeds meet.
fn file_name() -> impl Strategy<Value = OsString> {
    let name = prop_oneof![
        4 => Just(&b"a"[..]),
        4 => Just(&b"b"[..]),
        2 => Just(&b"c.d"[..]),
        1 => Just(&b"new\nline"[..]),
        1 => Just(&b"\xff\xfe"[..]),
        1 => Just(&b".env"[..]),
        1 => Just(&b"target"[..]),
        1 => Just(&b".git"[..]),
        1 => Just(&b" "[..]),
    ];
    prop::collection::vec(name, 1..=3)
        .prop_map(|names| OsStr::from_bytes(&names.join(&b'/')).to_owned())
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..20)
}

fn act() -> impl Strategy<Value = Act> {
    let name = file_name;
    let mode = prop_oneof![
        Just(0o644),
        Just(0o755),
        Just(0o600),
        Just(0o555),
        Just(0o000),
        Just(0o4711)
    ];
    prop_oneof![
        6 => (name(), content()).prop_map(|(name, content)| Act::Write(name, content)),
        2 => (name(), content()).prop_map(|(name, content)| Act::Append(name, content)),
        2 => name().prop_map(Act::MakeDirectory),
        2 => (name(), name()).prop_map(|(target, name)| Act::Link(target, name)),
        1 => (name(), name()).prop_map(|(from, to)| Act::HardLink(from, to)),
        2 => (name(), mode).prop_map(|(name, mode)| Act::SetMode(name, mode)),
        2 => name().prop_map(Act::Remove),
        1 => name().prop_map(Act::RemoveAll),
        2 => (name(), name()).prop_map(|(from, to)| Act::Move(from, to)),
    ]
}

/// What some program does.
pub(crate) fn acts() -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(act(), 1..25)
}

pub(crate) fn run_all(root: &Path, acts: &[Act]) {
    for act in acts {
        act.run(root);
    }
}
