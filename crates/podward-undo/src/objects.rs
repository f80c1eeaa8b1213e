//! Contents of files, each under its SHA-256.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::UndoError;
use crate::node::Digest;

/// Contents up to this size are read at once.
const SMALL: usize = 1 << 20;

/// So many new objects are brought to the disk one by one; more, with the whole file system.
const ONE_BY_ONE: usize = 32;

/// The front of the name of a content that is still being written.
const UNFINISHED: &str = "new-";

/// The contents of a store. Who has one has the store's lock.
#[derive(Debug)]
pub(crate) struct Objects {
    directory: PathBuf,
    /// Bytes of all contents.
    total: u64,
    /// What may not be on the disk yet.
    unsynced: Vec<PathBuf>,
    /// The directories that are there.
    made: BTreeSet<u8>,
}

/// Why a content was not taken.
#[derive(Debug)]
pub(crate) enum PutError {
    /// It cannot be read.
    Source(io::Error),
    /// It is longer than asked for.
    TooLong,
    /// It cannot be written.
    Store(UndoError),
}

impl Objects {
    /// Opens the contents below `directory`, which exists.
    pub(crate) fn open(directory: &Path) -> Result<Self, UndoError> {
        let mut objects = Self {
            directory: directory.to_owned(),
            total: 0,
            unsynced: Vec::new(),
            made: BTreeSet::new(),
        };
        objects.total = objects.each(|_, _, _| Ok(()))?;
        Ok(objects)
    }

    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Takes a content of at most `limit` bytes.
    pub(crate) fn put(&mut self, source: impl Read, limit: u64) -> Result<(Digest, u64), PutError> {
        let mut source = source.take(limit.saturating_add(1));
        let mut head = Vec::new();
        (&mut source)
            .take(SMALL as u64)
            .read_to_end(&mut head)
            .map_err(PutError::Source)?;
        if head.len() < SMALL {
            let len = head.len() as u64;
            if len > limit {
                return Err(PutError::TooLong);
            }
            let digest = digest_of(&head);
            if !self.has(&digest, len) {
                self.write(&digest, &head).map_err(PutError::Store)?;
            }
            return Ok((digest, len));
        }
        self.put_long(&head, source, limit)
    }

    fn put_long(
        &mut self,
        head: &[u8],
        mut source: impl Read,
        limit: u64,
    ) -> Result<(Digest, u64), PutError> {
        let beside = self.unfinished();
        let failed = |error| PutError::Store(UndoError::store("write", &beside, error));
        let mut copy = || {
            let mut file = create(&beside).map_err(failed)?;
            let mut hasher = Sha256::new();
            hasher.update(head);
            file.write_all(head).map_err(failed)?;
            let mut len = head.len() as u64;
            let mut buffer = vec![0; SMALL];
            loop {
                let n = source.read(&mut buffer).map_err(PutError::Source)?;
                let Some(read) = buffer.get(..n).filter(|read| !read.is_empty()) else {
                    break;
                };
                hasher.update(read);
                file.write_all(read).map_err(failed)?;
                len += n as u64;
            }
            if len > limit {
                return Err(PutError::TooLong);
            }
            Ok((Digest::from_bytes(hasher.finalize().into()), len))
        };
        let copied = copy();
        let done = match copied {
            Ok((digest, len)) if !self.has(&digest, len) => self
                .name(&beside, &digest, len)
                .map(|()| (digest, len))
                .map_err(PutError::Store),
            other => other,
        };
        // Gone if it got its name; else of no use.
        let _ = fs::remove_file(&beside);
        done
    }

    fn write(&mut self, digest: &Digest, content: &[u8]) -> Result<(), UndoError> {
        let beside = self.unfinished();
        let written = create(&beside)
            .and_then(|mut file| file.write_all(content))
            .map_err(|error| UndoError::store("write", &beside, error));
        let done = written.and_then(|()| self.name(&beside, digest, content.len() as u64));
        if done.is_err() {
            let _ = fs::remove_file(&beside);
        }
        done
    }

    /// Gives a finished content its name.
    fn name(&mut self, beside: &Path, digest: &Digest, len: u64) -> Result<(), UndoError> {
        let path = self.path(digest);
        let [first, ..] = *digest.as_bytes();
        if let Some(parent) = path.parent().filter(|_| self.made.insert(first)) {
            make_directory(parent)?;
        }
        let replaced = path.metadata().map_or(0, |metadata| metadata.len());
        fs::rename(beside, &path).map_err(|error| UndoError::store("write", &path, error))?;
        self.total = self.total.saturating_sub(replaced).saturating_add(len);
        self.unsynced.push(path);
        Ok(())
    }

