//! The gate of a pod, shared by the worker and by those who answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use podward_gate::{
    Answer, AnswerError, Call, CallFacts, EditError, Gate, Grant, GrantId, Put, Question, Refusal,
    RequestId, Rest, Settled, Submitted, Uses,
};
use podward_policy::{Policies, SkillLayer};
use podward_tools::Invocation;
use tokio::sync::mpsc;

/// Grants that are kept outside of this process.
///
/// A gate that has a ledger holds what the ledger says: who gives or revokes a grant tells the
/// ledger first, then the gate. Nothing waits for a disk while the gate is locked.
pub trait GrantLedger: Send + Sync {
    /// Looks whether the grants have changed, by whomever, before a call is judged and before a
    /// question is put. It may wait for the disk: it is called on a thread of its own.
    fn look(&self) {}

    /// All grants that count for this pod, if they may have changed since the last time; `None` if
    /// they have not. It waits for nothing, and never calls back: the gate is locked.
    fn refresh(&self) -> Option<Vec<Grant>>;

    /// Takes one use of each of these grants, which have limited ones: `Ok` once that is on disk. It
    /// takes all or none. It may wait for the disk, and is called where the gate is not locked.
    ///
    /// The use is for one call, which it lets run; what [`GrantLedger::refresh`] says from then on is
    /// without it, and without the grant if it was the last.
    ///
    /// # Errors
    /// The grants that count no more. None of them: no use can be taken now; what they cover is asked
    /// about, and the next call tries again.
    fn take(&self, grants: &[GrantId]) -> Result<(), Vec<GrantId>>;

    /// Whether a use that was taken of a grant may still let its call run: not where the grant was
    /// taken back since. It waits for nothing, and never calls back: the gate is locked.
    fn still_counts(&self, taken: &GrantId) -> bool;

    /// Unix time in milliseconds, by which grants expire.
    fn now_ms(&self) -> u64;
}

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
}

struct State {
    gate: Gate<Box<dyn Invocation>>,
    /// Where the settled call goes, for each open question.
    mailboxes: BTreeMap<RequestId, Mailbox>,
}

/// What was decided about a call in an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Earlier {
    Nothing,
    /// It waited for an answer.
    Asked,
}

/// Uses of limited grants that were taken, before the gate was locked, for one call.
pub(crate) enum Taken {
    /// There is no ledger: the gate's own count is all there is.
    Here,
    /// The grants as they were before.
    InLedger(Vec<Grant>),
}

impl Taken {
    fn uses(&self) -> Uses<'_> {
        match self {
            Self::Here => Uses::Counted,
            Self::InLedger(taken) => Uses::Taken(taken),
        }
    }
}

/// Uses of limited grants that were taken for what an approval settles, for each question its own.
#[derive(Debug, Default)]
pub struct TakenUses(BTreeMap<RequestId, Vec<Grant>>);

