//! The workspace as it is now, with every content that it has room for in the store.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::bytes::TreePath;
use crate::error::UndoError;
use crate::ignored::Patterns;
use crate::node::{Node, Rights, Unkept, len_of, nanoseconds};
use crate::objects::{Objects, PutError};
use crate::root::{Root, is_absence, link_at, names_in, stat_at};
use crate::snapshot::{Item, Snapshot, Stamp};

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caps {
    /// Bytes of one file.
    pub(crate) file: u64,
    /// Bytes of the store.
    pub(crate) total: u64,
    /// Bytes of the files in directories that git ignores.
    pub(crate) derived: u64,
    /// Names that are looked at.
    pub(crate) names: usize,
}

/// What a scan needs to know.
pub(crate) struct Scan<'a> {
    pub(crate) root: &'a Root,
    /// How it was: what has not changed since is not read.
    pub(crate) base: &'a Snapshot,
    pub(crate) caps: Caps,
    /// Directories, by device and inode, that do not belong to the workspace.
    pub(crate) left_out: &'a [(u64, u64)],
    /// What shall be kept first.
    pub(crate) named: &'a [TreePath],
}

/// What is kept first where there is no room for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// Is about to be written or deleted.
    Named,
    Plain,
    /// A file that git ignores, in a directory that it does not: `.env`.
    Ignored,
    /// Git's own.
    Repository,
    /// In a directory that git ignores.
    Derived,
}

struct Candidate {
    path: TreePath,
    stat: Stat,
    class: Class,
}

/// An open directory and the names in it.
type Listing = (OwnedFd, Vec<Vec<u8>>);

struct Ahead {
    path: Option<TreePath>,
    patterns: Patterns,
    class: Class,
}

