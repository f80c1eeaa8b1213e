//! All questions of a gate: those that wait, and who settled the others.

use std::collections::{BTreeMap, VecDeque};

use crate::answer::{Answer, AnswerError};
use crate::call::Call;
use crate::question::{Question, RequestId};

/// How many settled questions are remembered, to tell a late answer who was first.
pub(super) const SETTLED_KEPT: usize = 16_384;

/// All questions of a gate.
#[derive(Debug)]
pub(super) struct Questions<P> {
    waiting: BTreeMap<RequestId, Waiting<P>>,
    /// The open questions, in the order in which they were put.
    open: BTreeMap<u64, RequestId>,
    n_put: u64,
    settled: BTreeMap<RequestId, Answer>,
    /// The keys of `settled`, oldest first.
    settled_order: VecDeque<RequestId>,
}

/// A question that waits, and the call that it is about.
#[derive(Debug)]
pub(super) struct Waiting<P> {
    stage: Stage,
    pub(super) question: Question,
    pub(super) call: Call<P>,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    /// Only who submitted it can settle it.
    Held,
    /// Put, as the so-manieth question.
    Open { number: u64 },
}

/// Another question has the id, or had it.
pub(super) struct IdTaken;

impl<P> Questions<P> {
    pub(super) const fn new() -> Self {
        Self {
            waiting: BTreeMap::new(),
            open: BTreeMap::new(),
            n_put: 0,
            settled: BTreeMap::new(),
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
            call,
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
            self.n_put += 1;
            let number = self.n_put;
            waiting.stage = Stage::Open { number };
            // The map of what waits and this one share the text of the id.
            self.open.insert(number, waiting.id());
        }
    }

    /// A question, whether it is put or not.
    pub(super) fn get(&self, id: &RequestId) -> Option<&Waiting<P>> {
        self.waiting.get(id)
    }

    /// A question that is put.
    pub(super) fn get_open(&self, id: &RequestId) -> Result<&Waiting<P>, AnswerError> {
        match self.waiting.get(id) {
            Some(waiting) if matches!(waiting.stage, Stage::Open { .. }) => Ok(waiting),
            Some(_) | None => Err(self.not_there(id)),
        }
    }

    /// The open questions, in the order in which they were put.
    pub(super) fn all_open(&self) -> impl Iterator<Item = &Waiting<P>> {
        self.open.values().filter_map(|id| self.waiting.get(id))
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
        if let Stage::Open { number } = waiting.stage {
            self.open.remove(&number);
        }
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
}
