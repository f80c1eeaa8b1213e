//! Running the calls that may run.

use std::collections::btree_map;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use podward_gate::Permitted;
use podward_tools::{Invocation, RunContext, ToolOutput};
use serde_json::Value;
use tracing::Instrument;

use super::{Batch, Finished, SlotState};
use crate::event::WorkerEvent;
use crate::hook::PostTool;
use crate::hook::chain;
use crate::journal::{Entry, JournalError, OwnSession};
use crate::turn::Turn;

impl Turn<'_> {
    /// Starts as many calls as may run at the same time.
    pub(super) async fn start(&mut self, batch: &mut Batch) -> Result<(), JournalError> {
        let n_free = self
            .parts
            .limits
            .parallel
            .get()
            .saturating_sub(batch.n_running);
        let n_starting = n_free.min(batch.ready.len());
        let starting: Vec<_> = batch.ready.drain(..n_starting).collect();
        let entries = starting.iter().map(|(idx, permitted)| Entry::Started {
            call: permitted.facts().id().as_str().to_owned(),
            in_session: batch.own_session(*idx, permitted, &self.parts.context),
        });
        let entries: Vec<_> = entries.collect();
        self.append(&entries).await?;
        for (idx, permitted) in starting {
            let facts = Arc::clone(permitted.facts());
            let id = facts.id().clone();
            let span = tracing::info_span!("call", id = %id, tool = %facts.tool());
            if let Some(slot) = batch.slots.get_mut(idx) {
                slot.state = SlotState::Running(facts);
            }
            self.tell(WorkerEvent::CallStarted { id }).await;
            let mut context = self.parts.context.clone();
            context.cancel = batch.cancel.child_token();
            context.judge = batch.further.judge(idx);
            context.skills = batch.starting.starter(idx);
            context.session = batch.sessions.get(&idx).cloned();
            batch.n_running += 1;
            batch.tasks.spawn(
                async move {
                    let (permit, invocation) = permitted.release();
                    let run = AssertUnwindSafe(async { invocation.run(permit, &context).await });
                    let output = run.catch_unwind().await.unwrap_or_else(|_| {
                        ToolOutput::failure(
                            "Error: the tool failed inside. It may have done all, a part, or \
                             nothing of its work: look before you make this call again.",
                        )
                    });
                    Finished::Ran(idx, output)
                }
                .instrument(span),
            );
        }
        Ok(())
    }

    /// Takes the result of a call that ran.
    pub(super) async fn ran(
        &mut self,
        batch: &mut Batch,
        idx: usize,
        output: ToolOutput,
    ) -> Result<(), JournalError> {
        batch.n_running = batch.n_running.saturating_sub(1);
        let output = Arc::new(cut(output, self.parts.limits.result_bytes));
        let facts = match batch.slots.get(idx).map(|slot| &slot.state) {
            Some(SlotState::Running(facts)) => Some(Arc::clone(facts)),
            Some(SlotState::Waiting | SlotState::Done(_)) | None => None,
        };
        batch.set_done(idx, Arc::clone(&output));
        self.finish(batch, &[idx]).await?;
        if let Some(facts) = facts {
            let hooks = self.parts.hooks.post_tool.clone();
            let mut event = PostTool { facts, output };
            let mut told = chain::Told::default();
            let telling = chain::tell(&hooks, &mut event, &mut told);
            if let Err(reason) = self.stop.unless(telling).await {
                batch.end = Some(reason);
            }
            let failures = told.failures(&hooks, "the turn ended before it did");
            self.tell_failures(failures).await;
        }
        Ok(())
    }
}

impl Batch {
    /// The session that a call is to work in: the one in which it has begun before, or a new one.
    fn own_session(
        &mut self,
        idx: usize,
        permitted: &Permitted<Box<dyn Invocation>>,
        context: &RunContext,
    ) -> Option<OwnSession> {
        let session = match self.sessions.entry(idx) {
            btree_map::Entry::Occupied(begun) => begun.into_mut(),
            btree_map::Entry::Vacant(place) => {
                place.insert(permitted.payload().session(context)?.into())
            }
        };
        let is_edited = self.slots.get(idx).is_some_and(|slot| slot.note.is_some());
        let edited = is_edited.then(|| permitted.facts().arguments());
        Some(OwnSession {
            id: session.as_ref().to_owned(),
            // What cannot be read runs nothing later on.
            arguments: edited.map(|edited| serde_json::from_str(edited).unwrap_or(Value::Null)),
        })
    }
}

/// A result that fits.
fn cut(mut output: ToolOutput, n_bytes: usize) -> ToolOutput {
    if output.content.len() > n_bytes {
        let n_all = output.content.len();
        output
            .content
            .truncate(output.content.floor_char_boundary(n_bytes));
        output.content += &format!("\n[cut: {n_all} bytes in all]");
    }
    output
}
