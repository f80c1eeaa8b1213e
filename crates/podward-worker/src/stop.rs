//! What ends a turn from outside.

use std::time::Duration;

use podward_gate::{Answer, Progress, RefusalCause};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::event::{EndReason, Limit};

/// The caller's cancellation and the turn's time.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    cancel: CancellationToken,
    deadline: Option<Instant>,
}

impl Stop {
    pub(crate) fn new(cancel: CancellationToken, wall: Option<Duration>) -> Self {
        Self {
            cancel,
            // A wall that is too far away to be counted is none.
            deadline: wall.and_then(|wall| Instant::now().checked_add(wall)),
        }
    }

    /// Why the turn has to end now, if it has to.
    pub(crate) fn reason(&self) -> Option<EndReason> {
        if self.cancel.is_cancelled() {
            Some(EndReason::Cancelled)
        } else if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            Some(EndReason::Limit(Limit::Wall))
        } else {
            None
        }
    }

    /// Waits until the caller cancels the turn; for ever if that was done before.
    pub(crate) async fn newly_cancelled(&self) {
        if self.cancel.is_cancelled() {
            std::future::pending::<()>().await;
        }
        self.cancel.cancelled().await;
    }

    /// Waits until the turn has to end.
    pub(crate) async fn stopped(&self) -> EndReason {
        let deadline = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => EndReason::Cancelled,
            () = deadline => EndReason::Limit(Limit::Wall),
        }
    }

    /// Waits for something unless the turn has to end; then it is dropped.
    pub(crate) async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T, EndReason> {
        // A future that is always ready must not keep the turn from ending.
        if let Some(reason) = self.reason() {
            return Err(reason);
        }
        tokio::select! {
            biased;
            done = work => Ok(done),
            reason = self.stopped() => Err(reason),
        }
    }
}

/// What a call is told whose turn ended around it.
pub(crate) const fn refusal_cause(reason: &EndReason, progress: Progress) -> RefusalCause {
    match reason {
        EndReason::Cancelled | EndReason::Kept => RefusalCause::Cancelled(progress),
        EndReason::Done | EndReason::Limit(_) | EndReason::Aborted { .. } | EndReason::Model(_) => {
            RefusalCause::Interrupted(progress)
        }
    }
}

/// What an open question is answered whose turn ended around it.
pub(crate) const fn answer(reason: &EndReason) -> Answer {
    match reason {
        EndReason::Cancelled | EndReason::Kept => Answer::Cancelled,
        EndReason::Done | EndReason::Limit(_) | EndReason::Aborted { .. } | EndReason::Model(_) => {
            Answer::Interrupted
        }
    }
}
