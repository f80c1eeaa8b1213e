//! The processes below this one: who belongs to them, and those that this process inherits.
//!
//! A process that has called [`adopt_orphans`] is the parent of whatever its children leave behind,
//! so that everything they ever started stays below it: a new session (`setsid`), a double fork and
//! `nohup` change nothing about that.

mod adopted;
mod stat;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::socket::{getsockopt, sockopt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags};

pub use adopted::Adopted;

use self::stat::{ProcessStat, stat_of};

/// How often a walk is begun anew because a process on the way ended meanwhile.
const TRIES: u32 = 8;

/// More generations than a process can have: a walk that is longer goes in circles.
const GENERATIONS: u32 = 1 << 22;

/// The children that this program started itself, by when.
static OWN: Mutex<BTreeMap<i32, u64>> = Mutex::new(BTreeMap::new());

/// The name of a process that has called [`adopt_orphans`], as `ps` shows it: another one tells by it,
/// of whatever user, and no child can change it. At most 15 bytes.
const MARK: &str = "podward-pod";

/// Where a process stands to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kinship {
    /// It is this process.
    Same,
    /// It was started below this process.
    Below,
    /// It was started below another that has called [`adopt_orphans`], and below which this one was not;
    /// or it is one of those that this one belongs to ([`belongs_to_those_above`]), or was started below it.
    BelowAnother,
    /// It is neither.
    Apart,
}

/// How many of the marked processes above this one belong to it ([`belongs_to_those_above`]).
static ABOVE: AtomicUsize = AtomicUsize::new(0);

/// Says that this process was started by the nearest `n` processes above it that have called
/// [`adopt_orphans`], one by the other: what else they start is no more apart from this process than
/// what it starts itself ([`Kinship::BelowAnother`]).
pub fn belongs_to_those_above(n: usize) {
    ABOVE.store(n, Ordering::Relaxed);
}

/// Makes this process the parent of all that its children leave behind, for as long as it lives.
///
/// Has to be called before the first child is started: what was left behind before is not found. It
/// gives this process a name by which others know it ([`Kinship::BelowAnother`]). After
/// [`harden_process`](crate::harden_process) only the first thread of an ordinary user's process can do that:
/// call it there, or before.
///
/// # Errors
/// The kernel has no such thing (before Linux 3.4), `/proc` is not there, or the name cannot be given.
pub fn adopt_orphans() -> io::Result<()> {
    // The value only has to be none or any.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    give_name()
}

/// The name of a process is that of its first thread.
fn give_name() -> io::Result<()> {
    let own = rustix::process::getpid();
    if stat_of(own.as_raw_pid())?.is_marked {
        Ok(())
    } else if rustix::thread::gettid() == own {
        let name = std::ffi::CString::new(MARK)?;
        Ok(rustix::thread::set_name(&name)?)
    } else {
        std::fs::write("/proc/self/comm", MARK)
    }
}

/// Where the process at the other end of a Unix socket stands to this one.
///
/// It is the process that connected (`SO_PEERCRED`), whoever has the socket now. Its number may be
/// another's as soon as it is gone, so it is held by a `pidfd` meanwhile: that of the connection
/// where the kernel has one (Linux 6.5), else one that is opened here and whose process is older than
/// `connected`, a time of [`now`].
///
/// # Errors
/// Nothing certain can be said: the process is gone, is none of this machine's that can be seen
/// here, or `/proc` does not show it.
pub fn peer_kinship(socket: impl AsFd, connected: Moment) -> io::Result<Kinship> {
    let pidfd = getsockopt(&socket, sockopt::PeerPidfd);
    peer_kinship_by(socket, connected, pidfd)
}

fn peer_kinship_by(
    socket: impl AsFd,
    connected: Moment,
    pidfd: nix::Result<OwnedFd>,
) -> io::Result<Kinship> {
    let peer = getsockopt(&socket, sockopt::PeerCredentials)?.pid();
    // 0: it is in another namespace, and has no number here.
    let peer = Pid::from_raw(peer)
        .ok_or_else(|| io::Error::other("the process that connected has no number here"))?;
    let held = match pidfd {
        Ok(held) => Held {
            fd: held,
            born_before: None,
        },
        // Before Linux 6.5. Of any other error nothing certain follows.
        Err(nix::errno::Errno::ENOPROTOOPT) => Held {
            fd: rustix::process::pidfd_open(peer, PidfdFlags::empty())?,
            born_before: Some(connected),
        },
        Err(error) => return Err(error.into()),
    };
    kinship_of(peer, &held)
}

/// A moment, in the kernel's unit for when a process started: hundredths of a second since the
/// machine did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

/// The present.
#[must_use]
pub fn now() -> Moment {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let hundredths = u64::try_from(now.tv_nsec / 10_000_000).unwrap_or(0);
    Moment(seconds.saturating_mul(100).saturating_add(hundredths))
}

