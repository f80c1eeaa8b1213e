//! The pods that run on this machine.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use podward_protocol::{POD_ENTRY_FORMAT, PodEntry, SessionId};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// The largest entry that is read, in bytes.
const MAX_ENTRY_BYTES: u64 = 64 * 1024;

/// The most entries that are looked at; a directory with more is none of podward's.
const MAX_ENTRIES: usize = 100_000;

/// A pod, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it wrote down when it started.
    pub entry: PodEntry,
    /// Where it listens.
    pub socket: PathBuf,
}

/// What is in the run directory; each list is in the order of the sessions, oldest first.
#[derive(Debug, Default)]
pub struct Look {
    /// Pods that listen.
    pub running: Vec<Found>,
    /// Pods that listen no more: they were killed. The next pod that starts removes what is left of
    /// them.
    pub left_over: Vec<Found>,
    /// Entries that say nothing.
    pub unreadable: Vec<Unreadable>,
}

/// An entry that says nothing.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is no entry of a pod: {why}", path.display())]
pub struct Unreadable {
    path: PathBuf,
    why: String,
}

/// The run directory cannot be read, or others could say there what they like.
#[derive(Debug, thiserror::Error)]
#[error("cannot use `{}`, where pods say where they listen", directory.display())]
pub struct PodsError {
    directory: PathBuf,
    source: io::Error,
}

impl PodsError {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let untrusted = self.source.get_ref()?.downcast_ref();
        matches!(untrusted, Some(Untrusted::OpenToOthers(_)))
            .then(|| format!("`chmod go-rwx {}`", self.directory.display()))
    }
}

/// Why a directory says nothing about this user's pods.
#[derive(Debug, thiserror::Error)]
enum Untrusted {
    #[error("it is no directory")]
    NoDirectory,
    #[error("it belongs to another user (uid {0})")]
    Foreign(u32),
    #[error("it is open to others (mode {0:04o})")]
    OpenToOthers(u32),
}

/// The pods that listen, oldest first.
///
/// # Errors
/// The directory is there and cannot be read, or is not this user's alone.
pub fn pods(directory: &Path) -> Result<Vec<Found>, PodsError> {
    Ok(look(directory)?.running)
}

/// All that is in the run directory. A directory that is not there is empty.
///
/// # Errors
/// The directory is there and cannot be read, or is not this user's alone.
pub fn look(directory: &Path) -> Result<Look, PodsError> {
    let sessions = sessions(directory).map_err(|source| PodsError {
        directory: directory.to_owned(),
        source,
    })?;
    let mut look = Look::default();
    for session in sessions {
        let path = directory.join(format!("{session}.json"));
        let socket = directory.join(format!("{session}.sock"));
        match read(&path, &session) {
            Ok(entry) => {
                let found = Found { entry, socket };
                if listens(&found.socket) {
                    look.running.push(found);
                } else {
                    look.left_over.push(found);
                }
            }
            Err(Problem::Gone) => {}
            Err(Problem::Unreadable(why)) => look.unreadable.push(Unreadable { path, why }),
        }
    }
    Ok(look)
}

/// The sessions of which there is an entry.
fn sessions(directory: &Path) -> io::Result<BTreeSet<SessionId>> {
    match directory.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        metadata => check(&metadata?).map_err(io::Error::other)?,
    }
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries?,
    };
    let mut sessions = BTreeSet::new();
    for entry in entries.take(MAX_ENTRIES) {
        let name = entry?.file_name();
        let session = name.to_str().and_then(|name| name.strip_suffix(".json"));
        // Anything else is not ours.
        sessions.extend(session.and_then(|session| SessionId::new(session).ok()));
    }
    Ok(sessions)
}

/// What is in the directory has to be this user's own word.
fn check(metadata: &Metadata) -> Result<(), Untrusted> {
    let mode = metadata.mode() & 0o7777;
    if !metadata.is_dir() {
        Err(Untrusted::NoDirectory)
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        Err(Untrusted::Foreign(metadata.uid()))
    } else if mode & 0o077 != 0 {
        Err(Untrusted::OpenToOthers(mode))
    } else {
        Ok(())
    }
}

/// Why there is no entry.
enum Problem {
    /// The pod stopped meanwhile.
    Gone,
    /// It says nothing.
    Unreadable(String),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound {
            Self::Gone
        } else {
            Self::Unreadable(error.to_string())
        }
    }
}

fn read(path: &Path, session: &SessionId) -> Result<PodEntry, Problem> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Problem::Unreadable("it is no file".to_owned()));
    }
    let mut text = Vec::new();
    file.take(MAX_ENTRY_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_ENTRY_BYTES {
        let why = format!("it has more than {MAX_ENTRY_BYTES} bytes");
        return Err(Problem::Unreadable(why));
    }
    let unreadable = |error: serde_json::Error| Problem::Unreadable(error.to_string());
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(unreadable)?;
    // A later format may lack what this one needs: that it is later is what counts.
    let format = value.get("format").and_then(serde_json::Value::as_u64);
    if format != Some(POD_ENTRY_FORMAT.into()) {
        let why = format!(
            "it is of the format {}, and this version of podward reads {POD_ENTRY_FORMAT}",
            format.map_or_else(|| "(none)".to_owned(), |format| format.to_string())
        );
        return Err(Problem::Unreadable(why));
    }
    let entry: PodEntry = serde_json::from_value(value).map_err(unreadable)?;
    if entry.session != *session {
        let why = format!("it names the session {}", entry.session);
        return Err(Problem::Unreadable(why));
    }
    Ok(entry)
}

/// Whether a process listens at a socket. It does not wait, however many wait to be accepted.
fn listens(socket: &Path) -> bool {
    let connected = SocketAddrUnix::new(socket).and_then(|address| {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let client = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&client, &address)
    });
    // Nobody, or no socket. Anything else (no permission, too many waiting) is no proof that the pod is
    // gone.
    !matches!(connected, Err(Errno::CONNREFUSED | Errno::NOENT))
}

#[cfg(test)]
mod tests;
