//! The process of a child.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use podward_scope::family::start_own;
use rustix::process::{Signal, kill_process};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{ChildError, Inheritance};
use crate::key::KEY_FD_VARIABLE;
use crate::layers::PERMISSIONS_VARIABLE;

/// How long what a child said last is waited for, once it has ended.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(1);

/// The last so many bytes of what it says are kept.
const MAX_WORDS: usize = 4 * 1024;

/// A child that was started; it is killed when this is dropped.
pub(super) struct Process {
    child: Child,
    words: JoinHandle<Vec<u8>>,
}

impl Process {
    /// Starts a child, and returns the connection to it.
    ///
    /// It dies with this process, whatever ends that: it asks the kernel for it first of all, and ends
    /// when nobody holds the other end of the connection.
    pub(super) fn start(
        program: &Path,
        variables: &[(OsString, OsString)],
        inheritance: &Inheritance,
    ) -> Result<(Self, UnixStream), ChildError> {
        let failed = |error| ChildError::io("start its process", error);
        let given = inheritance.to_file().map_err(failed)?;
        let (ours, theirs) = StdStream::pair().map_err(failed)?;
        ours.set_nonblocking(true).map_err(failed)?;
        let is_own = |name: &OsString| name == KEY_FD_VARIABLE || name == PERMISSIONS_VARIABLE;
        let variables = variables.iter().filter(|(name, _)| !is_own(name));
        let mut command = Command::new(program);
        command
            .arg("child")
            .env_clear()
            .envs(variables.map(|(name, value)| (name, value)))
            .stdin(Stdio::from(given))
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .stderr(Stdio::piped())
            // A terminal's signals are for the outermost pod, which tells the others.
            .process_group(0)
            .kill_on_drop(true);
        let mut child = start_own(|| command.spawn(), Child::id).map_err(failed)?;
        drop(command);
        let ours = UnixStream::from_std(ours).map_err(failed)?;
        let stderr = child.stderr.take();
        let words = tokio::spawn(async move {
            match stderr {
                Some(stderr) => last_words(stderr).await,
                None => Vec::new(),
            }
        });
        Ok((Self { child, words }, ours))
    }

    /// Waits so long for its end, and brings it about where it does not come; what it said last.
    pub(super) async fn end(&mut self, until: Instant) -> String {
        if tokio::time::timeout_at(until, self.child.wait())
            .await
            .is_err()
        {
            // It may just have ended.
            let _ = self.child.kill().await;
        }
        // What it started may hold its standard error open.
        let words = tokio::time::timeout(LAST_WORDS, &mut self.words).await;
        self.words.abort();
        let words = words.ok().and_then(Result::ok).unwrap_or_default();
        String::from_utf8_lossy(&words).trim().to_owned()
    }
}

/// Ends this process at once, because the pod above has died without a word: the kernel is about to do so
/// too, and what would be written until then would say that the turn was over, which is to go on with the
/// session of the pod above.
pub(crate) fn end_like_the_pod_above() {
    let own = rustix::process::getpid();
    if let Err(error) = kill_process(own, Signal::KILL) {
        tracing::error!(%error, "the pod above is gone, and this one is not");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.words.abort();
    }
}

/// Reads to the end, and keeps what came last.
async fn last_words(mut from: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut last = Vec::new();
    let mut buffer = vec![0; 4 * 1024];
    while let Ok(n) = from.read(&mut buffer).await {
        let Some(read) = buffer.get(..n).filter(|read| !read.is_empty()) else {
            break;
        };
        last.extend_from_slice(read);
        let over = last.len().saturating_sub(MAX_WORDS);
        last.drain(..over);
    }
    last
}
