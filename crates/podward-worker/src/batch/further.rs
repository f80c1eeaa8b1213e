//! Further calls that running ones turn out to need, each judged like a call of the model.

use std::sync::Arc;

use async_trait::async_trait;
use podward_gate::{Call, CallFacts, Permitted, Refusal, refusal_text};
use podward_tools::{Invocation, Judge, Judged, Occasion, Proposal};
use tokio::sync::{mpsc, oneshot};

use super::asked::About;
use super::{Batch, Decided, Slot, SlotState};
use crate::decision::Decision;
use crate::hook::PreToolCall;
use crate::hook::chain::{self, Checked};
use crate::journal::JournalError;
use crate::turn::Turn;

/// Further calls that wait to be looked at; who has one more waits for room.
const N_WAITING: usize = 8;

/// The further calls of a batch.
pub(super) struct Further {
    sender: mpsc::Sender<FurtherCall>,
    waiting: mpsc::Receiver<FurtherCall>,
}

/// A call that the running call of a slot turned out to need.
pub(super) struct FurtherCall {
    idx: usize,
    occasion: Occasion,
    proposal: Proposal,
    reply: Reply,
}

/// Where the running call waits for what became of it.
pub(super) struct Reply(oneshot::Sender<Judged>);

/// What became of a further call, to be said once it is on record.
pub(super) struct Said {
    reply: Reply,
    judged: Judged,
}

/// Hands further calls of the call in one slot to the turn that judges.
struct SlotJudge {
    idx: usize,
    sender: mpsc::Sender<FurtherCall>,
}

#[async_trait]
impl Judge for SlotJudge {
    async fn judge(&self, occasion: Occasion, proposal: Proposal) -> Judged {
        let (reply, judged) = oneshot::channel();
        let call = FurtherCall {
            idx: self.idx,
            occasion,
            proposal,
            reply: Reply(reply),
        };
        // A turn that ends takes no more, and drops what waits.
        let ended = || Judged::Refused("the turn ended before it was judged".to_owned());
        match self.sender.send(call).await {
            Ok(()) => judged.await.unwrap_or_else(|_| ended()),
            Err(_) => ended(),
        }
    }
}

impl Further {
    pub(super) fn new() -> Self {
        let (sender, waiting) = mpsc::channel(N_WAITING);
        Self { sender, waiting }
    }

    /// What judges the further calls of the call in a slot.
    pub(super) fn judge(&self, idx: usize) -> Arc<dyn Judge> {
        let sender = self.sender.clone();
        Arc::new(SlotJudge { idx, sender })
    }

    /// Waits for a further call.
    pub(super) async fn next(&mut self) -> Option<FurtherCall> {
        self.waiting.recv().await
    }

    /// Takes no more: who waits hears that the turn ended.
    pub(super) fn close(&mut self) {
        self.waiting.close();
        while self.waiting.try_recv().is_ok() {}
    }
}

impl Turn<'_> {
    /// Judges a further call, writes down what was decided, and then hands it back.
    pub(super) async fn further(
        &mut self,
        batch: &mut Batch,
        call: FurtherCall,
    ) -> Result<(), JournalError> {
        let Some(Slot {
            state: SlotState::Running(running),
            ..
        }) = batch.slots.get(call.idx)
        else {
            return Ok(());
        };
        let Occasion {
            word,
            redirected_from,
        } = call.occasion;
        let id = running.id().further(&word);
        let id = self.parts.ids.take(id.as_str());
        let Proposal {
            arguments,
            lowered,
            invocation,
        } = call.proposal;
        let facts = CallFacts::new(id, running.tool().clone(), arguments, lowered)
            .as_part_of(running.id().clone(), redirected_from);
        let hooks = self.parts.hooks.pre_tool_call.clone();
        let event = PreToolCall::new(Call::new(facts, invocation));
        let (checked, end) = chain::check_call(&hooks, &self.parts.gate, event, &self.stop).await;
        batch.end = batch.end.take().or(end);
        let about = About::Further(call.reply);
        match checked {
            Checked::Run(permitted) => {
                let decided = Decided::Run(about, permitted);
                self.carry_out(batch, vec![decided]).await
            }
            Checked::Refuse(refusal) => {
                let decided = Decided::Refuse(about, refusal);
                self.carry_out(batch, vec![decided]).await
            }
            Checked::Ask(question) => {
                batch.questions.hold(vec![(question.clone(), about)]);
                self.record(vec![Arc::new(Decision::Ask(question))]).await?;
                self.put_held(batch).await
            }
        }
    }
}

impl Reply {
    /// The call runs.
    pub(super) fn with(self, permitted: Permitted<Box<dyn Invocation>>) -> Said {
        let (permit, invocation) = permitted.release();
        let judged = Judged::Run(permit, invocation);
        Said {
            reply: self,
            judged,
        }
    }

    /// The call does not run.
    pub(super) fn refused(self, refusal: &Refusal) -> Said {
        let judged = Judged::Refused(refusal_text(refusal));
        Said {
            reply: self,
            judged,
        }
    }
}

impl Said {
    /// Says it. Where nobody waits any more, nothing runs.
    pub(super) fn send(self) {
        let _ = self.reply.0.send(self.judged);
    }
}
