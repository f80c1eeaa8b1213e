//! Work that may take long, done on threads of its own: the hub's task waits for none of it.

use std::collections::{BTreeMap, VecDeque};

use tokio::task::{Id, JoinError, JoinSet};

use crate::serve::connection::ClientNumber;
use crate::serve::pending::ReplyTo;

/// Work of one kind, some of it at the same time, and who waits for it.
pub(in crate::serve) struct Background<W, D> {
    work: fn(W) -> D,
    n_at_once: usize,
    running: JoinSet<D>,
    /// Who waits for what runs.
    waiters: BTreeMap<Id, ReplyTo>,
    /// What waits for its turn, and who for it.
    queue: VecDeque<(Option<ReplyTo>, W)>,
}

impl<W: Send + 'static, D: Send + 'static> Background<W, D> {
    /// None yet; so much of it is done at the same time.
    pub(super) fn new(n_at_once: usize, work: fn(W) -> D) -> Self {
        Self {
            work,
            n_at_once,
            running: JoinSet::new(),
            waiters: BTreeMap::new(),
            queue: VecDeque::new(),
        }
    }

    /// Begins it when what came before leaves room.
    pub(super) fn add(&mut self, to: Option<ReplyTo>, what: W) {
        self.queue.push_back((to, what));
        self.start();
    }

    /// The next that is done, and who waits for it; never, while nothing is.
    ///
    /// Nothing is lost where the wait is given up.
    pub(super) async fn next(&mut self) -> (Option<ReplyTo>, Result<D, JoinError>) {
        let Some(joined) = self.running.join_next_with_id().await else {
            return std::future::pending().await;
        };
        let (id, done) = match joined {
            Ok((id, done)) => (id, Ok(done)),
            Err(error) => (error.id(), Err(error)),
        };
        // Before another task begins: it may get the same id.
        let to = self.waiters.remove(&id);
        self.start();
        (to, done)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether anybody waits for some of it.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiters.is_empty() || self.queue.iter().any(|(to, _)| to.is_some())
    }

    /// How many requests of a client wait.
    pub(super) fn n_of(&self, number: ClientNumber) -> usize {
        let queued = self.queue.iter().filter_map(|(to, _)| to.as_ref());
        let waiting = self.waiters.values().chain(queued);
        waiting.filter(|to| to.is_to(number)).count()
    }

    /// What was not begun, and who waits for it.
    pub(super) fn take_queue(&mut self) -> VecDeque<(Option<ReplyTo>, W)> {
        std::mem::take(&mut self.queue)
    }

    /// Whoever waits for something; none of it is waited for any more.
    pub(super) fn give_up(&mut self) -> impl Iterator<Item = ReplyTo> + use<W, D> {
        self.running.abort_all();
        let queued = self.take_queue().into_iter().filter_map(|(to, _)| to);
        std::mem::take(&mut self.waiters)
            .into_values()
            .chain(queued)
    }

    fn start(&mut self) {
        while self.running.len() < self.n_at_once
            && let Some((to, what)) = self.queue.pop_front()
        {
            let work = self.work;
            let task = self.running.spawn_blocking(move || work(what));
            if let Some(to) = to {
                self.waiters.insert(task.id(), to);
            }
        }
    }
}
