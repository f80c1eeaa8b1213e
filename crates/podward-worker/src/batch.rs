//! The calls of one message: all judged, the allowed ones run, one result each.

mod further;
mod judge;

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use podward_gate::{
    Answer, CallFacts, CallId, Permitted, Progress, Question, Refusal, RefusalCause, RequestId,
    Settled, refusal_text,
};
use podward_model::Block;
use podward_tools::{Invocation, ToolOutput};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use self::further::Further;
use self::judge::raw_refusal;
use crate::collect::WrittenCall;
use crate::decision::{DecidedBy, Decision};
use crate::event::{EndReason, WorkerEvent};
use crate::hook::PostTool;
use crate::hook::chain::{self, Checked};
use crate::journal::{Entry, JournalError};
use crate::stop;
use crate::turn::Turn;

/// What is left to do for the calls of one message.
struct Batch {
    /// In call order.
    slots: Vec<Slot>,
    ready: VecDeque<(usize, Permitted<Box<dyn Invocation>>)>,
    tasks: JoinSet<Finished>,
    n_running: usize,
    further: Further,
    /// Cancelled when the calls shall end.
    cancel: CancellationToken,
    /// Why the turn has to end.
    end: Option<EndReason>,
}

struct Slot {
    id: CallId,
    state: SlotState,
}

enum SlotState {
    Ready,
    Asked(Question),
    Running(Arc<CallFacts>),
    Done(Arc<ToolOutput>),
}

/// What a task of a batch ends with.
enum Finished {
    Ran(usize, ToolOutput),
    Answered(Asked, Answer),
}

/// What a question is about.
enum Asked {
    Slot(usize),
    Further(RequestId),
}

