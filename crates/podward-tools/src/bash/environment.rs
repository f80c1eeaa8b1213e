//! The environment of a command: what the pod lets through, made fit for what was judged.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// The variables that a command gets of those that the pod lets through; sorted by name.
///
/// What [`podward_scope::withheld`] names is left out, whoever let it through: the judge read the
/// command without it. `LC_ALL` is fixed (in a one-byte locale more bytes would separate words),
/// `TERM` is `dumb`, and `PATH` loses what is not absolute: a program is not looked for where the
/// command happens to run.
pub(crate) fn settled(passed: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let path = passed.iter().rfind(|(name, _)| name == "PATH");
    let path = absolute_entries(path.map(|(_, path)| path.as_os_str()));
    let mut environment: Vec<_> = passed
        .iter()
        .filter(|(name, _)| is_kept(name))
        .cloned()
        .collect();
    environment.extend([
        ("LC_ALL".into(), "C.UTF-8".into()),
        ("PATH".into(), path),
        ("TERM".into(), "dumb".into()),
    ]);
    environment.sort();
    environment
}

fn is_kept(name: &OsStr) -> bool {
    name != "PATH" && podward_scope::withheld(name).is_none()
}

fn absolute_entries(path: Option<&OsStr>) -> OsString {
    let entries: Vec<&[u8]> = path
        .map_or(DEFAULT_PATH, OsStrExt::as_bytes)
        .split(|byte| *byte == b':')
        .filter(|entry| entry.starts_with(b"/"))
        .collect();
    if entries.is_empty() {
        return OsString::from_vec(DEFAULT_PATH.to_vec());
    }
    OsString::from_vec(entries.join(&b':'))
}

/// Where bash is: in its usual places first, then along the `PATH` of `environment`.
#[must_use]
pub fn find_bash(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let path = environment.iter().find(|(name, _)| name == "PATH");
    let along = path.iter().flat_map(|(_, path)| {
        path.as_bytes()
            .split(|byte| *byte == b':')
            .map(|entry| Path::new(OsStr::from_bytes(entry)).join("bash"))
    });
    ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .map(PathBuf::from)
        .chain(along)
        .find(|program| program.is_absolute() && program.is_file())
}

#[cfg(test)]
mod tests;
