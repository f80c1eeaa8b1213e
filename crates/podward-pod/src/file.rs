//! Files that decide what an agent may do: read only if nobody else could have written them.

mod walk;

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, Stat};

use podward_protocol::is_invisible;

use crate::accounts::Accounts;

/// The largest file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The extended attribute that holds a file's access control list.
const ACCESS_LIST: &str = "system.posix_acl_access";

/// Reads a file that only its owner, who is this user or root, can write.
///
/// The file is opened once, and both its rights and its text are those of what was opened. The
/// directories and the symlinks on the way to it are looked at too: who can write one of them can
/// put another file in its place.
///
/// `None`: there is no such file, or no such directory.
///
/// # Errors
/// The file cannot be read, is no regular file, is larger than [`MAX_FILE_BYTES`], or others could
/// have written it.
pub fn read_guarded(path: &Path, accounts: &Accounts) -> Result<Option<Vec<u8>>, FileError> {
    read(path, accounts, Privacy::ReadByAll)
}

/// Reads a file that nobody but its owner, who is this user or root, can read or write.
///
/// # Errors
/// As for [`read_guarded`], and if others can read it, or it has a second name (a hard link), by which
/// a tool could.
pub(crate) fn read_private(path: &Path, accounts: &Accounts) -> Result<Option<Vec<u8>>, FileError> {
    read(path, accounts, Privacy::Private)
}

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Privacy {
    ReadByAll,
    Private,
}

fn read(path: &Path, accounts: &Accounts, privacy: Privacy) -> Result<Option<Vec<u8>>, FileError> {
    let Some(way) = walk::walk(path)? else {
        return Ok(None);
    };
    let guard = Guard {
        user: rustix::process::geteuid().as_raw(),
        accounts,
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = rustix::fs::open(&way.target, flags | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| FileError::unreadable(&way.target, error))?;
    let stat = rustix::fs::fstat(&fd).map_err(|error| FileError::unreadable(&way.target, error))?;
    guard.check_file(&way.target, &stat, || {
        let mut none: [u8; 0] = [];
        rustix::fs::fgetxattr(&fd, ACCESS_LIST, &mut none).is_ok_and(|n_bytes| n_bytes > 0)
    })?;
    if privacy == Privacy::Private && stat.st_mode & 0o077 != 0 {
        let mode = stat.st_mode & 0o7777;
        return Err(FileError::new(
            &way.target,
            FileErrorKind::OpenToOthers { mode },
        ));
    }
    // Tools are kept from a file by its name.
    if privacy == Privacy::Private && stat.st_nlink > 1 {
        return Err(FileError::new(&way.target, FileErrorKind::ManyNames));
    }
    guard.check_way(&way)?;
    read_limited(&way.target, File::from(fd)).map(Some)
}

/// Checks a file that is to be run or given to a program as [`read_guarded`] would, without reading
/// it, and returns it without symlinks on the way.
///
/// `None`: there is no such file, or no such directory.
///
/// # Errors
/// It is no regular file, or others could have written it.
pub(crate) fn check_guarded(
    path: &Path,
    accounts: &Accounts,
) -> Result<Option<PathBuf>, FileError> {
    let Some(way) = walk::walk(path)? else {
        return Ok(None);
    };
    let guard = Guard {
        user: rustix::process::geteuid().as_raw(),
        accounts,
    };
    let stat = stat_of(&way.target)?;
    guard.check_file(&way.target, &stat, || has_list(&way.target))?;
    guard.check_way(&way)?;
    Ok(Some(way.target))
}

/// A path without symlinks, and the symlinks on the way to it; `None` if it is not there.
pub(crate) fn way(path: &Path) -> Result<Option<(PathBuf, Vec<PathBuf>)>, FileError> {
    let way = walk::walk(path)?;
    Ok(way.map(|way| {
        let links = way.links.into_iter().map(|link| link.path);
        (way.target, links.collect())
    }))
}

/// Whether a file has an access control list.
fn has_list(path: &Path) -> bool {
    let mut none: [u8; 0] = [];
    rustix::fs::getxattr(path, ACCESS_LIST, &mut none).is_ok_and(|n_bytes| n_bytes > 0)
}

fn stat_of(path: &Path) -> Result<Stat, FileError> {
    rustix::fs::stat(path).map_err(|error| FileError::unreadable(path, error))
}

fn read_limited(path: &Path, file: File) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| FileError::new(path, FileErrorKind::Unreadable(error)))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(FileError::new(path, FileErrorKind::TooLarge));
    }
    Ok(bytes)
}

/// Whose writing is trusted.
struct Guard<'a> {
    user: u32,
    accounts: &'a Accounts,
}

