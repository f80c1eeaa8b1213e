//! Paths in a manifest.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::model::Script;
use crate::suggestion::{nearest, one_of};

/// The scripts that are part of the program.
const EMBEDDED_SCRIPTS: &[&str] = &["demo"];

/// Where paths start from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathBase<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) home: Option<&'a Path>,
}

impl PathBase<'_> {
    /// A path that starts at the directory of the file it stands in.
    pub(crate) fn absolute(self, text: &str) -> Result<PathBuf, String> {
        Ok(self.directory.join(self.expanded(text)?))
    }

    /// A root of the scope: it starts at the workspace, which is not known here.
    pub(crate) fn in_scope(self, text: &str) -> Result<PathBuf, String> {
        if text.contains(['*', '?', '[']) {
            return Err("a root is a path, not a pattern: name the directory".to_owned());
        }
        self.expanded(text)
    }

    /// The name of an embedded script, or a path.
    pub(crate) fn script(self, text: &str) -> Result<Script, String> {
        if let Some(name) = EMBEDDED_SCRIPTS.iter().find(|name| **name == text) {
            return Ok(Script::Embedded(name));
        }
        if text.is_empty() || text.contains(['/', '.']) {
            // It is shown as the model's name: without the `.` of `./script.toml`.
            return Ok(Script::File(self.absolute(text)?.components().collect()));
        }
        let names = EMBEDDED_SCRIPTS.iter().copied();
        let meant = match nearest(text, names.clone()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("the embedded scripts are {}", one_of(names)),
        };
        Err(format!(
            "{meant} A file is written with a `/`: `./script.toml`"
        ))
    }

    /// A program: a path if there is a `/` in it, else a name to look for.
    pub(crate) fn program(self, text: &str) -> Result<String, String> {
        if !text.contains('/') {
            return match text {
                "" | "." | ".." => Err("a program has a name".to_owned()),
                name => Ok(name.to_owned()),
            };
        }
        let path = self.absolute(text)?;
        let text = path.into_os_string().into_string();
        text.map_err(|_| "the path is not UTF-8".to_owned())
    }

    fn expanded(self, text: &str) -> Result<PathBuf, String> {
        if text.is_empty() {
            return Err("a path is not empty".to_owned());
        }
        if text.chars().any(char::is_control) {
            return Err("a path has no control characters".to_owned());
        }
        let Some(rest) = text.strip_prefix('~') else {
            return Ok(PathBuf::from(text));
        };
        let below = match rest.strip_prefix('/') {
            Some(below) => below.trim_start_matches('/'),
            None if rest.is_empty() => "",
            None => return Err("only `~/`, your own home directory, is known".to_owned()),
        };
        match self.home {
            Some(home) if below.is_empty() => Ok(home.to_path_buf()),
            Some(home) => Ok(home.join(below)),
            None => Err("the home directory is not known: set HOME".to_owned()),
        }
    }
}
