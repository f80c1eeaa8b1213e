//! Where the symlinks of a path lead.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use podward_policy::UnknownReason;

use crate::lower::path::{Alias, Parts, alias, normalise, path_of};
use crate::tool::Place;

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

/// Resolves the symlinks of an absolute, normalised path.
///
/// Not `std::fs::canonicalize`: the tail need not exist, each hop is a spelling that a rule may
/// name, and the kernel's aliases are to be seen on the way.
pub(crate) fn resolve(path: &Parts, place: &Place) -> Resolution {
    let mut pending: VecDeque<Step> = path.iter().cloned().map(Step::Down).collect();
    let mut resolution = Resolution {
        parts: Parts::new(),
        hops: Vec::new(),
        unknown: None,
    };
    let mut n_links = 0;
    let mut exists = true;
    while let Some(step) = pending.pop_front() {
        let parts = &mut resolution.parts;
        match step {
            Step::Up => {
                parts.pop();
                continue;
            }
            Step::Down(name) => parts.push(name),
        }
        match alias(parts) {
            Alias::None => {}
            Alias::WorkingDirectory => {
                *parts = normalise(&place.cwd);
                continue;
            }
            Alias::Root => {
                parts.clear();
                continue;
            }
            Alias::Unknown(why) => {
                resolution.unknown = Some(UnknownReason::new(why));
                exists = false;
            }
        }
        if !exists {
            continue;
        }
        match link_target(&path_of(parts)) {
            Entry::Missing => exists = false,
            Entry::NoLink => {}
            Entry::Link(_) if n_links == LINKS_MAX => {
                resolution.unknown = Some(UnknownReason::new("too many symlinks"));
                exists = false;
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
enum Step {
    Down(OsString),
    Up,
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
}

fn link_target(path: &Path) -> Entry {
    match std::fs::read_link(path) {
        Ok(target) => Entry::Link(target),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Entry::NoLink,
        // It does not exist, or it cannot be looked at; then it cannot be opened either.
        Err(_) => Entry::Missing,
    }
}
