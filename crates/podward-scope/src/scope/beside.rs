//! A file that takes the place of another one, or of none, in one step.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::{ATTEMPTS, readable};
use crate::walk::Directory;

/// Writes a new file next to `name`, then gives it that name.
pub(super) fn write_beside(
    directory: &Directory,
    name: &OsStr,
    contents: &[u8],
    like: Option<&Stat>,
) -> Result<(), std::io::Error> {
    let temporary = Temporary::create(directory, like)?;
    let mut file = File::from(temporary.fd.try_clone()?);
    file.write_all(contents)?;
    if let Some(stat) = like {
        keep_owner_and_mode(&temporary.fd, stat)?;
    }
    file.sync_all()?;
    temporary.rename(name)?;
    // The new name must survive a crash too. A directory that cannot be read cannot be synced.
    if let Ok(directory) = readable(directory) {
        rustix::fs::fsync(&directory)?;
    }
    Ok(())
}

fn keep_owner_and_mode(file: &OwnedFd, like: &Stat) -> Result<(), Errno> {
    // Who may not give files away keeps the group at least; the owner cannot be helped.
    let (uid, gid) = (Uid::from_raw(like.st_uid), Gid::from_raw(like.st_gid));
    if rustix::fs::fchown(file, Some(uid), Some(gid)).is_err() {
        let _ = rustix::fs::fchown(file, None, Some(gid));
    }
    // Never the set-id bits: the content is new.
    rustix::fs::fchmod(file, Mode::from_raw_mode(like.st_mode & 0o777))
}

/// A file without its name yet; removed unless it gets it.
struct Temporary<'a> {
    directory: &'a Directory,
    name: OsString,
    fd: OwnedFd,
}

impl<'a> Temporary<'a> {
    fn create(directory: &'a Directory, like: Option<&Stat>) -> Result<Self, Errno> {
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if like.is_some() { 0o600 } else { 0o666 });
        for _ in 0..ATTEMPTS {
            let mut random = [0_u8; 8];
            rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
            let name = OsString::from(format!(".podward-{:016x}", u64::from_ne_bytes(random)));
            match rustix::fs::openat(&directory.fd, &name, flags, mode) {
                Ok(fd) => {
                    return Ok(Self {
                        directory,
                        name,
                        fd,
                    });
                }
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::EXIST)
    }

    fn rename(mut self, name: &OsStr) -> Result<(), Errno> {
        let directory = &self.directory.fd;
        rustix::fs::renameat(directory, &self.name, directory, name)?;
        self.name.clear();
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.name.as_bytes().is_empty() {
            let _ = rustix::fs::unlinkat(&self.directory.fd, &self.name, AtFlags::empty());
        }
    }
}
