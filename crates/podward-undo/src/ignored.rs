//! What git ignores: it decides what is kept first, nothing else.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Mode, OFlags};

use crate::bytes::TreePath;

/// A file of patterns that is longer is cut: a pattern less changes only the order.
const LONGEST: u64 = 1 << 20;

/// The patterns that hold in a directory: its own and those of the directories above it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patterns(Option<Arc<Level>>);

#[derive(Debug)]
struct Level {
    /// Bytes of the paths in this directory that lead to it, its `/` included.
    n_above: usize,
    own: Gitignore,
    above: Patterns,
}

impl Patterns {
    /// The patterns in a directory, opened.
    pub(crate) fn enter(&self, directory: impl AsFd, path: Option<&TreePath>) -> Self {
        let Some(text) = read(directory) else {
            return self.clone();
        };
        let mut builder = GitignoreBuilder::new("");
        for line in text.lines() {
            // A line that git would not understand either says nothing.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(own) if !own.is_empty() => Self(Some(Arc::new(Level {
                n_above: path.map_or(0, |path| path.as_bytes().len() + 1),
                own,
                above: self.clone(),
            }))),
            Ok(_) | Err(_) => self.clone(),
        }
    }

    /// Whether git would ignore a name in that directory.
    pub(crate) fn ignore(&self, path: &TreePath, is_directory: bool) -> bool {
        let mut level = self.0.as_ref();
        while let Some(Level {
            n_above,
            own,
            above,
        }) = level.map(AsRef::as_ref)
        {
            let below = path.as_bytes().get(*n_above..).unwrap_or_default();
            let below = Path::new(OsStr::from_bytes(below));
            match own.matched(below, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = above.0.as_ref(),
            }
        }
        false
    }
}

fn read(directory: impl AsFd) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, ".gitignore", flags, Mode::empty()).ok()?;
    let file = std::fs::File::from(file);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
