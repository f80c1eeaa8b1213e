//! How many children run at the same time: each takes a slot of every pod above it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::ChildError;

/// Their directory, in that of the pod's session.
const DIRECTORY: &str = "slots";

/// The slots of a pod, for all that run below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slots {
    pod: String,
    /// Where there is a file for each, locked while it is taken: the kernel gives back what a process holds
    /// that ends, however it does.
    directory: PathBuf,
    most: u32,
}

/// Slots that are given back when this is dropped.
pub(super) struct Taken {
    _files: Vec<File>,
}

impl Slots {
    pub(crate) fn new(pod: &str, session_dir: &Path, most: u32) -> Self {
        Self {
            pod: pod.to_owned(),
            directory: session_dir.join(DIRECTORY),
            most,
        }
    }

    fn take(&self) -> Result<File, ChildError> {
        let failed = |error| ChildError::io("count the children that run", error);
        match DirBuilder::new().mode(0o700).create(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            Ok(()) | Err(_) => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        for number in 1..=self.most {
            let file = self.directory.join(number.to_string());
            let file = options.open(file).map_err(failed)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        Err(ChildError::TooMany {
            pod: self.pod.clone(),
            most: self.most,
        })
    }
}

/// Takes a slot of each of the pods above a child, which are given outermost first, or none at all. Nobody
/// waits for one: a pod that did could wait for itself.
pub(super) fn take(slots: &[Slots]) -> Result<Taken, ChildError> {
    // The nearest first: where that is full, no other is touched.
    let files = slots.iter().rev().map(Slots::take);
    Ok(Taken {
        _files: files.collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
mod tests;
