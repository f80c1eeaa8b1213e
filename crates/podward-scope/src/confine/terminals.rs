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
        .map(|entry| entry.path())
        .filter(|path| is_terminal(path) && is_readable_device(path));
    pseudo.chain(others)
}

/// [`PSEUDO`], or one of `console`, `tty1`, `ttyS0`, `vcs1`, `hvc0` and so on: by the names that the kernel
/// gives them.
pub(crate) fn is_terminal(path: &Path) -> bool {
    let numbered = ["tty", "vcs", "hvc", "hvsi", "xvc"];
    let name = path.strip_prefix("/dev").ok().and_then(Path::to_str);
    name.is_some_and(|name| match name {
        "console" | "pts" => true,
        "tty" => false,
        other => !other.contains('/') && numbered.iter().any(|prefix| other.starts_with(prefix)),
    })
}

fn is_readable_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_char_device())
        && rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_terminal;

    #[test]
    fn a_terminal_is_told_by_its_name() {
        for name in [
            "console", "pts", "tty0", "tty63", "ttyS0", "ttyUSB0", "vcs", "vcsa1", "hvc0",
        ] {
            assert!(is_terminal(&Path::new("/dev").join(name)), "{name}");
        }
        for path in [
            "/dev/tty",
            "/dev/null",
            "/dev/ptmx",
            "/dev/shm/tty1",
            "/dev/ttys/x",
            "/dev",
            "/tty1",
        ] {
            assert!(!is_terminal(Path::new(path)), "{path}");
        }
    }
}
