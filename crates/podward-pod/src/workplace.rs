//! The directories of one run: where commands put temporary files, and the copy of the workspace
//! if the manifest asks for one.

mod copy;

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::StateError;
use crate::places::Places;
use crate::private;

/// The front of every such directory's name.
const NAME: &str = "podward-";

/// The directory of temporary files in it.
const TEMP: &str = "tmp";

/// The copy of the workspace in it, and what it is called until it is complete.
const WORKSPACE: &str = "workspace";
const UNFINISHED: &str = "unfinished";

/// The directories of one run; they are removed with this value.
#[derive(Debug)]
pub(crate) struct Workplace {
    root: PathBuf,
}

/// Where the copy of a workspace comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyOrigin {
    /// An earlier run of the session left it.
    Kept,
    /// The workspace as it is now.
    Fresh,
}

impl Workplace {
    /// Makes the directories of a run.
    pub(crate) fn create(places: &Places) -> Result<Self, StateError> {
        let base = places.temp_dir();
        let base = base
            .canonicalize()
            .map_err(|error| StateError::io("find", base, error))?;
        let root = base.join(format!("{NAME}{}", ulid::Ulid::generate()));
        private::create_directory(&root)?;
        let workplace = Self { root };
        private::create_directory(&workplace.temp())?;
        Ok(workplace)
    }

    /// Takes over what an earlier run that died left behind; `None` if there is nothing, or
    /// nothing that podward made.
    pub(crate) fn take_over(places: &Places, left: &Path) -> Option<Self> {
        let base = places.temp_dir().canonicalize().ok()?;
        let name = left.file_name()?.to_str()?;
        let metadata = left.symlink_metadata().ok()?;
        let is_ours = left.parent() == Some(&base)
            && name.starts_with(NAME)
            && metadata.is_dir()
            && metadata.uid() == rustix::process::geteuid().as_raw()
            && metadata.permissions().mode() & 0o077 == 0;
        let workplace = is_ours.then(|| Self { root: left.into() })?;
        workplace.temp().is_dir().then_some(workplace)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where commands put temporary files.
    pub(crate) fn temp(&self) -> PathBuf {
        self.root.join(TEMP)
    }

    /// The copy of the workspace, made now if there is none.
    pub(crate) fn copy_of(
        &self,
        workspace: &Path,
        places: &Places,
    ) -> Result<(PathBuf, CopyOrigin), StateError> {
        let to = self.root.join(WORKSPACE);
        if to
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_dir())
        {
            return Ok((to, CopyOrigin::Kept));
        }
        let unfinished = self.root.join(UNFINISHED);
        let error = |error| StateError::io("copy", workspace, error);
        if unfinished.symlink_metadata().is_ok() {
            fs::remove_dir_all(&unfinished).map_err(error)?;
        }
        // Neither the copy itself nor the sessions belong to it, wherever they lie.
        let left_out = [self.root.as_path(), places.state_dir()];
        copy::copy(workspace, &unfinished, &left_out)?;
        fs::rename(&unfinished, &to).map_err(error)?;
        Ok((to, CopyOrigin::Fresh))
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        match fs::remove_dir_all(&self.root) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(path = %self.root.display(), %error, "not removed");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