/// A process whose number is its own for as long as it has not ended.
struct Held {
    fd: OwnedFd,
    /// A later process only has the number.
    born_before: Option<Moment>,
}

fn kinship_of(peer: Pid, held: &Held) -> io::Result<Kinship> {
    check_proc()?;
    let own = rustix::process::getpid().as_raw_pid();
    for _ in 0..TRIES {
        let walks = (walk(peer.as_raw_pid(), held.born_before)?, walk(own, None)?);
        if has_ended(held)? {
            return Err(io::Error::other("the process that connected has ended"));
        }
        if let (Some(line), Some(own_line)) = walks {
            return Ok(kinship(&line, &own_line, ABOVE.load(Ordering::Relaxed)));
        }
    }
    Err(io::Error::other(
        "the processes above the one that connected do not stand still",
    ))
}

/// A process in a line of parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ancestor {
    pid: i32,
    stat: ProcessStat,
}

/// How two lines of parents, from the process itself upwards, stand to each other; `n_above`: so many
/// of the marked ones of the own line belong to this process.
fn kinship(line: &[Ancestor], own_line: &[Ancestor], n_above: usize) -> Kinship {
    let key = |one: &Ancestor| (one.pid, one.stat.start);
    let above_own = own_line.iter().skip(1);
    let marked = above_own.filter(|one| one.stat.is_marked).take(n_above);
    let of_tree: Vec<_> = marked.map(key).collect();
    let is_shared = |of: &Ancestor| {
        !of_tree.contains(&key(of)) && own_line.iter().any(|own| key(own) == key(of))
    };
    let own = own_line.first().map(|own| own.pid);
    let mut above = line.iter().skip(1);
    if line.first().map(|peer| peer.pid) == own {
        Kinship::Same
    } else if above.clone().any(|one| Some(one.pid) == own) {
        Kinship::Below
    } else if line
        .first()
        .is_some_and(|peer| of_tree.contains(&key(peer)))
        || above.any(|one| one.stat.is_marked && !is_shared(one))
    {
        Kinship::BelowAnother
    } else {
        Kinship::Apart
    }
}

/// Goes up from a process to the first, or to one of another namespace; `None`: one on the way ended
/// meanwhile.
fn walk(from: i32, born_before: Option<Moment>) -> io::Result<Option<Vec<Ancestor>>> {
    let mut at = Ancestor {
        pid: from,
        stat: stat_of(from)?,
    };
    if born_before.is_some_and(|connected| at.stat.start > connected.0) {
        return Err(io::Error::other("the process that connected is gone"));
    }
    let mut line = Vec::new();
    for _ in 0..GENERATIONS {
        line.push(at);
        if at.stat.parent == 0 {
            return Ok(Some(line));
        }
        let Ok(above) = stat_of(at.stat.parent) else {
            return Ok(None);
        };
        // INVARIANT: a process whose parent is the same before and after has had that parent in
        // between, so that what was read is the parent's and not that of a later process with its
        // number.
        if stat_of(at.pid).ok() != Some(at.stat) {
            return Ok(None);
        }
        at = Ancestor {
            pid: at.stat.parent,
            stat: above,
        };
    }
    Err(io::Error::other("the processes have no beginning"))
}

fn has_ended(held: &Held) -> io::Result<bool> {
    let mut fds = [PollFd::new(&held.fd, PollFlags::IN)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    Ok(poll(&mut fds, Some(&at_once))? > 0)
}

/// The numbers in `/proc` have to be those of this process's own namespace.
fn check_proc() -> io::Result<()> {
    let own = rustix::process::getpid().as_raw_pid().to_string();
    let seen = std::fs::read_link("/proc/self")?;
    if seen.as_os_str() == own.as_str() {
        Ok(())
    } else {
        Err(io::Error::other("/proc is that of other processes"))
    }
}

/// Starts a child whose end this program waits for itself, so that [`Adopted::reap`] leaves it
/// alone.
///
/// # Errors
/// What `start` returns.
pub fn start_own<C>(
    start: impl FnOnce() -> io::Result<C>,
    id: impl FnOnce(&C) -> Option<u32>,
) -> io::Result<C> {
    // Held meanwhile: nobody looks at a child that is not yet written down.
    let mut own = own();
    let child = start()?;
    let pid = id(&child).and_then(|pid| i32::try_from(pid).ok());
    if let Some(pid) = pid
        && let Ok(ProcessStat { start, .. }) = stat_of(pid)
    {
        own.insert(pid, start);
    }
    Ok(child)
}

fn own() -> MutexGuard<'static, BTreeMap<i32, u64>> {
    // INVARIANT: a map that is only added to and taken from is whole after a panic.
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
