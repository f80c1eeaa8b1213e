//! The files of one workspace's store.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::UndoError;
use crate::objects::{digest_of, make_directory};
use crate::record::{FORMAT, OpenRecord, Record};
use crate::snapshot::{self, Snapshot};

/// The directories of a store.
const OBJECTS: &str = "objects";
const OPEN: &str = "open";
const OWNERS: &str = "owners";
const RECORDS: &str = "records";
const SNAPSHOTS: &str = "snapshots";

/// The files of one workspace's store.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    directory: PathBuf,
}

/// A lock, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Held(File);

impl Drop for Held {
    /// A process that is just being started has the file open too, until it becomes another
    /// program: the lock would outlive this value.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

impl Store {
    /// The store of a workspace, made if it is not there.
    pub(crate) fn create(base: &Path, workspace: &Path) -> Result<Self, UndoError> {
        let name = digest_of(workspace.as_os_str().as_bytes()).to_string();
        let name = name.get(..32).unwrap_or(&name);
        let store = Self {
            directory: base.join(name),
        };
        make_directory(base)?;
        make_directory(&store.directory)?;
        for part in [OBJECTS, OPEN, OWNERS, RECORDS, SNAPSHOTS] {
            make_directory(&store.directory.join(part))?;
        }
        let named = store.directory.join("workspace");
        if !named.exists() {
            store.replace(&named, workspace.as_os_str().as_bytes())?;
        }
        Ok(store)
    }

    /// All stores.
    pub(crate) fn all(base: &Path) -> Result<Vec<Self>, UndoError> {
        Ok(names(base)?
            .into_iter()
            .map(|name| Self {
                directory: base.join(name),
            })
            .filter(|store| store.directory.join("workspace").is_file())
            .collect())
    }

    /// The workspace.
    pub(crate) fn workspace(&self) -> Result<PathBuf, UndoError> {
        let path = self.directory.join("workspace");
        let bytes = fs::read(&path).map_err(|error| UndoError::store("read", &path, error))?;
        Ok(std::ffi::OsString::from_vec(bytes).into())
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.directory.join(OBJECTS)
    }

    /// Keeps every other process from changing the store.
    pub(crate) fn lock(&self) -> Result<Held, UndoError> {
        let path = self.directory.join("lock");
        let file = open_lock(&path)?;
        rustix::fs::flock(&file, FlockOperation::LockExclusive)
            .map_err(|errno| UndoError::store("lock", &path, errno))?;
        Ok(Held(file))
    }

    /// Says that the owner of a name is alive, for as long as it is held.
    pub(crate) fn own(&self, owner: &str) -> Result<Held, UndoError> {
        let path = self.directory.join(OWNERS).join(owner);
        let file = open_lock(&path)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| UndoError::store("lock", &path, errno))?;
        Ok(Held(file))
    }

    /// Whether the owner of a name is alive.
    pub(crate) fn is_alive(&self, owner: &str) -> bool {
        let path = self.directory.join(OWNERS).join(owner);
        let Ok(file) = File::open(path) else {
            return false;
        };
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_err()
    }

    /// Forgets the names of owners that are not alive.
    pub(crate) fn forget_owners(&self) -> Result<(), UndoError> {
        let directory = self.directory.join(OWNERS);
        for name in names(&directory)? {
            if !self.is_alive(&name) {
                let _ = fs::remove_file(directory.join(name));
            }
        }
        Ok(())
    }

    /// What has ended, in order.
    pub(crate) fn records(&self) -> Result<Vec<Record>, UndoError> {
        let mut records: Vec<Record> = self.read_all(RECORDS)?;
        records.sort_by_key(|record| record.number);
        Ok(records)
    }

    /// What has begun and not ended, in order.
    pub(crate) fn open_records(&self) -> Result<Vec<OpenRecord>, UndoError> {
        let mut records: Vec<OpenRecord> = self.read_all(OPEN)?;
        records.sort_by_key(|record| record.number);
        Ok(records)
    }

    /// The number of the next deed.
    pub(crate) fn next_number(&self) -> Result<u64, UndoError> {
        let mut last = 0;
        for part in [RECORDS, OPEN] {
            let numbers = names(&self.directory.join(part))?;
            last = numbers
                .iter()
                .filter_map(|name| number_in(name))
                .fold(last, u64::max);
        }
        Ok(last + 1)
    }

