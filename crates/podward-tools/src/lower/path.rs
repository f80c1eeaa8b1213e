//! A path in a call's arguments: the forms that rules see, and the file that is opened.
//!
//! A path is normalised by its text first, so `link/../x` is `x`, not what lies beside the link's
//! target. Then, unless the place is judged by text alone, symlinks are resolved on disk. The
//! resolved path is what is opened, by a walk that follows no further symlink: what was judged is
//! what is opened, even if a component is replaced in between.

mod alias;
mod in_command;
mod roots;
mod written;

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use podward_policy::{
    EXTERNAL_DIRECTORY, Need, Operation, PathForm, PathSubject, Subject, ToolName, UnknownReason,
};

use crate::error::BadArguments;
use crate::lower::partly::Symbol;
use crate::lower::resolve::{Resolution, Step, resolve, steps_down};
use crate::lower::{full, names};
use crate::text::visible;
use crate::tool::{Links, Place};
use in_command::anywhere;
use roots::{below, possible};
use written::Written;

pub(crate) use alias::{Alias, alias};
pub(crate) use in_command::CommandPaths;
pub(crate) use roots::Roots;

/// The kernel's limit on a path's length, its closing NUL included.
const PATH_MAX: usize = 4096;

/// Where a path of a call leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    ways: Ways,
    unknown: Option<UnknownReason>,
    subject: PathSubject,
    /// The forms that lie outside the workspace, if the path does.
    outside: Option<PathSubject>,
    absolute: PathBuf,
}

/// A path that is absolute and normalised, as its components below `/`.
pub(crate) type Parts = Vec<OsString>;

/// The ways on which one file is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ways {
    lexical: Parts,
    resolved: Parts,
    /// As it was written, and after each symlink on the way.
    spellings: Vec<Parts>,
    /// What follows on each of them, from the first name on that is known in part.
    rest: Vec<Vec<Symbol>>,
}

/// How paths of one call are looked up.
struct Look<'a> {
    roots: &'a Roots,
    links: Links,
    /// The working directory of who opens the path, if it is known.
    cwd: Option<&'a Parts>,
    /// How often the disk may still be asked.
    lookups: &'a Cell<usize>,
}

impl Look<'_> {
    fn target(&self, written: Written) -> Target {
        let Written {
            plain,
            parts,
            steps,
            rest,
            unknown,
        } = written;
        let look_up = |steps: Vec<Step>| resolve(steps, self.cwd, self.lookups);
        let mut spellings = Vec::new();
        let resolution = match self.links {
            Links::Lexical => Resolution::unresolved(&parts),
            Links::Resolve => {
                let goes_up = steps.contains(&Step::Up);
                let resolution = look_up(steps);
                if goes_up {
                    // Some programs take `link/..` by its text.
                    let by_text = look_up(steps_down(&parts).collect());
                    spellings.extend(by_text.hops);
                    spellings.push(by_text.parts);
                }
                resolution
            }
        };
        spellings.splice(0..0, resolution.hops);
        if plain != parts {
            spellings.push(plain);
        }
        let ways = Ways {
            lexical: parts,
            resolved: resolution.parts,
            spellings,
            rest,
        };
        Target::from_ways(self.roots, ways, unknown.or(resolution.unknown))
    }
}

