//! The state machine: what is submitted runs, is refused, or waits for an answer.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use podward_policy::{Action, Cause, Policies, Ruling, ToolName};

use crate::call::{Call, CallFacts, CallId};
use crate::permit::Permitted;
use crate::refusal::{Progress, Refusal, RefusalCause};

/// The submission of the same call in one turn that is at least an ask, and every one after it.
pub const REPEATS_ASKED: u32 = 3;

/// How many settled questions a gate remembers, to tell a late answer who was first.
const SETTLED_KEPT: usize = 16_384;

/// The id of a question: that of the call it is about, so it stays the same over a restart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(CallId);

/// Why a call is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AskReason {
    /// The rules say so.
    Policy,
    /// The rules let it run, but the same call was made twice before in this turn.
    Repeated,
}

/// A call that waits for an answer; the gate keeps the call itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    id: RequestId,
    facts: Arc<CallFacts>,
    ruling: Ruling,
    reason: AskReason,
}

/// What became of a call that was submitted.
#[derive(Debug)]
pub enum Submitted<P> {
    /// It is decided.
    Settled(Settled<P>),
    /// It waits for an answer.
    Ask(Question),
}

/// What became of a call in the end: this happens to each call once.
#[derive(Debug)]
pub enum Settled<P> {
    /// It may run.
    Run(Permitted<P>),
    /// It does not run.
    Refuse(Refusal),
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this once.
    Once {
        /// Who said so.
        by: Box<str>,
    },
    /// Nobody is there who could answer.
    NoClient,
    /// The turn was cancelled.
    Cancelled,
    /// The pod was told to stop.
    PodStopped,
    /// The turn ended around it.
    Interrupted,
    /// A hook of the user refuses the call.
    Hook {
        /// The hook.
        name: Box<str>,
        /// Its words.
        text: Box<str>,
    },
    /// A hook of the user, which could have refused the call, failed.
    HookFailed {
        /// The hook.
        name: Box<str>,
        /// What went wrong: lower case, no full stop.
        why: Box<str>,
    },
}

/// Why an answer changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// An earlier answer settled the question.
    #[error("the request `{id}` is already settled: {}", .by.as_str())]
    AlreadySettled {
        /// The question.
        id: RequestId,
        /// The answer that was first.
        by: Answer,
    },
    /// There is no such question, or it was settled very long ago.
    #[error("there is no request `{id}`")]
    Unknown {
        /// The id that was given.
        id: RequestId,
    },
}

/// The calls of one pod. `P` is what runs when a call is permitted.
#[derive(Debug)]
pub struct Gate<P> {
    policies: Policies,
    /// How often each call was submitted in this turn.
    submitted: BTreeMap<(ToolName, Box<str>), u32>,
    pending: BTreeMap<RequestId, Pending<P>>,
    /// Numbers the questions in the order in which they were asked.
    n_asked: u64,
    settled: BTreeMap<RequestId, Answer>,
    /// The keys of `settled`, oldest first.
    settled_order: VecDeque<RequestId>,
}

#[derive(Debug)]
struct Pending<P> {
    number: u64,
    question: Question,
    call: Call<P>,
}

impl<P> Gate<P> {
    /// A gate that judges by these policies.
    #[must_use]
    pub const fn new(policies: Policies) -> Self {
        Self {
            policies,
            submitted: BTreeMap::new(),
            pending: BTreeMap::new(),
            n_asked: 0,
            settled: BTreeMap::new(),
            settled_order: VecDeque::new(),
        }
    }

    /// Forgets how often calls were repeated: a new turn begins.
    pub fn begin_turn(&mut self) {
        self.submitted.clear();
    }

    /// Judges a call.
    ///
    /// The third time that a call with the same tool and the same arguments is submitted in one
    /// turn, whatever became of it before, and every time after that, it is at least asked about.
    /// Where no layer has a `[permissions]` table nothing is asked, this neither. A further call of
    /// a running one is not the model's and does not count.
    pub fn submit(&mut self, call: Call<P>) -> Submitted<P> {
        let ruling = self.policies.judge(call.facts.lowered());
        self.admit(call, ruling)
    }

