//! Which projects' layer files the user trusts.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use podward_protocol::Time;
use serde::{Deserialize, Serialize};

use crate::digest::digest;
use crate::error::StateError;
use crate::file::{FileError, read_guarded, shown};
use crate::places::{LAYER_FILE, PROJECT_DIR, Places};
use crate::private;
use crate::replace::replace_file;

/// The version of the file's format.
const VERSION: u32 = 1;

/// The projects whose layer file the user trusts, each with the digest of what was trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    projects: BTreeMap<String, TrustRecord>,
}

/// What was trusted, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    /// The digest of the layer file: `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// When the user trusted it.
    pub time: Time,
}

/// Where a project's layer file stands with the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// This very text was trusted.
    Trusted,
    /// Another text was trusted, this one was not.
    Changed,
    /// The project was never trusted.
    Unknown,
}

/// A project that cannot be trusted, or a list of them that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The project has no layer file.
    #[error("no `{}` to trust", shown(.0))]
    NoLayer(PathBuf),
    /// A path that cannot be written down.
    #[error("`{}` is not UTF-8", shown(.0))]
    NotUtf8(PathBuf),
    /// The list is not what podward writes.
    #[error("`{}` is no list of trusted projects", shown(path))]
    Format {
        /// The list.
        path: PathBuf,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
    /// The list was written by a later version.
    #[error(
        "`{}` has version {version}, and this podward reads version {VERSION}",
        shown(path)
    )]
    Version {
        /// The list.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// A file that cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file of podward's own that cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
}

impl TrustError {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NoLayer(_) => {
                Some("a project without one has nothing that needs to be trusted".into())
            }
            Self::NotUtf8(_) | Self::Version { .. } => None,
            Self::Format { path, .. } => Some(format!(
                "remove it and trust the projects again: `rm {}`",
                shown(path)
            )),
            Self::File(error) => error.help(),
            Self::State(error) => error.help(),
        }
    }
}

/// The file as it is written.
#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    projects: BTreeMap<String, TrustRecord>,
}

impl TrustStore {
    /// Reads the list; there may be none yet.
    ///
    /// # Errors
    /// There is one that cannot be read, or that others could have written.
    pub fn load(places: &Places) -> Result<Self, TrustError> {
        let path = store_path(places);
        let Some(bytes) = read_guarded(&path, places.accounts())? else {
            let projects = BTreeMap::new();
            return Ok(Self { projects });
        };
        let document: Document =
            serde_json::from_slice(&bytes).map_err(|source| TrustError::Format {
                path: path.clone(),
                source,
            })?;
        if document.version != VERSION {
            let version = document.version;
            return Err(TrustError::Version { path, version });
        }
        let projects = document.projects;
        Ok(Self { projects })
    }

    /// Where the text of a project's layer file stands; `project` without symlinks.
    #[must_use]
    pub fn standing(&self, project: &Path, layer: &[u8]) -> Standing {
        match project.to_str().and_then(|name| self.projects.get(name)) {
            None => Standing::Unknown,
            Some(record) if record.digest == digest(layer) => Standing::Trusted,
            Some(_) => Standing::Changed,
        }
    }

    /// All trusted projects, by their path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &TrustRecord)> {
        self.projects
            .iter()
            .map(|(project, record)| (project.as_str(), record))
    }

    /// Trusts the layer file of a project as it is now, and says what was written down.
    ///
    /// # Errors
    /// The project has none, it cannot be read or others could have written it, or the list cannot
    /// be written.
    pub fn trust(places: &Places, project: &Path, now: Time) -> Result<TrustRecord, TrustError> {
        let project = resolved(project)?;
        let layer = Path::new(&project).join(PROJECT_DIR).join(LAYER_FILE);
        let bytes = read_guarded(&layer, places.accounts())?.ok_or(TrustError::NoLayer(layer))?;
        let record = TrustRecord {
            digest: digest(&bytes),
            time: now,
        };
        change(places, |projects| {
            projects.insert(project, record.clone());
        })?;
        Ok(record)
    }

    /// Takes the trust back; says whether there was any.
    ///
    /// # Errors
    /// The list cannot be read or written.
    pub fn revoke(places: &Places, project: &Path) -> Result<bool, TrustError> {
        // The project may be gone: then its path as it is written is all there is.
        let resolved = resolved(project).ok();
        let mut found = false;
        change(places, |projects| {
            for name in [resolved.as_deref(), project.to_str()]
                .into_iter()
                .flatten()
            {
                found |= projects.remove(name).is_some();
            }
        })?;
        Ok(found)
    }
}

fn store_path(places: &Places) -> PathBuf {
    places.state_dir().join("trust.json")
}

/// A directory's path without symlinks.
fn resolved(project: &Path) -> Result<String, TrustError> {
    let path = project
        .canonicalize()
        .map_err(|error| StateError::io("find", project, error))?;
    path.into_os_string()
        .into_string()
        .map_err(|path| TrustError::NotUtf8(path.into()))
}

/// Changes the list while no other process does.
fn change(
    places: &Places,
    change: impl FnOnce(&mut BTreeMap<String, TrustRecord>),
) -> Result<(), TrustError> {
    private::ensure_directory(places.state_dir())?;
    let lock = places.state_dir().join("trust.lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&lock)
        .map_err(|error| StateError::io("open", &lock, error))?;
    // Held for two small file operations: waiting is short.
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|error| StateError::io("lock", &lock, error))?;
    let mut projects = TrustStore::load(places)?.projects;
    change(&mut projects);
    let path = store_path(places);
    let version = VERSION;
    let mut bytes =
        serde_json::to_vec_pretty(&Document { version, projects }).map_err(|source| {
            TrustError::Format {
                path: path.clone(),
                source,
            }
        })?;
    bytes.push(b'\n');
    replace_file(&path, &bytes)?;
    Ok(())
}

#[cfg(test)]
mod tests;
