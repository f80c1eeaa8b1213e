//! What running calls have other pods do: the requests and the tokens of children, and their calls.

use std::ops::AddAssign;
use std::sync::Arc;

use podward_model::Usage;
use tokio::sync::watch;

/// Where calls write down what they spent, as they spend it, and read what they may; clones are one. The turn
/// counts it as its own.
#[derive(Debug, Clone, Default)]
pub struct Spending(Arc<watch::Sender<Account>>);

#[derive(Debug, Clone, Copy, Default)]
struct Account {
    spent: Spent,
    /// Requests that the turn had left when the calls began.
    left: Option<u32>,
}

/// Requests to models, their tokens, and what was called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Requests.
    pub steps: u32,
    /// Tokens.
    pub usage: Usage,
    /// Calls.
    pub calls: CallCount,
}

/// Calls, and how many of them were refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCount {
    /// All of them.
    pub made: u32,
    /// Those that were refused.
    pub refused: u32,
}

/// What one call spends, told as sums.
#[derive(Debug)]
pub struct Meter {
    spending: Spending,
    shown: Spent,
}

impl Spending {
    /// A meter for one call.
    #[must_use]
    pub fn meter(&self) -> Meter {
        Meter {
            spending: self.clone(),
            shown: Spent::default(),
        }
    }

    /// The requests that the turn has left now; `None`: no turn runs.
    #[must_use]
    pub fn steps_left(&self) -> Option<u32> {
        let account = self.0.borrow();
        Some(account.left?.saturating_sub(account.spent.steps))
    }

    /// Waits until the running calls have made more requests than the turn had left.
    pub async fn overdrawn(&self) {
        let is_over =
            |account: &Account| account.left.is_some_and(|left| account.spent.steps > left);
        let mut account = self.0.subscribe();
        // INVARIANT: the sender lives as long as this.
        let _ = account.wait_for(is_over).await;
    }

    /// Calls begin, and may spend so much.
    pub(crate) fn allow(&self, steps: u32) {
        self.0.send_modify(|account| account.left = Some(steps));
    }

    /// What was added since it was taken the last time.
    pub(crate) fn spent(&self) -> Spent {
        self.0.borrow().spent
    }

    /// The same, which begins anew.
    pub(crate) fn take(&self) -> Spent {
        let mut taken = Spent::default();
        self.0
            .send_modify(|account| taken = std::mem::take(&mut account.spent));
        taken
    }

    /// Hears of what is added from now on.
    pub(crate) fn changes(&self) -> Changes {
        Changes(self.0.subscribe())
    }
}

/// Hears of what is spent.
pub(crate) struct Changes(watch::Receiver<Account>);

impl Changes {
    /// Waits for the next change.
    pub(crate) async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Meter {
    /// So much was spent by now; what is less than it was counts for nothing.
    pub fn read(&mut self, now: Spent) {
        let more = now.since(self.shown);
        self.shown += more;
        if more != Spent::default() {
            self.spending.0.send_modify(|account| account.spent += more);
        }
    }

    /// What was spent by now.
    #[must_use]
    pub const fn shown(&self) -> Spent {
        self.shown
    }
}

impl Spent {
    /// What came after an earlier moment.
    const fn since(self, earlier: Self) -> Self {
        Self {
            steps: self.steps.saturating_sub(earlier.steps),
            usage: Usage {
                input_tokens: (self.usage.input_tokens).saturating_sub(earlier.usage.input_tokens),
                output_tokens: (self.usage.output_tokens)
                    .saturating_sub(earlier.usage.output_tokens),
            },
            calls: CallCount {
                made: self.calls.made.saturating_sub(earlier.calls.made),
                refused: self.calls.refused.saturating_sub(earlier.calls.refused),
            },
        }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.steps = self.steps.saturating_add(more.steps);
        self.usage += more.usage;
        self.calls += more.calls;
    }
}

impl AddAssign for CallCount {
    fn add_assign(&mut self, more: Self) {
        self.made = self.made.saturating_add(more.made);
        self.refused = self.refused.saturating_add(more.refused);
    }
}

#[cfg(test)]
mod tests;
