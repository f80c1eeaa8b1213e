//! What was decided about one call.

use std::sync::Arc;

use podward_gate::{CallFacts, CallId, DecidedBy, GrantId, Permitted, Question, Refusal};
use podward_policy::Ruling;

/// What was decided about one call, on record before it has any effect.
///
/// A call that asks has two: [`Decision::Ask`], and what its answer made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It runs.
    Run {
        /// What is known of the call.
        facts: Arc<CallFacts>,
        /// The verdict over it.
        ruling: Ruling,
        /// Who let it run.
        by: DecidedBy,
    },
    /// It waits for an answer.
    Ask(Question),
    /// It does not run.
    Refuse(Refusal),
}

impl Decision {
    /// A call runs.
    #[must_use]
    pub fn run<P>(permitted: &Permitted<P>) -> Self {
        Self::Run {
            facts: Arc::clone(permitted.facts()),
            ruling: permitted.ruling().clone(),
            by: permitted.by().clone(),
        }
    }

    /// The call's id.
    #[must_use]
    pub fn id(&self) -> &CallId {
        match self {
            Self::Run { facts, .. } => facts.id(),
            Self::Ask(question) => question.facts().id(),
            Self::Refuse(refusal) => refusal.id(),
        }
    }

    /// The tool's name: for an unknown tool what the model wrote.
    #[must_use]
    pub fn tool(&self) -> &str {
        match self {
            Self::Run { facts, .. } => facts.tool().as_str(),
            Self::Ask(question) => question.facts().tool().as_str(),
            Self::Refuse(refusal) => refusal.tool(),
        }
    }

    /// The arguments: canonical JSON, for a bad call what the model wrote.
    #[must_use]
    pub fn arguments(&self) -> &str {
        match self {
            Self::Run { facts, .. } => facts.arguments(),
            Self::Ask(question) => question.facts().arguments(),
            Self::Refuse(refusal) => refusal.arguments(),
        }
    }

    /// What is known of the call; `None` for a bad call and an unknown tool.
    #[must_use]
    pub fn facts(&self) -> Option<&Arc<CallFacts>> {
        match self {
            Self::Run { facts, .. } => Some(facts),
            Self::Ask(question) => Some(question.facts()),
            Self::Refuse(refusal) => refusal.facts(),
        }
    }

    /// The running call that turned out to need this one; `None` for a call that the model made.
    #[must_use]
    pub fn part_of(&self) -> Option<&CallId> {
        self.facts()?.part_of()
    }

    /// The verdict over it, if it came that far.
    #[must_use]
    pub fn ruling(&self) -> Option<&Ruling> {
        match self {
            Self::Run { ruling, .. } => Some(ruling),
            Self::Ask(question) => Some(question.ruling()),
            Self::Refuse(refusal) => refusal.ruling(),
        }
    }

    /// The grants of which a use was taken for it, for nothing: it is refused.
    pub(crate) fn unused(&self) -> &[GrantId] {
        match self {
            Self::Refuse(refusal) => refusal.unused(),
            Self::Run { .. } | Self::Ask(_) => &[],
        }
    }

    /// One word for why: what let it run, why it is asked, or the cause of the refusal.
    #[must_use]
    pub fn cause_word(&self) -> &'static str {
        match self {
            Self::Run { by, .. } => by.as_str(),
            Self::Ask(question) => question.reason().as_str(),
            Self::Refuse(refusal) => refusal.cause().as_str(),
        }
    }
}
