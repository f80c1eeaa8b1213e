//! One run of a hook's program: input in, output out, in bounds and in time.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use podward_scope::family::start_own;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::pipe::{Keep, MAX_OUTPUT_BYTES, Pipe};

/// How long the end of a killed process is waited for.
const REAP: Duration = Duration::from_secs(1);

/// What is started: no shell, no terminal, a process group of its own.
pub(super) struct Launch<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [OsString],
    pub(super) directory: &'a Path,
    /// The whole environment.
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) timeout: Duration,
}

/// What a program that ended well wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) stdout: Vec<u8>,
    /// The end of its standard error.
    pub(super) stderr: String,
}

/// Why a program's answer does not count.
#[derive(Debug)]
pub(super) struct Failure {
    kind: FailureKind,
    /// The end of its standard error.
    stderr: String,
}

#[derive(Debug)]
enum FailureKind {
    NotStarted(io::Error),
    NotWatched(io::Error),
    TimedOut(Duration),
    TooMuch,
    Ended(ExitStatus),
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(error) => write!(f, "it cannot be started: {error}"),
            Self::NotWatched(error) => write!(f, "it cannot be watched: {error}"),
            Self::TimedOut(limit) => write!(f, "it did not end within {limit:?} and was killed"),
            Self::TooMuch => write!(
                f,
                "it wrote more than {MAX_OUTPUT_BYTES} bytes and was killed"
            ),
            Self::Ended(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "it exited with code {code}"),
                (None, Some(signal)) => write!(f, "it was ended by signal {signal}"),
                (None, None) => f.write_str("how it ended is not known"),
            },
        }
    }
}

/// What happened, and what the program wrote to its standard error.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        match self.stderr.as_str() {
            "" => Ok(()),
            said => write!(f, ": {said}"),
        }
    }
}

/// Runs a program to its end. Dropping the future kills it.
///
/// # Errors
/// It does not start, does not end in time, writes too much, or ends otherwise than with code 0.
pub(super) async fn run(launch: &Launch<'_>, input: &[u8]) -> Result<Output, Failure> {
    let mut running = Running::start(launch).map_err(|error| Failure {
        kind: FailureKind::NotStarted(error),
        stderr: String::new(),
    })?;
    let worked = tokio::time::timeout(launch.timeout, running.work(input)).await;
    let kind = match worked {
        Ok(Ok(())) => None,
        Ok(Err(kind)) => Some(kind),
        Err(_) => Some(FailureKind::TimedOut(launch.timeout)),
    };
    let status = running.end().await;
    let kind = kind.or_else(|| match status {
        Ok(status) if status.success() => None,
        Ok(status) => Some(FailureKind::Ended(status)),
        Err(error) => Some(FailureKind::NotWatched(error)),
    });
    // What it wrote just before its end is still in the pipes.
    running.stderr.drain();
    let is_whole = running.stdout.drain();
    let kind = kind.or_else(|| (!is_whole).then_some(FailureKind::TooMuch));
    let stderr = running.stderr.into_end();
    match kind {
        None => Ok(Output {
            stdout: running.stdout.into_bytes(),
            stderr,
        }),
        Some(kind) => Err(Failure { kind, stderr }),
    }
}

/// A program that runs; dropped, it is killed with its process group.
struct Running {
    stdin: Option<ChildStdin>,
    stdout: Pipe,
    stderr: Pipe,
    /// Before `child`: the group is named by the process, as long as that is not reaped.
    group: Group,
    child: Child,
}

impl Running {
    fn start(launch: &Launch<'_>) -> io::Result<Self> {
        let (stdout, out) = io::pipe()?;
        let (stderr, err) = io::pipe()?;
        let mut command = Command::new(launch.program);
        command
            .args(launch.arguments)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(launch.directory)
            .stdin(Stdio::piped())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .kill_on_drop(true);
        let mut child = start_own(|| command.spawn(), Child::id)?;
        // It holds ends of the pipes that only the program shall hold.
        drop(command);
        Ok(Self {
            stdin: child.stdin.take(),
            stdout: Pipe::new(stdout.into(), Keep::Beginning)?,
            stderr: Pipe::new(stderr.into(), Keep::End)?,
            group: Group::of(&child)?,
            child,
        })
    }

    /// Feeds and hears the program until it ends, or has written too much.
    async fn work(&mut self, input: &[u8]) -> Result<(), FailureKind> {
        let stdin = self.stdin.take();
        let ended = self.group.ended();
        let feeding = async {
            if let Some(mut stdin) = stdin {
                // A program need not read what it is told.
                let _ = stdin.write_all(input).await;
            }
        };
        tokio::pin!(feeding, ended);
        let mut is_fed = false;
        loop {
            tokio::select! {
                ended = &mut ended => return ended.map_err(FailureKind::NotWatched),
                () = &mut feeding, if !is_fed => is_fed = true,
                () = self.stderr.read() => {}
                () = self.stdout.read() => if self.stdout.is_over() {
                    return Err(FailureKind::TooMuch);
                },
            }
        }
    }

    /// Kills what is left of the program and of its process group.
    async fn end(&mut self) -> io::Result<ExitStatus> {
        self.group.kill();
        let status = tokio::time::timeout(REAP, self.child.wait()).await??;
        self.group.pid = None;
        Ok(status)
    }
}

/// A process group.
struct Group {
    /// `None`: it is gone, and its number may be another's.
    pid: Option<Pid>,
}

impl Group {
    fn of(child: &Child) -> io::Result<Self> {
        let pid = child
            .id()
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw);
        match pid {
            Some(pid) => Ok(Self { pid: Some(pid) }),
            None => Err(io::Error::other("the process has no id")),
        }
    }

    /// Waits until the process has ended, without reaping it: until then its number is its own.
    async fn ended(&self) -> io::Result<()> {
        let Some(pid) = self.pid else {
            return Ok(());
        };
        let mut some_child_ended = signal(SignalKind::child())?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while rustix::process::waitid(WaitId::Pid(pid), look)?.is_none() {
            some_child_ended.recv().await;
        }
        Ok(())
    }

    fn kill(&self) {
        if let Some(pid) = self.pid {
            // It may be gone.
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
