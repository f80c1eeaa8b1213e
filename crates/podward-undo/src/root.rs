//! The workspace, opened once: every name in it is reached from there, through no symbolic link.

#[cfg(test)]
mod tests;

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::bytes::{Bytes, TreePath};
use crate::error::UndoError;

/// The workspace.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    fd: OwnedFd,
    stat: Stat,
}

impl Root {
    /// `path` had no symbolic link on it when the workspace got its store. Where it has one now,
    /// it leads to something else.
    pub(crate) fn open(path: &Path) -> Result<Self, UndoError> {
        let open = || {
            let fd = open_without_links(path)?;
            let stat = rustix::fs::fstat(&fd)?;
            Ok(Self {
                path: path.to_owned(),
                fd,
                stat,
            })
        };
        open().map_err(|errno: Errno| UndoError::Root {
            path: path.to_owned(),
            source: match errno {
                Errno::LOOP => io::Error::other("it, or a directory above it, is a link by now"),
                errno => errno.into(),
            },
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file system that it is on.
    pub(crate) const fn device(&self) -> u64 {
        self.stat.st_dev
    }

    /// A directory, opened for reading; `None` is the workspace itself.
    pub(crate) fn directory(&self, path: Option<&TreePath>) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match path {
            Some(path) => self.open_at(path, flags),
            None => rustix::fs::openat(&self.fd, ".", flags | OFlags::CLOEXEC, Mode::empty()),
        }
    }

    /// A directory, to reach what it holds; `None` is the workspace itself.
    pub(crate) fn handle(&self, path: Option<&TreePath>) -> Result<OwnedFd, Errno> {
        match path {
            Some(path) => self.open_at(path, OFlags::PATH | OFlags::DIRECTORY),
            None => self.fd.try_clone().map_err(|_| Errno::MFILE),
        }
    }

    /// What stands under a name, itself; `None`: nothing.
    pub(crate) fn stat(&self, path: &TreePath) -> Result<Option<Stat>, Errno> {
        let found = self
            .handle(path.parent().as_ref())
            .and_then(|parent| stat_at(parent, path.name().as_encoded_bytes()));
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(errno) if is_absence(errno) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// A file, opened for reading without waiting for anybody.
    pub(crate) fn file(&self, path: &TreePath) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        self.open_at(path, flags).map(File::from)
    }

    /// What a symbolic link holds.
    pub(crate) fn link(&self, path: &TreePath) -> Result<Bytes, Errno> {
        let parent = self.handle(path.parent().as_ref())?;
        link_at(parent, path.name().as_encoded_bytes())
    }

    /// Opens a path below the workspace, none of whose names is a symbolic link.
    fn open_at(&self, path: &TreePath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(&self.fd, path.as_path(), flags, Mode::empty(), resolve) {
            // An old kernel, a sandbox, or a path that is longer than one call may take.
            Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG | Errno::AGAIN | Errno::INVAL) => {
                self.walk_to(path, flags)
            }
            opened => opened,
        }
    }

    fn walk_to(&self, path: &TreePath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut names = path.names();
        let last = names.next_back().unwrap_or_default();
        let mut current: Option<OwnedFd> = None;
        for name in names {
            let next = match &current {
                Some(fd) => rustix::fs::openat(fd, name, step, Mode::empty())?,
                None => rustix::fs::openat(&self.fd, name, step, Mode::empty())?,
            };
            current = Some(next);
        }
        match &current {
            Some(fd) => rustix::fs::openat(fd, last, flags, Mode::empty()),
            None => rustix::fs::openat(&self.fd, last, flags, Mode::empty()),
        }
    }
}

/// Opens a directory by an absolute path, none of whose names is a symbolic link.
fn open_without_links(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve) {
        // An old kernel, a sandbox, or a path that is longer than one call may take.
        Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG | Errno::AGAIN | Errno::INVAL) => {}
        // So says a last name that is a link.
        Err(Errno::NOTDIR) if path.is_symlink() => return Err(Errno::LOOP),
        opened => return opened,
    }
    let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut fd = rustix::fs::open("/", step, Mode::empty())?;
    for component in path.components() {
        if let Component::Normal(name) = component {
            fd = match rustix::fs::openat(&fd, name, step, Mode::empty()) {
                Err(Errno::NOTDIR) if is_link(&fd, name) => return Err(Errno::LOOP),
                opened => opened?,
            };
        }
    }
    rustix::fs::openat(&fd, ".", flags, Mode::empty())
}

fn is_link(directory: impl AsFd, name: &OsStr) -> bool {
    stat_at(directory, name.as_encoded_bytes())
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Whether an error says that nothing is there: no name, or no directory on the way.
pub(crate) const fn is_absence(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
}

/// What stands under a name of a directory, itself.
pub(crate) fn stat_at(directory: impl AsFd, name: &[u8]) -> Result<Stat, Errno> {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
}

pub(crate) fn link_at(directory: impl AsFd, name: &[u8]) -> Result<Bytes, Errno> {
    let target: CString = rustix::fs::readlinkat(directory, name, Vec::new())?;
    Ok(Bytes::new(target.into_bytes()))
}

/// The names in a directory, sorted.
pub(crate) fn names_in(directory: impl AsFd) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    names.sort();
    Ok(names)
}