impl Scan<'_> {
    /// Looks at the workspace. `make_room` is asked once when the store is full; afterwards what
    /// does not fit is not kept.
    pub(crate) fn run(
        &self,
        objects: &mut Objects,
        make_room: &mut dyn FnMut(&mut Objects, &Snapshot) -> Result<(), UndoError>,
    ) -> Result<Snapshot, UndoError> {
        let mut snapshot = Snapshot::default();
        let mut candidates = self.walk(&mut snapshot)?;
        candidates.sort_by_key(|candidate| candidate.class);
        let mut derived = 0_u64;
        let mut has_asked = false;
        for Candidate { path, stat, class } in candidates {
            let len = len_of(&stat);
            let fits = |objects: &Objects| objects.total().saturating_add(len) <= self.caps.total;
            let is_too_large = len > self.caps.file;
            let is_over_share = is_too_large || derived.saturating_add(len) > self.caps.derived;
            let item = if class == Class::Derived && is_over_share {
                Some(unkept(Unkept::Derived, &stat))
            } else if is_too_large {
                Some(unkept(Unkept::TooLarge, &stat))
            } else if let Some(item) = self.known(&path, &stat) {
                Some(item)
            } else {
                if !fits(objects) && !has_asked && class != Class::Derived {
                    has_asked = true;
                    make_room(objects, &snapshot)?;
                }
                if fits(objects) {
                    self.take(objects, &path)?
                } else {
                    Some(unkept(Unkept::NoRoom, &stat))
                }
            };
            let Some(item) = item else { continue };
            if class == Class::Derived && item.node.object().is_some() {
                derived = derived.saturating_add(len);
            }
            snapshot.items.insert(path, item);
        }
        Ok(snapshot)
    }

    /// A file that has not changed since it was read.
    fn known(&self, path: &TreePath, stat: &Stat) -> Option<Item> {
        let item = self.base.items.get(path)?;
        let (digest, len) = item.node.object()?;
        item.stamp.filter(|stamp| stamp.holds(stat))?;
        Some(Item {
            node: Node::File {
                digest,
                len,
                rights: Rights::of(stat),
            },
            stamp: item.stamp,
        })
    }

    fn take(&self, objects: &mut Objects, path: &TreePath) -> Result<Option<Item>, UndoError> {
        take(self.root, objects, path, self.caps.file)
    }

    /// Visits every directory and returns the files.
    fn walk(&self, snapshot: &mut Snapshot) -> Result<Vec<Candidate>, UndoError> {
        let mut candidates = Vec::new();
        let mut ahead = BTreeMap::from([(Class::Plain, VecDeque::new())]);
        ahead.entry(Class::Plain).or_default().push_back(Ahead {
            path: None,
            patterns: Patterns::default(),
            class: Class::Plain,
        });
        let mut n_names = 0_usize;
        while let Some(directory) = ahead.values_mut().find_map(VecDeque::pop_front) {
            for found in self.visit(&directory, &mut n_names, snapshot, &mut candidates)? {
                ahead.entry(found.class).or_default().push_back(found);
            }
        }
        Ok(candidates)
    }

    fn visit(
        &self,
        directory: &Ahead,
        n_names: &mut usize,
        snapshot: &mut Snapshot,
        candidates: &mut Vec<Candidate>,
    ) -> Result<Vec<Ahead>, UndoError> {
        let path = directory.path.as_ref();
        let Some((fd, names)) = self.list(path, *n_names, snapshot)? else {
            return Ok(Vec::new());
        };
        *n_names += names.len();
        let patterns = directory.patterns.enter(&fd, path);
        let mut found = Vec::new();
        for name in names {
            let stat = match stat_at(&fd, &name) {
                Ok(stat) => stat,
                // It has just gone.
                Err(Errno::NOENT) => continue,
                Err(errno) => {
                    let path = TreePath::child(path, &name);
                    return Err(UndoError::workspace("look at", &path, errno));
                }
            };
            let path = TreePath::child(path, &name);
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    if !self.left_out.contains(&(stat.st_dev, stat.st_ino)) {
                        let child = self.directory(&path, &stat, directory.class, &patterns);
                        snapshot.items.insert(path, child.0);
                        found.extend(child.1);
                    }
                }
                FileType::RegularFile => candidates.push(Candidate {
                    class: self.class(&path, directory.class, &patterns),
                    path,
                    stat,
                }),
                FileType::Symlink => {
                    if let Ok(target) = link_at(&fd, &name) {
                        snapshot.items.insert(path, plain(Node::Link { target }));
                    }
                }
                _ => {
                    snapshot.items.insert(path, unkept(Unkept::Special, &stat));
                }
            }
        }
        Ok(found)
    }

    /// Opens a directory and lists it; `None`: what it holds is not known, and that is noted.
    fn list(
        &self,
        path: Option<&TreePath>,
        n_names: usize,
        snapshot: &mut Snapshot,
    ) -> Result<Option<Listing>, UndoError> {
        let opened = self
            .root
            .directory(path)
            .and_then(|fd| names_in(&fd).map(|names| (fd, names)));
        match (opened, path) {
            (Ok(opened), _) if n_names < self.caps.names => return Ok(Some(opened)),
            (Ok(_), Some(path)) => self.give_up(path, Unkept::TooMany, snapshot),
            (Err(errno), Some(path)) if is_absence(errno) => drop(snapshot.items.remove(path)),
            (Err(_), Some(path)) => self.give_up(path, Unkept::Unreadable, snapshot),
            (Ok(_), None) => {}
            (Err(errno), None) => {
                return Err(UndoError::Root {
                    path: self.root.path().to_owned(),
                    source: errno.into(),
                });
            }
        }
        Ok(None)
    }

    /// A directory that was found, and the way into it.
    fn directory(
        &self,
        path: &TreePath,
        stat: &Stat,
        above: Class,
        patterns: &Patterns,
    ) -> (Item, Option<Ahead>) {
        if stat.st_dev != self.root.device() {
            return (unkept(Unkept::OtherMount, stat), None);
        }
        let class = if above != Class::Plain {
            above
        } else if path.name() == ".git" {
            Class::Repository
        } else if patterns.ignore(path, true) {
            Class::Derived
        } else {
            Class::Plain
        };
        let ahead = Ahead {
            path: Some(path.clone()),
            patterns: patterns.clone(),
            class,
        };
        let rights = Rights::of(stat);
        (plain(Node::Directory { rights }), Some(ahead))
    }

    fn class(&self, path: &TreePath, above: Class, patterns: &Patterns) -> Class {
        if self.named.iter().any(|named| path.is_in(named)) {
            Class::Named
        } else if above == Class::Plain && patterns.ignore(path, false) {
            Class::Ignored
        } else {
            above
        }
    }

    /// Notes that what a directory holds is not known.
    fn give_up(&self, path: &TreePath, why: Unkept, snapshot: &mut Snapshot) {
        match self.root.stat(path) {
            Ok(Some(stat)) => drop(snapshot.items.insert(path.clone(), unkept(why, &stat))),
            Ok(None) | Err(_) => drop(snapshot.items.remove(path)),
        }
    }
}

