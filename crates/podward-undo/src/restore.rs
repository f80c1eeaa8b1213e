//! Doing what an undo does, so that it can be cut off after any step and finished later.
//!
//! Every name is reached from the open workspace through directories only: a directory that has
//! become a link meanwhile ends the undo, it is not followed. A file appears under its name whole
//! or not at all.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use crate::bytes::TreePath;
use crate::error::UndoError;
use crate::node::{Node, Rights};
use crate::objects::Objects;
use crate::plan::Step;
use crate::root::{Root, names_in, stat_at};

/// Called before everything that changes the workspace; an error is where a process dies.
pub(crate) type Tick<'a> = &'a mut dyn FnMut() -> Result<(), UndoError>;

/// The front of the names of files that are being written; the number is that of the undo.
fn beside_name(number: u64) -> String {
    format!(".podward-undo-{number}-")
}

/// Does all steps.
pub(crate) fn restore(
    root: &Root,
    objects: &Objects,
    number: u64,
    steps: &[Step],
    tick: Tick<'_>,
) -> Result<(), UndoError> {
    let mut restore = Restore {
        root,
        objects,
        beside: beside_name(number),
        n_beside: 0,
        tick,
    };
    for step in steps {
        restore.open_up(step)?;
    }
    for step in steps.iter().rev() {
        restore.remove(step)?;
    }
    for step in steps {
        restore.make(step)?;
    }
    for step in steps.iter().rev() {
        if let Some(Node::Directory { rights }) = &step.after {
            restore.set_rights(&step.path, *rights)?;
        }
    }
    let root_fd = root.directory(None).map_err(|errno| UndoError::Root {
        path: root.path().to_owned(),
        source: errno.into(),
    })?;
    // As far as the file system can.
    let _ = rustix::fs::syncfs(root_fd);
    Ok(())
}

/// Removes the half-written files of an undo that was cut off.
pub(crate) fn clean(root: &Root, number: u64, steps: &[Step]) -> Result<(), UndoError> {
    let front = beside_name(number);
    let mut parents: Vec<Option<TreePath>> = steps.iter().map(|step| step.path.parent()).collect();
    parents.dedup();
    for parent in parents {
        let Ok(fd) = root.directory(parent.as_ref()) else {
            continue;
        };
        for name in names_in(&fd).unwrap_or_default() {
            if name.starts_with(front.as_bytes()) {
                let path = TreePath::child(parent.as_ref(), &name);
                rustix::fs::unlinkat(&fd, name, AtFlags::empty())
                    .map_err(|errno| UndoError::workspace("remove", &path, errno))?;
            }
        }
    }
    Ok(())
}

struct Restore<'a> {
    root: &'a Root,
    objects: &'a Objects,
    beside: String,
    n_beside: usize,
    tick: Tick<'a>,
}

