//! Events that came and were not taken yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use podward_protocol::Envelope;
use tokio::sync::{mpsc, watch};

/// How many bytes of events may wait to be taken. It holds the largest snapshot: a hundred lines as long
/// as lines may be, or ten thousand permission requests.
pub const MAX_BACKLOG_BYTES: usize = 64 * 1024 * 1024;

/// What an event takes beside its line, in bytes.
const EVENT_BYTES: usize = 512;

/// Where events are put. It never waits, for behind an event there may be the reply that the one who
/// takes events waits for; its bound is the bytes.
pub(crate) struct Filler {
    events: Option<mpsc::UnboundedSender<(usize, Item)>>,
    n_bytes: Arc<AtomicUsize>,
    pings: Pings,
}

/// The number of the last ping that is to be answered.
pub(crate) type Pings = Arc<watch::Sender<Option<u64>>>;

/// What waits to be taken.
#[derive(Debug)]
enum Item {
    Event(Box<Envelope>),
    /// A ping, in its place: it is answered when all before it was taken.
    Ping(u64),
}

/// Where events are taken.
#[derive(Debug)]
pub(crate) struct Taker {
    events: mpsc::UnboundedReceiver<(usize, Item)>,
    n_bytes: Arc<AtomicUsize>,
    pings: Pings,
}

/// Whether an event was put where it can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// It was, or nobody takes events any more.
    Done,
    /// It was not: there is too much that was not taken.
    Overflow,
}

/// `pings` hears of each ping when it may be answered.
pub(crate) fn backlog(pings: Pings) -> (Filler, Taker) {
    let (filler, taker) = mpsc::unbounded_channel();
    let n_bytes = Arc::new(AtomicUsize::new(0));
    let filler = Filler {
        events: Some(filler),
        n_bytes: Arc::clone(&n_bytes),
        pings: Arc::clone(&pings),
    };
    let taker = Taker {
        events: taker,
        n_bytes,
        pings,
    };
    (filler, taker)
}

impl Filler {
    /// Puts an event whose line has so many bytes.
    pub(crate) fn put(&mut self, envelope: Envelope, line_bytes: usize) -> Put {
        self.put_item(Item::Event(Box::new(envelope)), line_bytes)
    }

    /// Puts a ping: it is answered once all before it was taken, or at once where nobody takes events.
    pub(crate) fn put_ping(&mut self, n: u64, line_bytes: usize) -> Put {
        let put = self.put_item(Item::Ping(n), line_bytes);
        if self.events.is_none() {
            self.pings.send_replace(Some(n));
        }
        put
    }

    fn put_item(&mut self, item: Item, line_bytes: usize) -> Put {
        let Some(events) = &self.events else {
            return Put::Done;
        };
        let n_bytes = line_bytes + EVENT_BYTES;
        if self.n_bytes.load(Ordering::Relaxed) + n_bytes > MAX_BACKLOG_BYTES {
            return Put::Overflow;
        }
        self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
        if events.send((n_bytes, item)).is_err() {
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
        loop {
            let (n_bytes, item) = self.events.recv().await?;
            self.n_bytes.fetch_sub(n_bytes, Ordering::Relaxed);
            match item {
                Item::Event(envelope) => return Some(*envelope),
                Item::Ping(n) => {
                    self.pings.send_replace(Some(n));
                }
            }
        }
    }
}
