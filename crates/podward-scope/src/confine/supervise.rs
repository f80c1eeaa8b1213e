//! The helper as a parent: nothing that the child started outlives the call.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::confine::report::{Ending, Report};

/// What the child leaves behind may have something left to say (`exec > >(tee log)`): it is not
/// ended before this.
const LAST_WORDS: Duration = Duration::from_millis(500);

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
    let mut options = WaitOptions::empty();
    loop {
        match rustix::process::wait(options) {
            Ok(Some((pid, status))) if pid == child => {
                ending = Some(ending_of(status));
                // Asks once whether anything is left.
                options = WaitOptions::NOHANG;
            }
            Ok(Some(_)) => {}
            Ok(None) => {
                options = WaitOptions::empty();
                let end = Arc::clone(&end);
                std::thread::spawn(move || {
                    std::thread::sleep(LAST_WORDS);
                    end.run(grace);
                });
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
        Some(ending) => Report::Ended {
            ending,
            ended: end.n_asked.load(Ordering::SeqCst),
        },
        None => Report::Failed("the child was lost".to_owned()),
    }
}

#[derive(Debug, Default)]
struct End {
    begun: AtomicBool,
    n_asked: AtomicU32,
    killing: AtomicBool,
}

impl End {
    /// Asks every process to end; kills those that do not in time.
    fn run(&self, grace: Duration) {
        if self.begun.swap(true, Ordering::SeqCst) {
            return;
        }
        // Stored first: once the last of them is gone, the number is read.
        let asked = descendants();
        let n_running = asked.iter().filter(|(_, state)| *state == State::Running);
        let n_asked = u32::try_from(n_running.count()).unwrap_or(u32::MAX);
        self.n_asked.store(n_asked, Ordering::SeqCst);
        signal_each(&asked, Signal::TERM);
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
    signal_each(&descendants(), signal);
}

fn signal_each(processes: &[(Pid, State)], signal: Signal) {
    for (pid, _) in processes {
        // It may be gone.
        let _ = rustix::process::kill_process(*pid, signal);
    }
}

/// Every process below this one.
fn descendants() -> Vec<(Pid, State)> {
    let mut children: BTreeMap<i32, Vec<(i32, State)>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(pid) = pid
            && let Ok(stat) = std::fs::read(entry.path().join("stat"))
            && let Some((state, parent)) = state_and_parent(&stat)
        {
            children.entry(parent).or_default().push((pid, state));
        }
    }
    let mut found = Vec::new();
    let mut waiting = vec![rustix::process::getpid().as_raw_pid()];
    while let Some(pid) = waiting.pop() {
        for (child, state) in children.remove(&pid).unwrap_or_default() {
            found.extend(Pid::from_raw(child).map(|pid| (pid, state)));
            waiting.push(child);
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// Its first thread has ended; others may run on, so that it must be signalled all the same.
    Ended,
}

/// The state and the parent's id in `/proc/<pid>/stat`: the two fields after the name, which is
/// in parentheses and may hold anything.
fn state_and_parent(stat: &[u8]) -> Option<(State, i32)> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let after = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    let mut fields = after.split_whitespace();
    let state = match fields.next()? {
        "Z" | "X" => State::Ended,
        // Asleep, stopped and so on.
        _ => State::Running,
    };
    Some((state, fields.next()?.parse().ok()?))
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
    use super::{State, state_and_parent};

    #[test]
    fn the_parent_is_found_behind_any_name() {
        for (stat, found) in [
            ("12 (bash) S 7 12 12 0 -1", Some((State::Running, 7))),
            ("12 (a) S 1 (b) R 9 12", Some((State::Running, 9))),
            ("12 (a) Z 9 12", Some((State::Ended, 9))),
            ("12 bash", None),
            ("", None),
        ] {
            assert_eq!(state_and_parent(stat.as_bytes()), found, "{stat}");
        }
    }
}
