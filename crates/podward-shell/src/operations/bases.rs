//! The directories in which a command may run.

use std::rc::Rc;

use podward_policy::{Text, TextBuilder};

use crate::arg::{Arg, Directories};
use crate::limits;
use crate::place::ShellPlace;
use crate::work;

/// The directories that a relative path may start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bases(Rc<[Text]>);

impl Bases {
    pub(crate) fn known(directory: &str) -> Self {
        Self(Rc::new([Text::known(directory)]))
    }

    pub(crate) fn unknown() -> Self {
        Self(Rc::new([Text::anything()]))
    }

    /// The directory, if there is only one and it is known.
    pub(crate) fn single(&self) -> Option<&str> {
        match &*self.0 {
            [base] => base.as_known(),
            _ => None,
        }
    }

    pub(crate) fn all(&self) -> &[Text] {
        &self.0
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.0.iter().any(|base| base.as_known().is_none())
    }

    /// Whether the first, where every change of directory succeeded, is known to lie inside the
    /// workspace.
    pub(crate) fn is_inside(&self, place: &ShellPlace<'_>) -> bool {
        self.0.first().is_some_and(|base| {
            base.as_known().is_some() && {
                let found = place.forms.path(base, &Text::known("."));
                found.outside.is_none() && found.unknown.is_none()
            }
        })
    }

    pub(crate) fn join(self, other: Self) -> Self {
        if other.0.iter().all(|base| self.0.contains(base)) {
            return self;
        }
        let mut all = self.0.to_vec();
        for base in &*other.0 {
            if !all.contains(base) {
                all.push(base.clone());
            }
        }
        if all.len() > limits::BASES {
            all.truncate(limits::BASES);
            all.push(Text::anything());
        }
        Self(all.into())
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
            return Self::unknown();
        };
        if path.known_part().starts_with(CWD) && path.as_known().is_some() {
            // The directory that the shell is in.
            let below = path.known_part().split_at(CWD.len()).1;
            if below.is_empty() || below.starts_with('/') {
                return self.joined(&Text::known(format!("./{below}")));
            }
        }
        if path.known_part().starts_with('/') && path.holes().first().is_none_or(|h| h.at > 0) {
            return Self(Rc::new([path]));
        }
        self.joined(&path)
    }

    /// A path below each of the directories.
    fn joined(&self, path: &Text) -> Self {
        let len = path.known_part().len();
        let entered = self.0.iter().map(|base| {
            let n_bytes = base.known_part().len() + len;
            if has_expansion(base) || n_bytes >= limits::DIRECTORY_BYTES {
                return Self::unknown();
            }
            work::done(n_bytes);
            let joined = TextBuilder::new().text(base).known("/").text(path).build();
            Self(Rc::new([joined]))
        });
        entered.reduce(Self::join).unwrap_or_else(Self::unknown)
    }
}

/// The kernel's name of the working directory.
const CWD: &str = "/proc/self/cwd";

/// Whether a text holds a value that is not known, and not a file name pattern only.
pub(crate) fn has_expansion(text: &Text) -> bool {
    text.holes().iter().any(|hole| hole.kind.is_expansion())
}
