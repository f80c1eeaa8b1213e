//! Following a path, one name at a time, and knowing what was passed.
//!
//! `openat2` with `RESOLVE_BENEATH` opens a path safely, but hands over only its end; a denied
//! directory on the way could be found only by a second look, and between two looks the path can
//! change. So each name is opened relative to the directory that was opened before it, never
//! through a symbolic link; links are read and followed by hand, `..` goes back to a directory
//! that is still open. What is decided is decided over the very directories that were passed, and
//! the end is used relative to the last one. It needs nothing newer than Linux 2.6.39.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::decl::Access;
use crate::error::{Kind, ScopeError};
use crate::roots::{Identity, Roots, Standing};

/// How many links one path may lead through; the kernel's own limit.
const LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug)]
pub(crate) enum Place {
    /// To a directory.
    Directory(Directory),
    /// To something else, in a directory.
    Leaf(Leaf),
    /// To nothing, in a directory.
    Nothing(Nothing),
}

impl Place {
    pub(crate) fn standing(&self) -> Standing {
        match self {
            Self::Directory(directory) => directory.standing,
            Self::Leaf(leaf) => leaf.standing,
            Self::Nothing(nothing) => nothing.standing,
        }
    }
}

/// An opened directory (`O_PATH`), and what the scope says of it.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) fd: OwnedFd,
    pub(crate) stat: Stat,
    pub(crate) standing: Standing,
    /// Without any symbolic link.
    physical: PathBuf,
}

/// Something that is neither a directory nor a symbolic link.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) parent: Directory,
    pub(crate) name: OsString,
    pub(crate) stat: Stat,
    pub(crate) standing: Standing,
}

/// A name that is not in its directory.
#[derive(Debug)]
pub(crate) struct Nothing {
    pub(crate) parent: Directory,
    pub(crate) name: OsString,
    pub(crate) standing: Standing,
    /// Whether more names came after it.
    pub(crate) position: Position,
}

/// Where in a path a missing name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// At its end.
    Last,
    /// Before its end.
    Inside,
}

/// What a walk does about a missing directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It ends there.
    Stop,
    /// It makes it, if it may be written.
    Make,
}

/// What a walk does about a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// It goes where the link leads.
    Follow,
    /// It fails.
    Refuse,
}

/// Follows `path`, which is absolute, and stops where nothing may be known.
pub(crate) fn walk(
    roots: &Roots,
    path: &Path,
    missing: Missing,
    links: Links,
) -> Result<Place, ScopeError> {
    if path.as_os_str().as_bytes().contains(&0) {
        return Err(ScopeError::NotAPath {
            path: path.to_owned(),
            reason: "it holds a NUL",
        });
    }
    let mut walk = Walk {
        roots,
        path,
        missing,
        links,
        passed: Vec::new(),
        current: top(roots, path)?,
        ahead: steps(path.as_os_str()).collect(),
        n_links: 0,
    };
    while let Some(step) = walk.ahead.pop_front() {
        let end = match step {
            Step::Up => {
                walk.up();
                None
            }
            Step::Into(name) => walk.descend(name)?,
        };
        if let Some((name, end)) = end {
            return Ok(end.in_directory(walk.current, name));
        }
    }
    Ok(Place::Directory(walk.current))
}

/// What the roots say of `path`, which is absolute and leads through no symbolic link, without a look at the
/// disk.
pub(crate) fn by_text(roots: &Roots, path: &Path) -> Standing {
    let top = PathBuf::from("/");
    let mut standings = vec![roots.enter(Standing::default(), &top, None)];
    let mut physical = top;
    for step in steps(path.as_os_str()) {
        match step {
            // Above `/` is `/`.
            Step::Up if standings.len() > 1 => {
                standings.pop();
                physical.pop();
            }
            Step::Up => {}
            Step::Into(name) => {
                physical.push(name);
                let above = standings.last().copied().unwrap_or_default();
                standings.push(roots.enter(above, &physical, None));
            }
        }
    }
    standings.pop().unwrap_or_default()
}

struct Walk<'a> {
    roots: &'a Roots,
    path: &'a Path,
    missing: Missing,
    links: Links,
    passed: Vec<Directory>,
    current: Directory,
    ahead: VecDeque<Step>,
    n_links: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Up,
    Into(OsString),
}

enum End {
    Leaf(Stat, Standing),
    Nothing(Standing, Position),
}

impl End {
    fn in_directory(self, parent: Directory, name: OsString) -> Place {
        match self {
            Self::Leaf(stat, standing) => Place::Leaf(Leaf {
                parent,
                name,
                stat,
                standing,
            }),
            Self::Nothing(standing, position) => Place::Nothing(Nothing {
                parent,
                name,
                standing,
                position,
            }),
        }
    }
}

