//! The file of the grants of one workspace: read as a whole, changed under a lock, replaced as a
//! whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use super::record::{self, LineContent, Record};
use crate::error::StateError;
use crate::private;
use crate::replace::{replace_file_by, settle};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// How long the lock is waited for: it is only held while a file is written.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Hexadecimal digits of a file's name.
const NAME_LEN: usize = 32;

/// What the names of the files end with.
const EXTENSION: &str = "jsonl";

/// Where the grants of a workspace are.
#[derive(Debug, Clone)]
pub(super) struct GrantFile {
    path: PathBuf,
}

/// Which state of a file was read. The file is kept open: as long as it is, no other one can have
/// its inode, so that any replacement shows.
#[derive(Debug, Default)]
pub(super) struct Seen(Option<SeenFile>);

#[derive(Debug)]
struct SeenFile {
    _open: File,
    identity: Identity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    n_bytes: u64,
    /// Seconds and nanoseconds of the last change of the text, and of the inode.
    times: [i64; 4],
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Content {
    lines: Vec<Line>,
}

#[derive(Debug)]
enum Line {
    Grant(Box<Record>),
    /// It is kept as it is.
    Other {
        bytes: Vec<u8>,
        why: String,
    },
}

/// A line that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantProblem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; `None`: all of the file.
    pub line: Option<usize>,
    /// Why: lower case, no full stop.
    pub why: String,
}

impl std::fmt::Display for GrantProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = crate::file::shown(&self.file);
        match self.line {
            Some(line) => write!(f, "{file}:{line}: this grant does not count: ")?,
            None => write!(f, "{file}: these grants do not count: ")?,
        }
        for character in self.why.chars() {
            if podward_protocol::is_invisible(character) {
                write!(f, "{}", character.escape_default())?;
            } else {
                write!(f, "{character}")?;
            }
        }
        Ok(())
    }
}

/// What is to become of a change.
#[derive(Debug)]
pub(super) enum Change<T> {
    /// The content is to be written.
    Write(T),
    /// Nothing was changed.
    Keep(T),
}

/// A file that was looked at and, perhaps, changed. No other process changes it as long as this is
/// there.
pub(super) struct Changed<T> {
    pub(super) value: T,
    pub(super) content: Content,
    pub(super) seen: Seen,
    _lock: Lock,
}

impl GrantFile {
    /// That of a workspace.
    pub(super) fn of(directory: &Path, project: &str) -> Self {
        let name = name_of(project);
        Self {
            path: directory.join(name).with_extension(EXTENSION),
        }
    }