impl Guard<'_> {
    /// Checks what lies on the way to a file.
    fn check_way(&self, way: &walk::Way) -> Result<(), FileError> {
        for link in &way.links {
            self.check_owner(&link.path, link.owner)?;
        }
        for directory in &way.directories {
            self.check_directory(directory)?;
        }
        if let Some(directory) = way.target.parent() {
            let stat = stat_of(directory)?;
            self.check_owner(directory, stat.st_uid)?;
        }
        Ok(())
    }

    /// `has_list`: whether it has an access control list.
    fn check_file(
        &self,
        path: &Path,
        stat: &Stat,
        has_list: impl Fn() -> bool,
    ) -> Result<(), FileError> {
        let kind = match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
            rustix::fs::FileType::RegularFile => None,
            rustix::fs::FileType::Directory => Some("a directory"),
            rustix::fs::FileType::Fifo => Some("a named pipe"),
            rustix::fs::FileType::Socket => Some("a socket"),
            // Devices, and what this system may add.
            _ => Some("no regular file"),
        };
        if let Some(kind) = kind {
            return Err(FileError::new(path, FileErrorKind::NotAFile(kind)));
        }
        self.check_owner(path, stat.st_uid)?;
        // With an access control list the group's bits are the most that any entry grants.
        self.check_mode(path, stat, has_list)
    }

    fn check_directory(&self, path: &Path) -> Result<(), FileError> {
        let stat = stat_of(path)?;
        // In a sticky directory nobody can rename or remove what is another's.
        if stat.st_mode & 0o1000 != 0 {
            return Ok(());
        }
        self.check_mode(path, &stat, || has_list(path))
    }

    fn check_owner(&self, path: &Path, owner: u32) -> Result<(), FileError> {
        if owner == 0 || owner == self.user {
            Ok(())
        } else {
            Err(FileError::new(path, FileErrorKind::ForeignOwner { owner }))
        }
    }

    fn check_mode(
        &self,
        path: &Path,
        stat: &Stat,
        has_list: impl Fn() -> bool,
    ) -> Result<(), FileError> {
        let by_group = stat.st_mode & 0o020 != 0
            && (!self.accounts.is_private_group(stat.st_uid, stat.st_gid) || has_list());
        if stat.st_mode & 0o002 != 0 || by_group {
            let mode = stat.st_mode & 0o7777;
            return Err(FileError::new(
                path,
                FileErrorKind::WritableByOthers { mode },
            ));
        }
        Ok(())
    }
}

/// A file that cannot be read, or that others could have written.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    kind: FileErrorKind,
}

/// What is wrong with a file.
#[derive(Debug)]
enum FileErrorKind {
    Unreadable(io::Error),
    NotAFile(&'static str),
    TooLarge,
    DanglingLink,
    LinkLoop,
    ForeignOwner { owner: u32 },
    WritableByOthers { mode: u32 },
    OpenToOthers { mode: u32 },
    ManyNames,
}

impl FileError {
    fn new(path: &Path, kind: FileErrorKind) -> Self {
        Self {
            path: path.into(),
            kind,
        }
    }

    fn unreadable(path: &Path, error: impl Into<io::Error>) -> Self {
        Self::new(path, FileErrorKind::Unreadable(error.into()))
    }

    /// The file, directory or symlink that is meant.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let path = shown(&self.path);
        match &self.kind {
            FileErrorKind::WritableByOthers { .. } => Some(format!(
                "what may be done to it decides what an agent may do: `chmod go-w {path}`"
            )),
            FileErrorKind::OpenToOthers { .. } => {
                Some(format!("it holds a secret: `chmod 600 {path}`"))
            }
            FileErrorKind::ManyNames => Some(format!(
                "it holds a secret, which a tool could read by the other name: remove that one, \
                 `find / -samefile {path}`"
            )),
            FileErrorKind::ForeignOwner { .. } => Some(format!(
                "run podward as that user, or make it yours: `chown \"$(id -u)\" {path}`"
            )),
            FileErrorKind::DanglingLink | FileErrorKind::LinkLoop => {
                Some("mend the symlink or remove it".into())
            }
            FileErrorKind::TooLarge => Some(format!("at most {MAX_FILE_BYTES} bytes are read")),
            FileErrorKind::Unreadable(_) | FileErrorKind::NotAFile(_) => None,
        }
    }
}

impl fmt::Display for FileErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(_) => f.write_str("cannot be read"),
            Self::NotAFile(kind) => write!(f, "is {kind}"),
            Self::TooLarge => f.write_str("is too large"),
            Self::DanglingLink => f.write_str("is a symlink that leads nowhere"),
            Self::LinkLoop => f.write_str("is part of a loop of symlinks"),
            Self::ForeignOwner { owner } => write!(f, "belongs to another user (uid {owner})"),
            Self::WritableByOthers { mode } => {
                write!(f, "can be written by others (mode {mode:04o})")
            }
            Self::OpenToOthers { mode } => {
                write!(f, "can be read by others (mode {mode:04o})")
            }
            Self::ManyNames => f.write_str("has more than one name (hard links)"),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", shown(&self.path), self.kind)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            FileErrorKind::Unreadable(error) => Some(error),
            FileErrorKind::NotAFile(_)
            | FileErrorKind::TooLarge
            | FileErrorKind::DanglingLink
            | FileErrorKind::LinkLoop
            | FileErrorKind::ForeignOwner { .. }
            | FileErrorKind::WritableByOthers { .. }
            | FileErrorKind::OpenToOthers { .. }
            | FileErrorKind::ManyNames => None,
        }
    }
}

/// A path for people: what a terminal obeys or does not show is escaped.
pub(crate) fn shown(path: &Path) -> String {
    let mut text = String::new();
    for character in path.to_string_lossy().chars() {
        if is_invisible(character) {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests;
