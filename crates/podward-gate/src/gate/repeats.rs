//! How often the model makes the same call.

use std::collections::BTreeMap;
use std::sync::Arc;

use podward_policy::ToolName;

use super::REPEATS_ASKED;
use crate::call::CallFacts;

/// How often each call was submitted in this turn, since another one was permitted that does more than
/// read.
///
/// A further call of a running one is not the model's, and changes nothing here.
#[derive(Debug, Default)]
pub(super) struct Repeats(BTreeMap<Key, u32>);

/// What calls have in common that repeat each other.
type Key = (ToolName, Arc<str>);

impl Repeats {
    /// Whether a call is repeated if it is submitted now.
    pub(super) fn is_repeat(&self, facts: &CallFacts) -> bool {
        let n_submitted = self.0.get(&key_of(facts)).copied().unwrap_or(0);
        facts.part_of().is_none() && n_submitted.saturating_add(1) >= REPEATS_ASKED
    }

    /// Counts a call that is submitted.
    pub(super) fn count(&mut self, facts: &CallFacts) {
        if facts.part_of().is_none() {
            let n_submitted = self.0.entry(key_of(facts)).or_default();
            *n_submitted = n_submitted.saturating_add(1);
        }
    }

    /// Forgets how often the other calls were made, where this one, which is permitted, may change what
    /// becomes of them.
    pub(super) fn permitted(&mut self, facts: &CallFacts) {
        if facts.part_of().is_none() && !facts.lowered().only_reads() {
            let key = key_of(facts);
            self.0.retain(|other, _| *other == key);
        }
    }
}

fn key_of(facts: &CallFacts) -> Key {
    (facts.tool().clone(), Arc::clone(facts.shared_arguments()))
}

#[cfg(test)]
mod tests;
