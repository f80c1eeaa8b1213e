//! The directories that paths are compared with.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use podward_policy::{HoleKind, PathForm, Text, TextBuilder};

use super::{Parts, normalise};
use crate::lower::partly::{Symbol, pattern_may_match, write};
use crate::lower::resolve::{resolve, steps_down};
use crate::tool::{Links, Place};

/// The workspace and the home directory, in each of their spellings: as given, then resolved.
pub(crate) struct Roots {
    pub(super) workspace: Vec<Parts>,
    home: Vec<Parts>,
}

impl Roots {
    pub(crate) fn of(place: &Place) -> Self {
        Self {
            workspace: spellings_of(&place.workspace, place),
            home: place
                .home
                .as_deref()
                .map(|home| spellings_of(home, place))
                .unwrap_or_default(),
        }
    }

    pub(super) fn contain(&self, path: &[OsString]) -> bool {
        below(&self.workspace, path).is_some()
    }

    /// Whether two paths are one, but for the spelling of the workspace or home in front.
    pub(super) fn are_same(&self, one: &[OsString], other: &[OsString]) -> bool {
        let is_same_below = |roots: &[Parts]| {
            below(roots, one).is_some_and(|rest| below(roots, other) == Some(rest))
        };
        one == other || is_same_below(&self.workspace) || is_same_below(&self.home)
    }

    /// The form of a path that goes on with `rest`.
    pub(super) fn form(&self, path: &[OsString], rest: &[Vec<Symbol>]) -> PathForm {
        let absolute = joined("/", path, rest);
        let short = match below(&self.workspace, path) {
            Some([]) if rest.is_empty() => Text::known("."),
            Some(inside) => joined("", inside, rest),
            None => absolute.clone(),
        };
        let home = below(&self.home, path).map(|inside| match inside {
            [] if rest.is_empty() => Text::known("~"),
            _ => joined("~/", inside, rest),
        });
        PathForm {
            short,
            absolute,
            home,
        }
    }

    /// The path itself, and with the workspace or home in front in its other spelling.
    pub(super) fn spellings(&self, path: &Parts) -> Vec<Parts> {
        let mut spellings = vec![path.clone()];
        for roots in [&self.workspace, &self.home] {
            let Some(rest) = below(roots, path) else {
                continue;
            };
            spellings.extend(roots.iter().map(|root| [root.as_slice(), rest].concat()));
        }
        spellings
    }

    /// What a path with file name patterns may be in the workspace or home, where a pattern stands
    /// for a part of their own names.
    pub(super) fn reached<'r>(
        &self,
        path: &[OsString],
        rest: &'r [Vec<Symbol>],
    ) -> Vec<(Parts, &'r [Vec<Symbol>])> {
        let roots = self.workspace.iter().chain(&self.home);
        roots
            .filter_map(|root| {
                let own = root.strip_prefix(path).filter(|own| !own.is_empty())?;
                let (patterns, inside) = rest.split_at_checked(own.len())?;
                let may_be = patterns
                    .iter()
                    .zip(own)
                    .all(|(pattern, name)| pattern_may_match(pattern, &name.to_string_lossy()));
                may_be.then(|| (root.clone(), inside))
            })
            .collect()
    }
}

/// A form that a path may have, and need not.
pub(super) fn possible(form: &PathForm) -> PathForm {
    let possible = |text: &Text| {
        let start = TextBuilder::new().hole(HoleKind::FileGlob);
        start.text(text).build()
    };
    PathForm {
        short: possible(&form.short),
        absolute: possible(&form.absolute),
        home: form.home.as_ref().map(possible),
    }
}

fn spellings_of(root: &Path, place: &Place) -> Vec<Parts> {
    let lexical = normalise(root);
    match place.links {
        Links::Lexical => vec![lexical],
        Links::Resolve => {
            let cwd = normalise(&place.cwd);
            let unlimited = Cell::new(usize::MAX);
            let resolved = resolve(steps_down(&lexical), Some(&cwd), &unlimited).parts;
            if resolved == lexical {
                vec![lexical]
            } else {
                vec![lexical, resolved]
            }
        }
    }
}

pub(super) fn below<'a>(roots: &[Parts], path: &'a [OsString]) -> Option<&'a [OsString]> {
    roots
        .iter()
        .find_map(|root| path.strip_prefix(root.as_slice()))
}

/// Rules are text: what is not UTF-8 in a name found on disk is U+FFFD for them.
fn joined(start: &str, parts: &[OsString], rest: &[Vec<Symbol>]) -> Text {
    let names: Vec<_> = parts
        .iter()
        .map(OsString::as_os_str)
        .map(OsStr::to_string_lossy)
        .collect();
    let known = format!("{start}{}", names.join("/"));
    if rest.is_empty() {
        return Text::known(known);
    }
    let mut text = TextBuilder::new().known(&known);
    for (idx, name) in rest.iter().enumerate() {
        if idx > 0 || !parts.is_empty() {
            text = text.known("/");
        }
        text = write(text, name);
    }
    text.build()
}
