//! The gate of a pod, shared by the worker and by those who answer.

mod uses;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use podward_gate::{
    Answer, AnswerError, Call, EditError, Gate, Grant, GrantId, Put, Question, Refusal, RequestId,
    Rest, Settled, Submitted,
};
use podward_policy::{Policies, SkillLayer};
use podward_tools::{Invocation, Meanwhile, Precheck, RunContext};
use tokio::sync::mpsc;

pub use uses::{GrantLedger, TakenUses};

/// The gate of a pod: shared by the permission hook, which submits calls, by the worker, which puts
/// questions, and by everybody who answers them.
///
/// Of several answers to one question the first counts; the others hear who was first. The worker
/// writes down what an answer decided before it has any effect, and then tells
/// [`WorkerEvent::CallDecided`](crate::WorkerEvent::CallDecided): that, not the `Ok` here, says what
/// became of the call. A turn that is cancelled in between refuses it after all.
#[derive(Clone)]
pub struct SharedGate(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    ledger: Option<Arc<dyn GrantLedger>>,
    /// Grants of which a use was taken for nothing; it is to be given back.
    unused: Mutex<Vec<GrantId>>,
}

struct State {
    gate: Gate<Box<dyn Invocation>>,
    /// Where settled calls go: to the batch that put its questions last, for no other has any open.
    mailbox: Option<Mailbox>,
    /// Whether a turn that is cancelled leaves its questions as they are.
    keeps_questions: bool,
}

/// What was decided about a call in an earlier run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Earlier {
    Nothing,
    /// It waited for an answer.
    Asked,
    /// This answer let it run.
    Approved(Answer),
}

/// Where the calls of settled questions go. It holds no more than there are open questions.
pub(crate) type Mailbox = mpsc::UnboundedSender<Settlement>;

/// What became of an open question.
pub(crate) struct Settlement {
    pub(crate) id: RequestId,
    pub(crate) settled: Settled<Box<dyn Invocation>>,
}

impl SharedGate {
    /// Makes a gate that can be shared.
    #[must_use]
    pub fn new(gate: Gate<Box<dyn Invocation>>) -> Self {
        Self::of(gate, None)
    }

    /// The same, whose grants are kept outside of this process.
    #[must_use]
    pub fn with_ledger(gate: Gate<Box<dyn Invocation>>, ledger: Arc<dyn GrantLedger>) -> Self {
        Self::of(gate, Some(ledger))
    }

    fn of(gate: Gate<Box<dyn Invocation>>, ledger: Option<Arc<dyn GrantLedger>>) -> Self {
        let state = Mutex::new(State {
            gate,
            mailbox: None,
            keeps_questions: false,
        });
        let unused = Mutex::default();
        Self(Arc::new(Shared {
            state,
            ledger,
            unused,
        }))
    }

    /// Settles an open question: the first answer counts.
    ///
    /// # Errors
    /// As for [`Gate::answer`].
    pub fn answer(&self, id: &RequestId, answer: Answer) -> Result<(), AnswerError> {
        let state = &mut *self.lock();
        let settled = state.gate.answer(id, answer)?;
        state.deliver(id.clone(), settled);
        Ok(())
    }

    /// Settles an open question with other arguments; [`Proposer`](crate::Proposer) makes the call
    /// of them. The user's hooks see it before it runs and can still refuse it.
    ///
    /// # Errors
    /// As for [`Gate::edit`].
    pub fn edit(
        &self,
        id: &RequestId,
        call: Call<Box<dyn Invocation>>,
        by: impl Into<Box<str>>,
    ) -> Result<(), EditError> {
        let state = &mut *self.lock();
        let settled = state.gate.edit(id, call, by)?;
        state.deliver(id.clone(), settled);
        Ok(())
    }

    /// Remembers an approval, settles the question that it answers, and re-judges the open ones that
    /// it can cover: all that it settled, in the order in which they were put.
    ///
    /// Where the grants have a ledger, it has the new one by now, and what settles takes the uses of
    /// limited ones that [`SharedGate::take_uses_for`] has taken.
    ///
    /// # Errors
    /// As for [`Gate::grant`]: then nothing is remembered.
    pub fn grant(
        &self,
        grant: Grant,
        answering: Option<&RequestId>,
        mut taken: TakenUses,
    ) -> Result<Vec<RequestId>, AnswerError> {
        let state = &mut *self.lock();
        // Parts of other calls may be covered by grants that are revoked, or over, by now.
        self.refresh(state);
        let uses = taken.uses(self.0.ledger.as_deref());
        let settled = state.gate.grant_with(grant, answering, uses)?;
        for (id, settled) in &settled {
            taken.settle(id, settled);
        }
        Ok(state.deliver_all(settled))
    }

    /// Rejects every open question: all that it settled, in the order in which they were put.
    pub fn reject_all(&self, by: &str, feedback: Option<&str>) -> Vec<RequestId> {
        let state = &mut *self.lock();
        let settled = state.gate.reject_all(by, feedback);
        state.deliver_all(settled)
    }

    /// From now on a turn that is cancelled leaves the questions about calls of the model as they are on
    /// record, so that they are asked again when the session goes on; here nobody can answer them any
    /// more. For a pod that stops.
    pub fn keep_questions(&self) {
        self.lock().keeps_questions = true;
    }

    /// Whether [`SharedGate::keep_questions`] was called.
    #[must_use]
    pub fn keeps_questions(&self) -> bool {
        self.lock().keeps_questions
    }

