//! The end of a batch: of its own accord, or before its time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use podward_gate::{Progress, Refusal};
use podward_tools::RunChild;

use super::{About, Batch, Decided, Finished, Slot, SlotState};
use crate::event::EndReason;
use crate::journal::JournalError;
use crate::stop;
use crate::turn::Turn;

impl Turn<'_> {
    /// Ends a batch: running calls are told to stop, and every call gets its result, but those whose
    /// questions are kept, and those whose children keep theirs.
    pub(super) async fn end(
        &mut self,
        batch: &mut Batch,
        reason: &EndReason,
    ) -> Result<(), JournalError> {
        batch.cancel.cancel();
        let keeps = *reason == EndReason::Cancelled && self.parts.gate.keeps_questions();
        let mut is_kept = keeps && batch.questions.keep();
        let cause = stop::refusal_cause(reason, Progress::NotStarted);
        let ready = std::mem::take(&mut batch.ready).into_iter();
        let ready =
            ready.map(|(idx, permitted)| (About::Slot(idx), permitted.refuse(cause.clone())));
        let asked = batch.questions.withhold(&stop::answer(reason), &cause);
        let refused = ready.chain(asked);
        let refused = refused.map(|(about, refusal)| Decided::Refuse(about, refusal));
        self.carry_out(batch, refused.collect()).await?;
        let finished = batch.wind_down(self.parts.limits.grace).await;
        let in_turn = match keeps {
            true => in_turn(&*self.parts.context.children, batch.running_sessions()).await,
            false => BTreeSet::new(),
        };
        is_kept |= !in_turn.is_empty();
        for finished in finished {
            if !matches!(finished, Finished::Ran(idx, _) if in_turn.contains(&idx)) {
                self.take(batch, Ok(finished)).await?;
            }
        }
        for idx in 0..batch.slots.len() {
            if let Some(Slot {
                state: SlotState::Running(facts),
                ..
            }) = batch.slots.get(idx)
                && !in_turn.contains(&idx)
            {
                let cause = stop::refusal_cause(reason, Progress::Started);
                let refusal = Refusal::proposed(Arc::clone(facts), cause);
                batch.refuse(idx, &refusal);
                self.finish(batch, &[idx]).await?;
            }
        }
        if is_kept {
            batch.end = Some(EndReason::Kept);
        }
        Ok(())
    }
}

/// The calls that go on when the session does: their own sessions are in the middle of a turn.
async fn in_turn(children: &dyn RunChild, sessions: Vec<(usize, Arc<str>)>) -> BTreeSet<usize> {
    let mut in_turn = BTreeSet::new();
    for (idx, session) in sessions {
        if children.is_in_turn(&session).await {
            in_turn.insert(idx);
        }
    }
    in_turn
}

impl Batch {
    /// Waits for the running calls to end, and drops those that do not in time.
    pub(super) async fn wind_down(&mut self, grace: Duration) -> Vec<Finished> {
        self.further.close();
        let mut all = Vec::new();
        let wait = async {
            while let Some(finished) = self.tasks.join_next().await {
                all.extend(finished.ok());
            }
        };
        if tokio::time::timeout(grace, wait).await.is_err() {
            tracing::warn!("calls that did not end when told to were dropped");
            self.tasks.shutdown().await;
        }
        all
    }

    /// The sessions of running calls that work in one of their own.
    fn running_sessions(&self) -> Vec<(usize, Arc<str>)> {
        let is_running = |idx: usize| {
            let state = self.slots.get(idx).map(|slot| &slot.state);
            matches!(state, Some(SlotState::Running(_)))
        };
        let sessions = self.sessions.iter().filter(|(idx, _)| is_running(**idx));
        sessions
            .map(|(idx, session)| (*idx, Arc::clone(session)))
            .collect()
    }
}
