//! What waits to be written to one client: bounded, so that a slow client costs nobody else.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Lines that may wait.
pub(crate) const MAX_LINES: usize = 8 * 1024;

/// Bytes that may wait: two of the longest lines.
pub(crate) const MAX_BYTES: usize = 2 * podward_protocol::MAX_LINE_BYTES;

/// A line that is made when it is written.
pub(crate) trait Lazy: Send + Sync {
    /// The line without its newline; `None`: there is nothing to say.
    fn line(&self) -> Option<Arc<str>>;
}

/// Lines on their way to one client; its clones are one outbox.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Inner>);

struct Inner {
    queue: Mutex<Queue>,
    changed: Notify,
    max_lines: usize,
    max_bytes: usize,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    n_lines: usize,
    n_bytes: usize,
    state: State,
}

enum Item {
    /// A snapshot has what it says.
    Event(Arc<str>),
    /// Nothing else says it.
    Response(Arc<str>),
    /// A part of a snapshot. It counts for nothing: what it is made of is there anyway.
    Part(Box<dyn Lazy>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Open,
    /// What waits is still written, and nothing after it.
    Closing,
    /// Nothing is written any more.
    Closed,
}

/// There is no room: the client is too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

impl Outbox {
    pub(crate) fn new(max_lines: usize, max_bytes: usize) -> Self {
        Self(Arc::new(Inner {
            queue: Mutex::default(),
            changed: Notify::new(),
            max_lines,
            max_bytes,
        }))
    }

    /// Adds an event.
    pub(crate) fn push_event(&self, line: Arc<str>) -> Result<(), Full> {
        self.push(Item::Event(line))
    }

    /// Adds a response.
    pub(crate) fn push_response(&self, line: Arc<str>) -> Result<(), Full> {
        self.push(Item::Response(line))
    }

    /// Adds a snapshot, in the place of the events that wait: they are in it.
    pub(crate) fn push_snapshot(&self, parts: impl IntoIterator<Item = Box<dyn Lazy>>) {
        let mut queue = self.lock();
        if queue.state == State::Open {
            let items = std::mem::take(&mut queue.items);
            (queue.n_lines, queue.n_bytes) = (0, 0);
            for item in items {
                if let Item::Response(_) = item {
                    queue.add(item);
                }
            }
            queue.items.extend(parts.into_iter().map(Item::Part));
        }
        drop(queue);
        self.0.changed.notify_one();
    }

    /// Lets what waits be written, then `last`, and nothing more.
    pub(crate) fn close_after(&self, last: Arc<str>) {
        self.end(last, |_| {});
    }

    /// Drops what waits; `last` is all that is still written.
    pub(crate) fn cut_off(&self, last: Arc<str>) {
        self.end(last, |queue| queue.items.clear());
    }

    /// Nothing is written any more.
    pub(crate) fn close(&self) {
        *self.lock() = Queue {
            state: State::Closed,
            ..Queue::default()
        };
        self.0.changed.notify_one();
    }

    /// The next line, as soon as there is one; `None`: there will be none.
    ///
    /// Only one task may wait.
    pub(crate) async fn next(&self) -> Option<Arc<str>> {
        loop {
            match self.take() {
                Taken::Line(line) => return Some(line),
                Taken::End => return None,
                // A change since the look is not lost: it is kept for the one who waits.
                Taken::Nothing => self.0.changed.notified().await,
            }
        }
    }

    /// The next line that is there at once.
    pub(crate) fn next_now(&self) -> Option<Arc<str>> {
        match self.take() {
            Taken::Line(line) => Some(line),
            Taken::End | Taken::Nothing => None,
        }
    }

    /// Adds a line. One is always taken when none waits.
    fn push(&self, item: Item) -> Result<(), Full> {
        let mut queue = self.lock();
        if queue.state != State::Open {
            // Nobody reads it; whoever closed it knows.
            return Ok(());
        }
        let is_full = queue.n_lines >= self.0.max_lines
            || queue.n_bytes.saturating_add(item.n_bytes()) > self.0.max_bytes;
        if is_full && queue.n_lines > 0 {
            return Err(Full);
        }
        queue.add(item);
        drop(queue);
        self.0.changed.notify_one();
        Ok(())
    }

    fn end(&self, last: Arc<str>, before: impl FnOnce(&mut Queue)) {
        let mut queue = self.lock();
        if queue.state == State::Open {
            before(&mut queue);
            queue.add(Item::Response(last));
            queue.state = State::Closing;
        }
        drop(queue);
        self.0.changed.notify_one();
    }

    fn take(&self) -> Taken {
        loop {
            let mut queue = self.lock();
            let Some(item) = queue.items.pop_front() else {
                return match queue.state {
                    State::Open => Taken::Nothing,
                    State::Closing | State::Closed => Taken::End,
                };
            };
            match item {
                Item::Event(line) | Item::Response(line) => {
                    queue.n_lines = queue.n_lines.saturating_sub(1);
                    queue.n_bytes = queue.n_bytes.saturating_sub(line.len());
                    return Taken::Line(line);
                }
                Item::Part(part) => {
                    // Made without the lock: nobody waits for that.
                    drop(queue);
                    if let Some(line) = part.line() {
                        return Taken::Line(line);
                    }
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // INVARIANT: each change is whole before anything can panic.
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn add(&mut self, item: Item) {
        self.n_lines += 1;
        self.n_bytes = self.n_bytes.saturating_add(item.n_bytes());
        self.items.push_back(item);
    }
}

impl Item {
    fn n_bytes(&self) -> usize {
        match self {
            Self::Event(line) | Self::Response(line) => line.len(),
            Self::Part(_) => 0,
        }
    }
}

enum Taken {
    Line(Arc<str>),
    Nothing,
    End,
}

#[cfg(test)]
mod tests;
