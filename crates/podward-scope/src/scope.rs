//! The opened scope: what file tools and child processes go through.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

use crate::decl::{Protected, ScopeDecl};
use crate::error::{Kind, ScopeError};

/// The roots of a pod, opened.
#[derive(Debug)]
pub struct Scope {
    decl: ScopeDecl,
}

/// What a directory holds under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, without any directory.
    pub name: OsString,
    /// What it names; a symbolic link is not followed.
    pub kind: Kind,
}

/// What is known of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// What it is; never [`Kind::Symlink`]: links are followed.
    pub kind: Kind,
    /// Its size in bytes.
    pub len: u64,
    /// When its content last changed.
    pub modified: Option<SystemTime>,
}

/// What became of the path of [`Scope::replace_file`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Replaced {
    /// The file is new.
    Created,
    /// The file was there.
    Replaced,
}

impl Scope {
    /// Opens every root.
    ///
    /// `workspace` and `temp` are existing directories, absolute. `temp` is the session's own
    /// temporary directory: always writable.
    ///
    /// # Errors
    /// A root cannot be used.
    pub fn open(
        decl: &ScopeDecl,
        _workspace: &Path,
        _temp: &Path,
        _protected: &[Protected],
    ) -> Result<Self, ScopeError> {
        Ok(Self { decl: decl.clone() })
    }

    /// Opens a regular file for reading, and never blocks on anything else.
    ///
    /// # Errors
    /// The scope does not allow it, or it cannot be opened.
    pub fn read_file(&self, path: &Path) -> Result<File, ScopeError> {
        Err(self.not_yet(path))
    }

    /// The entries of a directory, sorted by name.
    ///
    /// # Errors
    /// The scope does not allow it, or it cannot be read.
    pub fn read_dir(&self, path: &Path) -> Result<Vec<Entry>, ScopeError> {
        Err(self.not_yet(path))
    }

    /// What is known of a file or directory that may be read; symbolic links are followed.
    ///
    /// # Errors
    /// The scope does not allow it, or there is nothing.
    pub fn metadata(&self, path: &Path) -> Result<Metadata, ScopeError> {
        Err(self.not_yet(path))
    }

    /// Makes a regular file hold `contents`: another reader sees the old or the new, never a part.
    ///
    /// An existing file keeps its permissions and must itself be writable; its directory must be
    /// too. A symbolic link stays, what it leads to is replaced. A file with several names (hard
    /// links) is replaced under this name only.
    ///
    /// # Errors
    /// The scope does not allow it, or it cannot be written: then nothing has changed.
    pub fn replace_file(&self, path: &Path, contents: &[u8]) -> Result<Replaced, ScopeError> {
        let _ = contents;
        Err(self.not_yet(path))
    }

    /// Makes the directories that are missing above `path`.
    ///
    /// # Errors
    /// The scope does not allow it, or one cannot be made.
    pub fn create_parents(&self, path: &Path) -> Result<(), ScopeError> {
        Err(self.not_yet(path))
    }

    fn not_yet(&self, path: &Path) -> ScopeError {
        let _ = &self.decl;
        ScopeError::Missing {
            path: path.to_owned(),
        }
    }
}