    pub(crate) fn write_record(&self, record: &Record) -> Result<(), UndoError> {
        let name = format!("{:010}.{}.json", record.number, record.session);
        self.write_json(RECORDS, &name, record)
    }

    pub(crate) fn write_open(&self, record: &OpenRecord) -> Result<(), UndoError> {
        self.write_json(OPEN, &format!("{:010}.json", record.number), record)
    }

    pub(crate) fn remove_open(&self, number: u64) -> Result<(), UndoError> {
        self.remove(OPEN, &format!("{number:010}.json"))
    }

    pub(crate) fn remove_record(&self, record: &Record) -> Result<(), UndoError> {
        self.remove(
            RECORDS,
            &format!("{:010}.{}.json", record.number, record.session),
        )
    }

    /// The numbers of the snapshots, in order.
    pub(crate) fn snapshots(&self) -> Result<Vec<u64>, UndoError> {
        let names = names(&self.directory.join(SNAPSHOTS))?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_in(name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// A snapshot; `None` if it is gone or damaged.
    pub(crate) fn snapshot(&self, number: u64) -> Option<Snapshot> {
        let path = self.directory.join(SNAPSHOTS).join(format!("{number:010}"));
        let bytes = fs::read(&path).ok()?;
        let snapshot = snapshot::decode(&bytes);
        if snapshot.is_none() {
            tracing::warn!(path = %path.display(), "a snapshot is damaged");
        }
        snapshot
    }

    pub(crate) fn write_snapshot(&self, number: u64, snapshot: &Snapshot) -> Result<(), UndoError> {
        let path = self.directory.join(SNAPSHOTS).join(format!("{number:010}"));
        self.replace(&path, &snapshot::encode(snapshot))
    }

    pub(crate) fn remove_snapshot(&self, number: u64) -> Result<(), UndoError> {
        self.remove(SNAPSHOTS, &format!("{number:010}"))
    }

    /// A value of the store's own.
    pub(crate) fn value<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.directory.join(name)).ok()?).ok()
    }

    pub(crate) fn write_value<T: Serialize>(&self, name: &str, value: &T) -> Result<(), UndoError> {
        self.write_json("", name, value)
    }

    fn write_json<T: Serialize>(&self, part: &str, name: &str, value: &T) -> Result<(), UndoError> {
        let path = self.directory.join(part).join(name);
        let bytes =
            serde_json::to_vec(value).map_err(|error| UndoError::store("write", &path, error))?;
        self.replace(&path, &bytes)
    }

    /// Records that a program of another version wrote are passed over.
    fn read_all<T: DeserializeOwned>(&self, part: &str) -> Result<Vec<T>, UndoError> {
        let directory = self.directory.join(part);
        let mut all = Vec::new();
        for name in names(&directory)? {
            if number_in(&name).is_none() {
                continue;
            }
            let path = directory.join(name);
            let bytes = fs::read(&path).map_err(|error| UndoError::store("read", &path, error))?;
            let value: serde_json::Value = serde_json::from_slice(&bytes)
                .map_err(|error| UndoError::damaged(&path, error.to_string()))?;
            if value.get("format") != Some(&FORMAT.into()) {
                return Err(UndoError::damaged(
                    &path,
                    "another version of podward wrote it",
                ));
            }
            all.push(
                serde_json::from_value(value)
                    .map_err(|error| UndoError::damaged(&path, error.to_string()))?,
            );
        }
        Ok(all)
    }

    /// Writes a file whole or not at all; it is on the disk when this returns.
    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), UndoError> {
        let beside = self.directory.join(format!("new-{}", std::process::id()));
        let write = || {
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&beside)?;
            file.write_all(bytes)?;
            file.sync_data()?;
            fs::rename(&beside, path)?;
            match path.parent() {
                Some(parent) => File::open(parent)?.sync_all(),
                None => Ok(()),
            }
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&beside);
            UndoError::store("write", path, error)
        })
    }

    fn remove(&self, part: &str, name: &str) -> Result<(), UndoError> {
        let path = self.directory.join(part).join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(UndoError::store("remove", &path, error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn open_lock(path: &Path) -> Result<File, UndoError> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(|error| UndoError::store("open", path, error))
}

/// The number that a file's name begins with.
fn number_in(name: &str) -> Option<u64> {
    name.split('.').next()?.parse().ok()
}

/// The names in a directory; none if it is not there.
fn names(directory: &Path) -> Result<Vec<String>, UndoError> {
    let failed = |error| UndoError::store("list", directory, error);
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(failed)?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}