fn plain(node: Node) -> Item {
    Item { node, stamp: None }
}

fn unkept(why: Unkept, stat: &Stat) -> Item {
    plain(Node::unkept(why, stat))
}

/// Takes the content of a file into the store; `None`: there is no file any more.
fn take(
    root: &Root,
    objects: &mut Objects,
    path: &TreePath,
    limit: u64,
) -> Result<Option<Item>, UndoError> {
    let read_at = now();
    let file = match root.file(path) {
        Ok(file) => file,
        Err(errno) if is_absence(errno) => return Ok(None),
        Err(_) => {
            let stat = root.stat(path).ok().flatten();
            return Ok(stat.map(|stat| unkept(Unkept::Unreadable, &stat)));
        }
    };
    let Ok(stat) = rustix::fs::fstat(&file) else {
        return Ok(None);
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        // Something else has taken its place.
        return Ok(Some(unkept(Unkept::Special, &stat)));
    }
    match objects.put(file, limit) {
        Ok((digest, len)) => Ok(Some(Item {
            node: Node::File {
                digest,
                len,
                rights: Rights::of(&stat),
            },
            stamp: Some(Stamp::new(&stat, read_at)),
        })),
        Err(PutError::TooLong) => Ok(Some(unkept(Unkept::TooLarge, &stat))),
        Err(PutError::Source(error)) => {
            tracing::warn!(%path, %error, "a file cannot be read");
            Ok(Some(unkept(Unkept::Unreadable, &stat)))
        }
        Err(PutError::Store(error)) => Err(error),
    }
}

/// What stands under one name now, its content in the store if it is a file of at most `limit`
/// bytes.
pub(crate) fn keep_one(
    root: &Root,
    objects: &mut Objects,
    path: &TreePath,
    limit: u64,
) -> Result<Option<Node>, UndoError> {
    match look(root, path)? {
        Looked::File(stat) if len_of(&stat) > limit => {
            Ok(Some(Node::unkept(Unkept::TooLarge, &stat)))
        }
        Looked::File(_) => Ok(take(root, objects, path, limit)?.map(|item| item.node)),
        Looked::Other(node) => Ok(node),
    }
}

/// What stands under one name now, its content read but not kept.
pub(crate) fn observe(root: &Root, path: &TreePath) -> Result<Option<Node>, UndoError> {
    let stat = match look(root, path)? {
        Looked::File(stat) => stat,
        Looked::Other(node) => return Ok(node),
    };
    let file = match root.file(path) {
        Ok(file) => file,
        Err(errno) if is_absence(errno) => return Ok(None),
        Err(_) => return Ok(Some(Node::unkept(Unkept::Unreadable, &stat))),
    };
    Ok(Some(match crate::objects::digest_of_file(file) {
        Ok((digest, len)) => Node::File {
            digest,
            len,
            rights: Rights::of(&stat),
        },
        Err(_) => Node::unkept(Unkept::Unreadable, &stat),
    }))
}

enum Looked {
    File(Stat),
    Other(Option<Node>),
}

fn look(root: &Root, path: &TreePath) -> Result<Looked, UndoError> {
    let failed = |errno: Errno| UndoError::workspace("look at", path, errno);
    let Some(stat) = root.stat(path).map_err(failed)? else {
        return Ok(Looked::Other(None));
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Looked::File(stat),
        FileType::Directory => Looked::Other(Some(Node::Directory {
            rights: Rights::of(&stat),
        })),
        FileType::Symlink => Looked::Other(match root.link(path) {
            Ok(target) => Some(Node::Link { target }),
            Err(errno) if is_absence(errno) => None,
            Err(errno) => return Err(failed(errno)),
        }),
        _ => Looked::Other(Some(Node::unkept(Unkept::Special, &stat))),
    })
}

/// The time as file systems write it, in nanoseconds.
fn now() -> i64 {
    let time = clock_gettime(ClockId::RealtimeCoarse);
    nanoseconds(time.tv_sec, time.tv_nsec)
}
