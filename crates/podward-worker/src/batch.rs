//! The calls of one message: all judged, the allowed ones run, one result each.

mod asked;
mod ending;
mod further;
mod futile;
mod judge;
mod parked;
mod run;
mod starting;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use podward_gate::{
    Answer, CallFacts, CallId, Permitted, Progress, Refusal, RequestId, refusal_text, session_note,
};
use podward_model::Block;
use podward_tools::{Invocation, ToolOutput};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use self::asked::{About, Questions};
use self::further::Further;
use self::judge::raw_refusal;
use self::starting::Starting;
use crate::collect::WrittenCall;
use crate::decision::Decision;
use crate::event::{EndReason, WorkerEvent};
use crate::gate::Earlier;
use crate::history::Started;
use crate::hook::chain::Checked;
use crate::journal::{Entry, JournalError, SkillMessage};
use crate::stop;
use crate::turn::Turn;
use crate::worker::Parts;

/// Decisions that are written down together: what is made for that is not held for very many calls at once.
const N_AT_ONCE: usize = 256;

/// What became of the calls of one message.
pub(crate) struct Worked {
    /// In call order, one for each.
    pub(crate) results: Vec<Block>,
    /// The skills that they started.
    pub(crate) started: Vec<Started>,
    /// Why the turn has to end, if it has to.
    pub(crate) end: Option<EndReason>,
}

/// What is left to do for the calls of one message.
struct Batch {
    /// In call order.
    slots: Vec<Slot>,
    /// The sessions of calls that work in one of their own and have begun, by the calls' places.
    sessions: BTreeMap<usize, Arc<str>>,
    ready: VecDeque<(usize, Permitted<Box<dyn Invocation>>)>,
    tasks: JoinSet<Finished>,
    n_running: usize,
    questions: Questions,
    further: Further,
    starting: Starting,
    /// Skills that calls with a result have started.
    started: Vec<Started>,
    standing: Standing,
    /// Cancelled when the calls shall end.
    cancel: CancellationToken,
    /// Why the turn has to end.
    end: Option<EndReason>,
}

struct Slot {
    id: CallId,
    tool: Arc<str>,
    state: SlotState,
    /// What the model has to know beside the result.
    note: Option<Box<str>>,
}

enum SlotState {
    /// It waits for its start, or for an answer.
    Waiting,
    Running(Arc<CallFacts>),
    Done(Arc<ToolOutput>),
}

/// What a task of a batch ends with.
enum Finished {
    Ran(usize, ToolOutput),
    Answered(RequestId, Option<Answer>),
}

/// What people have been told of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Working,
    /// It goes on only when somebody answers.
    Waiting,
}

/// A decision about a call, and what it is about.
enum Decided {
    Run(About, Permitted<Box<dyn Invocation>>),
    Refuse(About, Refusal),
}

