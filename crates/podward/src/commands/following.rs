//! A follower that runs beside what it follows.

use podward_protocol::{TurnEndReason, TurnEnded};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::follow::{Follow, Written, follow};
use crate::signals::Received;

/// Turns that may end before anybody looks.
const N_ENDS: usize = 64;

/// A follower at work.
pub(super) struct Following {
    task: JoinHandle<Written>,
    ends: mpsc::Receiver<TurnEnded>,
}

/// What hears of turns that end.
pub(super) fn ends() -> (mpsc::Sender<TurnEnded>, mpsc::Receiver<TurnEnded>) {
    mpsc::channel(N_ENDS)
}

impl Following {
    /// Begins to follow; what is written may keep its thread waiting.
    pub(super) fn start(what: Follow, ends: mpsc::Receiver<TurnEnded>) -> Self {
        let handle = tokio::runtime::Handle::current();
        let task = tokio::task::spawn_blocking(move || handle.block_on(follow(what)));
        Self { task, ends }
    }

    /// Waits for the end of a turn; `None` if there is nothing to follow any more.
    pub(super) async fn end_of(&mut self, turn: u64) -> Option<TurnEnded> {
        while let Some(end) = self.ends.recv().await {
            if end.turn == turn {
                return Some(end);
            }
        }
        None
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) async fn finish(self) -> Result<Reader, Failure> {
        match self.task.await.map_err(|_| Failure::Writer)? {
            Written::All => Ok(Reader::There),
            Written::ReaderGone => Ok(Reader::Gone),
            Written::Failed(error) => Err(Failure::Stdout(error)),
            Written::Lost(ending) => Ok(Reader::Cut(ending)),
        }
    }
}

/// Whether anybody still read standard output at the end.
#[derive(Debug)]
pub(super) enum Reader {
    There,
    Gone,
    /// The connection was lost before.
    Cut(podward_client::Ending),
}

/// What the exit code says about a turn.
pub(super) fn exit(end: &TurnEnded, received: Option<Received>) -> Exit {
    match (&end.reason, received) {
        (TurnEndReason::Cancelled, Some(received)) => received.exit(),
        (TurnEndReason::Done, _) if end.n_refused == 0 => Exit::Done,
        (TurnEndReason::Done, _) => Exit::Refusals,
        (
            TurnEndReason::Cancelled
            | TurnEndReason::Limit { .. }
            | TurnEndReason::Aborted { .. }
            | TurnEndReason::Failed,
            _,
        ) => Exit::Failed,
    }
}
