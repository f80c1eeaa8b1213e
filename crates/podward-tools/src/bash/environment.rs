//! The environment of a command: only what is known to be harmless.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What is handed on from podward's own environment.
///
/// Nothing that changes how bash reads its text or what a program loads, and nothing that may
/// hold a secret.
const HANDED_ON: [&str; 11] = [
    "CARGO_HOME",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LOGNAME",
    "RUSTUP_HOME",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TZ",
    "USER",
];

const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Every name that a command's environment may have, sorted; bash itself adds `PWD`, `SHLVL` and
/// `_`.
pub const ENVIRONMENT_NAMES: [&str; 15] = [
    "CARGO_HOME",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "RUSTUP_HOME",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];

/// The environment of every command, made from podward's own: an allow-list, sorted by name.
///
/// `LC_ALL` is fixed (in a one-byte locale more bytes would separate words), `TERM` is `dumb`,
/// `TMPDIR` is the session's temporary directory, and `PATH` loses what is not absolute.
#[must_use]
pub fn bash_environment(
    own: impl IntoIterator<Item = (OsString, OsString)>,
    temp: &Path,
) -> Vec<(OsString, OsString)> {
    let mut path = None;
    let mut environment: Vec<_> = own
        .into_iter()
        .filter_map(|(name, value)| {
            if name == "PATH" {
                path = Some(value);
                return None;
            }
            HANDED_ON
                .iter()
                .any(|handed_on| name == *handed_on)
                .then_some((name, value))
        })
        .collect();
    for (name, value) in [
        ("LC_ALL", OsString::from("C.UTF-8")),
        ("PATH", absolute_entries(path.as_deref())),
        ("TERM", OsString::from("dumb")),
        ("TMPDIR", temp.as_os_str().to_owned()),
    ] {
        environment.push((OsString::from(name), value));
    }
    environment.sort();
    environment.dedup_by(|one, other| one.0 == other.0);
    environment
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

/// Where bash is: in its usual places first, then along the `PATH` of the command's environment.
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
