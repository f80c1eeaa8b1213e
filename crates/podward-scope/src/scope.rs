//! The opened scope: what file tools and child processes go through.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::confine::{Confined, Confinement, Helper, Launch};
use crate::decl::{Access, Enforce, Protected, Root, ScopeDecl};
use crate::error::{Kind, ScopeError};
use crate::level::Level;
use crate::roots::{Identity, Roots};
use crate::walk::{self, Directory, Leaf, Links, Missing, Nothing, Place, Position};
use beside::write_beside;

mod beside;

#[cfg(test)]
mod tests;

/// How often a file is looked for anew because it was replaced while it was opened.
const ATTEMPTS: usize = 16;

/// The roots of a pod, opened.
///
/// Paths are absolute or relative to the workspace. A path is followed as the kernel would, links
/// and `..` included, and what counts is where it leads: a link out of the roots is refused, a
/// link into a root is followed. No other process can make it lead elsewhere between the check
/// and the use: see `docs/threat-model.md`.
#[derive(Debug)]
pub struct Scope {
    workspace: PathBuf,
    roots: Arc<Roots>,
    links: Links,
    enforce: Enforce,
    confinement: Option<Arc<Confinement>>,
}

/// What a directory holds under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, without any directory.
    pub name: OsString,
    /// What it names; a symbolic link is not followed.
    pub kind: Kind,
}

/// What is known of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// What it is; never [`Kind::Symlink`]: links are followed.
    pub kind: Kind,
    /// Its size in bytes.
    pub len: u64,
    /// When its content last changed.
    pub modified: Option<SystemTime>,
}

/// What became of the path of [`Scope::replace_file`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Replaced {
    /// The file is new.
    Created,
    /// The file was there.
    Replaced,
}

impl Scope {
    /// Opens every root.
    ///
    /// `workspace` and `temp` are existing directories, absolute. `temp` is the session's own
    /// temporary directory: always writable.
    ///
    /// # Errors
    /// A root cannot be used.
    pub fn open(
        decl: &ScopeDecl,
        workspace: &Path,
        temp: &Path,
        protected: &[Protected],
    ) -> Result<Self, ScopeError> {
        Self::opened(decl, None, workspace, temp, protected)
    }

    /// The same, where nothing beyond these roots is given, whatever is declared: those of a pod above
    /// ([`Scope::granted`]). The temporary directory is the session's own.
    ///
    /// # Errors
    /// As for [`Scope::open`].
    pub fn open_within(
        decl: &ScopeDecl,
        within: &[Root],
        workspace: &Path,
        temp: &Path,
        protected: &[Protected],
    ) -> Result<Self, ScopeError> {
        Self::opened(decl, Some(within), workspace, temp, protected)
    }

    fn opened(
        decl: &ScopeDecl,
        within: Option<&[Root]>,
        workspace: &Path,
        temp: &Path,
        protected: &[Protected],
    ) -> Result<Self, ScopeError> {
        Ok(Self {
            workspace: workspace.to_owned(),
            roots: Arc::new(Roots::resolve(decl, within, workspace, temp, protected)?),
            links: Links::Follow,
            enforce: decl.enforce,
            confinement: None,
        })
    }

    /// What can be touched, but for the temporary directory: absolute paths without symbolic links.
    #[must_use]
    pub fn granted(&self) -> Vec<Root> {
        // INVARIANT: `Roots::resolve` puts the temporary directory last.
        let (_, declared) = self.roots.grants.split_last().unzip();
        let roots = declared.unwrap_or_default().iter().map(|grant| Root {
            path: grant.path.clone(),
            access: grant.access,
            declared: None,
        });
        roots.collect()
    }

    /// Finds out, by trying, what the kernel enforces on child processes. Without this, no child
    /// can be started.
    ///
    /// Protected paths that are missing where a child could make them are made.
    ///
    /// # Errors
    /// `enforce` is [`Enforce::Required`] and the kernel does not enforce everything, or the
    /// helper does not work.
    pub fn confine(mut self, helper: &Helper) -> Result<Self, ScopeError> {
        let confinement = Confinement::probe(helper, &self.roots)?;
        if self.enforce == Enforce::Required && !confinement.level.is_complete() {
            return Err(ScopeError::NotEnforced {
                level: confinement.level,
            });
        }
        self.confinement = Some(Arc::new(confinement));
        Ok(self)
    }

    /// What the kernel enforces on child processes; `None` before [`Scope::confine`].
    #[must_use]
    pub fn level(&self) -> Option<&Level> {
        self.confinement
            .as_ref()
            .map(|confinement| &confinement.level)
    }

    /// A confined child, ready to be started.
    ///
    /// # Errors
    /// [`Scope::confine`] was not called.
    pub fn command(&self, launch: Launch<'_>) -> Result<Confined, ScopeError> {
        match &self.confinement {
            Some(confinement) => confinement.command(launch),
            None => Err(ScopeError::Confinement {
                reason: "this scope is for files only".to_owned(),
            }),
        }
    }

