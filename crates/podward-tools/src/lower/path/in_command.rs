//! The paths of a command line, of which parts may not be known before it runs.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};

use podward_policy::{HoleKind, PathForm, PathSubject, Text, UnknownReason};

use super::roots::{Roots, possible};
use super::written::{Name, Read, Written, dotted, names, rootless};
use super::{Look, Target, normalise};
use crate::lower::partly::{Symbol, symbols, text_of};
use crate::tool::Place;

/// How often the disk is asked for the paths of one command line: some hundreds of paths.
const LOOKUPS: usize = 16 * 1024;

/// The paths of one command line.
pub(crate) struct CommandPaths<'a> {
    place: &'a Place,
    roots: OnceCell<Roots>,
    lookups: Cell<usize>,
}

/// A path of a command line.
pub(crate) struct CommandPath {
    pub(crate) subject: PathSubject,
    pub(crate) outside: Option<PathSubject>,
    pub(crate) unknown: Option<UnknownReason>,
}

impl<'a> CommandPaths<'a> {
    pub(crate) const fn new(place: &'a Place) -> Self {
        Self {
            place,
            roots: OnceCell::new(),
            lookups: Cell::new(LOOKUPS),
        }
    }

    /// The path `path`, as the kernel opens it from the directory `base`.
    pub(crate) fn find(&self, base: &Text, path: &Text) -> CommandPath {
        let own = symbols(path);
        let is_absolute = own.first() == Some(&Symbol::Char('/'));
        let may_be_absolute = own.first().is_some_and(|first| first.is_expansion());
        let (directory, whole) = match base.as_known() {
            Some(base) => (Some(self.directory(base)), own),
            None if is_absolute || may_be_absolute => (None, own),
            None => {
                let slash = [Symbol::Char('/')];
                (None, [&symbols(base), &slash[..], &own].concat())
            }
        };
        let names = names(&whole);
        let starts_known = directory.is_some() || whole.first() == Some(&Symbol::Char('/'));
        if may_be_absolute || !starts_known {
            return CommandPath::rootless(&rootless(Vec::new(), &names));
        }
        let start = directory
            .filter(|_| !is_absolute)
            .unwrap_or_else(|| PathBuf::from("/"));
        let mut found = self.from(base, &start, &names);
        for names in dotted(&names) {
            let other = self.from(base, &start, &names);
            let forms = [Some(other.subject.lexical), other.subject.resolved];
            let forms = forms.into_iter().flatten();
            found
                .subject
                .further
                .extend(forms.map(|form| possible(&form)));
            found.outside = found.outside.or(other.outside);
        }
        found
    }

    fn from(&self, base: &Text, start: &Path, names: &[Name]) -> CommandPath {
        let cwd = base.as_known().map(|base| normalise(&self.directory(base)));
        let written = match Written::from(start, names, cwd.as_ref()) {
            Read::Rooted(written) => written,
            Read::Rootless(names) => return CommandPath::rootless(&names),
        };
        let look = Look {
            roots: self.roots.get_or_init(|| Roots::of(self.place)),
            links: self.place.links,
            cwd: cwd.as_ref(),
            lookups: &self.lookups,
        };
        let Target {
            subject,
            outside,
            unknown,
            ..
        } = look.target(written);
        CommandPath {
            subject,
            outside,
            unknown,
        }
    }

    /// A directory that a command names, or starts in: the text of a name that is not UTF-8 is
    /// none of a file.
    fn directory(&self, text: &str) -> PathBuf {
        let own = [Some(&self.place.cwd), self.place.home.as_ref()];
        for directory in own.into_iter().flatten() {
            if directory.to_str().is_none()
                && let Some(rest) = text.strip_prefix(&*directory.to_string_lossy())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return directory.join(rest.trim_start_matches('/'));
            }
        }
        PathBuf::from(text)
    }
}

impl CommandPath {
    /// A path that may start anywhere.
    fn rootless(names: &[Vec<Symbol>]) -> Self {
        let text = text_of(&names.join(&Symbol::Char('/')));
        Self {
            subject: PathSubject {
                lexical: PathForm {
                    short: text.clone(),
                    absolute: text,
                    home: None,
                },
                resolved: None,
                further: anywhere(names).into_iter().collect(),
            },
            // Nothing says that it is outside, and a rule for what is must match for certain.
            outside: None,
            unknown: None,
        }
    }
}

/// The form of a path whose last expansion holds `..`, or a whole path: only what follows it is
/// known.
pub(super) fn anywhere(names: &[Vec<Symbol>]) -> Option<PathForm> {
    let whole = names.join(&Symbol::Char('/'));
    let last = whole.iter().rposition(|symbol| symbol.is_expansion())?;
    let tail = whole.get(last + 1..).unwrap_or_default();
    let tail = tail.strip_prefix(&[Symbol::Char('/')]).unwrap_or(tail);
    let text = text_of(&[&[Symbol::Hole(HoleKind::Anything)], tail].concat());
    Some(PathForm {
        short: text.clone(),
        absolute: text,
        home: None,
    })
}
