//! The project's text files as values, so that a check can be shown a made-up bad one.

use std::path::Path;

use crate::chores::Outcome;

/// A text file of the project.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// What it holds; empty for a file that is not UTF-8.
    pub(crate) text: String,
}

/// All files of the project, in the order of their paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree(Vec<File>);

impl Tree {
    /// Reads what is not ignored by git.
    ///
    /// # Errors
    /// A file or folder cannot be read.
    pub(crate) fn read(root: &Path) -> Outcome<Self> {
        let mut files = Vec::new();
        let walk = ignore::WalkBuilder::new(root)
            .hidden(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for entry in walk {
            let entry = entry?;
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                let relative = entry.path().strip_prefix(root)?;
                let text = String::from_utf8(std::fs::read(entry.path())?).unwrap_or_default();
                files.push(File {
                    path: relative.to_string_lossy().into_owned(),
                    text,
                });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self(files))
    }

    /// A made-up tree.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut files: Vec<File> = files
            .iter()
            .map(|(path, text)| File {
                path: (*path).to_owned(),
                text: (*text).to_owned(),
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self(files)
    }

    /// All files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &File> {
        self.0.iter()
    }

    /// Files whose name ends in this.
    pub(crate) fn ending_in<'a>(&'a self, suffix: &'a str) -> impl Iterator<Item = &'a File> {
        self.0
            .iter()
            .filter(move |file| file.path.ends_with(suffix))
    }

    /// The file at a path.
    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.0.iter().find(|file| file.path == path)
    }

    /// Whether a file or folder is at a path.
    pub(crate) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self
                .0
                .iter()
                .any(|file| file.path == path || file.path.starts_with(&folder))
    }
}
