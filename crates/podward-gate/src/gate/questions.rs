//! All questions of a gate: those that wait, and who settled the others.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZeroU64;
use std::sync::Arc;

use crate::answer::{Answer, AnswerError};
use crate::call::{Call, CallFacts};
use crate::question::{Question, RequestId};

/// How many settled questions are remembered, to tell a late answer who was first.
pub(super) const SETTLED_KEPT: usize = 16_384;

/// All questions of a gate.
#[derive(Debug)]
pub(super) struct Questions<P> {
    waiting: BTreeMap<RequestId, Waiting<P>>,
    n_put: u64,
    settled: HashMap<RequestId, Answer>,
    /// The keys of `settled`, oldest first.
    settled_order: VecDeque<RequestId>,
}

/// A question that waits, and the rest of the call that it is about.
#[derive(Debug)]
pub(super) struct Waiting<P> {
    stage: Stage,
    pub(super) question: Question,
    /// What would run.
    pub(super) payload: P,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    /// Only who submitted it can settle it.
    Held,
    /// Put, as the so-manieth question.
    Open(NonZeroU64),
}

/// Another question has the id, or had it.
pub(super) struct IdTaken;

impl<P> Questions<P> {
    pub(super) fn new() -> Self {
        Self {
            waiting: BTreeMap::new(),
            n_put: 0,
            settled: HashMap::new(),
            settled_order: VecDeque::new(),
        }
    }

    /// Takes in a question that is not put yet.
    pub(super) fn hold(&mut self, question: Question, call: Call<P>) -> Result<(), IdTaken> {
        let id = question.id().clone();
        if self.waiting.contains_key(&id) || self.settled.contains_key(&id) {
            return Err(IdTaken);
        }
        let waiting = Waiting {
            stage: Stage::Held,
            question,
            payload: call.payload,
        };
        self.waiting.insert(id, waiting);
        Ok(())
    }

    /// Whether a question is there and not put yet.
    pub(super) fn check_held(&self, id: &RequestId) -> Result<(), AnswerError> {
        match self.waiting.get(id) {
            Some(waiting) if matches!(waiting.stage, Stage::Held) => Ok(()),
            Some(_) | None => Err(self.not_there(id)),
        }
    }

    /// Puts a question.
    pub(super) fn open(&mut self, id: &RequestId) {
        if let Some(waiting) = self.waiting.get_mut(id)
            && let Stage::Held = waiting.stage
        {
            waiting.stage = Stage::Open(NonZeroU64::MIN.saturating_add(self.n_put));
            self.n_put += 1;
        }
    }

    /// A question, whether it is put or not.
    pub(super) fn get(&self, id: &RequestId) -> Option<&Waiting<P>> {
        self.waiting.get(id)
    }

    /// A question that is put.
    pub(super) fn get_open(&self, id: &RequestId) -> Result<&Waiting<P>, AnswerError> {
        match self.waiting.get(id) {
            Some(waiting) if matches!(waiting.stage, Stage::Open(_)) => Ok(waiting),
            Some(_) | None => Err(self.not_there(id)),
        }
    }

    /// The open questions, in the order in which they were put.
    pub(super) fn all_open(&self) -> impl Iterator<Item = &Waiting<P>> {
        let number = |waiting: &&Waiting<P>| match waiting.stage {
            Stage::Open(number) => Some(number),
            Stage::Held => None,
        };
        let mut open: Vec<_> = self.waiting.values().collect();
        open.retain(|waiting| number(waiting).is_some());
        open.sort_unstable_by_key(number);
        open.into_iter()
    }

    pub(super) fn n_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes out a question, whether it is put or not, and remembers who settled it.
    pub(super) fn settle(
        &mut self,
        id: &RequestId,
        by: &Answer,
    ) -> Result<Waiting<P>, AnswerError> {
        let waiting = self.waiting.remove(id).ok_or_else(|| self.not_there(id))?;
        self.settled.insert(waiting.id(), by.clone());
        self.settled_order.push_back(waiting.id());
        if self.settled_order.len() > SETTLED_KEPT
            && let Some(oldest) = self.settled_order.pop_front()
        {
            self.settled.remove(&oldest);
        }
        Ok(waiting)
    }

    fn not_there(&self, id: &RequestId) -> AnswerError {
        match self.settled.get(id) {
            Some(by) => AnswerError::AlreadySettled {
                id: id.clone(),
                by: by.clone(),
            },
            None => AnswerError::Unknown { id: id.clone() },
        }
    }

    #[cfg(test)]
    pub(super) fn n_settled(&self) -> usize {
        self.settled.len()
    }
}

impl<P> Waiting<P> {
    /// The question's id.
    pub(super) fn id(&self) -> RequestId {
        self.question.id().clone()
    }

    /// What is known of the call.
    pub(super) fn facts(&self) -> &Arc<CallFacts> {
        self.question.facts()
    }

    /// The question and the call.
    pub(super) fn into_parts(self) -> (Question, Call<P>) {
        let call = Call {
            facts: Arc::clone(self.facts()),
            payload: self.payload,
        };
        (self.question, call)
    }
}