impl Restore<'_> {
    /// Lets the owner into a directory that changes or in which something changes.
    fn open_up(&mut self, step: &Step) -> Result<(), UndoError> {
        match &step.before {
            Some(Node::Directory { rights }) if rights.mode & 0o700 != 0o700 => self.set_rights(
                &step.path,
                Rights {
                    mode: rights.mode | 0o700,
                    ..*rights
                },
            ),
            Some(_) | None => Ok(()),
        }
    }

    /// Takes away what nothing takes the place of in one step.
    fn remove(&mut self, step: &Step) -> Result<(), UndoError> {
        let Some(from) = &step.before else {
            return Ok(());
        };
        let becomes_directory = step.after.as_ref().is_some_and(Node::is_directory);
        let flags = match (from.is_directory(), &step.after) {
            (true, _) if becomes_directory => return Ok(()),
            (true, _) => AtFlags::REMOVEDIR,
            (false, Some(_)) if !becomes_directory => return Ok(()),
            (false, _) => AtFlags::empty(),
        };
        (self.tick)()?;
        let parent = self.parent(&step.path)?;
        match rustix::fs::unlinkat(parent, step.path.name(), flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(UndoError::workspace("remove", &step.path, errno)),
        }
    }

    fn make(&mut self, step: &Step) -> Result<(), UndoError> {
        match (&step.before, &step.after) {
            (_, None | Some(Node::Unkept { .. })) => Ok(()),
            (Some(from), Some(Node::Directory { .. })) if from.is_directory() => Ok(()),
            (_, Some(Node::Directory { .. })) => {
                (self.tick)()?;
                let parent = self.parent(&step.path)?;
                rustix::fs::mkdirat(parent, step.path.name(), Mode::RWXU)
                    .map_err(|errno| UndoError::workspace("make", &step.path, errno))
            }
            (
                Some(Node::File { digest, len, .. }),
                Some(Node::File {
                    digest: wanted,
                    len: wanted_len,
                    rights,
                }),
            ) if (digest, len) == (wanted, wanted_len) => self.set_rights(&step.path, *rights),
            (_, Some(Node::File { digest, rights, .. })) => {
                let content = self.objects.read(digest)?;
                self.replace(step, |parent, name| write(parent, name, content, *rights))
            }
            (_, Some(Node::Link { target })) => self.replace(step, |parent, name| {
                Ok(rustix::fs::symlinkat(target.as_bytes(), parent, name)?)
            }),
        }
    }

    /// Makes something under a name of its own, then gives it the name that is meant.
    fn replace(
        &mut self,
        step: &Step,
        make: impl FnOnce(&OwnedFd, &str) -> io::Result<()>,
    ) -> Result<(), UndoError> {
        let failed = |error: io::Error| UndoError::workspace("write", &step.path, error);
        let parent = self.parent(&step.path)?;
        let beside = format!("{}{}", self.beside, self.n_beside);
        self.n_beside += 1;
        (self.tick)()?;
        if let Err(error) = make(&parent, &beside) {
            let _ = rustix::fs::unlinkat(&parent, &beside, AtFlags::empty());
            return Err(failed(error));
        }
        (self.tick)()?;
        let name = step.path.name();
        let named = match &step.before {
            Some(before) if !before.is_directory() => {
                rustix::fs::renameat(&parent, &beside, &parent, name)
            }
            Some(_) | None => rename_to_nothing(&parent, &beside, name),
        };
        named.map_err(|errno| {
            let _ = rustix::fs::unlinkat(&parent, &beside, AtFlags::empty());
            failed(errno.into())
        })
    }

    fn set_rights(&mut self, path: &TreePath, rights: Rights) -> Result<(), UndoError> {
        (self.tick)()?;
        let parent = self.parent(path)?;
        let set = || {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = rustix::fs::openat(&parent, path.name(), flags, Mode::empty())?;
            let stat = rustix::fs::fstat(&fd)?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
                return Err(Errno::LOOP);
            }
            if (stat.st_uid, stat.st_gid) != (rights.uid, rights.gid) {
                let owner = (Uid::from_raw(rights.uid), Gid::from_raw(rights.gid));
                // Who may not give files away keeps them.
                let _ =
                    rustix::fs::chownat(&fd, "", Some(owner.0), Some(owner.1), AtFlags::EMPTY_PATH);
            }
            if stat.st_mode & 0o7777 == rights.mode && stat.st_uid == rights.uid {
                return Ok(());
            }
            // The only way to a file that is open for nothing.
            let itself = format!("/proc/self/fd/{}", fd.as_raw_fd());
            rustix::fs::chmodat(
                CWD,
                itself,
                Mode::from_raw_mode(rights.mode),
                AtFlags::empty(),
            )
        };
        set().map_err(|errno| UndoError::workspace("set the rights of", path, errno))
    }

    fn parent(&self, path: &TreePath) -> Result<OwnedFd, UndoError> {
        self.root
            .handle(path.parent().as_ref())
            .map_err(|errno| UndoError::workspace("reach", path, errno))
    }
}

fn write(parent: &OwnedFd, name: &str, mut content: File, rights: Rights) -> io::Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(parent, name, flags, Mode::RUSR | Mode::WUSR)?;
    let mut file = File::from(fd);
    io::copy(&mut content, &mut file)?;
    let stat = rustix::fs::fstat(&file)?;
    if (stat.st_uid, stat.st_gid) != (rights.uid, rights.gid) {
        let (uid, gid) = (Uid::from_raw(rights.uid), Gid::from_raw(rights.gid));
        // Who may not give files away keeps them.
        let _ = rustix::fs::fchown(&file, Some(uid), Some(gid));
    }
    rustix::fs::fchmod(&file, Mode::from_raw_mode(rights.mode))?;
    Ok(())
}

/// Gives a name to something, unless the name stands for something by now.
fn rename_to_nothing(parent: impl AsFd, beside: &str, name: &std::ffi::OsStr) -> Result<(), Errno> {
    let parent = parent.as_fd();
    match rustix::fs::renameat_with(parent, beside, parent, name, RenameFlags::NOREPLACE) {
        // A file system that cannot do that in one step.
        Err(Errno::INVAL | Errno::NOSYS) => match stat_at(parent, name.as_encoded_bytes()) {
            Err(Errno::NOENT) => rustix::fs::renameat(parent, beside, parent, name),
            Ok(_) => Err(Errno::EXIST),
            Err(errno) => Err(errno),
        },
        renamed => renamed,
    }
}
