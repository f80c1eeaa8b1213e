//! The helper as a parent: nothing that the child started outlives the call.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::confine::report::{Ending, Report};

/// Waits for `child` and for all it left behind, and ends them all when `control` is closed.
///
/// The process must be a subreaper: orphans become its own children, so that every process below
/// it is found, whatever session or group it moved to.
pub(crate) fn supervise(child: Pid, control: UnixStream, grace: Duration) -> Report {
    let end = Arc::new(End::default());
    // Neither thread is joined: the process ends with them.
    std::thread::spawn({
        let end = Arc::clone(&end);
        move || {
            wait_for_close(control);
            end.run(grace);
        }
    });
    let mut ending = None;
    let mut leftovers = 0;
    let mut options = WaitOptions::empty();
    loop {
        match rustix::process::wait(options) {
            Ok(Some((pid, status))) if pid == child => {
                ending = Some(ending_of(status));
                // Asks once whether anything is left.
                options = WaitOptions::NOHANG;
            }
            Ok(Some(_)) => leftovers += u32::from(ending.is_some()),
            Ok(None) => {
                options = WaitOptions::empty();
                let end = Arc::clone(&end);
                std::thread::spawn(move || end.run(grace));
            }
            Err(Errno::INTR) => {}
            // No child is left.
            Err(_) => break,
        }
        // What was killed may have left children of its own.
        if end.killing.load(Ordering::SeqCst) {
            signal_all(Signal::KILL);
        }
    }
    match ending {
        Some(ending) => Report::Ended { ending, leftovers },
        None => Report::Failed("the child was lost".to_owned()),
    }
}

#[derive(Debug, Default)]
struct End {
    begun: AtomicBool,
    killing: AtomicBool,
}

impl End {
    /// Asks every process to end; kills those that do not in time.
    fn run(&self, grace: Duration) {
        if self.begun.swap(true, Ordering::SeqCst) {
            return;
        }
        signal_all(Signal::TERM);
        std::thread::sleep(grace);
        self.killing.store(true, Ordering::SeqCst);
        signal_all(Signal::KILL);
    }
}

fn wait_for_close(mut control: UnixStream) {
    let mut ignored = [0_u8; 64];
    loop {
        match control.read(&mut ignored) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn signal_all(signal: Signal) {
    for pid in descendants() {
        // It may be gone.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Every process below this one.
fn descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(pid) = pid
            && let Ok(stat) = std::fs::read(entry.path().join("stat"))
            && let Some(parent) = parent_in(&stat)
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = BTreeSet::new();
    let mut waiting = vec![rustix::process::getpid().as_raw_pid()];
    while let Some(pid) = waiting.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.insert(child);
            waiting.push(child);
        }
    }
    found.into_iter().filter_map(Pid::from_raw).collect()
}

/// The parent's id in `/proc/<pid>/stat`: the second field after the name, which is in
/// parentheses and may hold anything.
fn parent_in(stat: &[u8]) -> Option<i32> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let after = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    after.split_whitespace().nth(1)?.parse().ok()
}

fn ending_of(status: WaitStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exit(code),
        (None, Some(signal)) => Ending::Signal(signal),
        // Stops are not waited for.
        (None, None) => Ending::Exit(0),
    }
}

#[cfg(test)]
mod tests {
    use super::parent_in;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        for (stat, parent) in [
            ("12 (bash) S 7 12 12 0 -1", Some(7)),
            ("12 (a) S 1 (b) R 9 12", Some(9)),
            ("12 bash", None),
            ("", None),
        ] {
            assert_eq!(parent_in(stat.as_bytes()), parent, "{stat}");
        }
    }
}
