//! The run directory: a socket and an entry for each pod that runs.

mod error;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use podward_protocol::{POD_ENTRY_FORMAT, PodEntry, SessionId};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
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
///
/// It is held open, and everything goes by way of that: whatever comes to have its name, what was
/// checked is what is used.
#[derive(Debug, Clone)]
pub(crate) struct RunDir {
    path: PathBuf,
    directory: Arc<OwnedFd>,
}

/// The socket and the entry of this pod; both are removed with this value.
#[derive(Debug)]
pub(crate) struct Claim {
    run_dir: RunDir,
    session: SessionId,
    /// The socket itself: what was put in its place meanwhile is not removed.
    identity: Identity,
    /// Whether what the pod wrote about itself stays.
    leaves_entry: bool,
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
        let directory = open_checked(&path)?;
        Ok(Self {
            path,
            directory: Arc::new(directory),
        })
    }

    /// Takes the place of a session's pod: its socket, which listens, and its entry.
    ///
    /// Who calls this has the session to itself, so that a socket with its name is a dead one's.
    pub(crate) fn claim(&self, entry: &PodEntry) -> Result<(Claim, UnixListener), RunDirError> {
        let _lock = self.lock()?;
        let session = &entry.session;
        let socket = self.socket(session);
        self.remove(session);
        let listener = self.listen(&socket)?;
        let identity = identity(&self.held(&socket))
            .map_err(|error| RunDirError::io("look at", &socket, error))?;
        let claim = Claim {
            run_dir: self.clone(),
            session: session.clone(),
            identity,
            leaves_entry: false,
        };
        let path = self.entry(session);
        let text = serde_json::to_vec(entry)
            .map_err(|error| RunDirError::io("write", &path, error.into()))?;
        replace_file(&self.held(&path), &text)
            .map_err(|error| RunDirError::State(error.about(&path)))?;
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
            if is_alive(&self.held(&self.socket(&session))) {
                continue;
            }
            let entry = read_entry(&self.held(&self.entry(&session)), &session);
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
        for entry in std::fs::read_dir(self.held(Path::new(""))).map_err(error)? {
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
            self.remove_file(&path);
        }
    }

    fn remove_file(&self, path: &Path) {
        match std::fs::remove_file(self.held(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(path = %path.display(), %error, "not removed");
            }
            _ => {} // it is gone
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
            .open(self.held(&path))
            .map_err(error)?;
        match lock_within(&file, LOCK_TIME).map_err(error)? {
            true => Ok(file),
            false => Err(RunDirError::new(&path, RunDirProblem::Locked)),
        }
    }
}

impl Claim {
    /// Leaves what the pod wrote about itself, as one that is killed does: its questions are asked again by
    /// the next pod of its session, or settled by the next of its manifest.
    pub(crate) const fn leave_entry(&mut self) {
        self.leaves_entry = true;
    }

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
        let held = self.run_dir.held(&self.socket());
        let is_own = identity(&held).is_ok_and(|found| found == self.identity);
        if is_own && self.leaves_entry {
            self.run_dir.remove_file(&self.socket());
        } else if is_own {
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

/// Opens the directory: it must be this user's own, no symlink, and closed to everybody else.
fn open_checked(path: &Path) -> Result<OwnedFd, RunDirError> {
    let error = |errno: Errno| RunDirError::io("open", path, errno.into());
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().unwrap_or_default();
    let above_fd = rustix::fs::openat(CWD, above, flags, Mode::empty())
        .map_err(|errno| RunDirError::io("open", above, errno.into()))?;
    check_above(above, &above_fd)?;
    let found = rustix::fs::openat(&above_fd, name, flags | OFlags::NOFOLLOW, Mode::empty());
    let directory = found.map_err(|errno| {
        let is_link = path
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink());
        match errno {
            Errno::NOTDIR | Errno::LOOP if is_link => RunDirError::new(path, RunDirProblem::Link),
            Errno::NOTDIR => RunDirError::new(path, RunDirProblem::NotADirectory),
            errno => error(errno),
        }
    })?;
    let stat = rustix::fs::fstat(&directory).map_err(error)?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        let owner = stat.st_uid;
        return Err(RunDirError::new(
            path,
            RunDirProblem::ForeignOwner { owner },
        ));
    }
    if stat.st_mode & 0o077 != 0 {
        let mode = stat.st_mode & 0o7777;
        return Err(RunDirError::new(path, RunDirProblem::OpenToOthers { mode }));
    }
    Ok(directory)
}

/// Nobody else may be able to put another directory in the place of the one below: clients would
/// look for the pod there.
fn check_above(path: &Path, directory: &OwnedFd) -> Result<(), RunDirError> {
    let stat = rustix::fs::fstat(directory)
        .map_err(|errno| RunDirError::io("look at", path, errno.into()))?;
    let user = rustix::process::geteuid().as_raw();
    if stat.st_uid != user && stat.st_uid != 0 {
        let owner = stat.st_uid;
        return Err(RunDirError::new(
            path,
            RunDirProblem::ForeignOwner { owner },
        ));
    }
    // In one with the sticky bit, as `/tmp`, names are their owners'.
    if stat.st_mode & 0o022 != 0 && stat.st_mode & 0o1000 == 0 {
        let mode = stat.st_mode & 0o7777;
        return Err(RunDirError::new(path, RunDirProblem::Writable { mode }));
    }
    Ok(())
}

impl RunDir {
    /// A path in the directory, by way of the one that is held open.
    fn held(&self, path: &Path) -> PathBuf {
        let directory = PathBuf::from(format!("/proc/self/fd/{}", self.directory.as_raw_fd()));
        match path.file_name() {
            Some(name) => directory.join(name),
            None => directory,
        }
    }

    /// A socket that listens, mode 0600 from the beginning.
    fn listen(&self, path: &Path) -> Result<UnixListener, RunDirError> {
        // Clients connect by this path.
        if path.as_os_str().len() > PATH_BYTES {
            return Err(RunDirError::new(path, RunDirProblem::TooLong));
        }
        let held = self.held(path);
        let error = |errno: Errno| RunDirError::io("listen on", path, errno.into());
        let address = SocketAddrUnix::new(&held).map_err(error)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
            .map_err(error)?;
        // The file is made with the mode of what is bound to it (`unix(7)`).
        rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR).map_err(error)?;
        rustix::net::bind(&socket, &address).map_err(error)?;
        rustix::net::listen(&socket, BACKLOG).map_err(error)?;
        let listener = UnixListener::from(socket);
        let mode = held
            .symlink_metadata()
            .map_err(|error| RunDirError::io("look at", path, error))?
            .mode();
        if mode & 0o177 != 0 {
            let mode = mode & 0o7777;
            return Err(RunDirError::new(path, RunDirProblem::OpenToOthers { mode }));
        }
        Ok(listener)
    }
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
        Err(Errno::CONNREFUSED | Errno::NOENT) => false,
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