    /// The same scope for paths whose symbolic links were resolved already: it follows none.
    ///
    /// Who decided over a resolved path reaches exactly that path, even if a part of it has become
    /// a link since.
    #[must_use]
    pub fn refusing_links(&self) -> Self {
        Self {
            workspace: self.workspace.clone(),
            roots: Arc::clone(&self.roots),
            links: Links::Refuse,
            enforce: self.enforce,
            confinement: self.confinement.clone(),
        }
    }

    /// Whether the roots give a right at a path that leads through no symbolic link, by its text alone: the
    /// disk is not looked at. What this refuses, the methods that need the right refuse too; what it does
    /// not, they still may.
    ///
    /// # Errors
    /// The scope does not allow it.
    pub fn check(&self, path: &Path, wanted: Access) -> Result<(), ScopeError> {
        let standing = walk::by_text(&self.roots, &self.absolute(path)?);
        self.roots.check(standing, wanted, path)
    }

    /// Opens a regular file for reading, and never blocks on anything else.
    ///
    /// # Errors
    /// The scope does not allow it, or it cannot be opened.
    pub fn read_file(&self, path: &Path) -> Result<File, ScopeError> {
        for _ in 0..ATTEMPTS {
            let leaf = match self.find(path, Access::Read)? {
                Place::Leaf(leaf) => leaf,
                Place::Directory(_) => {
                    return Err(wrong_kind(path, Kind::Directory, Kind::File));
                }
                Place::Nothing(_) => return Err(missing(path)),
            };
            regular(path, &leaf)?;
            match open_leaf(&leaf, OFlags::RDONLY) {
                Ok((file, stat)) if Identity::of(&stat) == Identity::of(&leaf.stat) => {
                    return Ok(File::from(file));
                }
                // Another file has taken its name.
                Ok(_) | Err(Errno::LOOP | Errno::NOENT | Errno::NXIO) => {}
                Err(errno) => return Err(ScopeError::io(path, "open", errno)),
            }
        }
        Err(unstable(path))
    }

    /// The entries of a directory, sorted by name.
    ///
    /// # Errors
    /// The scope does not allow it, or it cannot be read.
    pub fn read_dir(&self, path: &Path) -> Result<Vec<Entry>, ScopeError> {
        let directory = match self.find(path, Access::Read)? {
            Place::Directory(directory) => directory,
            Place::Leaf(leaf) => {
                let found = walk::kind_of(&leaf.stat);
                return Err(wrong_kind(path, found, Kind::Directory));
            }
            Place::Nothing(_) => return Err(missing(path)),
        };
        let read = || {
            let readable = readable(&directory)?;
            let mut entries = Vec::new();
            for entry in Dir::read_from(&readable)? {
                let entry = entry?;
                let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
                if name != "." && name != ".." {
                    let kind = entry_kind(&readable, &name, entry.file_type());
                    entries.push(Entry { name, kind });
                }
            }
            entries.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(entries)
        };
        read().map_err(|errno: Errno| ScopeError::io(path, "list", errno))
    }

    /// What is known of a file or directory that may be read; symbolic links are followed.
    ///
    /// # Errors
    /// The scope does not allow it, or there is nothing.
    pub fn metadata(&self, path: &Path) -> Result<Metadata, ScopeError> {
        let stat = match self.find(path, Access::Read)? {
            Place::Directory(directory) => directory.stat,
            Place::Leaf(leaf) => leaf.stat,
            Place::Nothing(_) => return Err(missing(path)),
        };
        Ok(Metadata {
            kind: walk::kind_of(&stat),
            len: u64::try_from(stat.st_size).unwrap_or(0),
            modified: u64::try_from(stat.st_mtime).ok().and_then(|seconds| {
                SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
            }),
        })
    }

    /// Makes a regular file hold `contents`: another reader sees the old or the new, never a part.
    ///
    /// An existing file keeps its permissions and must itself be writable; its directory must be
    /// too. A symbolic link stays, what it leads to is replaced. A file with several names (hard
    /// links) is replaced under this name only.
    ///
    /// # Errors
    /// The scope does not allow it, or it cannot be written: then nothing has changed.
    pub fn replace_file(&self, path: &Path, contents: &[u8]) -> Result<Replaced, ScopeError> {
        let (parent, name, like, replaced) = match self.replaceable(path)? {
            Replaceable::Nothing(Nothing { parent, name, .. }) => {
                (parent, name, None, Replaced::Created)
            }
            Replaceable::Leaf(Leaf {
                parent, name, stat, ..
            }) => (parent, name, Some(stat), Replaced::Replaced),
        };
        write_beside(&parent, &name, contents, like.as_ref())
            .map_err(|errno| ScopeError::io(path, "write", errno))?;
        Ok(replaced)
    }

