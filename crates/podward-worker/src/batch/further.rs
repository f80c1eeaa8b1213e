//! Further calls that running ones turn out to need, each judged like a call of the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use podward_gate::{
    Answer, Call, CallFacts, Permitted, Question, Refusal, RequestId, Settled, refusal_text,
};
use podward_tools::{Invocation, Judge, Judged, Proposal};
use tokio::sync::{mpsc, oneshot};

use super::{Asked, Batch, Slot, SlotState};
use crate::decision::{DecidedBy, Decision};
use crate::event::EndReason;
use crate::hook::chain::{self, Checked};
use crate::journal::JournalError;
use crate::stop;
use crate::turn::Turn;

/// Further calls that wait to be looked at; who has one more waits for room.
const N_WAITING: usize = 8;

/// The further calls of a batch.
pub(super) struct Further {
    sender: mpsc::Sender<FurtherCall>,
    waiting: mpsc::Receiver<FurtherCall>,
    asked: BTreeMap<RequestId, (Question, Reply)>,
}

/// A call that the running call of a slot turned out to need.
pub(super) struct FurtherCall {
    idx: usize,
    word: Box<str>,
    proposal: Proposal,
    reply: Reply,
}

/// Where the running call waits for what became of it.
type Reply = oneshot::Sender<Judged>;

/// Hands further calls of the call in one slot to the turn that judges.
struct SlotJudge {
    idx: usize,
    sender: mpsc::Sender<FurtherCall>,
}

#[async_trait]
impl Judge for SlotJudge {
    async fn judge(&self, word: &str, proposal: Proposal) -> Judged {
        let (reply, judged) = oneshot::channel();
        let call = FurtherCall {
            idx: self.idx,
            word: word.into(),
            proposal,
            reply,
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
        Self {
            sender,
            waiting,
            asked: BTreeMap::new(),
        }
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
        self.asked.clear();
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
        let id = running.id().further(&call.word);
        let id = self.parts.ids.take(id.as_str());
        let Proposal {
            arguments,
            lowered,
            invocation,
        } = call.proposal;
        let facts = CallFacts::new(id, running.tool().clone(), arguments, lowered)
            .as_part_of(running.id().clone());
        let hooks = self.parts.hooks.pre_tool_call.clone();
        let call_to_judge = Call::new(facts, invocation);
        let (checked, end) =
            chain::check_call(&hooks, &self.parts.gate, call_to_judge, &self.stop).await;
        batch.end = batch.end.take().or(end);
        match checked {
            Checked::Run(permitted) => {
                self.run_further(permitted, DecidedBy::Policy, call.reply)
                    .await
            }
            Checked::Refuse(refusal) => self.refuse_further(refusal, call.reply).await,
            Checked::Ask(question) => {
                self.record(vec![Arc::new(Decision::Ask(question.clone()))])
                    .await?;
                let id = question.id().clone();
                self.put(batch, &question, Asked::Further(id.clone()));
                batch.further.asked.insert(id, (question, call.reply));
                Ok(())
            }
        }
    }

    /// Takes the answer to a question about a further call.
    pub(super) async fn answered_further(
        &mut self,
        batch: &mut Batch,
        id: &RequestId,
        answer: Answer,
    ) -> Result<(), JournalError> {
        let Some((question, reply)) = batch.further.asked.remove(id) else {
            return Ok(());
        };
        match self.settle(&question, answer.clone()) {
            Settled::Run(permitted) => {
                self.run_further(permitted, DecidedBy::Answer(answer), reply)
                    .await
            }
            Settled::Refuse(refusal) => self.refuse_further(refusal, reply).await,
        }
    }

    /// Settles the questions about further calls because the turn ends, and takes no more.
    pub(super) async fn end_further(
        &mut self,
        batch: &mut Batch,
        reason: &EndReason,
    ) -> Result<(), JournalError> {
        while let Some((id, _)) = batch.further.asked.first_key_value() {
            let id = id.clone();
            self.answered_further(batch, &id, stop::answer(reason))
                .await?;
        }
        batch.further.close();
        Ok(())
    }

    async fn run_further(
        &mut self,
        permitted: Permitted<Box<dyn Invocation>>,
        by: DecidedBy,
        reply: Reply,
    ) -> Result<(), JournalError> {
        self.record(vec![Arc::new(Decision::Run {
            facts: Arc::clone(permitted.facts()),
            ruling: permitted.ruling().clone(),
            by,
        })])
        .await?;
        let (permit, invocation) = permitted.release();
        // Where nobody waits any more, nothing runs.
        let _ = reply.send(Judged::Run(permit, invocation));
        Ok(())
    }

    async fn refuse_further(&mut self, refusal: Refusal, reply: Reply) -> Result<(), JournalError> {
        self.count(refusal.cause());
        let text = refusal_text(&refusal);
        self.record(vec![Arc::new(Decision::Refuse(refusal))])
            .await?;
        let _ = reply.send(Judged::Refused(text));
        Ok(())
    }
}
