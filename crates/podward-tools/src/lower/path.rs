//! A path in a call's arguments: the forms that rules see, and the file that is opened.
//!
//! A path is normalised by its text first, so `link/../x` is `x`, not what lies beside the link's
//! target. Then, unless the place is judged by text alone, symlinks are resolved on disk. The
//! resolved path is what is opened, by a walk that follows no further symlink: what was judged is
//! what is opened, even if a component is replaced in between.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use podward_policy::{
    EXTERNAL_DIRECTORY, Need, Operation, PathForm, PathSubject, Subject, Text, ToolName,
    UnknownReason,
};

use crate::error::BadArguments;
use crate::lower::resolve::{Resolution, resolve};
use crate::lower::{full, names};
use crate::text::visible;
use crate::tool::{Links, Place};

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
        let written = normalise(path);
        let aliased = follow_aliases(path, place);
        let lexical = aliased.parts;
        let resolution = match place.links {
            Links::Resolve => resolve(&lexical, place),
            Links::Lexical => Resolution::unresolved(&lexical),
        };
        let mut spellings = resolution.hops;
        if written != lexical {
            spellings.push(written);
        }
        let ways = Ways {
            lexical,
            resolved: resolution.parts,
            spellings,
        };
        Self::from_ways(
            &Roots::of(place),
            ways,
            aliased.unknown.or(resolution.unknown),
        )
    }

    fn from_ways(roots: &Roots, ways: Ways, unknown: Option<UnknownReason>) -> Self {
        let Ways {
            lexical,
            resolved,
            spellings,
        } = &ways;
        let lexical_form = roots.form(lexical);
        let resolved_form = (!roots.are_same(lexical, resolved)).then(|| roots.form(resolved));
        let mut further = Vec::new();
        for parts in [lexical, resolved].into_iter().chain(spellings) {
            for spelling in roots.spellings(parts) {
                let form = roots.form(&spelling);
                let is_new = form != lexical_form
                    && resolved_form.as_ref() != Some(&form)
                    && !further.contains(&form);
                if is_new {
                    further.push(form);
                }
            }
        }
        let outside = (!roots.contain(resolved) && !is_free(resolved)).then(|| {
            // A link that leads out has a lexical form inside, which no rule for outside can mean.
            let is_lexical_outside = !roots.contain(lexical);
            let outermost = if is_lexical_outside {
                lexical
            } else {
                resolved
            };
            PathSubject {
                lexical: roots.form(outermost),
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
        let mut operations = vec![full(tool.clone(), Subject::Path(self.subject.clone()))];
        if let Some(reason) = &self.unknown {
            operations.push(full(tool.clone(), Subject::Unknown(reason.clone())));
        }
        operations.extend(restrictive.iter().map(|other| Operation {
            need: Need::Restrictive,
            ..full(other.clone(), Subject::Path(self.subject.clone()))
        }));
        if let Some(outside) = &self.outside {
            operations.push(Operation {
                need: Need::Restrictive,
                ..full(
                    names::built_in(EXTERNAL_DIRECTORY),
                    Subject::Path(outside.clone()),
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

/// The directories that paths are compared with, in each of their spellings: as given, then
/// resolved.
struct Roots {
    workspace: Vec<Parts>,
    home: Vec<Parts>,
}

impl Roots {
    fn of(place: &Place) -> Self {
        Self {
            workspace: spellings_of(&place.workspace, place),
            home: place
                .home
                .as_deref()
                .map(|home| spellings_of(home, place))
                .unwrap_or_default(),
        }
    }

    fn contain(&self, path: &[OsString]) -> bool {
        below(&self.workspace, path).is_some()
    }

    /// Whether two paths are one, but for the spelling of the workspace or home in front.
    fn are_same(&self, one: &[OsString], other: &[OsString]) -> bool {
        let is_same_below = |roots: &[Parts]| {
            below(roots, one).is_some_and(|rest| below(roots, other) == Some(rest))
        };
        one == other || is_same_below(&self.workspace) || is_same_below(&self.home)
    }

    fn form(&self, path: &[OsString]) -> PathForm {
        let absolute = text_of(path);
        let short = match below(&self.workspace, path) {
            Some([]) => ".".to_owned(),
            Some(rest) => joined(rest),
            None => absolute.clone(),
        };
        let home = below(&self.home, path).map(|rest| match rest {
            [] => Text::known("~"),
            _ => Text::known(format!("~/{}", joined(rest))),
        });
        PathForm {
            short: Text::known(short),
            absolute: Text::known(absolute),
            home,
        }
    }

    /// The path itself, and with the workspace or home in front in its other spelling.
    fn spellings(&self, path: &Parts) -> Vec<Parts> {
        let mut spellings = vec![path.clone()];
        for roots in [&self.workspace, &self.home] {
            let Some(rest) = below(roots, path) else {
                continue;
            };
            spellings.extend(roots.iter().map(|root| [root.as_slice(), rest].concat()));
        }
        spellings
    }
}

fn spellings_of(root: &Path, place: &Place) -> Vec<Parts> {
    let lexical = normalise(root);
    match place.links {
        Links::Lexical => vec![lexical],
        Links::Resolve => {
            let resolved = resolve(&lexical, place).parts;
            if resolved == lexical {
                vec![lexical]
            } else {
                vec![lexical, resolved]
            }
        }
    }
}

fn below<'a>(roots: &[Parts], path: &'a [OsString]) -> Option<&'a [OsString]> {
    roots
        .iter()
        .find_map(|root| path.strip_prefix(root.as_slice()))
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

/// A path whose leading kernel aliases are replaced by what they stand for.
struct Aliased {
    parts: Parts,
    unknown: Option<UnknownReason>,
}

fn follow_aliases(path: &Path, place: &Place) -> Aliased {
    let mut parts = Parts::new();
    let mut unknown = None;
    for component in path.components() {
        match component {
            Component::Normal(name) => parts.push(name.to_owned()),
            Component::ParentDir => drop(parts.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
        match alias(&parts) {
            Alias::None => {}
            Alias::WorkingDirectory => parts = normalise(&place.cwd),
            Alias::Root => parts.clear(),
            Alias::Unknown(why) => unknown = Some(UnknownReason::new(why)),
        }
    }
    Aliased { parts, unknown }
}

/// What a path is to the kernel, beside a name on disk.
pub(crate) enum Alias {
    /// Nothing else.
    None,
    /// The process's own working directory.
    WorkingDirectory,
    /// The process's own root.
    Root,
    /// Something that its text does not tell.
    Unknown(&'static str),
}

/// Whether exactly this path is one of the kernel's aliases (proc(5)).
pub(crate) fn alias(parts: &[OsString]) -> Alias {
    const OPEN_FILE: &str = "an open file of a process";
    const OTHER: &str = "a directory or file of another process";
    let names: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    match names.as_slice() {
        [b"dev", b"fd" | b"stdin" | b"stdout" | b"stderr"] => Alias::Unknown(OPEN_FILE),
        [b"proc", process, rest @ ..] => {
            let is_self = matches!(*process, b"self" | b"thread-self");
            if !is_self && !process.iter().all(u8::is_ascii_digit) {
                return Alias::None;
            }
            let (is_own, rest) = match rest {
                [b"task", _, rest @ ..] => (false, rest),
                _ => (is_self, rest),
            };
            match rest {
                [b"cwd"] if is_own => Alias::WorkingDirectory,
                [b"root"] if is_own => Alias::Root,
                [b"fd" | b"map_files" | b"exe"] => Alias::Unknown(OPEN_FILE),
                [b"cwd" | b"root"] => Alias::Unknown(OTHER),
                _ => Alias::None,
            }
        }
        _ => Alias::None,
    }
}

pub(crate) fn path_of(parts: &[OsString]) -> PathBuf {
    let mut path = PathBuf::from("/");
    path.extend(parts);
    path
}

fn text_of(parts: &[OsString]) -> String {
    format!("/{}", joined(parts))
}

/// Rules are text: what is not UTF-8 in a name found on disk is U+FFFD for them.
fn joined(parts: &[OsString]) -> String {
    let names: Vec<_> = parts
        .iter()
        .map(OsString::as_os_str)
        .map(OsStr::to_string_lossy)
        .collect();
    names.join("/")
}

#[cfg(test)]
mod tests;
