//! A directory, copied.

use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::error::StateError;

/// A directory that is still to be copied.
struct Pending {
    from: PathBuf,
    to: PathBuf,
}

/// Copies a directory with everything below it: files with their rights and times, symlinks as
/// symlinks. Pipes, sockets and devices are left out, and so are the paths in `left_out`.
pub(super) fn copy(from: &Path, to: &Path, left_out: &[&Path]) -> Result<(), StateError> {
    let mut pending = vec![Pending {
        from: from.into(),
        to: to.into(),
    }];
    while let Some(directory) = pending.pop() {
        let error = |error| StateError::io("copy", &directory.from, error);
        fs::create_dir(&directory.to).map_err(error)?;
        // One's own copy can always be worked in and removed.
        let mode = directory
            .from
            .metadata()
            .map_err(error)?
            .permissions()
            .mode();
        let rights = fs::Permissions::from_mode(mode & 0o777 | 0o700);
        fs::set_permissions(&directory.to, rights).map_err(error)?;
        for entry in fs::read_dir(&directory.from).map_err(error)? {
            let entry = entry.map_err(error)?;
            let from = entry.path();
            if left_out.contains(&from.as_path()) {
                continue;
            }
            let to = directory.to.join(entry.file_name());
            let kind = entry.file_type().map_err(error)?;
            if kind.is_dir() {
                pending.push(Pending { from, to });
                continue;
            }
            let copied = if kind.is_symlink() {
                fs::read_link(&from).and_then(|leads_to| symlink(leads_to, &to))
            } else if kind.is_file() {
                copy_file(&from, &to)
            } else {
                tracing::warn!(path = %from.display(), "not a file, left out of the copy");
                Ok(())
            };
            copied.map_err(|error| StateError::io("copy", &from, error))?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let metadata = from.metadata()?;
    let times = FileTimes::new().set_modified(metadata.modified()?);
    let file = File::options().append(true).open(to);
    if let Ok(file) = file {
        file.set_times(times)?;
    }
    // Neither set-uid nor set-gid comes along.
    let mode = metadata.permissions().mode() & 0o777;
    fs::set_permissions(to, fs::Permissions::from_mode(mode))
}
