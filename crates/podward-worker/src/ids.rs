//! Ids that are valid and unique, whatever the model writes.

use std::collections::{BTreeMap, BTreeSet};

use podward_gate::CallId;

/// The call ids of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallIds {
    used: BTreeSet<CallId>,
    /// The number that the next call with the same id gets.
    next: BTreeMap<CallId, u32>,
}

impl CallIds {
    pub(crate) fn new<'a>(used: impl Iterator<Item = &'a str>) -> Self {
        Self {
            used: used.filter_map(|id| CallId::new(id).ok()).collect(),
            next: BTreeMap::new(),
        }
    }

    /// The id for a call to which the model gave this one.
    pub(crate) fn take(&mut self, from_model: &str) -> CallId {
        let wanted = typeable(CallId::from_model(from_model));
        let mut id = wanted.clone();
        while !self.used.insert(id.clone()) {
            let next = self.next.entry(wanted.clone()).or_insert(2);
            id = wanted.numbered(*next);
            *next = next.wrapping_add(1);
        }
        id
    }
}

/// An id that stands for itself wherever people type one: it is no option, and not the word for all.
fn typeable(id: CallId) -> CallId {
    match id.as_str() == "all" || id.as_str().starts_with('-') {
        true => CallId::from_model(&format!("call_{id}")),
        false => id,
    }
}

/// The nearest name to what a model wrote that every provider takes back.
pub(crate) fn tool_name(from_model: &str) -> String {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let fit: String = from_model
        .chars()
        .take(128)
        .map(|c| if is_fit(c) { c } else { '_' })
        .collect();
    if fit.is_empty() {
        "unnamed".to_owned()
    } else {
        fit
    }
}

#[cfg(test)]
mod tests;