    /// Forgets a grant: from now on it covers nothing. Whether there was one.
    pub fn revoke(&self, id: &GrantId) -> bool {
        self.lock().gate.revoke(id)
    }

    /// The grants that count, by their ids.
    #[must_use]
    pub fn grants(&self) -> Vec<Grant> {
        self.lock().gate.grants().cloned().collect()
    }

    /// Tells the time, in milliseconds of Unix time, by which grants expire. It never goes back.
    pub fn advance(&self, now_ms: u64) {
        self.lock().gate.advance(now_ms);
    }

    /// What calls are judged by at the moment, active skills included.
    #[must_use]
    pub fn policies(&self) -> Policies {
        self.lock().gate.policies().clone()
    }

    /// The open questions, in the order in which they were put.
    #[must_use]
    pub fn open(&self) -> Vec<Question> {
        self.lock().gate.open()
    }

    /// Looks whether grants have changed elsewhere, or ended: how often any have changed by now.
    pub fn look_at_grants(&self) -> u64 {
        let state = &mut *self.lock();
        self.refresh(state);
        state.gate.n_grant_changes()
    }

    /// The open questions that grants cover by now that were given elsewhere, as [`Gate::covered`] says.
    #[must_use]
    pub fn covered(&self) -> Vec<Question> {
        self.lock().gate.covered().cloned().collect()
    }

    /// Settles an open question, if grants without limited uses cover all of it.
    pub fn settle_by_grants(&self, id: &RequestId) {
        let state = &mut *self.lock();
        if let Some(settled) = state.gate.settle_by_grants(id) {
            state.deliver(id.clone(), settled);
        }
    }

    /// What an open question asks about beside what grants cover, as [`Gate::rest`] says.
    #[must_use]
    pub fn rest(&self, question: &Question) -> Option<Rest> {
        self.lock().gate.rest(question)
    }

    /// An open question.
    #[must_use]
    pub fn question(&self, id: &RequestId) -> Option<Question> {
        self.lock().gate.question(id).cloned()
    }

    pub(crate) fn set_skills(&self, skills: Vec<Arc<SkillLayer>>) {
        self.lock().gate.set_skills(skills);
    }

    pub(crate) fn begin_turn(&self) {
        self.lock().gate.begin_turn();
    }

    /// Judges a call by the rules, and by the grants as they are now.
    pub(crate) fn submit(
        &self,
        call: Call<Box<dyn Invocation>>,
        earlier: Earlier,
        mut taken: TakenUses,
    ) -> Submitted<Box<dyn Invocation>> {
        let id = RequestId::from(call.facts().id().clone());
        let state = &mut *self.lock();
        self.refresh(state);
        let uses = taken.uses(self.0.ledger.as_deref());
        let submitted = match earlier {
            Earlier::Nothing => state.gate.submit_with(call, uses),
            Earlier::Asked => state.gate.submit_again(call),
            Earlier::Approved(answer) => state.gate.submit_approved(call, answer),
        };
        if let Submitted::Settled(settled) = &submitted {
            taken.settle(&id, settled);
        }
        submitted
    }

    /// Opens a question, unless grants cover it by now: then it is settled.
    pub(crate) fn put(
        &self,
        id: &RequestId,
        mailbox: &Mailbox,
        mut taken: TakenUses,
    ) -> Result<Option<Settled<Box<dyn Invocation>>>, AnswerError> {
        let state = &mut *self.lock();
        self.refresh(state);
        let uses = taken.uses(self.0.ledger.as_deref());
        match state.gate.put_with(id, uses)? {
            Put::Open => {
                state.mailbox = Some(mailbox.clone());
                Ok(None)
            }
            Put::Settled(settled) => {
                taken.settle(id, &settled);
                Ok(Some(settled))
            }
        }
    }

    /// The look at a call before it is asked about.
    pub(crate) fn precheck(
        &self,
        id: &RequestId,
        context: &RunContext,
        meanwhile: Meanwhile,
    ) -> Option<Precheck> {
        let state = self.lock();
        state.gate.payload(id)?.precheck(context, meanwhile)
    }

    /// Settles a question so that its call does not run.
    pub(crate) fn withhold(&self, id: &RequestId, answer: Answer) -> Result<Refusal, AnswerError> {
        self.lock().gate.withhold(id, answer)
    }

    /// Takes over what the ledger says. The gate is locked meanwhile, so that what is revoked after
    /// the ledger was read is not put back.
    fn refresh(&self, state: &mut State) {
        if let Some(ledger) = &self.0.ledger {
            let grants = ledger.refresh();
            state.gate.advance(ledger.now_ms());
            if let Some(grants) = grants {
                state.gate.set_grants(grants);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // INVARIANT: a gate changes only after it has judged, and what follows does not panic; so
        // it is whole even where a panic has poisoned the lock.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn n_waiting(&self) -> usize {
        self.lock().gate.n_waiting()
    }
}

impl State {
    /// Hands a settled call to who put the question.
    fn deliver(&self, id: RequestId, settled: Settled<Box<dyn Invocation>>) {
        if let Some(mailbox) = &self.mailbox {
            // Who put it may be gone: then nothing runs.
            let _ = mailbox.send(Settlement { id, settled });
        }
    }

    fn deliver_all(&self, all: Vec<(RequestId, Settled<Box<dyn Invocation>>)>) -> Vec<RequestId> {
        let deliver = |(id, settled): (RequestId, _)| {
            self.deliver(id.clone(), settled);
            id
        };
        all.into_iter().map(deliver).collect()
    }
}
