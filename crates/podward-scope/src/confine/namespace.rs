//! Mounts of the child's own: what no rule about granted directories can say.
//!
//! Landlock grants whole directories. What must be taken out of them is mounted read-only, or
//! mounted over, in a mount namespace that only the helper and its children see. A mount point
//! cannot be renamed or removed by those who see it mounted, and under Landlock nothing can be
//! mounted or unmounted.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountFlags, MountPropagationFlags};

use crate::confine::mountinfo::{aliases, mounts};
use crate::confine::plan::Plan;
use crate::confine::terminals::PSEUDO;
use crate::decl::Shield;

/// Where programs expect memory that they can share; each child gets its own.
pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

/// Services that would act for whoever connects, outside every limit: each is hidden unless a root
/// that may be written holds it.
const SERVICES: [&str; 15] = [
    "/run/containerd",
    "/run/crio",
    "/run/dbus",
    "/run/docker",
    "/run/docker.sock",
    "/run/libvirt",
    "/run/podman",
    "/run/screen",
    "/run/snapd.socket",
    "/run/systemd/private",
    "/run/tmux",
    "/run/user",
    "/tmp/.X11-unix",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
];

/// Makes a mount namespace and lays out the plan's mounts in it.
///
/// The process must have one thread only.
pub(crate) fn enter(plan: &Plan) -> Result<(), String> {
    new_namespace()?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private)
        .map_err(|errno| format!("mounts cannot be made private: {errno}"))?;
    let before = mounts().map_err(|error| format!("mounts cannot be listed: {error}"))?;
    let mut layout = Layout {
        roots: &plan.writes,
        bound: BTreeSet::new(),
        hidden: Vec::new(),
    };
    for root in &plan.writes {
        layout.bind(root)?;
    }
    layout.close_the_rest()?;
    for (path, shield) in &plan.shields {
        layout.shield(path, *shield)?;
        for alias in aliases(&before, path) {
            if same_file(&alias, path, *shield) {
                layout.shield(&alias, *shield)?;
            }
        }
    }
    layout.hide_services()?;
    // Programs can do without.
    let _ = mount_memory(SHARED_MEMORY, c"mode=1777,size=25%", MountFlags::empty());
    if plan
        .shields
        .iter()
        .any(|(path, _)| path == Path::new(PSEUDO))
    {
        let _ = mount_terminals();
    }
    Ok(())
}

/// Terminals that nobody else sees, over the hidden ones.
fn mount_terminals() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let data = c"newinstance,ptmxmode=0666,mode=0600";
    rustix::mount::mount("podward", PSEUDO, "devpts", flags, data)?;
    Ok(())
}

/// Root can make a mount namespace; others need a user namespace around it, if the kernel lets.
fn new_namespace() -> Result<(), String> {
    // System V memory, semaphores and queues, too, are shared by all processes of a user.
    let own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    match unshare(own) {
        Ok(()) => return Ok(()),
        Err(Errno::EPERM) => {}
        Err(errno) => return Err(format!("no mount namespace: {errno}")),
    }
    let uid = rustix::process::geteuid().as_raw();
    let gid = rustix::process::getegid().as_raw();
    unshare(CloneFlags::CLONE_NEWUSER | own)
        .map_err(|errno| format!("no user namespace: {errno}"))?;
    // Users keep their own numbers; all others are shown as `nobody`.
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{uid} {uid} 1")),
        ("/proc/self/gid_map", format!("{gid} {gid} 1")),
    ] {
        std::fs::write(file, text)
            .map_err(|error| format!("no user namespace: {file}: {error}"))?;
    }
    Ok(())
}

struct Layout<'a> {
    roots: &'a [PathBuf],
    /// What was mounted on itself.
    bound: BTreeSet<PathBuf>,
    hidden: Vec<PathBuf>,
}

