//! What running calls spend of a turn's limits: the requests and the tokens of children.

use std::sync::{Arc, Mutex, PoisonError};

use podward_model::Usage;

/// Where calls write down what they spent, and read what they may; clones are one. The turn counts it as its
/// own once the calls of the message have their results.
#[derive(Debug, Clone, Default)]
pub struct Spending(Arc<Mutex<Account>>);

#[derive(Debug, Clone, Copy, Default)]
struct Account {
    spent: Spent,
    /// Requests that the turn had left when the calls began.
    left: Option<u32>,
}

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
        self.with(|account| {
            let all = &mut account.spent;
            all.steps = all.steps.saturating_add(spent.steps);
            all.usage += spent.usage;
        });
    }

    /// The requests that the turn has left now; `None`: no turn runs.
    #[must_use]
    pub fn steps_left(&self) -> Option<u32> {
        self.with(|account| Some(account.left?.saturating_sub(account.spent.steps)))
    }

    /// Calls begin, and may spend so much.
    pub(crate) fn allow(&self, steps: u32) {
        self.with(|account| account.left = Some(steps));
    }

    /// Takes what was added since the last time.
    pub(crate) fn take(&self) -> Spent {
        self.with(|account| std::mem::take(&mut account.spent))
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut Account) -> T) -> T {
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
