//! Uses of grants that are kept elsewhere: taken before the gate is locked, and given back where
//! their call does not run.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use podward_gate::{CallFacts, Gate, Grant, GrantId, RequestId, Settled, Uses};
use podward_tools::Invocation;

use super::{Earlier, Shared, SharedGate};

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

    /// Gives back uses that were taken for calls that do not run: of each of these grants one, of one
    /// that is named twice two. What was taken back meanwhile stays so. It may wait for the disk, and
    /// is called where the gate is not locked; a use that cannot be given back is lost.
    fn give_back(&self, grants: &[GrantId]);

    /// Whether a use that was taken of a grant may still let its call run: not where the grant was
    /// taken back since. It waits for nothing, and never calls back: the gate is locked.
    fn still_counts(&self, taken: &GrantId) -> bool;

    /// Unix time in milliseconds, by which grants expire.
    fn now_ms(&self) -> u64;
}

/// Uses of limited grants that were taken before the gate was locked, for calls, each its own.
///
/// What no call used by the time that this is dropped is given back.
#[derive(Debug, Default)]
pub struct TakenUses {
    shared: Weak<Shared>,
    /// The grants as they were before.
    taken: BTreeMap<RequestId, Vec<Grant>>,
}

/// How often other grants are tried, where some turn out to be over.
const TAKES: usize = 4;

impl SharedGate {
    /// Takes a use of each limited grant that a grant needs for what it settles, in the ledger: for
    /// each question all of them, or none. It may wait for the disk, and holds up nobody else
    /// meanwhile.
    #[must_use]
    pub fn take_uses_for(&self, grant: &Grant, answering: Option<&RequestId>) -> TakenUses {
        let Some(ledger) = &self.0.ledger else {
            return TakenUses::default();
        };
        self.give_back_unused();
        let wanted = {
            let state = &mut *self.lock();
            self.refresh(state);
            state.gate.uses_for_grant(grant, answering)
        };
        // What cannot be taken leaves its question open; all others as well, if the grant does not
        // answer the one that it is for.
        let mut taken = TakenUses::of(self);
        for (id, grants) in wanted {
            let is_answered = answering == Some(&id);
            if taken.take(&**ledger, id, grants).is_err() && is_answered {
                break;
            }
        }
        taken
    }

    /// Takes the uses that a call needs to run, before it is submitted.
    pub(crate) async fn take_for_call(&self, facts: &CallFacts, earlier: &Earlier) -> TakenUses {
        self.look().await;
        match earlier {
            Earlier::Nothing => {
                let id = RequestId::from(facts.id().clone());
                self.take(&id, |gate| gate.uses_for_call(facts)).await
            }
            // It is asked about again, or runs by an answer.
            Earlier::Asked | Earlier::Approved(_) => TakenUses::default(),
        }
    }

    /// Takes the uses that a question needs to be covered, before it is put.
    pub(crate) async fn take_for_question(&self, id: &RequestId) -> TakenUses {
        // The user's hooks may have taken long.
        self.look().await;
        self.take(id, |gate| gate.uses_for_question(id)).await
    }

    /// Gives back what was taken for calls that do not run, which is on record by now.
    pub(crate) async fn give_back<'g>(&self, unused: impl Iterator<Item = &'g GrantId>) {
        self.0.note_unused(unused);
        if !self.0.has_unused() {
            return;
        }
        let gate = self.clone();
        // It can only fail by a panic: then they are lost.
        let _ = tokio::task::spawn_blocking(move || gate.give_back_unused()).await;
    }

    /// Gives back the uses that were taken for nothing. It may wait for the disk, and holds up nobody
    /// else meanwhile.
    pub fn give_back_unused(&self) {
        let unused = self.0.take_unused();
        match &self.0.ledger {
            _ if unused.is_empty() => {}
            Some(ledger) => ledger.give_back(&unused),
            None => self.lock().gate.give_back(&unused),
        }
    }

    /// Lets the ledger look at the disk.
    async fn look(&self) {
        if let Some(ledger) = self.0.ledger.clone() {
            let gate = self.clone();
            let looking = tokio::task::spawn_blocking(move || {
                gate.give_back_unused();
                ledger.look();
            });
            if looking.await.is_err() {
                // Nobody knows which count: none, until the ledger says more.
                let state = &mut *self.lock();
                self.refresh(state);
                state.gate.set_grants(Vec::new());
            }
        }
    }

    /// Takes uses in the ledger while the gate is not locked.
    async fn take(
        &self,
        id: &RequestId,
        wanted: impl Fn(&Gate<Box<dyn Invocation>>) -> Vec<Grant>,
    ) -> TakenUses {
        let Some(ledger) = &self.0.ledger else {
            return TakenUses::default();
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
            let (ledger, id, mut taken) = (Arc::clone(ledger), id.clone(), TakenUses::of(self));
            // A turn that is cancelled does not wait for it: then it is dropped there.
            let taking = tokio::task::spawn_blocking(move || {
                taken.take(&*ledger, id, grants).map(|()| taken)
            });
            match taking.await {
                Ok(Ok(taken)) => return taken,
                // Others may cover the call when these are known to be over.
                Ok(Err(over)) if !over.is_empty() => {}
                Ok(Err(_)) | Err(_) => break,
            }
        }
        TakenUses::default()
    }
}

impl TakenUses {
    fn of(gate: &SharedGate) -> Self {
        Self {
            shared: Arc::downgrade(&gate.0),
            taken: BTreeMap::new(),
        }
    }

    /// By which calls run: none of a grant that was taken back since.
    pub(super) fn uses(&mut self, ledger: Option<&dyn GrantLedger>) -> Uses<'_> {
        let Some(ledger) = ledger else {
            return Uses::Counted;
        };
        for grants in self.taken.values_mut() {
            grants.retain(|grant| ledger.still_counts(&grant.id));
        }
        Uses::Taken(&self.taken)
    }

    /// Takes a use of each of these for a call, all of them or none.
    fn take(
        &mut self,
        ledger: &dyn GrantLedger,
        id: RequestId,
        grants: Vec<Grant>,
    ) -> Result<(), Vec<GrantId>> {
        let ids: Vec<GrantId> = grants.iter().map(|grant| grant.id.clone()).collect();
        ledger.take(&ids)?;
        self.taken.insert(id, grants);
        Ok(())
    }

    /// Takes out what a call has taken. One that is refused all the same says so itself.
    pub(super) fn settle(&mut self, id: &RequestId, settled: &Settled<Box<dyn Invocation>>) {
        let used = match settled {
            Settled::Run(permitted) => permitted.used(),
            Settled::Refuse(refusal) => refusal.unused(),
        };
        if let Some(grants) = self.taken.get_mut(id) {
            grants.retain(|grant| !used.contains(&grant.id));
        }
    }
}

impl Drop for TakenUses {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            let taken = self.taken.values().flatten();
            shared.note_unused(taken.map(|grant| &grant.id));
        }
    }
}

impl Shared {
    fn note_unused<'g>(&self, ids: impl Iterator<Item = &'g GrantId>) {
        self.lock_unused().extend(ids.cloned());
    }

    fn has_unused(&self) -> bool {
        !self.lock_unused().is_empty()
    }

    fn take_unused(&self) -> Vec<GrantId> {
        std::mem::take(&mut *self.lock_unused())
    }

    fn lock_unused(&self) -> MutexGuard<'_, Vec<GrantId>> {
        // INVARIANT: what is held is extended or taken as a whole.
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