    /// Every one below a directory, by name.
    pub(super) fn all(directory: &Path) -> Result<Vec<Self>, StateError> {
        let error = |error| StateError::io("list", directory, error);
        if !check_directory(directory)? {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for entry in std::fs::read_dir(directory).map_err(error)? {
            let path = entry.map_err(error)?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            let is_ours = path.extension().is_some_and(|found| found == EXTENSION)
                && stem.is_some_and(|stem| {
                    stem.len() == NAME_LEN && stem.bytes().all(|b| b.is_ascii_hexdigit())
                });
            if is_ours {
                files.push(Self { path });
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Reads all of it; nothing if it is not there.
    pub(super) fn read(&self) -> Result<(Content, Seen), StateError> {
        if !check_directory(self.directory())? {
            return Ok((Content::default(), Seen::default()));
        }
        let Some(mut file) = self.open()? else {
            return Ok((Content::default(), Seen::default()));
        };
        let error = |error| StateError::io("read", &self.path, error);
        let identity = Identity::of(&file.metadata().map_err(error)?);
        let mut bytes = Vec::new();
        let n_bytes = io::Read::by_ref(&mut file)
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(error)?;
        if n_bytes as u64 > MAX_BYTES {
            return Err(error(io::ErrorKind::FileTooLarge.into()));
        }
        let seen = Seen(Some(SeenFile {
            _open: file,
            identity,
        }));
        Ok((self.content(&bytes), seen))
    }

    /// Whether there is another file, or another text in it, than was seen, or the directory is
    /// none to be trusted any more.
    pub(super) fn is_changed(&self, seen: &Seen) -> bool {
        if check_directory(self.directory()).is_err() {
            return true;
        }
        let now = self.path.symlink_metadata().ok();
        let now = now.map(|metadata| Identity::of(&metadata));
        now != seen.0.as_ref().map(|seen| seen.identity)
    }

    /// Changes the file, as no other process does meanwhile: all of it or nothing.
    ///
    /// # Errors
    /// Then the file is as it was, unless the error is [uncertain](StateError::is_uncertain).
    pub(super) fn change<T, E: From<StateError>>(
        &self,
        change: impl FnOnce(&mut Content) -> Result<Change<T>, E>,
    ) -> Result<Changed<T>, E> {
        private::ensure_private_directory(self.directory())?;
        let lock = Lock::take(&self.path.with_extension("lock"))?;
        let (mut content, mut seen) = self.read()?;
        let value = match change(&mut content)? {
            Change::Keep(value) => value,
            Change::Write(value) => {
                (content, seen) = self.write(&content)?;
                value
            }
        };
        Ok(Changed {
            value,
            content,
            seen,
            _lock: lock,
        })
    }

    /// Replaces the file: what it holds from now on.
    fn write(&self, content: &Content) -> Result<(Content, Seen), StateError> {
        let bytes = content
            .bytes()
            .map_err(|why| StateError::corrupt(&self.path, content.lines.len(), why))?;
        if bytes.len() as u64 > MAX_BYTES {
            let error = io::Error::from(io::ErrorKind::FileTooLarge);
            return Err(StateError::io("write", &self.path, error));
        }
        let beside = self.path.with_extension("new");
        let file = replace_file_by(&self.path, &beside, &bytes)?;
        // It counts from now on, so nothing may fail any more: what cannot be told is read anew.
        let seen = file.metadata().ok().map(|metadata| SeenFile {
            _open: file,
            identity: Identity::of(&metadata),
        });
        Ok((self.content(&bytes), Seen(seen)))
    }

    /// Brings to the disk which file has the name.
    pub(super) fn settle(&self) -> Result<(), StateError> {
        settle(&self.path).map_err(|error| StateError::io("write", &self.path, error))
    }

    /// What is wrong in a content of this file.
    pub(super) fn problems(&self, content: &Content) -> Vec<GrantProblem> {
        let lines = content.lines.iter().enumerate();
        let problems = lines.filter_map(|(idx, line)| match line {
            Line::Grant(_) => None,
            Line::Other { why, .. } => Some(GrantProblem {
                file: self.path.clone(),
                line: Some(idx + 1),
                why: why.clone(),
            }),
        });
        problems.collect()
    }

    /// Opens the file if nobody but this user could have written or read it.
    fn open(&self) -> Result<Option<File>, StateError> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(&self.path);
        let error = |error| StateError::io("open", &self.path, error);
        let file = match opened {
            Ok(file) => file,
            Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(error(source)),
        };
        private::check_regular(&file).map_err(error)?;
        let metadata = file.metadata().map_err(error)?;
        private::check_private(&self.path, &metadata)?;
        if metadata.nlink() > 1 {
            return Err(StateError::many_names(&self.path));
        }
        Ok(Some(file))
    }

    fn content(&self, bytes: &[u8]) -> Content {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str());
        let is_project = |project: &str| stem == Some(name_of(project).as_str());
        let mut ids = std::collections::BTreeSet::new();
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let is_torn = text.len() == bytes.len();
        let lines = text
            .split(|byte| *byte == b'\n')
            .filter(|_| !bytes.is_empty());
        let mut lines: Vec<Line> = lines
            .map(|line| {
                let other = |why: String| Line::Other {
                    bytes: line.to_vec(),
                    why,
                };
                match record::read(line, is_project) {
                    LineContent::Grant(record) if !ids.insert(record.grant.id.clone()) => {
                        other("its id stands in an earlier line".to_owned())
                    }
                    LineContent::Grant(record) => Line::Grant(record),
                    LineContent::Foreign { format } => other(format!(
                        "it has format {format}, this podward reads {}",
                        record::GRANT_FORMAT
                    )),
                    LineContent::Broken { why } => other(why),
                }
            })
            .collect();
        // A line without its newline was not written by podward.
        if is_torn && let Some(Line::Grant(record)) = lines.pop_if(|line| line.grant().is_some()) {
            lines.push(Line::Other {
                bytes: record.line().unwrap_or_default().into_bytes(),
                why: "it does not end in a newline".to_owned(),
            });
        }
        Content { lines }
    }
}

impl Line {
    fn grant(&self) -> Option<&Record> {
        match self {
            Self::Grant(record) => Some(record),
            Self::Other { .. } => None,
        }
    }
}

impl Content {
    /// The grants, oldest first.
    pub(super) fn grants(&self) -> impl Iterator<Item = &Record> {
        self.lines.iter().filter_map(Line::grant)
    }

    pub(super) fn grants_mut(&mut self) -> impl Iterator<Item = &mut Record> {
        self.lines.iter_mut().filter_map(|line| match line {
            Line::Grant(record) => Some(&mut **record),
            Line::Other { .. } => None,
        })
    }

    pub(super) fn n_grants(&self) -> usize {
        self.grants().count()
    }

    pub(super) fn push(&mut self, record: Record) {
        self.lines.push(Line::Grant(Box::new(record)));
    }

    /// Removes the grants for which it says `false`. How many.
    pub(super) fn retain(&mut self, keep: impl Fn(&Record) -> bool) -> usize {
        let n_lines = self.lines.len();
        self.lines.retain(|line| line.grant().is_none_or(&keep));
        n_lines - self.lines.len()
    }

    /// Removes everything, also what does not count. How many lines.
    pub(super) fn clear(&mut self) -> usize {
        std::mem::take(&mut self.lines).len()
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for line in &self.lines {
            match line {
                Line::Grant(record) => bytes.extend_from_slice(record.line()?.as_bytes()),
                Line::Other { bytes: other, .. } => bytes.extend_from_slice(other),
            }
            bytes.push(b'\n');
        }
        Ok(bytes)
    }
}

impl Identity {
    fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            n_bytes: metadata.size(),
            times: [
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ],
        }
    }
}

/// The lock on a file, held while this is there.
struct Lock(File);

impl Lock {
    fn take(path: &Path) -> Result<Self, StateError> {
        let error = |error| StateError::io("lock", path, error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(path)
            .map_err(error)?;
        private::check_regular(&file).map_err(error)?;
        match private::lock_within(&file, LOCK_WAIT).map_err(error)? {
            true => Ok(Self(file)),
            false => Err(StateError::busy(path)),
        }
    }
}

impl Drop for Lock {
    /// A process that is just being started has the file open too, until it becomes another
    /// program, and with the file its lock.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
    }
}

/// Whether the directory is there, and nobody but this user can enter it.
fn check_directory(path: &Path) -> Result<bool, StateError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => {
            private::check_private(path, &metadata)?;
            Ok(true)
        }
        Ok(_) => Err(StateError::io(
            "use",
            path,
            io::Error::from(io::ErrorKind::NotADirectory),
        )),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StateError::io("look at", path, source)),
    }
}

/// The name of a workspace's file: the front of the digest of its path.
fn name_of(project: &str) -> String {
    let digest = crate::digest::digest(project.as_bytes());
    let digits = digest.strip_prefix("sha256:").unwrap_or(&digest);
    digits.chars().take(NAME_LEN).collect()
}
