//! The directories in which a command may run.

use std::rc::Rc;

use podward_policy::{Text, TextBuilder};

use crate::arg::{Arg, Directories};
use crate::limits;
use crate::place::ShellPlace;
use crate::work;

/// The directories that a relative path may start from, and how they change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bases {
    all: Rc<[Text]>,
    ways: Ways,
}

/// How the shell changes its directory from here on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ways {
    /// A trap may change it at any time.
    wanders: bool,
    /// `..` is above the target of a link, not above the link.
    is_physical: bool,
    /// A `cd` that fails ends the shell (`set -e`).
    is_strict: bool,
}

impl Bases {
    pub(crate) fn known(directory: &str) -> Self {
        Self::of(Text::known(directory), Ways::default())
    }

    fn of(directory: Text, ways: Ways) -> Self {
        Self {
            all: Rc::new([directory]),
            ways,
        }
    }

    /// The same shell in a directory of which nothing is known.
    pub(crate) fn anywhere(&self) -> Self {
        Self::of(Text::anything(), self.ways)
    }

    /// The same, or where it is.
    pub(crate) fn or_anywhere(&self) -> Self {
        self.clone().join(self.anywhere())
    }

    /// From here on a trap may change the directory at any time.
    pub(crate) fn wandering(mut self) -> Self {
        self.ways.wanders = true;
        self.or_anywhere()
    }

    /// From here on `cd` goes by what links lead to, or may.
    pub(crate) fn physical(mut self) -> Self {
        self.ways.is_physical = true;
        self
    }

    /// The directory, if there is only one and it is known.
    pub(crate) fn single(&self) -> Option<&str> {
        match &*self.all {
            [base] => base.as_known(),
            _ => None,
        }
    }

    pub(crate) fn all(&self) -> &[Text] {
        &self.all
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.all.iter().any(|base| base.as_known().is_none())
    }

    /// Whether the first, where every change of directory succeeded, is known to lie inside the
    /// workspace.
    pub(crate) fn is_inside(&self, place: &ShellPlace<'_>) -> bool {
        self.all.first().is_some_and(|base| {
            base.as_known().is_some() && {
                let found = place.forms.path(base, &Text::known("."));
                found.outside.is_none() && found.unknown.is_none()
            }
        })
    }

    /// From here on a `cd` that fails ends the shell, where failures count.
    pub(crate) fn strict(mut self) -> Self {
        self.ways.is_strict = true;
        self
    }

    /// From here on the shell goes on behind a `cd` that fails.
    pub(crate) fn lenient(mut self) -> Self {
        self.ways.is_strict = false;
        self
    }

    pub(crate) const fn is_strict(&self) -> bool {
        self.ways.is_strict
    }

    pub(crate) fn join(mut self, other: Self) -> Self {
        self.ways.wanders |= other.ways.wanders;
        self.ways.is_physical |= other.ways.is_physical;
        self.ways.is_strict &= other.ways.is_strict;
        if other.all.iter().all(|base| self.all.contains(base)) {
            return self;
        }
        let mut all = self.all.to_vec();
        for base in &*other.all {
            if !all.contains(base) {
                all.push(base.clone());
            }
        }
        if all.len() > limits::BASES {
            all.truncate(limits::BASES);
            all.push(Text::anything());
        }
        self.all = all.into();
        self
    }

    /// The path that an argument is, as far as it is known.
    pub(crate) fn path(&self, arg: &Arg, place: &ShellPlace<'_>) -> Option<Text> {
        arg.path(Directories {
            home: place.home,
            working: self.single(),
        })
    }

    /// After changing into a directory.
    pub(crate) fn enter(&self, directory: &Arg, place: &ShellPlace<'_>) -> Self {
        let path = self.path(directory, place);
        let Some(path) = path.filter(|path| !has_expansion(path)) else {
            return self.anywhere();
        };
        let entered = match below_working(&path) {
            Some(below) => self.joined(&Text::known(format!("./{below}"))),
            None if is_absolute(&path) => Self::of(path.clone(), self.ways),
            None => self.joined(&path),
        };
        let entered = match self.ways.is_physical {
            true => self.behind_links(&path, place).fold(entered, Self::join),
            false => entered,
        };
        match self.ways.wanders {
            true => entered.or_anywhere(),
            false => entered,
        }
    }

    /// Where a path leads that is followed as the kernel does, where links lead elsewhere.
    fn behind_links(&self, path: &Text, place: &ShellPlace<'_>) -> impl Iterator<Item = Self> {
        let resolved = |base: &Text| {
            let found = place.forms.path(base, path);
            match found.unknown {
                Some(_) => Some(self.anywhere()),
                None => Some(Self::of(found.subject.resolved?.absolute, self.ways)),
            }
        };
        self.all.iter().filter_map(resolved)
    }

    /// A path below each of the directories.
    fn joined(&self, path: &Text) -> Self {
        let len = path.known_part().len();
        let entered = self.all.iter().map(|base| {
            let n_bytes = base.known_part().len() + len;
            if has_expansion(base) || n_bytes >= limits::DIRECTORY_BYTES {
                return self.anywhere();
            }
            work::done(n_bytes);
            let joined = TextBuilder::new().text(base).known("/").text(path).build();
            Self::of(joined, self.ways)
        });
        let entered = entered.reduce(Self::join);
        entered.unwrap_or_else(|| self.anywhere())
    }
}

fn is_absolute(path: &Text) -> bool {
    path.known_part().starts_with('/') && path.holes().first().is_none_or(|hole| hole.at > 0)
}

/// What follows the kernel's name of the working directory.
fn below_working(path: &Text) -> Option<&str> {
    let below = path.as_known()?.strip_prefix(CWD)?;
    (below.is_empty() || below.starts_with('/')).then_some(below)
}

/// The kernel's name of the working directory.
const CWD: &str = "/proc/self/cwd";

/// Whether a text holds a value that is not known, and not a file name pattern only.
pub(crate) fn has_expansion(text: &Text) -> bool {
    text.holes().iter().any(|hole| hole.kind.is_expansion())
}
