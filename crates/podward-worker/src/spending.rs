//! What running calls spend of a turn's limits: the requests and the tokens of children.

use std::sync::{Arc, Mutex, PoisonError};

use podward_model::Usage;

/// Where calls write down what they spent; clones are one. The turn counts it as its own once the calls
/// of the message have their results.
#[derive(Debug, Clone, Default)]
pub struct Spending(Arc<Mutex<Spent>>);

/// Requests to models, and their tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Requests.
    pub steps: u32,
    /// Tokens.
    pub usage: Usage,
}

impl Spending {
    /// Adds what a call spent.
    pub fn add(&self, spent: Spent) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.steps = all.steps.saturating_add(spent.steps);
        all.usage += spent.usage;
    }

    /// Takes what was added since the last time.
    pub(crate) fn take(&self) -> Spent {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *all)
    }
}