impl Turn<'_> {
    /// Works through the calls of one message; the results are in call order, one for each.
    ///
    /// The second value says why the turn has to end, if it has to.
    pub(crate) async fn batch(
        &mut self,
        calls: Vec<WrittenCall>,
    ) -> Result<(Vec<Block>, Option<EndReason>), JournalError> {
        let (checked, end) = self.check_all(calls).await;
        let mut batch = Batch::new(end);
        let done = match self.admit(&mut batch, checked).await {
            Ok(()) => self.work(&mut batch).await,
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            batch.cancel.cancel();
            batch.wind_down(self.parts.limits.grace).await;
            return Err(error);
        }
        Ok((batch.results(), batch.end))
    }

    /// Answers calls that nobody looked at, because the turn ends.
    pub(crate) async fn refuse_all(
        &mut self,
        calls: &[WrittenCall],
        reason: &EndReason,
    ) -> Result<Vec<Block>, JournalError> {
        let mut batch = Batch::new(None);
        let cause = stop::refusal_cause(reason, Progress::NotStarted);
        let checked = calls
            .iter()
            .map(|call| Checked::Refuse(raw_refusal(call, cause.clone())))
            .collect();
        self.admit(&mut batch, checked).await?;
        Ok(batch.results())
    }

    /// Records what was decided about each call, then the results of the refused ones.
    async fn admit(
        &mut self,
        batch: &mut Batch,
        checked: Vec<Checked>,
    ) -> Result<(), JournalError> {
        let mut decisions = Vec::with_capacity(checked.len());
        let mut refused = Vec::new();
        for (idx, checked) in checked.into_iter().enumerate() {
            let (decision, state) = match checked {
                Checked::Run(permitted) => {
                    let decision = Decision::Run {
                        facts: Arc::clone(permitted.facts()),
                        ruling: permitted.ruling().clone(),
                        by: DecidedBy::Policy,
                    };
                    batch.ready.push_back((idx, permitted));
                    (decision, SlotState::Ready)
                }
                Checked::Ask(question) => {
                    (Decision::Ask(question.clone()), SlotState::Asked(question))
                }
                Checked::Refuse(refusal) => {
                    self.count(refusal.cause());
                    let output = refusal_output(&refusal);
                    refused.push(idx);
                    (Decision::Refuse(refusal), SlotState::Done(output))
                }
            };
            batch.slots.push(Slot {
                id: decision.id().clone(),
                state,
            });
            decisions.push(Arc::new(decision));
        }
        self.record(decisions).await?;
        self.finish(batch, &refused).await
    }

    /// Runs what is ready and waits for answers, until every call has its result.
    async fn work(&mut self, batch: &mut Batch) -> Result<(), JournalError> {
        self.ask(batch);
        loop {
            if batch.end.is_none() {
                batch.end = self.stop.reason();
            }
            if let Some(reason) = batch.end.clone() {
                return self.end(batch, &reason).await;
            }
            self.start(batch).await?;
            let finished = tokio::select! {
                biased;
                finished = batch.tasks.join_next() => finished,
                Some(call) = batch.further.next() => {
                    self.further(batch, call).await?;
                    continue;
                }
                reason = self.stop.stopped() => {
                    batch.end = Some(reason);
                    continue;
                }
            };
            match finished {
                Some(Ok(finished)) => self.take(batch, finished).await?,
                Some(Err(error)) => tracing::error!(%error, "a task of a call was lost"),
                None => return self.end(batch, &EndReason::Done).await,
            }
        }
    }

    /// Puts the questions about calls of the model to the approver.
    fn ask(&self, batch: &mut Batch) {
        let questions: Vec<_> = batch
            .slots
            .iter()
            .enumerate()
            .filter_map(|(idx, slot)| match &slot.state {
                SlotState::Asked(question) => Some((idx, question.clone())),
                SlotState::Ready | SlotState::Running(_) | SlotState::Done(_) => None,
            })
            .collect();
        for (idx, question) in questions {
            self.put(batch, &question, Asked::Slot(idx));
        }
    }

    /// Puts a question to the approver.
    fn put(&self, batch: &mut Batch, question: &Question, about: Asked) {
        let question = question.clone();
        let approver = Arc::clone(&self.parts.approver);
        let cancel = batch.cancel.clone();
        batch.tasks.spawn(async move {
            let asked = AssertUnwindSafe(async { approver.answer(&question).await });
            let answer = tokio::select! {
                biased;
                () = cancel.cancelled() => Answer::Interrupted,
                answer = asked.catch_unwind() => answer.unwrap_or(Answer::Interrupted),
            };
            Finished::Answered(about, answer)
        });
    }

    /// Starts as many calls as may run at the same time.
    async fn start(&mut self, batch: &mut Batch) -> Result<(), JournalError> {
        let n_free = self
            .parts
            .limits
            .parallel
            .get()
            .saturating_sub(batch.n_running);
        let n_starting = n_free.min(batch.ready.len());
        let starting: Vec<_> = batch.ready.drain(..n_starting).collect();
        let entries: Vec<_> = starting
            .iter()
            .map(|(_, permitted)| Entry::Started {
                call: permitted.facts().id().as_str().to_owned(),
            })
            .collect();
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

    /// Takes what a task ended with.
    async fn take(&mut self, batch: &mut Batch, finished: Finished) -> Result<(), JournalError> {
        match finished {
            Finished::Ran(idx, output) => {
                batch.n_running = batch.n_running.saturating_sub(1);
                let output = Arc::new(cut(output, self.parts.limits.result_bytes));
                let done = SlotState::Done(Arc::clone(&output));
                let Some(slot) = batch.slots.get_mut(idx) else {
                    return Ok(());
                };
                let before = std::mem::replace(&mut slot.state, done);
                self.finish(batch, &[idx]).await?;
                if let SlotState::Running(facts) = before {
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
            Finished::Answered(Asked::Slot(idx), answer) => self.answered(batch, idx, answer).await,
            Finished::Answered(Asked::Further(id), answer) => {
                self.answered_further(batch, &id, answer).await
            }
        }
    }

    /// Takes the answer to a question: the call is ready, or refused.
    async fn answered(
        &mut self,
        batch: &mut Batch,
        idx: usize,
        answer: Answer,
    ) -> Result<(), JournalError> {
        let Some(slot) = batch.slots.get_mut(idx) else {
            return Ok(());
        };
        let question = match std::mem::replace(&mut slot.state, SlotState::Ready) {
            SlotState::Asked(question) => question,
            state @ (SlotState::Ready | SlotState::Running(_) | SlotState::Done(_)) => {
                slot.state = state;
                return Ok(());
            }
        };
        match self.settle(&question, answer.clone()) {
            Settled::Run(permitted) => {
                self.record(vec![Arc::new(Decision::Run {
                    facts: Arc::clone(permitted.facts()),
                    ruling: permitted.ruling().clone(),
                    by: DecidedBy::Answer(answer),
                })])
                .await?;
                batch.ready.push_back((idx, permitted));
                Ok(())
            }
            Settled::Refuse(refusal) => self.refuse(batch, idx, refusal).await,
        }
    }

    /// Ends a batch: running calls are told to stop, and every call gets its result.
    async fn end(&mut self, batch: &mut Batch, reason: &EndReason) -> Result<(), JournalError> {
        batch.cancel.cancel();
        for (idx, permitted) in std::mem::take(&mut batch.ready) {
            let cause = stop::refusal_cause(reason, Progress::NotStarted);
            self.refuse(batch, idx, permitted.refuse(cause)).await?;
        }
        for idx in 0..batch.slots.len() {
            if let Some(Slot {
                state: SlotState::Asked(_),
                ..
            }) = batch.slots.get(idx)
            {
                self.answered(batch, idx, stop::answer(reason)).await?;
            }
        }
        self.end_further(batch, reason).await?;
        for finished in batch.wind_down(self.parts.limits.grace).await {
            self.take(batch, finished).await?;
        }
        for idx in 0..batch.slots.len() {
            if let Some(Slot {
                state: SlotState::Running(facts),
                ..
            }) = batch.slots.get(idx)
            {
                let cause = stop::refusal_cause(reason, Progress::Started);
                let refusal = Refusal::proposed(Arc::clone(facts), cause);
                self.set_done(batch, idx, refusal_output(&refusal));
                self.finish(batch, &[idx]).await?;
            }
        }
        Ok(())
    }

    /// Refuses a call whose decision is already on record.
    async fn refuse(
        &mut self,
        batch: &mut Batch,
        idx: usize,
        refusal: Refusal,
    ) -> Result<(), JournalError> {
        self.count(refusal.cause());
        self.set_done(batch, idx, refusal_output(&refusal));
        self.record(vec![Arc::new(Decision::Refuse(refusal))])
            .await?;
        self.finish(batch, &[idx]).await
    }

    fn set_done(&self, batch: &mut Batch, idx: usize, output: Arc<ToolOutput>) {
        if let Some(slot) = batch.slots.get_mut(idx) {
            slot.state = SlotState::Done(output);
        }
    }

    /// Settles a question at the gate.
    fn settle(&self, question: &Question, answer: Answer) -> Settled<Box<dyn Invocation>> {
        self.parts
            .gate
            .lock()
            .answer(question.id(), answer)
            .unwrap_or_else(|error| {
                // Nobody else answers; a question that is gone does not run.
                tracing::error!(%error, "a question was lost");
                Settled::Refuse(Refusal::judged(
                    Arc::clone(question.facts()),
                    question.ruling().clone(),
                    RefusalCause::NotJudged,
                ))
            })
    }

    /// Records decisions, then tells them.
    async fn record(&mut self, decisions: Vec<Arc<Decision>>) -> Result<(), JournalError> {
        if decisions.is_empty() {
            return Ok(());
        }
        self.parts.journal.decide(&decisions).await?;
        for decision in decisions {
            self.tell(WorkerEvent::CallDecided(decision)).await;
        }
        Ok(())
    }

    /// Records the results of some slots, then tells them.
    async fn finish(&mut self, batch: &mut Batch, idxs: &[usize]) -> Result<(), JournalError> {
        let done: Vec<_> = idxs
            .iter()
            .filter_map(|&idx| batch.slots.get(idx)?.done())
            .collect();
        let entries: Vec<_> = done
            .iter()
            .map(|(id, output)| Entry::Finished {
                call: id.as_str().to_owned(),
                content: output.content.clone(),
                is_error: output.is_error,
            })
            .collect();
        self.append(&entries).await?;
        for (id, output) in done {
            self.tell(WorkerEvent::CallFinished { id, output }).await;
        }
        Ok(())
    }
}

impl Batch {
    fn new(end: Option<EndReason>) -> Self {
        Self {
            slots: Vec::new(),
            ready: VecDeque::new(),
            tasks: JoinSet::new(),
            n_running: 0,
            further: Further::new(),
            cancel: CancellationToken::new(),
            end,
        }
    }

    /// Waits for the running calls to end, and drops those that do not in time.
    async fn wind_down(&mut self, grace: std::time::Duration) -> Vec<Finished> {
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

    /// The results in call order.
    fn results(&self) -> Vec<Block> {
        self.slots
            .iter()
            .filter_map(Slot::done)
            .map(|(id, output)| Block::ToolResult {
                tool_use_id: id.as_str().to_owned(),
                content: output.content.clone(),
                is_error: output.is_error,
            })
            .collect()
    }
}

impl Slot {
    fn done(&self) -> Option<(CallId, Arc<ToolOutput>)> {
        match &self.state {
            SlotState::Done(output) => Some((self.id.clone(), Arc::clone(output))),
            SlotState::Ready | SlotState::Asked(_) | SlotState::Running(_) => None,
        }
    }
}

/// The result of a refused call: the only place that makes one.
fn refusal_output(refusal: &Refusal) -> Arc<ToolOutput> {
    Arc::new(ToolOutput::failure(refusal_text(refusal)))
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
