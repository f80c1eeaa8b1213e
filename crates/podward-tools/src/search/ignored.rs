//! What `.gitignore` and `.ignore` files say.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use podward_scope::{Kind, Scope};

/// The ignore files of a directory, the one that wins first.
const NAMES: [&str; 2] = [".ignore", ".gitignore"];

/// More of one file is not read.
const BYTES_MAX: u64 = 128 * 1024;

/// The directories of version control: never searched, unless one is the root of the search.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// The rules of one directory and those above it.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    /// From the outermost directory inwards.
    rules: Vec<(PathBuf, Gitignore)>,
}

impl Ignored {
    /// Reads the ignore files of a directory.
    pub(super) fn enter(&mut self, scope: &Scope, directory: &Path) {
        for name in NAMES.iter().rev() {
            if let Some(rules) = read(scope, directory, name) {
                self.rules.push((directory.to_owned(), rules));
            }
        }
    }

    /// Forgets the rules of a directory and those below it.
    pub(super) fn leave(&mut self, directory: &Path) {
        self.rules
            .retain(|(place, _)| !place.starts_with(directory));
    }

    /// Whether an entry is left out.
    pub(super) fn is_ignored(&self, path: &Path, kind: Kind) -> bool {
        let is_directory = kind == Kind::Directory;
        let is_version_control = || {
            VERSION_CONTROL
                .iter()
                .any(|name| path.file_name().is_some_and(|own| own == *name))
        };
        if is_directory && is_version_control() {
            return true;
        }
        for (directory, rules) in self.rules.iter().rev() {
            if !path.starts_with(directory) {
                continue;
            }
            match rules.matched(path, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// A file that cannot be read says nothing, and neither does a line that is no pattern.
fn read(scope: &Scope, directory: &Path, name: &str) -> Option<Gitignore> {
    let file = scope.read_file(&directory.join(name)).ok()?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let mut builder = GitignoreBuilder::new(directory);
    for line in String::from_utf8_lossy(&bytes).lines() {
        if builder.add_line(None, line).is_err() {
            tracing::debug!(directory = %directory.display(), name, "an ignore line is no pattern");
        }
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests;
