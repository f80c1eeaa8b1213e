//! Where the symlinks of a path lead.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use podward_policy::UnknownReason;

use crate::lower::path::{Alias, Parts, alias, path_of};

/// As many as the kernel follows (path_resolution(7)).
const LINKS_MAX: usize = 40;

/// A path with its symlinks resolved, as far as it exists.
pub(crate) struct Resolution {
    /// The path without symlinks; what does not exist is kept as written.
    pub(crate) parts: Parts,
    /// What the path was after each symlink but the last.
    pub(crate) hops: Vec<Parts>,
    /// Why it is not known where the path leads.
    pub(crate) unknown: Option<UnknownReason>,
}

impl Resolution {
    /// The path as it is.
    pub(crate) fn unresolved(path: &Parts) -> Self {
        Self {
            parts: path.clone(),
            hops: Vec::new(),
            unknown: None,
        }
    }
}

/// Resolves the symlinks of an absolute path, as the kernel walks it.
///
/// Not `std::fs::canonicalize`: the tail need not exist, each hop is a spelling that a rule may
/// name, and the kernel's aliases are to be seen on the way. `cwd` is what the alias for the
/// working directory stands for; `lookups` is how often the disk may still be asked.
pub(crate) fn resolve(
    path: impl IntoIterator<Item = Step>,
    cwd: Option<&Parts>,
    lookups: &Cell<usize>,
) -> Resolution {
    let mut pending: VecDeque<Step> = path.into_iter().collect();
    let mut resolution = Resolution {
        parts: Parts::new(),
        hops: Vec::new(),
        unknown: None,
    };
    let mut n_links = 0;
    // The length of the path that does not exist, or of which nothing can be told.
    let mut missing = None;
    while let Some(step) = pending.pop_front() {
        let parts = &mut resolution.parts;
        match step {
            Step::Up => {
                parts.pop();
                continue;
            }
            Step::Down(name) => parts.push(name),
        }
        missing = missing.filter(|n_parts| parts.len() > *n_parts);
        let found = match (alias(parts), cwd) {
            (Alias::None, _) if missing.is_some() => continue,
            (Alias::None, _) => look_up(parts, n_links, lookups),
            (Alias::WorkingDirectory, Some(cwd)) => {
                parts.clone_from(cwd);
                continue;
            }
            (Alias::WorkingDirectory, None) => Entry::Unknown("the working directory"),
            (Alias::Root, _) => {
                parts.clear();
                continue;
            }
            (Alias::Unknown(why), _) => Entry::Unknown(why),
        };
        match found {
            Entry::NoLink => {}
            Entry::Missing => missing = Some(parts.len()),
            Entry::Unknown(why) => {
                missing = Some(parts.len());
                resolution.unknown = Some(UnknownReason::new(why));
            }
            Entry::Link(target) => {
                n_links += 1;
                parts.pop();
                if target.is_absolute() {
                    parts.clear();
                }
                for step in steps(&target).into_iter().rev() {
                    pending.push_front(step);
                }
                resolution.hops.push(after(parts, &pending));
            }
        }
    }
    resolution
}

/// One component of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Down(OsString),
    Up,
}

pub(crate) fn steps_down(path: &Parts) -> impl Iterator<Item = Step> + '_ {
    path.iter().cloned().map(Step::Down)
}

fn steps(path: &Path) -> Vec<Step> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(Step::Down(name.to_owned())),
            Component::ParentDir => Some(Step::Up),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

fn after(parts: &Parts, pending: &VecDeque<Step>) -> Parts {
    let mut whole = parts.clone();
    for step in pending {
        match step {
            Step::Down(name) => whole.push(name.clone()),
            Step::Up => drop(whole.pop()),
        }
    }
    whole
}

enum Entry {
    Link(PathBuf),
    NoLink,
    Missing,
    Unknown(&'static str),
}

fn look_up(parts: &Parts, n_links: usize, lookups: &Cell<usize>) -> Entry {
    let Some(left) = lookups.get().checked_sub(1) else {
        return Entry::Unknown("more names than are looked up");
    };
    lookups.set(left);
    match std::fs::read_link(path_of(parts)) {
        Ok(_) if n_links == LINKS_MAX => Entry::Unknown("too many symlinks"),
        Ok(target) => Entry::Link(target),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Entry::NoLink,
        // It does not exist, or it cannot be looked at; then it cannot be opened either.
        Err(_) => Entry::Missing,
    }
}
