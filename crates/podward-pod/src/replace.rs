//! Files that are replaced as a whole, or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::StateError;
use crate::private::{directory_of, read_regular};

/// Writes a file that only this user can read, whole or not at all: beside the old one, then in its
/// place. What was written is on the disk when this returns.
///
/// # Errors
/// Then the file is what it was; where that is not certain the error is
/// [uncertain](StateError::is_uncertain).
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), StateError> {
    let beside = path.with_extension(format!("new-{}", std::process::id()));
    replace_file_by(path, &beside, bytes).map(drop)
}

/// The same by way of this name, which no other process uses meanwhile. The new file stays open.
///
/// # Errors
/// As for [`replace_file`].
pub(crate) fn replace_file_by(
    path: &Path,
    beside: &Path,
    bytes: &[u8],
) -> Result<File, StateError> {
    let error = |source: io::Error| StateError::io("write", path, source);
    // What can fail already fails before anything is changed.
    let directory = directory_of(path).map_err(error)?;
    let placed = write_new(beside, bytes).and_then(|file| Ok((file, place(beside, path)?)));
    let (file, before) = placed.map_err(|source| {
        // What was begun is of no use to anybody; the first error is the one to report.
        let _ = std::fs::remove_file(beside);
        error(source)
    })?;
    let Err(source) = sync(directory.as_ref()) else {
        if matches!(before, Before::Beside) {
            // The next one that writes removes it otherwise.
            let _ = std::fs::remove_file(beside);
        }
        return Ok(file);
    };
    match take_back(path, beside, &before) {
        Ok(()) => {
            if let Err(error) = sync(directory.as_ref()) {
                tracing::warn!(path = %path.display(), %error, "what was put back may not last");
            }
            Err(error(source))
        }
        Err(error) => {
            tracing::error!(path = %path.display(), %error, "what was there is not put back");
            Err(StateError::uncertain(path, source))
        }
    }
}

/// Brings to the disk which file has a name.
pub(crate) fn settle(path: &Path) -> io::Result<()> {
    sync(directory_of(path)?.as_ref())
}

/// What was there before a file was put in its place.
#[derive(Debug)]
enum Before {
    Nothing,
    /// A file, which has the other name now.
    Beside,
    /// A file that held this.
    Bytes(Vec<u8>),
}

/// Puts a file in the place of another, which is kept until it is certain that the new one stays.
fn place(beside: &Path, path: &Path) -> io::Result<Before> {
    if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let exchanged = step(Step::Exchange).and_then(|()| {
        Ok(renameat_with(
            CWD,
            beside,
            CWD,
            path,
            RenameFlags::EXCHANGE,
        )?)
    });
    let before = match exchanged {
        Ok(()) => return Ok(Before::Beside),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Before::Nothing,
        // Some file systems cannot exchange two names.
        Err(error) if cannot_exchange(&error) => match read_regular(path) {
            Ok(bytes) => Before::Bytes(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Before::Nothing,
            Err(error) => return Err(error),
        },
        Err(error) => return Err(error),
    };
    std::fs::rename(beside, path)?;
    Ok(before)
}

fn cannot_exchange(error: &io::Error) -> bool {
    let unknown = [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP];
    (error.raw_os_error()).is_some_and(|code| unknown.iter().any(|no| no.raw_os_error() == code))
}

fn take_back(path: &Path, beside: &Path, before: &Before) -> io::Result<()> {
    step(Step::TakeBack)?;
    match before {
        Before::Nothing => std::fs::remove_file(path),
        Before::Beside => std::fs::rename(beside, path),
        Before::Bytes(bytes) => {
            let written = write_new(beside, bytes).and_then(|_| std::fs::rename(beside, path));
            if written.is_err() {
                let _ = std::fs::remove_file(beside);
            }
            written
        }
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    Ok(file)
}

fn sync(directory: Option<&File>) -> io::Result<()> {
    step(Step::Sync)?;
    directory.map_or(Ok(()), File::sync_all)
}

/// What tests can let fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Exchange,
    Sync,
    TakeBack,
}

#[cfg(not(test))]
const fn step(_: Step) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
use tests::step;

#[cfg(test)]
pub(crate) mod tests;
