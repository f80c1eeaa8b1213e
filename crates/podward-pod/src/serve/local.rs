//! A client in the pod's own process.

use std::collections::VecDeque;

use podward_protocol::{Envelope, Method, MethodError, MethodErrorCode, Reply};
use tokio::sync::{mpsc, oneshot};

/// The name of the client in this process, as people and the decision log see it.
pub(super) const LOCAL_NAME: &str = "terminal";

/// A client in the pod's own process: it needs no hello and gets every event from the first.
pub struct LocalClient {
    /// What happens. Somebody has to read it all the time: the pod waits for it. It ends when the
    /// server has.
    pub events: mpsc::Receiver<Envelope>,
    /// Who asks for something.
    pub caller: LocalCaller,
}

/// Asks a pod of this process for something; its clones are one client.
#[derive(Debug, Clone)]
pub struct LocalCaller {
    calls: mpsc::Sender<LocalCall>,
}

/// A method, and where its answer goes.
#[derive(Debug)]
pub(super) struct LocalCall {
    pub(super) method: Method,
    pub(super) reply: oneshot::Sender<Result<Reply, MethodError>>,
}

/// What waits for the client in this process.
pub(super) struct LocalEvents {
    pub(super) sender: mpsc::Sender<Envelope>,
    pub(super) waiting: VecDeque<Envelope>,
    /// Events that were handed on.
    n_sent: usize,
    /// How many of them had been taken when that was last asked.
    n_taken: usize,
}

impl LocalCaller {
    pub(super) const fn new(calls: mpsc::Sender<LocalCall>) -> Self {
        Self { calls }
    }

    /// Calls a method and waits for its answer; meanwhile somebody has to read the events.
    ///
    /// # Errors
    /// What the pod answers; `stopping` once it has ended.
    pub async fn call(&self, method: Method) -> Result<Reply, MethodError> {
        let gone = || MethodError::new(MethodErrorCode::Stopping, "the pod has ended");
        let (reply, answer) = oneshot::channel();
        let call = LocalCall { method, reply };
        self.calls.send(call).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl LocalEvents {
    pub(super) const fn new(sender: mpsc::Sender<Envelope>) -> Self {
        Self {
            sender,
            waiting: VecDeque::new(),
            n_sent: 0,
            n_taken: 0,
        }
    }

    /// Whether something was taken since this was last asked, or nothing is left to take.
    pub(super) fn is_taken(&mut self) -> bool {
        let n_left = self.sender.max_capacity() - self.sender.capacity();
        let before = std::mem::replace(&mut self.n_taken, self.n_sent.saturating_sub(n_left));
        self.n_taken > before || (n_left == 0 && self.waiting.is_empty())
    }

    /// Adds an event, unless nobody reads them.
    pub(super) fn push(&mut self, envelope: impl FnOnce() -> Envelope) {
        if !self.sender.is_closed() {
            self.waiting.push_back(envelope());
        }
    }

    /// Hands on the first of what waits; `None`: nobody reads it.
    pub(super) fn pass_on(&mut self, permit: Option<mpsc::Permit<'_, Envelope>>) {
        match (permit, self.waiting.pop_front()) {
            (Some(permit), Some(envelope)) => {
                permit.send(envelope);
                self.n_sent += 1;
            }
            (None, _) => self.waiting.clear(),
            (Some(_), None) => {}
        }
    }

    /// Hands on what waits, and waits for room if there is none.
    pub(super) async fn flush(&mut self) {
        while let Some(envelope) = self.waiting.pop_front() {
            if self.sender.send(envelope).await.is_err() {
                self.waiting.clear();
            }
            self.n_sent += 1;
        }
    }
}

#[cfg(test)]
mod tests;
