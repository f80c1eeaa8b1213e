//! The run directory: a socket and an entry for each pod that runs.

mod error;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use podward_protocol::{POD_ENTRY_FORMAT, PodEntry, SessionId};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

pub use error::{RunDirError, RunDirProblem};

use crate::places::Places;
use crate::private::lock_within;
use crate::replace::replace_file;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;

/// The longest path of a socket, in bytes (`unix(7)`: 108, with the zero at the end).
const PATH_BYTES: usize = 107;

/// How long another process may keep the lock; whoever has it makes or removes a few files.
const LOCK_TIME: Duration = Duration::from_secs(5);

/// The largest entry that is read, in bytes.
const ENTRY_BYTES: u64 = 64 * 1024;

/// The directory, checked: only this user can look into it.
#[derive(Debug, Clone)]
pub(crate) struct RunDir {
    path: PathBuf,
}

/// The socket and the entry of this pod; both are removed with this value.
#[derive(Debug)]
pub(crate) struct Claim {
    run_dir: RunDir,
    session: SessionId,
    /// The socket itself: what was put in its place meanwhile is not removed.
    identity: Identity,
}

impl RunDir {
    /// Makes the directory, or checks the one that is there.
    pub(crate) fn open(places: &Places) -> Result<Self, RunDirError> {
        let path = places.run_dir().to_owned();
        let error = |error| RunDirError::io("make", &path, error);
        if let Some(above) = path.parent() {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(above)
                .map_err(error)?;
        }
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error(source));
            }
            _ => {}
        }
        check_private(&path)?;
        Ok(Self { path })
    }

    /// Takes the place of a session's pod: its socket, which listens, and its entry.
    ///
    /// Who calls this has the session to itself, so that a socket with its name is a dead one's.
    pub(crate) fn claim(&self, entry: &PodEntry) -> Result<(Claim, UnixListener), RunDirError> {
        let _lock = self.lock()?;
        let session = &entry.session;
        let socket = self.socket(session);
        self.remove(session);
        let listener = listen(&socket)?;
        let identity =
            identity(&socket).map_err(|error| RunDirError::io("look at", &socket, error))?;
        let claim = Claim {
            run_dir: self.clone(),
            session: session.clone(),
            identity,
        };
        let path = self.entry(session);
        let text = serde_json::to_vec(entry)
            .map_err(|error| RunDirError::io("write", &path, error.into()))?;
        replace_file(&path, &text).map_err(RunDirError::State)?;
        Ok((claim, listener))
    }

    /// Removes what pods of a manifest that are gone have left, and returns their entries. Those of
    /// others stay: their questions are settled when their manifest is served again.
    ///
    /// An entry that cannot be read is removed with the socket it belongs to and not returned.
    pub(crate) fn remove_stale(&self, manifest: &str) -> Result<Vec<PodEntry>, RunDirError> {
        let _lock = self.lock()?;
        let mut stale = Vec::new();
        for session in self.sessions()? {
            if is_alive(&self.socket(&session)) {
                continue;
            }
            let entry = read_entry(&self.entry(&session), &session);
            if entry
                .as_ref()
                .is_none_or(|entry| entry.manifest.as_deref() == Some(manifest))
            {
                self.remove(&session);
                stale.extend(entry);
            }
        }
        Ok(stale)
    }

    /// The path of a session's socket.
    pub(crate) fn socket(&self, session: &SessionId) -> PathBuf {
        self.path.join(format!("{session}.sock"))
    }

    fn entry(&self, session: &SessionId) -> PathBuf {
        self.path.join(format!("{session}.json"))
    }

    /// The sessions of which there is a socket or an entry, in order.
    fn sessions(&self) -> Result<Vec<SessionId>, RunDirError> {
        let error = |error| RunDirError::io("list", &self.path, error);
        let mut sessions = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(error)? {
            let path = entry.map_err(error)?.path();
            let is_ours = path
                .extension()
                .is_some_and(|extension| extension == "sock" || extension == "json");
            let name = path.file_stem().and_then(|name| name.to_str());
            if let (true, Some(Ok(session))) = (is_ours, name.map(SessionId::new)) {
                sessions.push(session);
            }
        }
        sessions.sort();
        sessions.dedup();
        Ok(sessions)
    }

    /// Removes what there is of a session: the entry first, so that none is without its socket.
    fn remove(&self, session: &SessionId) {
        for path in [self.entry(session), self.socket(session)] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(path = %path.display(), %error, "not removed");
                }
                _ => {}
            }
        }
    }

    /// Keeps other pods from making and removing sockets meanwhile.
    fn lock(&self) -> Result<File, RunDirError> {
        let path = self.path.join("lock");
        let error = |error| RunDirError::io("lock", &path, error);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(&path)
            .map_err(error)?;
        match lock_within(&file, LOCK_TIME).map_err(error)? {
            true => Ok(file),
            false => Err(RunDirError::new(&path, RunDirProblem::Locked)),
        }
    }
}

