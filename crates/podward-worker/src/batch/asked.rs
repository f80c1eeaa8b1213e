//! Questions about the calls of one message: put, answered, settled.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use podward_gate::{
    Answer, AnswerError, DecidedBy, Permitted, Question, Refusal, RefusalCause, RequestId, Settled,
    edit_note, session_note,
};
use podward_tools::Invocation;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::further::Reply;
use super::{Batch, Decided, Finished, N_AT_ONCE};
use crate::gate::{Mailbox, Settlement, SharedGate};
use crate::hook::PreToolCall;
use crate::hook::chain::{self, Checked};
use crate::journal::JournalError;
use crate::turn::Turn;

/// The questions of a batch. What is open when it is dropped is settled: nothing runs.
pub(super) struct Questions {
    gate: SharedGate,
    mailbox: Mailbox,
    arrived: mpsc::UnboundedReceiver<Settlement>,
    /// Those that are on record and not put.
    held: Vec<Question>,
    waiting: BTreeMap<RequestId, About>,
    /// The tasks of approvers that have not answered yet.
    approvers: BTreeMap<RequestId, AbortHandle>,
    /// How many are about further calls.
    n_further: usize,
}

/// What a question is about.
pub(super) enum About {
    /// A call of the model.
    Slot(usize),
    /// A further call of a running one.
    Further(Reply),
}

impl Questions {
    pub(super) fn new(gate: SharedGate) -> Self {
        let (mailbox, arrived) = mpsc::unbounded_channel();
        Self {
            gate,
            mailbox,
            arrived,
            held: Vec::new(),
            waiting: BTreeMap::new(),
            approvers: BTreeMap::new(),
            n_further: 0,
        }
    }

    /// Keeps questions until they are put.
    pub(super) fn hold(&mut self, questions: Vec<(Question, About)>) {
        for (question, about) in questions {
            self.n_further += usize::from(matches!(about, About::Further(_)));
            self.waiting.insert(question.id().clone(), about);
            self.held.push(question);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether nothing goes on before somebody answers: of the running calls, each waits for a
    /// further one.
    pub(super) fn hold_up(&self, n_running: usize) -> bool {
        !self.waiting.is_empty() && self.arrived.is_empty() && n_running <= self.n_further
    }

    /// Waits for settled questions.
    pub(super) async fn settled(&mut self) -> Vec<Settlement> {
        let mut settled = Vec::new();
        self.arrived.recv_many(&mut settled, N_AT_ONCE).await;
        settled
    }

    /// Settles all that wait so that their calls do not run.
    pub(super) fn withhold(
        &mut self,
        answer: &Answer,
        cause: &RefusalCause,
    ) -> Vec<(About, Refusal)> {
        let mut refused = Vec::new();
        let mut answered = Vec::new();
        self.held.clear();
        self.n_further = 0;
        self.dismiss_all();
        for (id, about) in std::mem::take(&mut self.waiting) {
            match self.gate.withhold(&id, answer.clone()) {
                Ok(refusal) => refused.push((about, refusal)),
                Err(_) => answered.push((id, about)),
            }
        }
        // INVARIANT: a question that somebody else settled is in the mailbox by then.
        let mut arrived = BTreeMap::new();
        while let Ok(Settlement { id, settled }) = self.arrived.try_recv() {
            arrived.insert(id, settled);
        }
        for (id, about) in answered {
            match arrived.remove(&id) {
                Some(Settled::Run(permitted)) => {
                    refused.push((about, permitted.refuse(cause.clone())));
                }
                Some(Settled::Refuse(refusal)) => refused.push((about, refusal)),
                None => tracing::error!(%id, "a question was lost"),
            }
        }
        refused
    }

    /// Leaves the questions about calls of the model as they are on record, unless somebody was first:
    /// nobody can answer them here any more. Whether there are any.
    pub(super) fn keep(&mut self) -> bool {
        let n_waiting = self.waiting.len();
        let gate = &self.gate;
        self.waiting.retain(|id, about| {
            let is_call = matches!(about, About::Slot(_));
            !(is_call && gate.withhold(id, Answer::PodStopped).is_ok())
        });
        self.dismiss_all();
        self.waiting.len() < n_waiting
    }

    /// Takes out what a settled question is about.
    fn close(&mut self, id: &RequestId) -> Option<About> {
        let about = self.waiting.remove(id)?;
        if let Some(approver) = self.approvers.remove(id) {
            approver.abort();
        }
        self.n_further -= usize::from(matches!(about, About::Further(_)));
        Some(about)
    }

    /// Nobody's answer is needed any more.
    fn dismiss_all(&mut self) {
        for approver in std::mem::take(&mut self.approvers).into_values() {
            approver.abort();
        }
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        self.dismiss_all();
        for id in std::mem::take(&mut self.waiting).into_keys() {
            // One that is settled by now runs nothing either: nobody takes it.
            let _ = self.gate.withhold(&id, Answer::Interrupted);
        }
    }
}

impl Turn<'_> {
    /// Opens the questions that are on record, and tells the approver.
    pub(super) async fn put_held(&mut self, batch: &mut Batch) -> Result<(), JournalError> {
        let mut settled = Vec::new();
        for question in std::mem::take(&mut batch.questions.held) {
            let id = question.id().clone();
            let uses = self.parts.gate.take_for_question(&id).await;
            match self.parts.gate.put(&id, &batch.questions.mailbox, uses) {
                Ok(None) => self.ask(batch, question),
                Ok(Some(covered)) => settled.push(Settlement {
                    id,
                    settled: covered,
                }),
                Err(error) => {
                    tracing::error!(%error, "a question was lost");
                    let refusal = Refusal::asked(&question, RefusalCause::NotJudged);
                    let settled_so = Settled::Refuse(refusal);
                    settled.push(Settlement {
                        id,
                        settled: settled_so,
                    });
                }
            }
        }
        self.settle(batch, settled).await
    }

    /// Asks the approver. One that knows its answer at once needs no task.
    fn ask(&self, batch: &mut Batch, question: Question) {
        let approver = Arc::clone(&self.parts.approver);
        let id = question.id().clone();
        let asked = async move { approver.answer(&question).await };
        let mut asked = Box::pin(AssertUnwindSafe(asked).catch_unwind());
        let answer_of = |asked: Result<_, _>| asked.unwrap_or(Some(Answer::Interrupted));
        if let Some(answer) = asked.as_mut().now_or_never() {
            return self.answered(&id, answer_of(answer));
        }
        let cancel = batch.cancel.clone();
        let about = id.clone();
        let task = batch.tasks.spawn(async move {
            let answer = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                answer = asked => answer_of(answer),
            };
            Finished::Answered(about, answer)
        });
        if batch.questions.waiting.contains_key(&id) {
            batch.questions.approvers.insert(id, task);
        }
    }