impl Layout<'_> {
    /// Mounts a path on itself: it becomes a mount of its own, with everything mounted below.
    fn bind(&mut self, path: &Path) -> Result<(), String> {
        if self.bound.insert(path.to_owned()) {
            rustix::mount::mount_bind_recursive(path, path)
                .map_err(|errno| format!("`{}` cannot be mounted: {errno}", path.display()))?;
        }
        Ok(())
    }

    /// Makes every mount read-only that no root holds: Landlock does not see changes of modes,
    /// owners and times.
    fn close_the_rest(&self) -> Result<(), String> {
        for mount in mounts().map_err(|error| format!("mounts cannot be listed: {error}"))? {
            if !self.is_open(&mount.point) && !mount.flags.contains(MountFlags::RDONLY) {
                // What this user cannot reach, the child cannot either.
                let _ = remount(&mount.point, mount.flags | MountFlags::RDONLY);
            }
        }
        Ok(())
    }

    fn hide_services(&mut self) -> Result<(), String> {
        let of_this_user = format!("/tmp/tmux-{}", rustix::process::getuid().as_raw());
        for service in SERVICES.into_iter().chain([of_this_user.as_str()]) {
            // `/run` or a part of it may be a link; what cannot be reached needs no hiding.
            if let Ok(path) = std::fs::canonicalize(service)
                && !self.is_open(&path)
            {
                self.shield(&path, Shield::Hidden)?;
            }
        }
        Ok(())
    }

    /// Whether a root that may be written holds `path`.
    fn is_open(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    fn shield(&mut self, path: &Path, shield: Shield) -> Result<(), String> {
        if self.hidden.iter().any(|hidden| path.starts_with(hidden)) {
            return Ok(());
        }
        let metadata = match std::fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            // What is not there needs no mount; what it lacks, podward told at its start.
            Err(error) if is_absent(&error) => return Ok(()),
            // What this user cannot reach, the child cannot either, nor make reachable.
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied && !self.is_open(path) =>
            {
                return Ok(());
            }
            Err(error) => return Err(format!("`{}`: {error}", path.display())),
        };
        if metadata.is_symlink() {
            return Err(format!("`{}` has become a symbolic link", path.display()));
        }
        self.pin(path)?;
        let done = match shield {
            Shield::ReadOnly => {
                self.bind(path)?;
                make_read_only(path)
            }
            Shield::Hidden => {
                self.hidden.push(path.to_owned());
                if metadata.is_dir() {
                    mount_memory(path, c"mode=000", MountFlags::RDONLY)
                } else {
                    hide_file(path)
                }
            }
        };
        done.map_err(|error| format!("`{}` cannot be shielded: {error}", path.display()))
    }

    /// Makes mount points of the directories between a root and `path`: else one of them could be
    /// renamed, with `path` in it, and another put in its place.
    fn pin(&mut self, path: &Path) -> Result<(), String> {
        let Some(root) = self.roots.iter().find(|root| path.starts_with(root)) else {
            return Ok(());
        };
        let mut between: Vec<_> = path
            .ancestors()
            .skip(1)
            .take_while(|ancestor| ancestor != root && ancestor.starts_with(root))
            .collect();
        between.reverse();
        between
            .into_iter()
            .try_for_each(|ancestor| self.bind(ancestor))
    }
}

/// Makes the mount at `path` and those below it read-only.
fn make_read_only(path: &Path) -> io::Result<()> {
    for mount in mounts()? {
        if mount.point.starts_with(path) {
            remount(&mount.point, mount.flags | MountFlags::RDONLY)?;
        }
    }
    Ok(())
}

fn remount(point: &Path, flags: MountFlags) -> io::Result<()> {
    Ok(rustix::mount::mount_remount(
        point,
        MountFlags::BIND | flags,
        "",
    )?)
}

fn mount_memory(point: impl AsRef<Path>, data: &CStr, flags: MountFlags) -> io::Result<()> {
    let flags = flags | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("podward", point.as_ref(), "tmpfs", flags, data)?;
    Ok(())
}

/// A device on a mount without devices cannot be opened by anybody.
fn hide_file(path: &Path) -> io::Result<()> {
    rustix::mount::mount_bind("/dev/null", path)?;
    let flags = mounts()?
        .into_iter()
        .rev()
        .find(|mount| mount.point == path)
        .map_or(MountFlags::empty(), |mount| mount.flags);
    remount(path, flags | MountFlags::RDONLY | MountFlags::NODEV)
}

/// Whether an alias is what the table of mounts suggests, and not hidden by a later mount.
fn same_file(alias: &Path, path: &Path, shield: Shield) -> bool {
    use std::os::unix::fs::MetadataExt;
    // The path itself is shielded by now: a read-only mount shows the same file, a hidden one
    // does not, and then a needless shield is the lesser evil.
    match (
        std::fs::symlink_metadata(alias),
        std::fs::symlink_metadata(path),
    ) {
        (Ok(alias), Ok(path)) => shield == Shield::Hidden || alias.dev() == path.dev(),
        _ => false,
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