impl Turn<'_> {
    /// Works through the calls of one message.
    pub(crate) async fn batch(&mut self, calls: Vec<WrittenCall>) -> Result<Worked, JournalError> {
        let slots = calls.iter().map(Slot::of);
        let mut batch = Batch::new(self.parts, slots.collect(), Vec::new());
        let calls = (calls.into_iter().enumerate())
            .map(|(idx, call)| (idx, call, Earlier::Nothing))
            .collect();
        let (checked, end) = self.check_all(calls).await;
        batch.end = end;
        self.work_through(batch, checked).await
    }

    /// Admits the calls of a batch and works until each call has its result.
    async fn work_through(
        &mut self,
        mut batch: Batch,
        checked: Vec<(usize, Checked)>,
    ) -> Result<Worked, JournalError> {
        let done = match self.admit(&mut batch, checked).await {
            Ok(()) => self.work(&mut batch).await,
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            batch.cancel.cancel();
            batch.wind_down(self.parts.limits.grace).await;
            return Err(error);
        }
        Ok(batch.worked())
    }

    /// Answers calls that nobody looked at, because the turn ends.
    pub(crate) async fn refuse_all(
        &mut self,
        calls: &[WrittenCall],
        reason: &EndReason,
    ) -> Result<Worked, JournalError> {
        let slots = calls.iter().map(Slot::of);
        let mut batch = Batch::new(self.parts, slots.collect(), Vec::new());
        let cause = stop::refusal_cause(reason, Progress::NotStarted);
        let refuse = |call| Checked::Refuse(raw_refusal(call, cause.clone()));
        let checked = calls.iter().map(refuse).enumerate().collect();
        self.admit(&mut batch, checked).await?;
        Ok(batch.worked())
    }

    /// Records what was decided about each call, then the results of the refused ones; then puts
    /// the questions.
    async fn admit(
        &mut self,
        batch: &mut Batch,
        checked: Vec<(usize, Checked)>,
    ) -> Result<(), JournalError> {
        let mut decisions = Vec::with_capacity(checked.len());
        let mut refused = Vec::new();
        let mut asked = Vec::new();
        for (idx, checked) in checked {
            decisions.push(Arc::new(match checked {
                Checked::Run(permitted) => {
                    let decision = Decision::run(&permitted);
                    batch.ready.push_back((idx, permitted));
                    decision
                }
                Checked::Ask(question) => {
                    asked.push((question.clone(), About::Slot(idx)));
                    Decision::Ask(question)
                }
                Checked::Refuse(refusal) => {
                    self.count(refusal.cause());
                    batch.refuse(idx, &refusal);
                    refused.push(idx);
                    Decision::Refuse(refusal)
                }
            }));
        }
        // Held until they are put: a batch that ends before that settles them.
        batch.questions.hold(asked);
        self.record(decisions).await?;
        self.finish(batch, &refused).await
    }

    /// Runs what is ready and waits for answers, until every call has its result.
    async fn work(&mut self, batch: &mut Batch) -> Result<(), JournalError> {
        self.put_held(batch).await?;
        let mut spent = self.parts.spending.changes();
        loop {
            if batch.end.is_none() {
                batch.end = self.stop.reason();
            }
            if let Some(reason) = batch.end.clone() {
                return self.end(batch, &reason).await;
            }
            self.tell_standing(batch).await;
            self.start(batch).await?;
            if batch.n_running == 0 && batch.ready.is_empty() && batch.questions.is_empty() {
                return self.end(batch, &EndReason::Done).await;
            }
            tokio::select! {
                biased;
                Some(finished) = batch.tasks.join_next() => self.take(batch, finished).await?,
                settled = batch.questions.settled() => self.settle(batch, settled).await?,
                Some(call) = batch.further.next() => self.further(batch, call).await?,
                () = spent.next() => self.tell_usage().await,
                reason = self.stop.stopped() => batch.end = Some(reason),
            }
        }
    }

    /// Takes what a task ended with.
    async fn take(
        &mut self,
        batch: &mut Batch,
        finished: Result<Finished, JoinError>,
    ) -> Result<(), JournalError> {
        match finished {
            Ok(Finished::Ran(idx, output)) => self.ran(batch, idx, output).await,
            Ok(Finished::Answered(id, answer)) => {
                self.answered(&id, answer);
                Ok(())
            }
            // Nobody asks who would answer a settled question.
            Err(error) if error.is_cancelled() => Ok(()),
            Err(error) => {
                tracing::error!(%error, "a task of a call was lost");
                Ok(())
            }
        }
    }

    /// Tells people when nothing goes on before somebody answers, and when it does again.
    async fn tell_standing(&mut self, batch: &mut Batch) {
        let is_held_up = batch.ready.is_empty() && batch.questions.hold_up(batch.n_running);
        let standing = match is_held_up {
            true => Standing::Waiting,
            false => Standing::Working,
        };
        if standing != batch.standing {
            batch.standing = standing;
            self.tell(match standing {
                Standing::Waiting => WorkerEvent::Waiting,
                Standing::Working => WorkerEvent::Working,
            })
            .await;
        }
    }

    /// Records decisions, and does what they say: calls become ready, or have their results.
    async fn carry_out(
        &mut self,
        batch: &mut Batch,
        decided: Vec<Decided>,
    ) -> Result<(), JournalError> {
        let (mut decisions, mut ready) = (Vec::new(), Vec::new());
        let (mut refused, mut replies) = (Vec::new(), Vec::new());
        for decided in decided {
            match decided {
                Decided::Run(about, permitted) => {
                    decisions.push(Arc::new(Decision::run(&permitted)));
                    match about {
                        About::Slot(idx) => ready.push((idx, permitted)),
                        About::Further(reply) => replies.push(reply.with(permitted)),
                    }
                }
                Decided::Refuse(about, refusal) => {
                    self.count(refusal.cause());
                    match about {
                        About::Slot(idx) => {
                            batch.refuse(idx, &refusal);
                            refused.push(idx);
                        }
                        About::Further(reply) => replies.push(reply.refused(&refusal)),
                    }
                    decisions.push(Arc::new(Decision::Refuse(refusal)));
                }
            }
        }
        self.record(decisions).await?;
        batch.ready.extend(ready);
        for reply in replies {
            reply.send();
        }
        self.finish(batch, &refused).await
    }

    /// Records decisions, then tells them.
    async fn record(&mut self, decisions: Vec<Arc<Decision>>) -> Result<(), JournalError> {
        for decisions in decisions.chunks(N_AT_ONCE) {
            self.parts.journal.decide(decisions).await?;
            let unused = decisions.iter().flat_map(|decision| decision.unused());
            self.parts.gate.give_back(unused).await;
            for decision in decisions {
                let decision = Arc::clone(decision);
                self.tell(WorkerEvent::CallDecided(decision)).await;
            }
        }
        Ok(())
    }

    /// Records the results of some slots, then tells them.
    async fn finish(&mut self, batch: &mut Batch, idxs: &[usize]) -> Result<(), JournalError> {
        let done: Vec<_> = idxs
            .iter()
            .filter_map(|&idx| {
                let (id, output) = batch.slots.get(idx)?.done()?;
                Some((idx, id, output))
            })
            .collect();
        let mut entries = Vec::with_capacity(done.len());
        let mut started = Vec::new();
        for (idx, id, output) in &done {
            let record = batch.starting.take(*idx).filter(|_| !output.is_error);
            if let Some(record) = record {
                let call = id.as_str().to_owned();
                entries.push(Entry::SkillStarted {
                    skill: (*record).clone(),
                    message: SkillMessage::Result { call: call.clone() },
                });
                started.push(Started { record, call });
            }
            entries.push(Entry::Finished {
                call: id.as_str().to_owned(),
                content: output.content.clone(),
                is_error: output.is_error,
            });
        }
        self.append(&entries).await?;
        batch.started.extend(started);
        for (idx, id, output) in done {
            if let Some(slot) = batch.slots.get(idx) {
                let tool = Arc::clone(&slot.tool);
                self.tell(WorkerEvent::CallFinished { id, tool, output })
                    .await;
            }
        }
        Ok(())
    }
}

