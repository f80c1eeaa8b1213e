//! Directories and files that only their owner may see.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::error::StateError;

/// Makes a directory, and those above it, that only this user can enter; one that is there already
/// must be this user's (or root's), and nobody else may be able to write in it.
pub(crate) fn ensure_directory(path: &Path) -> Result<(), StateError> {
    let error = |error| StateError::io("make the directory", path, error);
    let is_missing = |path: &&Path| path.symlink_metadata().is_err();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(error)?;
    for made in missing {
        sync_directory_of(made).map_err(error)?;
    }
    let metadata = path
        .metadata()
        .map_err(|error| StateError::io("look at the directory", path, error))?;
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user && metadata.uid() != 0 {
        return Err(StateError::foreign(path, metadata.uid()));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(StateError::writable(path, metadata.mode() & 0o7777));
    }
    Ok(())
}

/// Makes a directory, and those above it, that only this user can enter; one that is there already
/// must be such a one, and no link to it.
pub(crate) fn ensure_private_directory(path: &Path) -> Result<(), StateError> {
    ensure_directory(path)?;
    let metadata = path
        .symlink_metadata()
        .map_err(|error| StateError::io("look at the directory", path, error))?;
    if !metadata.is_dir() {
        let error = io::Error::from(io::ErrorKind::NotADirectory);
        return Err(StateError::io("use", path, error));
    }
    check_private(path, &metadata)
}

/// Whether a file or directory is this user's, and nobody else can read or write it.
pub(crate) fn check_private(path: &Path, metadata: &Metadata) -> Result<(), StateError> {
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user {
        return Err(StateError::foreign(path, metadata.uid()));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(StateError::open_to_others(path, metadata));
    }
    Ok(())
}

/// Makes a directory that must not be there yet and that only this user can enter.
pub(crate) fn create_directory(path: &Path) -> Result<(), StateError> {
    DirBuilder::new()
        .mode(0o700)
        .create(path)
        .map_err(|error| StateError::io("make the directory", path, error))
}

/// Brings a new name in a directory to the disk. A directory that may be written and not read
/// cannot be brought there.
pub(crate) fn sync_directory_of(path: &Path) -> io::Result<()> {
    match directory_of(path)? {
        Some(directory) => directory.sync_all(),
        None => Ok(()),
    }
}

/// The directory of a file, open; `None`: it may not be read.
pub(crate) fn directory_of(path: &Path) -> io::Result<Option<File>> {
    match path.parent().map(File::open) {
        Some(Ok(parent)) => Ok(Some(parent)),
        Some(Err(error)) if error.kind() != io::ErrorKind::PermissionDenied => Err(error),
        Some(Err(_)) | None => Ok(None),
    }
}

/// What is not a regular file may block, or never end.
pub(crate) fn check_regular(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file",
        ))
    }
}

/// The bytes of a regular file; a link is not followed, and nothing is waited for.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)?;
    check_regular(&file)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// How long a lock may be held by nobody in particular: a process that was killed while it started a
/// program leaves its locks to the child, until that has become the program.
pub(crate) const LEFT_BEHIND: Duration = Duration::from_secs(1);

/// How long to wait until a lock is tried again.
const LOCK_STEP: Duration = Duration::from_millis(1);

/// Takes an exclusive lock on a file for as long as it is open, and waits for it no longer than so.
///
/// `false`: another process holds it.
pub(crate) fn lock_within(file: &File, patience: Duration) -> io::Result<bool> {
    let begun = Instant::now();
    while !try_lock(file)? {
        if begun.elapsed() > patience {
            return Ok(false);
        }
        std::thread::sleep(LOCK_STEP);
    }
    Ok(true)
}

fn try_lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
