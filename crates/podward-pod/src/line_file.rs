//! A file of lines that only grows, and whose lines are on the disk before what they announce
//! happens.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::StateError;
use crate::private::{LEFT_BEHIND, check_regular, lock_within, sync_directory_of};

/// A file of lines, locked for this process while it is open.
#[derive(Debug)]
pub(crate) struct LineFile {
    file: File,
    path: PathBuf,
    n_bytes: u64,
    state: State,
}

/// Whether lines can still be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Sound,
    /// A line could not be written: what stands at the end is not known, so nothing follows it.
    Poisoned,
}

/// A file of lines with what it held when it was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: LineFile,
    /// All whole lines, without their newline.
    pub(crate) lines: Vec<Vec<u8>>,
}

impl LineFile {
    /// Opens a file, or makes it (mode 0600), and locks it.
    ///
    /// A last line without a newline was being written when the process died: whatever it
    /// announced never happened, and it is cut off.
    pub(crate) fn open(path: &Path) -> Result<Opened, StateError> {
        let error = |verb| move |error| StateError::io(verb, path, error);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            // A pipe in its place must not block.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(path)
            .map_err(error("open"))?;
        check_regular(&file).map_err(error("open"))?;
        if !lock_within(&file, LEFT_BEHIND).map_err(error("lock"))? {
            return Err(StateError::locked(path));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(error("read"))?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let n_whole = end.map_or(0, |end| end + 1);
        if n_whole < bytes.len() {
            tracing::warn!(path = %path.display(), n_bytes = bytes.len() - n_whole, "torn line cut off");
            bytes.truncate(n_whole);
            file.set_len(n_whole as u64).map_err(error("repair"))?;
            file.sync_data().map_err(error("repair"))?;
        }
        sync_directory_of(path).map_err(error("make"))?;
        bytes.pop();
        let lines = if end.is_none() {
            Vec::new()
        } else {
            bytes
                .split(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect()
        };
        Ok(Opened {
            file: Self {
                file,
                path: path.into(),
                n_bytes: n_whole as u64,
                state: State::Sound,
            },
            lines,
        })
    }

    /// Adds lines, none of which holds a newline, and returns when all are on the disk.
    ///
    /// After an error the file ends with the last line before them where that is still possible,
    /// and no further line is taken.
    pub(crate) fn append<'a>(
        &mut self,
        lines: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), StateError> {
        if self.state == State::Poisoned {
            return Err(StateError::poisoned(&self.path));
        }
        let mut bytes = Vec::new();
        for line in lines {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        let written = self
            .file
            .write_all(&bytes)
            .and_then(|()| self.file.sync_data())
            .and_then(|()| check_there(&self.file));
        match written {
            Ok(()) => {
                self.n_bytes += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                self.state = State::Poisoned;
                // If this fails too, the torn line is cut off when the file is opened next.
                let _ = self.file.set_len(self.n_bytes);
                Err(StateError::io("write", &self.path, error))
            }
        }
    }

    /// The file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Stands on another file: for tests of what cannot be written.
    #[cfg(test)]
    pub(crate) fn on(file: File, path: &Path) -> Self {
        Self {
            file,
            path: path.into(),
            n_bytes: 0,
            state: State::Sound,
        }
    }
}

/// What is written into a file that was removed is on no disk.
fn check_there(file: &File) -> io::Result<()> {
    match file.metadata()?.nlink() {
        0 => Err(io::Error::new(
            io::ErrorKind::NotFound,
            "it was removed while podward had it open",
        )),
        _ => Ok(()),
    }
}

impl Drop for LineFile {
    /// A process that is just being started has the file open too, until it becomes another
    /// program, and with the file its lock.
    fn drop(&mut self) {
        // Else it is unlocked when nobody has it open any more.
        let _ = rustix::fs::flock(&self.file, rustix::fs::FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests;