    /// Whether [`Scope::replace_file`] could replace or make a file there, once the directories above it
    /// are made: with an error it can only fail. Nothing is changed.
    ///
    /// # Errors
    /// Those of [`Scope::replace_file`].
    pub fn check_replace(&self, path: &Path) -> Result<(), ScopeError> {
        match self.replaceable(path) {
            Ok(_) | Err(ScopeError::Missing { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What a file may take the place of.
    fn replaceable(&self, path: &Path) -> Result<Replaceable, ScopeError> {
        for _ in 0..ATTEMPTS {
            match self.find(path, Access::Write)? {
                Place::Directory(_) => return Err(wrong_kind(path, Kind::Directory, Kind::File)),
                Place::Nothing(Nothing {
                    position: Position::Inside,
                    ..
                }) => {
                    return Err(missing(path));
                }
                Place::Nothing(nothing) => return Ok(Replaceable::Nothing(nothing)),
                Place::Leaf(leaf) => {
                    regular(path, &leaf)?;
                    match writable(&leaf) {
                        Ok(()) => return Ok(Replaceable::Leaf(leaf)),
                        // Another file has taken its name.
                        Err(Errno::LOOP | Errno::NOENT | Errno::NXIO) => {}
                        Err(errno) => return Err(ScopeError::io(path, "write", errno)),
                    }
                }
            }
        }
        Err(unstable(path))
    }

    /// Makes the directories that are missing above `path`.
    ///
    /// # Errors
    /// The scope does not allow it, or one cannot be made.
    pub fn create_parents(&self, path: &Path) -> Result<(), ScopeError> {
        let absolute = self.absolute(path)?;
        let Some(parent) = absolute.parent() else {
            return Ok(());
        };
        let place = walk::walk(&self.roots, parent, Missing::Make, self.links)?;
        self.roots.check(place.standing(), Access::Write, path)?;
        match place {
            Place::Directory(_) => Ok(()),
            Place::Leaf(leaf) => {
                let found = walk::kind_of(&leaf.stat);
                Err(wrong_kind(parent, found, Kind::Directory))
            }
            Place::Nothing(_) => Err(unstable(path)),
        }
    }

    fn find(&self, path: &Path, wanted: Access) -> Result<Place, ScopeError> {
        let place = walk::walk(
            &self.roots,
            &self.absolute(path)?,
            Missing::Stop,
            self.links,
        )?;
        self.roots.check(place.standing(), wanted, path)?;
        Ok(place)
    }

    fn absolute(&self, path: &Path) -> Result<PathBuf, ScopeError> {
        if path.as_os_str().is_empty() {
            return Err(ScopeError::NotAPath {
                path: path.to_owned(),
                reason: "it is empty",
            });
        }
        Ok(self.workspace.join(path))
    }
}

/// A place for a file that may be written.
enum Replaceable {
    /// Where there is none.
    Nothing(Nothing),
    /// Where there is one.
    Leaf(Leaf),
}

/// Opens a leaf in earnest; what is there now may be another file than was looked at.
fn open_leaf(leaf: &Leaf, access: OFlags) -> Result<(OwnedFd, Stat), Errno> {
    // NONBLOCK: a pipe that has taken the file's place must not block.
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(&leaf.parent.fd, &leaf.name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&fd)?;
    Ok((fd, stat))
}

/// Whether the file's own permissions let it be written, as if it were written in place.
fn writable(leaf: &Leaf) -> Result<(), Errno> {
    match open_leaf(leaf, OFlags::WRONLY) {
        // A program that is running can be replaced, though not written to.
        Ok(_) | Err(Errno::TXTBSY) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn readable(directory: &Directory) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&directory.fd, ".", flags, Mode::empty())
}

fn entry_kind(directory: impl AsFd, name: &OsStr, file_type: rustix::fs::FileType) -> Kind {
    if file_type != rustix::fs::FileType::Unknown {
        return walk::kind_of_type(file_type);
    }
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(Kind::Special, |stat| walk::kind_of(&stat))
}

fn regular(path: &Path, leaf: &Leaf) -> Result<(), ScopeError> {
    match walk::kind_of(&leaf.stat) {
        Kind::File => Ok(()),
        found @ (Kind::Directory | Kind::Symlink | Kind::Special) => {
            Err(wrong_kind(path, found, Kind::File))
        }
    }
}

fn wrong_kind(path: &Path, found: Kind, wanted: Kind) -> ScopeError {
    ScopeError::WrongKind {
        path: path.to_owned(),
        found,
        wanted,
    }
}

fn missing(path: &Path) -> ScopeError {
    ScopeError::Missing {
        path: path.to_owned(),
    }
}

fn unstable(path: &Path) -> ScopeError {
    ScopeError::Unstable {
        path: path.to_owned(),
    }
}
