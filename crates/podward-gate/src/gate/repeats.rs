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
pub(super) struct Repeats(BTreeMap<ToolName, BTreeMap<Arc<str>, u32>>);

impl Repeats {
    /// Whether a call is repeated if it is submitted now.
    pub(super) fn is_repeat(&self, facts: &CallFacts) -> bool {
        let with_tool = self.0.get(facts.tool());
        let n_submitted = with_tool.and_then(|with_tool| with_tool.get(facts.arguments()));
        let n_submitted = n_submitted.copied().unwrap_or(0);
        facts.part_of().is_none() && n_submitted.saturating_add(1) >= REPEATS_ASKED
    }

    /// Counts a call that is submitted: whether it is repeated.
    pub(super) fn count(&mut self, facts: &CallFacts) -> bool {
        if facts.part_of().is_some() {
            return false;
        }
        let with_tool = self.0.entry(facts.tool().clone()).or_default();
        let arguments = Arc::clone(facts.shared_arguments());
        let n_submitted = with_tool.entry(arguments).or_default();
        *n_submitted = n_submitted.saturating_add(1);
        *n_submitted >= REPEATS_ASKED
    }

    /// Forgets how often the other calls were made, where this one, which is permitted, may change what
    /// becomes of them.
    pub(super) fn permitted(&mut self, facts: &CallFacts) {
        if facts.part_of().is_none() && !facts.lowered().only_reads() {
            self.0.retain(|tool, _| tool == facts.tool());
            for with_tool in self.0.values_mut() {
                with_tool.retain(|arguments, _| **arguments == *facts.arguments());
            }
        }
    }
}

#[cfg(test)]
mod tests;
