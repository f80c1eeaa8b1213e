//! Where tools can put something else than what was checked.

use std::path::{Path, PathBuf};

use podward_scope::{Access, ScopeDecl};
use rustix::fs::Access as Asked;
use std::os::unix::fs::MetadataExt as _;

use crate::file::way;
use crate::layers::Loaded;
use crate::places::{PROJECT_DIR, Places};

/// The directories in which tools can write, without those that are podward's own.
#[derive(Debug, Default)]
pub(crate) struct Writable {
    /// Without symlinks, as all paths here.
    roots: Vec<PathBuf>,
    own: Vec<PathBuf>,
}

impl Writable {
    /// What the tools of a pod, and those of the pods above it, can write beside its files.
    pub(crate) fn of_pod(places: &Places, loaded: &Loaded, workspace: &Path) -> Self {
        let own = [
            workspace.join(PROJECT_DIR),
            places.machine_dir().into(),
            places.config_dir().into(),
        ];
        let mut writable = Self::of(&loaded.resolved.scope, workspace, &own);
        let above = loaded.under.iter().flat_map(|under| &under.estate.writable);
        writable
            .roots
            .extend(above.filter_map(|root| root.canonicalize().ok()));
        writable
    }

    /// The directories.
    pub(crate) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// What a declared scope lets tools write in `workspace`; `own` is protected inside.
    pub(crate) fn of(scope: &ScopeDecl, workspace: &Path, own: &[PathBuf]) -> Self {
        let physical = |path: &Path| path.canonicalize().ok();
        let mut roots: Vec<PathBuf> = scope
            .allow
            .iter()
            .filter(|root| root.access == Access::Write)
            .filter_map(|root| physical(&workspace.join(&root.path)))
            .collect();
        if scope.allow.is_empty() {
            roots.push(physical(workspace).unwrap_or_else(|| workspace.to_owned()));
        }
        Self {
            roots,
            own: own.iter().filter_map(|own| physical(own)).collect(),
        }
    }

    /// Whether a file lies where tools can write.
    pub(crate) fn holds(&self, file: &Path) -> bool {
        let file = &in_its_directory(file);
        self.roots.iter().any(|root| file.starts_with(root)) && !self.is_own(file)
    }

    /// Whether a tool can put something else at `path`, which has no symlink before its last name.
    pub(crate) fn can_replace(&self, path: &Path) -> bool {
        let could_be_written = |root: &PathBuf| {
            let above = path.ancestors().skip(1);
            let mut above = above.take_while(|directory| directory.starts_with(root));
            above.any(is_changeable)
        };
        !self.is_own(path) && self.roots.iter().any(could_be_written)
    }

    /// The first symlink on the way to `path` that a tool can make lead elsewhere.
    pub(crate) fn replaceable_link(&self, path: &Path) -> Option<PathBuf> {
        let (_, links) = way(path).ok().flatten()?;
        links.into_iter().find(|link| self.can_replace(link))
    }

    /// Whether a tool can make what is not there.
    pub(crate) fn can_make(&self, path: &Path) -> bool {
        let there = path.ancestors().find_map(|above| {
            let rest = path.strip_prefix(above).ok()?;
            Some((above, above.canonicalize().ok()?.join(rest)))
        });
        there.is_some_and(|(above, physical)| {
            self.can_replace(&physical) || self.replaceable_link(above).is_some()
        })
    }

    /// Whether a tool can put programs into a directory, or another one in its place.
    pub(crate) fn can_fill(&self, directory: &Path) -> bool {
        self.can_make(&directory.join("program"))
    }

    fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }
}

/// Whether this user can change what a directory holds, now or once its mode is another one.
fn is_changeable(directory: &Path) -> bool {
    let is_owned = || {
        let user = rustix::process::geteuid().as_raw();
        directory
            .metadata()
            .is_ok_and(|metadata| metadata.uid() == user)
    };
    rustix::fs::access(directory, Asked::WRITE_OK).is_ok() || is_owned()
}

/// A file's name in the directory where it really is: `ws/../check.sh` is not in `ws`.
fn in_its_directory(file: &Path) -> PathBuf {
    let found = file.parent().and_then(|parent| parent.canonicalize().ok());
    match (found, file.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => file.into(),
    }
}

#[cfg(test)]
mod tests;