impl Walk<'_> {
    fn up(&mut self) {
        // Above `/` is `/`.
        if let Some(above) = self.passed.pop() {
            self.current = above;
        }
    }

    fn descend(&mut self, name: OsString) -> Result<Option<(OsString, End)>, ScopeError> {
        let physical = self.current.physical.join(&name);
        let (fd, stat) = match look(&self.current.fd, &name) {
            Ok(found) => found,
            Err(Errno::NOENT) => return self.nothing(name, &physical),
            Err(errno) => {
                let standing = self.roots.enter(self.current.standing, &physical, None);
                // What may not be read may not be known either.
                self.roots.check(standing, Access::Read, self.path)?;
                return Err(ScopeError::io(self.path, "open", errno));
            }
        };
        let standing =
            self.roots
                .enter(self.current.standing, &physical, Some(Identity::of(&stat)));
        self.roots.check_passing(standing, self.path)?;
        match kind_of(&stat) {
            Kind::Directory => {
                let next = Directory {
                    fd,
                    stat,
                    standing,
                    physical,
                };
                self.passed.push(std::mem::replace(&mut self.current, next));
                Ok(None)
            }
            Kind::Symlink if self.links == Links::Refuse => Err(ScopeError::LinkOnTheWay {
                path: self.path.to_owned(),
                link: physical,
            }),
            Kind::Symlink => self.follow(&fd).map(|()| None),
            Kind::File | Kind::Special if self.ahead.is_empty() => {
                Ok(Some((name, End::Leaf(stat, standing))))
            }
            found @ (Kind::File | Kind::Special) => {
                self.roots.check(standing, Access::Read, self.path)?;
                Err(ScopeError::WrongKind {
                    path: self.path.to_owned(),
                    found,
                    wanted: Kind::Directory,
                })
            }
        }
    }

    fn follow(&mut self, link: &OwnedFd) -> Result<(), ScopeError> {
        self.n_links += 1;
        if self.n_links > LINKS {
            return Err(ScopeError::TooManyLinks {
                path: self.path.to_owned(),
            });
        }
        let target = rustix::fs::readlinkat(link, "", Vec::new())
            .map_err(|errno| ScopeError::io(self.path, "follow", errno))?;
        let target = OsString::from_vec(target.into_bytes());
        if target.as_bytes().starts_with(b"/") {
            self.passed.clear();
            self.current = top(self.roots, self.path)?;
        }
        for step in steps(&target).collect::<Vec<_>>().into_iter().rev() {
            self.ahead.push_front(step);
        }
        Ok(())
    }

    fn nothing(
        &mut self,
        name: OsString,
        physical: &Path,
    ) -> Result<Option<(OsString, End)>, ScopeError> {
        let standing = self.roots.enter(self.current.standing, physical, None);
        let position = if self.ahead.is_empty() {
            Position::Last
        } else {
            Position::Inside
        };
        if self.missing == Missing::Stop {
            return Ok(Some((name, End::Nothing(standing, position))));
        }
        self.roots.check(standing, Access::Write, self.path)?;
        match rustix::fs::mkdirat(&self.current.fd, &name, Mode::from_raw_mode(0o777)) {
            // Somebody else made it meanwhile: it is looked at like any other.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => {
                return Err(ScopeError::io(self.path, "make a directory for", errno));
            }
        }
        self.missing_again(name)
    }

    /// Goes on with a name that was just made. It is looked for once: if it is gone again, the
    /// walk ends there.
    fn missing_again(&mut self, name: OsString) -> Result<Option<(OsString, End)>, ScopeError> {
        self.missing = Missing::Stop;
        let end = self.descend(name);
        self.missing = Missing::Make;
        end
    }
}

fn top(roots: &Roots, path: &Path) -> Result<Directory, ScopeError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = || {
        let fd = rustix::fs::open("/", flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok((fd, stat))
    };
    let (fd, stat) = open().map_err(|errno: Errno| ScopeError::io(path, "open", errno))?;
    let physical = PathBuf::from("/");
    let standing = roots.enter(Standing::default(), &physical, Some(Identity::of(&stat)));
    roots.check_passing(standing, path)?;
    Ok(Directory {
        fd,
        stat,
        standing,
        physical,
    })
}

/// Opens what `name` is in `directory`, without following it, blocking on it or waking a device.
fn look(directory: impl AsFd, name: &OsStr) -> Result<(OwnedFd, Stat), Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&fd)?;
    Ok((fd, stat))
}

/// Opens what is at `path` (`O_PATH`), which must not lead through any symbolic link.
pub(crate) fn open_physical(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut fd = rustix::fs::open("/", flags, Mode::empty())?;
    for step in steps(path.as_os_str()) {
        let Step::Into(name) = step else {
            return Err(Errno::INVAL);
        };
        let (next, stat) = look(&fd, &name)?;
        if kind_of(&stat) == Kind::Symlink {
            return Err(Errno::LOOP);
        }
        fd = next;
    }
    Ok(fd)
}

fn steps(path: &OsStr) -> impl Iterator<Item = Step> + '_ {
    path.as_bytes()
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty() && *name != b".")
        .map(|name| match name {
            b".." => Step::Up,
            name => Step::Into(OsStr::from_bytes(name).to_owned()),
        })
}

/// What a `stat` says a file is.
pub(crate) fn kind_of(stat: &Stat) -> Kind {
    kind_of_type(FileType::from_raw_mode(stat.st_mode))
}

/// What a file type is to the scope.
pub(crate) fn kind_of_type(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Kind::Special,
    }
}
