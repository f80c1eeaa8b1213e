//! How much work one call may cost.

/// Steps spent on one call in one layer. A step is about one comparison of a character.
#[derive(Debug)]
pub(crate) struct Work {
    left: u64,
}

/// The call cost more than it may: what was asked for stays unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Default for Work {
    fn default() -> Self {
        Self::new()
    }
}

impl Work {
    /// Far above what any call costs that is not made to be slow, and still below a second.
    pub(crate) const LIMIT: u64 = 1 << 24;

    pub(crate) const fn new() -> Self {
        Self::with_limit(Self::LIMIT)
    }

    pub(crate) const fn with_limit(left: u64) -> Self {
        Self { left }
    }

    /// Takes some steps. Once they are used up every further request fails, so that a verdict
    /// does not hang on which of two costly questions was asked first.
    pub(crate) fn spend(&mut self, n_steps: usize) -> Result<(), Exhausted> {
        let n_steps = u64::try_from(n_steps).unwrap_or(u64::MAX);
        match self.left.checked_sub(n_steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Exhausted)
            }
        }
    }

    /// Whether something was left open because the steps were used up.
    pub(crate) const fn is_used_up(&self) -> bool {
        self.left == 0
    }

    #[cfg(test)]
    pub(crate) const fn spent_of(&self, limit: u64) -> u64 {
        limit - self.left
    }
}
