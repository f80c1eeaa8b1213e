//! Events that came and were not taken yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use podward_protocol::Envelope;
use tokio::sync::mpsc;

/// How many bytes of events may wait to be taken. It holds the largest snapshot: a hundred lines as long
/// as lines may be, or ten thousand permission requests.
pub const MAX_BACKLOG_BYTES: usize = 64 * 1024 * 1024;

/// What an event takes beside its line, in bytes.
const EVENT_BYTES: usize = 512;

/// Where events are put. It never waits, for behind an event there may be the reply that the one who
/// takes events waits for; its bound is the bytes.
pub(crate) struct Filler {
    events: Option<mpsc::UnboundedSender<(usize, Envelope)>>,
    n_bytes: Arc<AtomicUsize>,
}

/// Where events are taken.
#[derive(Debug)]
pub(crate) struct Taker {
    events: mpsc::UnboundedReceiver<(usize, Envelope)>,
    n_bytes: Arc<AtomicUsize>,
}

/// Whether an event was put where it can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// It was, or nobody takes events any more.
    Done,
    /// It was not: there is too much that was not taken.
    Overflow,
}

pub(crate) fn backlog() -> (Filler, Taker) {
    let (filler, taker) = mpsc::unbounded_channel();
    let n_bytes = Arc::new(AtomicUsize::new(0));
    let filler = Filler {
        events: Some(filler),
        n_bytes: Arc::clone(&n_bytes),
    };
    let events = taker;
    (filler, Taker { events, n_bytes })
}

impl Filler {
    /// Puts an event whose line has so many bytes.
    pub(crate) fn put(&mut self, envelope: Envelope, line_bytes: usize) -> Put {
        let Some(events) = &self.events else {
            return Put::Done;
        };
        let n_bytes = line_bytes + EVENT_BYTES;
        if self.n_bytes.load(Ordering::Relaxed) + n_bytes > MAX_BACKLOG_BYTES {
            return Put::Overflow;
        }
        self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
        if events.send((n_bytes, envelope)).is_err() {
            // Nobody takes events any more.
            self.events = None;
        }
        Put::Done
    }

    /// No more events come.
    pub(crate) fn close(&mut self) {
        self.events = None;
    }
}

impl Taker {
    /// Waits for the next event; `None` when no more come. Nothing is lost where the wait is given up.
    pub(crate) async fn next(&mut self) -> Option<Envelope> {
        let (n_bytes, envelope) = self.events.recv().await?;
        self.n_bytes.fetch_sub(n_bytes, Ordering::Relaxed);
        Some(envelope)
    }
}