impl Batch {
    fn new(parts: &Parts, slots: Vec<Slot>, started: Vec<Started>) -> Self {
        Self {
            slots,
            sessions: BTreeMap::new(),
            ready: VecDeque::new(),
            tasks: JoinSet::new(),
            n_running: 0,
            questions: Questions::new(parts.gate.clone()),
            further: Further::new(),
            starting: Starting::new(parts, &started),
            started,
            standing: Standing::Working,
            cancel: CancellationToken::new(),
            end: None,
        }
    }

    /// Gives a call its result; what the model has to know beside it stands in front.
    fn set_done(&mut self, idx: usize, output: Arc<ToolOutput>) {
        if let Some(slot) = self.slots.get_mut(idx) {
            let output = match slot.note.take() {
                Some(note) => Arc::new(ToolOutput {
                    content: format!("{note}\n{}", output.content),
                    is_error: output.is_error,
                }),
                None => output,
            };
            slot.state = SlotState::Done(output);
        }
    }

    /// Gives a call the result of a refusal: the only place that makes one. What was done for it before is
    /// where its session is.
    fn refuse(&mut self, idx: usize, refusal: &Refusal) {
        let mut text = refusal_text(refusal);
        if let Some(session) = self.sessions.get(&idx) {
            text = format!("{}\n{text}", session_note(session));
        }
        self.set_done(idx, Arc::new(ToolOutput::failure(text)));
    }

    /// What became of its calls.
    fn worked(&mut self) -> Worked {
        Worked {
            results: self.results(),
            started: std::mem::take(&mut self.started),
            end: self.end.take(),
        }
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
    fn of(call: &WrittenCall) -> Self {
        Self::new(call.id.clone(), Arc::clone(&call.tool))
    }

    const fn new(id: CallId, tool: Arc<str>) -> Self {
        Self {
            id,
            tool,
            state: SlotState::Waiting,
            note: None,
        }
    }

    fn done(&self) -> Option<(CallId, Arc<ToolOutput>)> {
        match &self.state {
            SlotState::Done(output) => Some((self.id.clone(), Arc::clone(output))),
            SlotState::Waiting | SlotState::Running(_) => None,
        }
    }
}
