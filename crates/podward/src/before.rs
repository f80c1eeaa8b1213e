//! What is in a file that a call would write, as far as it can be shown.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use podward_protocol::PermissionRequest;
use podward_view::{Before, MAX_COMPARED};
use rustix::fs::OFlags;
use serde_json::Value;

/// Looks into the file of a `file_write` or a `file_edit`. It is only shown: whatever it is, the call is judged and
/// run by the pod.
pub(crate) fn before(request: &PermissionRequest) -> Before {
    if !matches!(&*request.tool, "file_write" | "file_edit") {
        return Before::Unknown;
    }
    let Some(path) = request.arguments.get("path").and_then(Value::as_str) else {
        return Before::Unknown;
    };
    let Some(path) = place(&request.cwd, path) else {
        return Before::Other("what is there cannot be read");
    };
    match open(&path) {
        Ok(file) => text(&file).unwrap_or(Before::Other("what is there cannot be read")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Before::Missing,
        Err(_) => Before::Other("what is there cannot be read"),
    }
}

/// Where a path of a call leads; `None` if there is no home directory to begin at.
fn place(cwd: &str, path: &str) -> Option<PathBuf> {
    match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = std::env::home_dir().filter(|home| home.is_absolute())?;
            Some(home.join(rest.trim_start_matches('/')))
        }
        Some(_) | None => Some(Path::new(cwd).join(path)),
    }
}

/// Opened so that nothing that is no file can keep anybody waiting.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .open(path)
}

fn text(file: &File) -> io::Result<Before> {
    let is_file = file.metadata()?.is_file();
    if !is_file {
        return Ok(Before::Other("what is there is no file"));
    }
    let max = u64::try_from(MAX_COMPARED).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_COMPARED {
        return Ok(Before::Other(
            "the file that is there is too large to compare",
        ));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Before::Text(text),
        Err(_) => Before::Other("the file that is there is no text"),
    })
}

#[cfg(test)]
mod tests;