    /// Passes an approver's answer on to the gate.
    pub(super) fn answered(&self, id: &RequestId, answer: Option<Answer>) {
        let Some(answer) = answer else { return };
        match self.parts.gate.answer(id, answer) {
            Ok(()) => {}
            Err(error @ (AnswerError::AlreadySettled { .. } | AnswerError::Unknown { .. })) => {
                tracing::debug!(%error, "an approver was too late");
            }
            Err(error) => {
                tracing::error!(%error, "an approver's answer settles nothing, so it is a no");
                let _ = self.parts.gate.answer(id, Answer::Interrupted);
            }
        }
    }

    /// Takes settled questions: their calls become ready, or are refused.
    pub(super) async fn settle(
        &mut self,
        batch: &mut Batch,
        all: Vec<Settlement>,
    ) -> Result<(), JournalError> {
        let (mut decided, mut edited) = (Vec::new(), Vec::new());
        for Settlement { id, settled } in all {
            let Some(about) = batch.questions.close(&id) else {
                continue;
            };
            match settled {
                Settled::Run(permitted) if is_edited(&permitted) => edited.push((about, permitted)),
                Settled::Run(permitted) => decided.push(Decided::Run(about, permitted)),
                Settled::Refuse(refusal) => decided.push(Decided::Refuse(about, refusal)),
            }
        }
        self.carry_out(batch, decided).await?;
        for (about, permitted) in edited {
            self.check_edited(batch, about, permitted).await?;
        }
        Ok(())
    }

    /// Shows the user's hooks a call with other arguments than they saw.
    async fn check_edited(
        &mut self,
        batch: &mut Batch,
        about: About,
        permitted: Permitted<Box<dyn Invocation>>,
    ) -> Result<(), JournalError> {
        if let About::Slot(idx) = about
            && let Some(slot) = batch.slots.get_mut(idx)
        {
            let edited = edit_note(permitted.facts().arguments());
            // What has begun with other arguments does not go on with these.
            slot.note = Some(match batch.sessions.remove(&idx) {
                Some(before) => format!("{}\n{edited}", session_note(&before)).into(),
                None => edited.into(),
            });
        }
        let hooks = self.parts.hooks.pre_tool_call.clone();
        let event = PreToolCall::of_edited(permitted);
        let (checked, end) = chain::check_call(&hooks, &self.parts.gate, event, &self.stop).await;
        batch.end = batch.end.take().or(end);
        let decided = match checked {
            Checked::Run(permitted) => Decided::Run(about, permitted),
            Checked::Refuse(refusal) => Decided::Refuse(about, refusal),
            // No hook makes a question of a call that is permitted.
            Checked::Ask(question) => {
                let refusal = Refusal::asked(&question, RefusalCause::NotJudged);
                Decided::Refuse(about, refusal)
            }
        };
        self.carry_out(batch, vec![decided]).await
    }
}

fn is_edited(permitted: &Permitted<Box<dyn Invocation>>) -> bool {
    matches!(permitted.by(), DecidedBy::Answer(Answer::Edited { .. }))
}
