//! The machine's terminals: where people type, answers and passwords too.

use std::path::{Path, PathBuf};

/// The terminals of windows, `ssh` and the like. Each child gets a directory of its own here, where it
/// can be had, so that what it starts can open terminals for itself.
pub(crate) const PSEUDO: &str = "/dev/pts";

/// What opens a new one of them.
pub(crate) const PSEUDO_OPENER: &str = "/dev/ptmx";

/// Every terminal that this user could read. `/dev/tty` is none: it is that of the process that opens
/// it, and a child has none.
pub(crate) fn all() -> impl Iterator<Item = PathBuf> {
    let pseudo = [PathBuf::from(PSEUDO)];
    let pseudo = pseudo.into_iter().filter(|path| path.is_dir());
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let others = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_terminal))
        .map(|entry| entry.path())
        .filter(|path| is_readable_device(path));
    pseudo.chain(others)
}

/// `console`, `tty1`, `ttyS0`, `vcs1`, `hvc0` and so on: by the names that the kernel gives them.
fn is_terminal(name: &str) -> bool {
    let numbered = ["tty", "vcs", "hvc", "hvsi", "xvc"];
    name == "console" || name != "tty" && numbered.iter().any(|prefix| name.starts_with(prefix))
}

fn is_readable_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_char_device())
        && rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_terminal;

    #[test]
    fn a_terminal_is_told_by_its_name() {
        for name in [
            "console", "tty0", "tty63", "ttyS0", "ttyUSB0", "vcs", "vcsa1", "hvc0",
        ] {
            assert!(is_terminal(name), "{name}");
        }
        for name in ["tty", "null", "ptmx", "pts", "zero", "kmsg", ""] {
            assert!(!is_terminal(name), "{name}");
        }
    }
}