/// How often other grants are tried, where some turn out to be over.
const TAKES: usize = 4;

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
        let mailboxes = BTreeMap::new();
        let state = Mutex::new(State { gate, mailboxes });
        Self(Arc::new(Shared { state, ledger }))
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
        taken: TakenUses,
    ) -> Result<Vec<RequestId>, AnswerError> {
        let TakenUses(mut taken) = taken;
        let state = &mut *self.lock();
        let settled = match &self.0.ledger {
            None => state.gate.grant(grant, answering)?,
            Some(ledger) => {
                // Parts of other calls may be covered by grants that are revoked, or over, by now.
                self.refresh(state);
                for grants in taken.values_mut() {
                    grants.retain(|grant| ledger.still_counts(&grant.id));
                }
                state.gate.grant_with(grant, answering, &taken)?
            }
        };
        Ok(state.deliver_all(settled))
    }

    /// Takes a use of each limited grant that a grant needs for what it settles, in the ledger: for
    /// each question all of them, or none. It may wait for the disk, and holds up nobody else
    /// meanwhile.
    #[must_use]
    pub fn take_uses_for(&self, grant: &Grant, answering: Option<&RequestId>) -> TakenUses {
        let Some(ledger) = &self.0.ledger else {
            return TakenUses::default();
        };
        let wanted = {
            let state = &mut *self.lock();
            self.refresh(state);
            state.gate.uses_for_grant(grant, answering)
        };
        // What cannot be taken leaves its question open; all others as well, if the grant does not
        // answer the one that it is for.
        let mut taken = BTreeMap::new();
        for (id, grants) in wanted {
            let ids: Vec<GrantId> = grants.iter().map(|grant| grant.id.clone()).collect();
            if ledger.take(&ids).is_ok() {
                taken.insert(id, grants);
            } else if answering == Some(&id) {
                break;
            }
        }
        TakenUses(taken)
    }

    /// Rejects every open question: all that it settled, in the order in which they were put.
    pub fn reject_all(&self, by: &str, feedback: Option<&str>) -> Vec<RequestId> {
        let state = &mut *self.lock();
        let settled = state.gate.reject_all(by, feedback);
        state.deliver_all(settled)
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

    /// Takes the uses that a call needs to run, before it is submitted.
    pub(crate) async fn take_for_call(&self, facts: &CallFacts, earlier: Earlier) -> Taken {
        self.look().await;
        match earlier {
            Earlier::Nothing => self.take_uses(|gate| gate.uses_for_call(facts)).await,
            // It is asked about again.
            Earlier::Asked => Taken::InLedger(Vec::new()),
        }
    }

    /// Takes the uses that a question needs to be covered, before it is put.
    pub(crate) async fn take_for_question(&self, id: &RequestId) -> Taken {
        // The user's hooks may have taken long.
        self.look().await;
        self.take_uses(|gate| gate.uses_for_question(id)).await
    }

    /// Judges a call by the rules, and by the grants as they are now.
    pub(crate) fn submit(
        &self,
        call: Call<Box<dyn Invocation>>,
        earlier: Earlier,
        mut taken: Taken,
    ) -> Submitted<Box<dyn Invocation>> {
        let state = &mut *self.lock();
        self.refresh(state);
        self.drop_what_ended(&mut taken);
        match earlier {
            Earlier::Nothing => state.gate.submit_with(call, taken.uses()),
            Earlier::Asked => state.gate.submit_again(call),
        }
    }

    /// Opens a question, unless grants cover it by now: then it is settled.
    pub(crate) fn put(
        &self,
        id: &RequestId,
        mailbox: &Mailbox,
        mut taken: Taken,
    ) -> Result<Option<Settled<Box<dyn Invocation>>>, AnswerError> {
        let state = &mut *self.lock();
        self.refresh(state);
        self.drop_what_ended(&mut taken);
        match state.gate.put_with(id, taken.uses())? {
            Put::Open => {
                state.mailboxes.insert(id.clone(), mailbox.clone());
                Ok(None)
            }
            Put::Settled(settled) => Ok(Some(settled)),
        }
    }

    /// Settles a question so that its call does not run.
    pub(crate) fn withhold(&self, id: &RequestId, answer: Answer) -> Result<Refusal, AnswerError> {
        let state = &mut *self.lock();
        let refusal = state.gate.withhold(id, answer)?;
        state.mailboxes.remove(id);
        Ok(refusal)
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

    /// Drops the uses of grants that were taken back since.
    fn drop_what_ended(&self, taken: &mut Taken) {
        if let (Some(ledger), Taken::InLedger(grants)) = (&self.0.ledger, taken) {
            grants.retain(|grant| ledger.still_counts(&grant.id));
        }
    }

    /// Lets the ledger look at the disk.
    async fn look(&self) {
        if let Some(ledger) = self.0.ledger.clone() {
            let looking = tokio::task::spawn_blocking(move || ledger.look());
            if looking.await.is_err() {
                // Nobody knows which count: none, until the ledger says more.
                let state = &mut *self.lock();
                self.refresh(state);
                state.gate.set_grants(Vec::new());
            }
        }
    }

    /// Takes uses in the ledger while the gate is not locked.
    async fn take_uses(&self, wanted: impl Fn(&Gate<Box<dyn Invocation>>) -> Vec<Grant>) -> Taken {
        let Some(ledger) = &self.0.ledger else {
            return Taken::Here;
        };
        for _ in 0..TAKES {
            let grants = {
                let state = &mut *self.lock();
                self.refresh(state);
                wanted(&state.gate)
            };
            if grants.is_empty() {
                break;
            }
            let ledger = Arc::clone(ledger);
            let ids: Vec<GrantId> = grants.iter().map(|grant| grant.id.clone()).collect();
            let taking = tokio::task::spawn_blocking(move || ledger.take(&ids));
            match taking.await {
                Ok(Ok(())) => return Taken::InLedger(grants),
                // Others may cover the call when these are known to be over.
                Ok(Err(over)) if !over.is_empty() => {}
                Ok(Err(_)) | Err(_) => break,
            }
        }
        Taken::InLedger(Vec::new())
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
    fn deliver(&mut self, id: RequestId, settled: Settled<Box<dyn Invocation>>) {
        if let Some(mailbox) = self.mailboxes.remove(&id) {
            // Who put it may be gone: then nothing runs.
            let _ = mailbox.send(Settlement { id, settled });
        }
    }

    fn deliver_all(
        &mut self,
        all: Vec<(RequestId, Settled<Box<dyn Invocation>>)>,
    ) -> Vec<RequestId> {
        let deliver = |(id, settled): (RequestId, _)| {
            self.deliver(id.clone(), settled);
            id
        };
        all.into_iter().map(deliver).collect()
    }
}
