//! Which names a search is about.

use std::ffi::OsString;
use std::path::PathBuf;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use podward_policy::ToolName;

use crate::error::{BadArguments, shown};

/// The kernel's limit on a path's length.
const GLOB_MAX: usize = 4096;

/// A glob over the paths below the root of a search.
#[derive(Debug)]
pub(super) struct PathGlob {
    matcher: GlobSet,
    over: Over,
}

/// What a glob is matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// The last name alone: the glob has no `/`.
    Name,
    /// The whole path below the root.
    Path,
}

impl PathGlob {
    /// Reads the argument `key` of a call as a glob.
    pub(super) fn parse(tool: &ToolName, key: &str, glob: &str) -> Result<Self, BadArguments> {
        let bad = |problem: String| BadArguments::new(tool, format!("`{key}` {problem}"));
        let text = glob.strip_prefix("./").unwrap_or(glob);
        if text.len() > GLOB_MAX {
            return Err(bad(format!("is longer than {GLOB_MAX} bytes")));
        }
        if text.is_empty() {
            return Err(bad("is empty".to_owned()).with_hint("`**` is every file"));
        }
        if text.starts_with(['/', '~']) || text.split('/').any(|name| name == "..") {
            return Err(
                bad(format!("leaves the searched directory: `{}`", shown(glob)))
                    .with_hint("a glob is relative to `path`"),
            );
        }
        let no_glob = |error: globset::Error| bad(format!("is no glob: {}", error.kind()));
        let glob = GlobBuilder::new(text)
            .literal_separator(true)
            .build()
            .map_err(no_glob)?;
        // A set of one: a single glob's own matcher panics where it is too large.
        let matcher = GlobSetBuilder::new()
            .add(glob)
            .build()
            .map_err(|_| bad("is too large a glob".to_owned()))?;
        let over = if text.contains('/') {
            Over::Path
        } else {
            Over::Name
        };
        Ok(Self { matcher, over })
    }

    /// Whether the names below the root match.
    pub(super) fn is_match(&self, below: &[OsString]) -> bool {
        match self.over {
            Over::Name => below.last().is_some_and(|name| self.matcher.is_match(name)),
            Over::Path => self.matcher.is_match(below.iter().collect::<PathBuf>()),
        }
    }
}

#[cfg(test)]
mod tests;
