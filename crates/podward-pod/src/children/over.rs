//! What ends the work of a child from above, and how long that may take.

use std::time::Duration;

use podward_client::Client;
use podward_protocol::{Params, Pong};
use podward_worker::{SharedGate, Spending};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ChildError;
use super::process::LAST_WORDS;
use super::told::Told;

/// How long a child may take to answer: one that is not hung does at once, whatever it works at.
const ANSWER: Duration = Duration::from_secs(1);

/// How much longer than its turn may last a child may take that answers: for the start of the turn, and for
/// hooks at its end.
const GRACE: Duration = Duration::from_secs(30);

/// How long a child without children may take to end when it is told to.
const END: Duration = Duration::from_secs(3);

/// What it takes to write down what became of a call.
const RECORD: Duration = Duration::from_secs(1);

/// How long a child may take to end when it is told to, with so many generations below it: it can wait for
/// the end of its own.
fn time_to_end(n_below: u32) -> Duration {
    END + end_of_one() * n_below
}

/// What ending a child takes beside the time that it has: it is told twice, and may have to be killed.
fn end_of_one() -> Duration {
    2 * ANSWER + LAST_WORDS + RECORD
}

/// How long a call of a pod may take to end that can start children: until it has waited for them, and has
/// killed those that do not end.
pub(crate) fn time_to_end_children(n_below: u32) -> Duration {
    time_to_end(n_below.saturating_sub(1)) + end_of_one()
}

/// How a child was left.
pub(super) struct Left {
    pub(super) told: Result<Told, ChildError>,
    /// Until when it may end by itself.
    pub(super) until: Instant,
}

/// What ends the work of a child from above.
pub(super) struct Over<'a> {
    pub(super) cancel: &'a CancellationToken,
    /// Whether what is asked is kept when it is cancelled.
    pub(super) gate: &'a SharedGate,
    /// What the turn above has left.
    pub(super) spending: &'a Spending,
    /// How long its turn may take.
    pub(super) timeout: Duration,
    /// Generations that there may be below it.
    pub(super) n_below: u32,
}

impl Over<'_> {
    /// Waits until a child that works has to end.
    pub(super) async fn comes(&self, client: &Client) -> ChildError {
        tokio::select! {
            error = self.times_out(client) => error,
            () = self.spending.overdrawn() => ChildError::Overdrawn,
            error = self.comes_early() => error,
        }
    }

    /// The same of one that only starts, for which whoever greets it waits so long and no longer.
    pub(super) async fn comes_early(&self) -> ChildError {
        self.cancel.cancelled().await;
        ChildError::Cancelled
    }

    /// Whether a child that is cancelled keeps what it asks: the pod above stops, and keeps what it asks itself.
    pub(super) fn is_kept(&self) -> bool {
        self.cancel.is_cancelled() && self.gate.keeps_questions()
    }

    /// Until when it may end by itself, when it is told to now.
    pub(super) fn latest_end(&self) -> Instant {
        Instant::now() + time_to_end(self.n_below)
    }

    /// A child that lives ends its turn in time by itself, and tells so.
    async fn times_out(&self, client: &Client) -> ChildError {
        tokio::time::sleep(self.timeout).await;
        let late = Instant::now() + GRACE;
        while answers(client, Pong { n: 0 }).await {
            if Instant::now() >= late {
                return ChildError::TimedOut(self.timeout);
            }
            tokio::time::sleep(ANSWER).await;
        }
        ChildError::Hung(self.timeout)
    }
}

/// Asks a child for something: whether it answers, or its connection is over.
pub(super) async fn answers(client: &Client, what: impl Params) -> bool {
    tokio::time::timeout(ANSWER, client.ask(what)).await.is_ok()
}

#[cfg(test)]
mod tests;
