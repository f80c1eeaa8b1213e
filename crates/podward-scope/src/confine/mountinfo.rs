//! The mounts of this process, and the other names they give a file.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;

/// One line of `/proc/self/mountinfo` (`man 5 proc_pid_mountinfo`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// `major:minor` of the file system.
    pub(crate) device: Vec<u8>,
    /// The directory of the file system that is mounted.
    pub(crate) root: PathBuf,
    /// Where it is mounted.
    pub(crate) point: PathBuf,
    /// The flags that a remount must repeat: some cannot be dropped by an ordinary user.
    pub(crate) flags: MountFlags,
}

/// The mounts of this process, the latest last.
pub(crate) fn mounts() -> io::Result<Vec<Mount>> {
    Ok(parse(&std::fs::read("/proc/self/mountinfo")?))
}

fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n')
        .filter_map(|line| {
            let mut fields = line.split(|byte| *byte == b' ').skip(2);
            Some(Mount {
                device: fields.next()?.to_vec(),
                root: unescape(fields.next()?),
                point: unescape(fields.next()?),
                flags: flags(fields.next()?),
            })
        })
        .collect()
}

/// Blanks and backslashes are written as `\` and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((byte, after)) = rest.split_first() {
        let digits = (*byte == b'\\').then(|| after.get(..3)).flatten();
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        rest = match value {
            Some(value) => {
                bytes.push(value);
                after.get(3..).unwrap_or_default()
            }
            None => {
                bytes.push(*byte);
                after
            }
        };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

fn flags(options: &[u8]) -> MountFlags {
    options
        .split(|byte| *byte == b',')
        .map(|option| match option {
            b"ro" => MountFlags::RDONLY,
            b"nosuid" => MountFlags::NOSUID,
            b"nodev" => MountFlags::NODEV,
            b"noexec" => MountFlags::NOEXEC,
            b"noatime" => MountFlags::NOATIME,
            b"nodiratime" => MountFlags::NODIRATIME,
            b"relatime" => MountFlags::RELATIME,
            b"nosymfollow" => MountFlags::NOSYMFOLLOW,
            // `rw`, and what later kernels say.
            _ => MountFlags::empty(),
        })
        .collect()
}

/// The other paths to `path` or to a part of it, through other mounts of its file system.
pub(crate) fn aliases(mounts: &[Mount], path: &Path) -> Vec<PathBuf> {
    let Some((mount, inner)) = mounts
        .iter()
        .rev()
        .filter_map(|mount| Some((mount, path.strip_prefix(&mount.point).ok()?)))
        .min_by_key(|(_, inner)| inner.components().count())
    else {
        return Vec::new();
    };
    let in_file_system = mount.root.join(inner);
    mounts
        .iter()
        .filter(|other| other.device == mount.device)
        .filter_map(|other| {
            if let Ok(rest) = in_file_system.strip_prefix(&other.root) {
                Some(other.point.join(rest))
            } else if other.root.starts_with(&in_file_system) {
                Some(other.point.clone())
            } else {
                None
            }
        })
        // `join` of nothing leaves a slash at the end.
        .map(|alias| alias.components().collect::<PathBuf>())
        .filter(|alias| alias != path)
        .collect()
}

#[cfg(test)]
mod tests;
