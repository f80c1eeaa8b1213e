//! Reaping what was inherited, and nothing else.

use std::collections::BTreeMap;

use rustix::process::{Pid, WaitId, WaitIdOptions};

use super::own;
use super::stat::stat_of;

/// Ended children that this process did not start: nobody else waits for them.
#[derive(Debug, Default)]
pub struct Adopted {
    /// Those that were found ended the last time, by when they started.
    ended: BTreeMap<i32, u64>,
}

impl Adopted {
    /// Nothing was found yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reaps the inherited children that had ended when this was last called; returns how many.
    ///
    /// Children that were started by [`start_own`](super::start_own) are left alone, and so is any
    /// other that somebody waits for in between two calls.
    pub fn reap(&mut self) -> usize {
        // INVARIANT: held, so that every child of this program that can be seen is written down.
        let mut own = own();
        own.retain(|pid, start| stat_of(*pid).is_ok_and(|stat| stat.start == *start));
        let mut ended = BTreeMap::new();
        let mut n_reaped = 0;
        for pid in ended_children() {
            let Ok(stat) = stat_of(pid.as_raw_pid()) else {
                continue;
            };
            let is_own = own.get(&pid.as_raw_pid()) == Some(&stat.start);
            if is_own {
                continue;
            }
            if self.ended.get(&pid.as_raw_pid()) == Some(&stat.start) {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
                n_reaped += usize::from(matches!(
                    rustix::process::waitid(WaitId::Pid(pid), options),
                    Ok(Some(_))
                ));
            } else {
                ended.insert(pid.as_raw_pid(), stat.start);
            }
        }
        self.ended = ended;
        n_reaped
    }
}

/// The children of this process that have ended and were not waited for.
fn ended_children() -> Vec<Pid> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // Most of the time there is none.
    if !matches!(rustix::process::waitid(WaitId::All, look), Ok(Some(_))) {
        return Vec::new();
    }
    let own = rustix::process::getpid().as_raw_pid();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.and_then(Pid::from_raw) else {
            continue;
        };
        let is_ended_child = stat_of(pid.as_raw_pid()).is_ok_and(|stat| stat.parent == own)
            && matches!(rustix::process::waitid(WaitId::Pid(pid), look), Ok(Some(_)));
        if is_ended_child {
            found.push(pid);
        }
    }
    found
}