    fn unfinished(&self) -> PathBuf {
        self.directory
            .join(format!("{UNFINISHED}{}", std::process::id()))
    }

    /// Whether a content is there, as far as its length says.
    pub(crate) fn has(&self, digest: &Digest, len: u64) -> bool {
        self.path(digest)
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() == len)
    }

    /// Whether a content is there and whole.
    pub(crate) fn check(&self, digest: &Digest) -> Result<(), UndoError> {
        let path = self.path(digest);
        let file = self.read(digest)?;
        let (found, _) =
            digest_of_file(file).map_err(|error| UndoError::store("read", &path, error))?;
        if found == *digest {
            Ok(())
        } else {
            Err(UndoError::damaged(
                &path,
                "its content is not what its name says",
            ))
        }
    }

    /// Opens a content.
    pub(crate) fn read(&self, digest: &Digest) -> Result<File, UndoError> {
        let path = self.path(digest);
        File::open(&path).map_err(|error| UndoError::store("read", &path, error))
    }

    /// Brings everything that was taken to the disk.
    pub(crate) fn sync(&mut self) -> Result<(), UndoError> {
        let unsynced = std::mem::take(&mut self.unsynced);
        let failed = |path: &Path, error| UndoError::store("write", path, error);
        if unsynced.len() > ONE_BY_ONE {
            let directory =
                File::open(&self.directory).map_err(|error| failed(&self.directory, error))?;
            return rustix::fs::syncfs(&directory)
                .map_err(|errno| failed(&self.directory, errno.into()));
        }
        let mut parents = BTreeSet::new();
        for path in &unsynced {
            File::open(path)
                .and_then(|file| file.sync_data())
                .map_err(|error| failed(path, error))?;
            parents.extend(path.parent());
        }
        if !unsynced.is_empty() {
            parents.insert(&self.directory);
        }
        for parent in parents {
            File::open(parent)
                .and_then(|directory| directory.sync_all())
                .map_err(|error| failed(parent, error))?;
        }
        Ok(())
    }

    /// Removes every content that is not among `live`.
    pub(crate) fn sweep(&mut self, live: &BTreeSet<Digest>) -> Result<(), UndoError> {
        let mut gone = 0_u64;
        let total = self.each(|path, digest, len| {
            if digest.is_some_and(|digest| live.contains(&digest)) {
                return Ok(());
            }
            if digest.is_some() {
                gone += len;
            }
            fs::remove_file(path).map_err(|error| UndoError::store("remove", path, error))
        })?;
        self.unsynced.retain(|path| path.exists());
        self.total = total.saturating_sub(gone);
        Ok(())
    }

    /// Visits every file; the bytes of all that have a content's name.
    fn each(
        &self,
        mut visit: impl FnMut(&Path, Option<Digest>, u64) -> Result<(), UndoError>,
    ) -> Result<u64, UndoError> {
        let mut total = 0;
        for directory in entries(&self.directory)? {
            let front = directory.file_name().unwrap_or_default().to_string_lossy();
            if !directory.is_dir() {
                visit(&directory, None, 0)?;
                continue;
            }
            for path in entries(&directory)? {
                let back = path.file_name().unwrap_or_default().to_string_lossy();
                let digest = format!("{front}{back}").parse::<Digest>().ok();
                let len = path.symlink_metadata().map_or(0, |metadata| metadata.len());
                if digest.is_some() {
                    total += len;
                }
                visit(&path, digest, len)?;
            }
        }
        Ok(total)
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        let (front, back) = name.split_at_checked(2).unwrap_or(("", &name));
        self.directory.join(front).join(back)
    }
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, UndoError> {
    let failed = |error| UndoError::store("list", directory, error);
    fs::read_dir(directory)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect()
}

/// Makes a directory that only this user can enter, unless it is there.
pub(crate) fn make_directory(path: &Path) -> Result<(), UndoError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(UndoError::store("make", path, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

pub(crate) fn digest_of(content: &[u8]) -> Digest {
    Digest::from_bytes(Sha256::digest(content).into())
}

/// The digest and the length of a file's content.
pub(crate) fn digest_of_file(mut file: impl Read) -> io::Result<(Digest, u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut len = 0;
    loop {
        let n = file.read(&mut buffer)?;
        let Some(read) = buffer.get(..n).filter(|read| !read.is_empty()) else {
            return Ok((Digest::from_bytes(hasher.finalize().into()), len));
        };
        hasher.update(read);
        len += n as u64;
    }
}
