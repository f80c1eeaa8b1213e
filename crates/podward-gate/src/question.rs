//! A call that waits for an answer.

use std::fmt;
use std::sync::Arc;

use podward_policy::{Asking, Ruling};

use crate::call::{CallFacts, CallId};

/// The id of a question: that of the call it is about, so it stays the same over a restart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(CallId);

/// Why a call is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AskReason {
    /// The rules say so.
    Policy,
    /// The rules say so, and the same call was made twice before in this turn with nothing but reading
    /// permitted in between: grants of earlier do not count.
    PolicyRepeated,
    /// The rules let it run, but the same call was made twice before in this turn with nothing but
    /// reading permitted in between.
    Repeated,
    /// The rules let it run by now, but it was asked about before the session was interrupted, and
    /// nobody answered.
    Resumed,
}

/// A call that waits for an answer; the gate keeps the call itself. Clones share what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question(Arc<Asked>);

#[derive(Debug, PartialEq, Eq)]
struct Asked {
    facts: Arc<CallFacts>,
    why: Arc<Why>,
}

/// Why a call is asked about.
#[derive(Debug, PartialEq, Eq)]
struct Why {
    ruling: Ruling,
    reason: AskReason,
    asking: Arc<[Asking]>,
}

/// What is asked about of a call of which grants cover other parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    /// The places, from 0, in [`Question::asking`], of what no grant covers: some, and not all.
    pub places: Box<[usize]>,
    /// The verdict over these parts, for people to look at.
    pub ruling: Ruling,
}

/// Why the last question was asked: the next one often shares it, so that many that wait cost
/// little.
#[derive(Debug, Default)]
pub(crate) struct LastAsked(Option<Arc<Why>>);

impl RequestId {
    /// The id as clients know it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The call that it is about.
    #[must_use]
    pub const fn call(&self) -> &CallId {
        &self.0
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
            Self::PolicyRepeated => "policy_repeated",
            Self::Repeated => "repeated",
            Self::Resumed => "resumed",
        }
    }
}

impl LastAsked {
    /// A question about a call.
    pub(crate) fn question(
        &mut self,
        facts: &Arc<CallFacts>,
        ruling: Ruling,
        reason: AskReason,
        asking: Vec<Asking>,
    ) -> Question {
        let asking = match &self.0 {
            Some(last) if *last.asking == *asking => Arc::clone(&last.asking),
            Some(_) | None => asking.into(),
        };
        let why = Why {
            ruling,
            reason,
            asking,
        };
        let why = match self.0.take().filter(|last| **last == why) {
            Some(last) => last,
            None => Arc::new(why),
        };
        self.0 = Some(Arc::clone(&why));
        Question(Arc::new(Asked {
            facts: Arc::clone(facts),
            why,
        }))
    }
}

impl Question {
    /// What an answer names.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        self.0.facts.request()
    }

    /// What is known of the call.
    #[must_use]
    pub fn facts(&self) -> &Arc<CallFacts> {
        &self.0.facts
    }

    /// The verdict over it; its cause is of a part that grants did not cover when it was judged.
    #[must_use]
    pub fn ruling(&self) -> &Ruling {
        &self.0.why.ruling
    }

    /// Why it is asked.
    #[must_use]
    pub fn reason(&self) -> AskReason {
        self.0.why.reason
    }

    /// Each part of the call that the rules ask about, and by what: grants have to cover all of
    /// them together. [`Gate::rest`](crate::Gate::rest) says which of them they cover already.
    /// Empty for a call that the rules do not ask about: one that is repeated, or asked about again
    /// after an interruption. No grant covers it.
    #[must_use]
    pub fn asking(&self) -> &[Asking] {
        &self.0.why.asking
    }

    /// Whether grants of earlier count for it.
    pub(crate) fn heeds_grants(&self) -> bool {
        match self.reason() {
            AskReason::Policy => true,
            AskReason::PolicyRepeated | AskReason::Repeated | AskReason::Resumed => false,
        }
    }
}