    /// Settles an open question.
    ///
    /// # Errors
    /// [`AnswerError::AlreadySettled`] if an earlier answer did; [`AnswerError::Unknown`] if there
    /// is no such question.
    pub fn answer(&mut self, id: &RequestId, answer: Answer) -> Result<Settled<P>, AnswerError> {
        let Some(Pending { question, call, .. }) = self.pending.remove(id) else {
            return Err(match self.settled.get(id) {
                Some(by) => AnswerError::AlreadySettled {
                    id: id.clone(),
                    by: by.clone(),
                },
                None => AnswerError::Unknown { id: id.clone() },
            });
        };
        self.remember(id.clone(), answer.clone());
        let Question {
            facts,
            ruling,
            reason,
            ..
        } = question;
        let cause = match answer {
            Answer::Once { by: _ } => return Ok(Settled::Run(Permitted::new(call, ruling))),
            Answer::NoClient => RefusalCause::NoClient { asked: reason },
            Answer::Cancelled => RefusalCause::Cancelled(Progress::NotStarted),
            Answer::PodStopped => RefusalCause::PodStopped(Progress::NotStarted),
            Answer::Interrupted => RefusalCause::Interrupted(Progress::NotStarted),
            Answer::Hook { name, text } => RefusalCause::Hook { name, text },
            Answer::HookFailed { name, why } => RefusalCause::HookFailed { name, why },
        };
        Ok(Settled::Refuse(Refusal::judged(facts, ruling, cause)))
    }

    /// The open questions, in the order in which they were asked.
    #[must_use]
    pub fn pending(&self) -> Vec<&Question> {
        let mut pending: Vec<_> = self.pending.values().collect();
        pending.sort_unstable_by_key(|pending| pending.number);
        pending
            .into_iter()
            .map(|pending| &pending.question)
            .collect()
    }

    /// Decides about a judged call.
    fn admit(&mut self, call: Call<P>, ruling: Ruling) -> Submitted<P> {
        let is_repeated = self.is_repeated(&call.facts) && ruling.cause != Cause::NoPolicy;
        match ruling.action {
            Action::Deny => Submitted::Settled(Settled::Refuse(Refusal::judged(
                call.facts,
                ruling,
                RefusalCause::Policy,
            ))),
            Action::Ask => self.ask(call, ruling, AskReason::Policy),
            Action::Allow if is_repeated => self.ask(call, ruling, AskReason::Repeated),
            Action::Allow => Submitted::Settled(Settled::Run(Permitted::new(call, ruling))),
        }
    }

    /// Counts a call of the model.
    fn is_repeated(&mut self, facts: &CallFacts) -> bool {
        if facts.part_of().is_some() {
            return false;
        }
        let times = self
            .submitted
            .entry((facts.tool().clone(), facts.arguments().into()))
            .or_default();
        *times = times.saturating_add(1);
        *times >= REPEATS_ASKED
    }

    fn ask(&mut self, call: Call<P>, ruling: Ruling, reason: AskReason) -> Submitted<P> {
        let id = RequestId(call.facts.id().clone());
        if self.pending.contains_key(&id) || self.settled.contains_key(&id) {
            // Two calls under one id: an answer could not say which one it means.
            return Submitted::Settled(Settled::Refuse(Refusal::judged(
                call.facts,
                ruling,
                RefusalCause::NotJudged,
            )));
        }
        let question = Question {
            id: id.clone(),
            facts: Arc::clone(&call.facts),
            ruling,
            reason,
        };
        self.n_asked += 1;
        let pending = Pending {
            number: self.n_asked,
            question: question.clone(),
            call,
        };
        self.pending.insert(id, pending);
        Submitted::Ask(question)
    }

    fn remember(&mut self, id: RequestId, by: Answer) {
        self.settled.insert(id.clone(), by);
        self.settled_order.push_back(id);
        if self.settled_order.len() > SETTLED_KEPT
            && let Some(oldest) = self.settled_order.pop_front()
        {
            self.settled.remove(&oldest);
        }
    }
}

impl RequestId {
    /// The id as clients know it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// A request has the id of the call it is about.
impl From<CallId> for RequestId {
    fn from(call: CallId) -> Self {
        Self(call)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AskReason {
    /// The word used in logs and output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Repeated => "repeated",
        }
    }
}

impl Question {
    /// What an answer names.
    #[must_use]
    pub const fn id(&self) -> &RequestId {
        &self.id
    }

    /// What is known of the call.
    #[must_use]
    pub const fn facts(&self) -> &Arc<CallFacts> {
        &self.facts
    }

    /// The verdict over it.
    #[must_use]
    pub const fn ruling(&self) -> &Ruling {
        &self.ruling
    }

    /// Why it is asked.
    #[must_use]
    pub const fn reason(&self) -> AskReason {
        self.reason
    }
}

impl Answer {
    /// The word used in logs and output.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Once { .. } => "once",
            Self::NoClient => "no_client",
            Self::Cancelled => "cancelled",
            Self::PodStopped => "pod_stopped",
            Self::Interrupted => "interrupted",
            Self::Hook { .. } => "hook",
            Self::HookFailed { .. } => "hook_failed",
        }
    }
}

#[cfg(test)]
mod tests;
