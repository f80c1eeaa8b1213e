//! What a program that was started writes: in bounds, and without waiting for who else holds the pipe.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

/// The most that a program may write to its standard output, in bytes.
pub(crate) const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// What is kept of its standard error: the end.
pub(crate) const KEPT_ERROR_BYTES: usize = 4 * 1024;

/// The end of a pipe, and what was read from it.
pub(crate) struct Pipe {
    /// `None`: nothing more will come.
    receiver: Option<pipe::Receiver>,
    keep: Keep,
    bytes: Vec<u8>,
    buffer: Vec<u8>,
}

/// Which bytes are kept of more than fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Those at the beginning, and that there were more.
    Beginning,
    /// Those at the end.
    End,
}

impl Pipe {
    pub(crate) fn new(fd: OwnedFd, keep: Keep) -> io::Result<Self> {
        Ok(Self {
            receiver: Some(pipe::Receiver::from_owned_fd(fd)?),
            keep,
            bytes: Vec::new(),
            buffer: vec![0; 16 * 1024],
        })
    }

    /// Reads a little more; never returns when nothing more will come.
    pub(crate) async fn read(&mut self) {
        let Some(receiver) = &mut self.receiver else {
            return std::future::pending().await;
        };
        match receiver.read(&mut self.buffer).await {
            Ok(0) | Err(_) => self.receiver = None,
            Ok(n_bytes) => self.push(n_bytes),
        }
    }

    /// Reads what is there now, without waiting: others may hold the pipe open. Returns whether
    /// all of it was kept.
    pub(crate) fn drain(&mut self) -> bool {
        let fd = self
            .receiver
            .take()
            .map(pipe::Receiver::into_nonblocking_fd);
        if let Some(Ok(fd)) = fd {
            let mut n_left = MAX_OUTPUT_BYTES * 2;
            while n_left > 0
                && let Ok(n_bytes @ 1..) = rustix::io::read(fd.as_fd(), &mut self.buffer[..])
            {
                n_left = n_left.saturating_sub(n_bytes);
                self.push(n_bytes);
            }
        }
        !self.is_over()
    }

    /// Keeps what is in the buffer.
    fn push(&mut self, n_bytes: usize) {
        let new = self.buffer.get(..n_bytes).unwrap_or_default();
        self.bytes.extend_from_slice(new);
        match self.keep {
            Keep::Beginning => self.bytes.truncate(MAX_OUTPUT_BYTES + 1),
            Keep::End => {
                let n_over = self.bytes.len().saturating_sub(KEPT_ERROR_BYTES + 1);
                self.bytes.drain(..n_over);
            }
        }
    }

    /// Whether more came than is kept of a beginning.
    pub(crate) fn is_over(&self) -> bool {
        self.bytes.len() > MAX_OUTPUT_BYTES
    }

    /// What was kept.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The end of a text, without blanks around it.
    pub(crate) fn into_end(self) -> String {
        let is_cut = self.bytes.len() > KEPT_ERROR_BYTES;
        let text = String::from_utf8_lossy(&self.bytes);
        match (is_cut, text.trim()) {
            (true, end) => format!("…{end}"),
            (false, all) => all.to_owned(),
        }
    }
}