impl Claim {
    /// The socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.run_dir.socket(&self.session)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Without the lock nothing is removed: the next pod finds a socket where nobody listens.
        let Ok(_lock) = self.run_dir.lock() else {
            return;
        };
        let is_own = identity(&self.socket()).is_ok_and(|found| found == self.identity);
        if is_own {
            self.run_dir.remove(&self.session);
        }
    }
}

/// The inode of a socket and when it was made: numbers of inodes are used again.
type Identity = (u64, i64, i64);

fn identity(path: &Path) -> io::Result<Identity> {
    let metadata = path.symlink_metadata()?;
    Ok((metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}

/// The directory must be this user's own, no symlink, and closed to everybody else.
fn check_private(path: &Path) -> Result<(), RunDirError> {
    let metadata = path
        .symlink_metadata()
        .map_err(|error| RunDirError::io("look at", path, error))?;
    let user = rustix::process::geteuid().as_raw();
    let problem = if metadata.is_symlink() {
        RunDirProblem::Link
    } else if !metadata.is_dir() {
        RunDirProblem::NotADirectory
    } else if metadata.uid() != user {
        RunDirProblem::ForeignOwner {
            owner: metadata.uid(),
        }
    } else if metadata.mode() & 0o077 != 0 {
        RunDirProblem::OpenToOthers {
            mode: metadata.mode() & 0o7777,
        }
    } else {
        return Ok(());
    };
    Err(RunDirError::new(path, problem))
}

/// A socket that listens, mode 0600 from the beginning.
fn listen(path: &Path) -> Result<UnixListener, RunDirError> {
    if path.as_os_str().len() > PATH_BYTES {
        return Err(RunDirError::new(path, RunDirProblem::TooLong));
    }
    let error = |errno: rustix::io::Errno| RunDirError::io("listen on", path, errno.into());
    let address = SocketAddrUnix::new(path).map_err(error)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
        .map_err(error)?;
    // The file is made with the mode of what is bound to it (`unix(7)`).
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR).map_err(error)?;
    rustix::net::bind(&socket, &address).map_err(error)?;
    rustix::net::listen(&socket, BACKLOG).map_err(error)?;
    let listener = UnixListener::from(socket);
    let mode = path
        .symlink_metadata()
        .map_err(|error| RunDirError::io("look at", path, error))?
        .mode();
    if mode & 0o177 != 0 {
        let mode = mode & 0o7777;
        return Err(RunDirError::new(path, RunDirProblem::OpenToOthers { mode }));
    }
    Ok(listener)
}

/// Whether somebody listens on a socket; where that is not certain, somebody does.
fn is_alive(path: &Path) -> bool {
    let Ok(address) = SocketAddrUnix::new(path) else {
        return false;
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let Ok(socket) = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
    else {
        return true;
    };
    match rustix::net::connect(&socket, &address) {
        // It hears the end of the connection at once.
        Ok(()) => {
            drop(UnixStream::from(socket));
            true
        }
        Err(rustix::io::Errno::CONNREFUSED | rustix::io::Errno::NOENT) => false,
        Err(_) => true,
    }
}

fn read_entry(path: &Path, session: &SessionId) -> Option<PodEntry> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
        .ok()?;
    let mut text = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, ENTRY_BYTES), &mut text).ok()?;
    let entry: PodEntry = serde_json::from_slice(&text).ok()?;
    (entry.format == POD_ENTRY_FORMAT && entry.session == *session).then_some(entry)
}

#[cfg(test)]
mod tests;