impl Target {
    /// Reads the argument `key` of a call as a path.
    pub(crate) fn parse(
        tool: &ToolName,
        key: &str,
        raw: &str,
        place: &Place,
    ) -> Result<Self, BadArguments> {
        let bad = |problem: &str| BadArguments::new(tool, format!("`{key}` {problem}"));
        if raw.is_empty() {
            return Err(bad("is empty").with_hint("`.` is the workspace"));
        }
        if raw.contains('\0') {
            return Err(bad("holds a NUL character, which no path can"));
        }
        if raw.len() >= PATH_MAX {
            return Err(bad("is longer than a path can be"));
        }
        let (base, rest) = match raw.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let Some(home) = &place.home else {
                    return Err(bad("begins with `~`, and no home directory is known")
                        .with_hint("write an absolute path"));
                };
                (home.as_path(), rest.trim_start_matches('/'))
            }
            _ => (place.cwd.as_path(), raw),
        };
        Ok(Self::of(&base.join(rest), place))
    }

    /// The target of an absolute path.
    pub(crate) fn of(path: &Path, place: &Place) -> Self {
        let cwd = normalise(&place.cwd);
        let found = Look {
            roots: &Roots::of(place),
            links: place.links,
            cwd: Some(&cwd),
            lookups: &Cell::new(usize::MAX),
        };
        found.target(Written::by_text(path, Some(&cwd)))
    }

    fn from_ways(roots: &Roots, ways: Ways, unknown: Option<UnknownReason>) -> Self {
        let Ways {
            lexical,
            resolved,
            spellings,
            rest,
        } = &ways;
        let lexical_form = roots.form(lexical, rest);
        let resolved_form =
            (!roots.are_same(lexical, resolved)).then(|| roots.form(resolved, rest));
        let mut further = Vec::new();
        let mut add = |form: PathForm| {
            let is_new = form != lexical_form
                && resolved_form.as_ref() != Some(&form)
                && !further.contains(&form);
            if is_new {
                further.push(form);
            }
        };
        for parts in [lexical, resolved].into_iter().chain(spellings) {
            for spelling in roots.spellings(parts) {
                add(roots.form(&spelling, rest));
            }
            for (root, inside) in roots.reached(parts, rest) {
                add(possible(&roots.form(&root, inside)));
            }
        }
        if let Some(form) = anywhere(rest) {
            add(form);
        }
        let is_free = rest.is_empty() && is_free(resolved);
        let is_outside = !is_free && !roots.contain(resolved);
        let outside = is_outside.then(|| {
            // A link that leads out has a lexical form inside, which no rule for outside can mean.
            let is_lexical_outside = !roots.contain(lexical);
            let outermost = if is_lexical_outside {
                lexical
            } else {
                resolved
            };
            PathSubject {
                lexical: roots.form(outermost, rest),
                resolved: resolved_form.clone().filter(|_| is_lexical_outside),
                further: further.clone(),
            }
        });
        Self {
            subject: PathSubject {
                lexical: lexical_form,
                resolved: resolved_form,
                further,
            },
            outside,
            unknown,
            absolute: path_of(resolved),
            ways,
        }
    }

    /// The operations of a call of `tool` on this path: `tool` itself needs an allow, the others
    /// can only tighten.
    pub(crate) fn operations(&self, tool: &ToolName, restrictive: &[ToolName]) -> Vec<Operation> {
        let subject = Subject::path(self.subject.clone());
        let mut operations = vec![full(tool.clone(), subject.clone())];
        if let Some(reason) = &self.unknown {
            operations.push(full(tool.clone(), Subject::Unknown(reason.clone())));
        }
        operations.extend(restrictive.iter().map(|other| Operation {
            need: Need::Restrictive,
            ..full(other.clone(), subject.clone())
        }));
        if let Some(outside) = &self.outside {
            operations.push(Operation {
                need: Need::Restrictive,
                ..full(
                    names::built_in(EXTERNAL_DIRECTORY),
                    Subject::path(outside.clone()),
                )
            });
        }
        operations
    }

    /// The path to open: absolute, and without symlinks when they were resolved.
    pub(crate) fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// The path as it was written, normalised by its text: absolute.
    pub(crate) fn lexical(&self) -> PathBuf {
        path_of(&self.ways.lexical)
    }

    /// The path for results: relative to the workspace inside it, invisible characters escaped.
    pub(crate) fn shown(&self) -> String {
        visible(self.subject.lexical.short.known_part()).into_owned()
    }
}

/// A directory whose entries are judged one by one, without a look at the disk for each.
pub(crate) struct Tree<'a> {
    root: &'a Target,
    roots: Roots,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(root: &'a Target, place: &Place) -> Self {
        Self {
            root,
            roots: Roots::of(place),
        }
    }

    /// The target of an entry below the root that was reached without passing a symlink, and is
    /// none.
    pub(crate) fn target(&self, below: &[OsString]) -> Target {
        let join = |parts: &Parts| [parts.as_slice(), below].concat();
        let ways = &self.root.ways;
        let ways = Ways {
            lexical: join(&ways.lexical),
            resolved: join(&ways.resolved),
            spellings: ways.spellings.iter().map(join).collect(),
            rest: Vec::new(),
        };
        Target::from_ways(&self.roots, ways, self.root.unknown.clone())
    }

    /// The directories from the workspace down to the root, the root left out; empty outside the
    /// workspace.
    pub(crate) fn ancestors(&self) -> Vec<PathBuf> {
        let resolved = &self.root.ways.resolved;
        let Some(rest) = below(&self.roots.workspace, resolved) else {
            return Vec::new();
        };
        let n_workspace = resolved.len() - rest.len();
        (n_workspace..resolved.len())
            .filter_map(|n| resolved.get(..n))
            .map(path_of)
            .collect()
    }
}

/// What D2.3 names free and a file tool can open without touching the pod's own streams.
fn is_free(path: &[OsString]) -> bool {
    matches!(path, [dev, null] if dev == "dev" && null == "null")
}

/// The components of an absolute path, `.`, `..` and empty ones gone.
pub(crate) fn normalise(path: &Path) -> Parts {
    let mut parts = Parts::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => parts.push(name.to_owned()),
            Component::ParentDir => drop(parts.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    parts
}

pub(crate) fn path_of(parts: &[OsString]) -> PathBuf {
    let mut path = PathBuf::from("/");
    path.extend(parts);
    path
}

#[cfg(test)]
mod tests;
