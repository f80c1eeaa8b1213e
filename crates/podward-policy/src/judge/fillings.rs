//! A text with holes: what the rules say over the ways to fill them.

use super::watch::Step;
use super::{Decision, Why, operand};
use crate::action::Action;
use crate::operation::{Operation, PathForm, Subject};
use crate::pattern::Hit;
use crate::rule::{Operand, Rule, has_expansion};

/// What the rules so far say of some ways to fill the holes.
#[derive(Debug, Default)]
pub(super) struct OverFillings {
    strictest: Option<Action>,
    mildest: Option<Action>,
    first: Option<usize>,
    /// What the strictest rule says that matches the whole call.
    floor: Option<(Action, usize)>,
}

impl OverFillings {
    /// Takes in a rule that does not end the search by matching, however the holes are filled.
    pub(super) fn hear(&mut self, step: Step, action: Action) {
        if step.whole == Hit::Must && self.floor.is_none_or(|(floor, _)| action > floor) {
            self.floor = Some((action, step.idx));
        }
        if step.hit() == Hit::May {
            self.add(action, Some(step.idx));
        }
    }

    fn add(&mut self, action: Action, rule: Option<usize>) {
        self.strictest = self.strictest.max(Some(action));
        self.mildest = Some(self.mildest.map_or(action, |mildest| mildest.min(action)));
        self.first = self.first.or(rule);
    }

    /// Whether what one more rule says of some fillings is what all say so far.
    pub(super) fn is_only(&self, action: Action) -> bool {
        self.strictest == Some(action) && self.mildest == Some(action)
    }

    pub(super) fn is_mixed(&self) -> bool {
        self.strictest != self.mildest
    }

    pub(super) fn end(mut self, decisive: Decision, unresolved: Action) -> Decision {
        self.add(decisive.action, None);
        let own = match self.is_mixed() {
            true => Decision {
                action: unresolved,
                why: Why::Unresolved(self.first),
            },
            false => decisive,
        };
        match self.floor {
            Some((action, rule)) if action >= own.action => Decision {
                action,
                why: Why::Rule(rule),
            },
            _ => own,
        }
    }
}

/// Whether a rule counts that not every way to fill the holes of a text matches.
pub(super) fn counts_in_part(rule: &Rule, operation: &Operation) -> bool {
    let is_unsure = match &operation.subject {
        // A restriction matches where what it names begins below, an allow only as a whole.
        Subject::Tree(_) => return rule.is_restrictive(),
        Subject::Path(path) => path.forms().flat_map(PathForm::texts).all(has_expansion),
        Subject::Url(url) => has_expansion(&url.text),
        Subject::Command(_) | Subject::Plain(_) | Subject::Unknown(_) => false,
    };
    !(is_unsure && rule.is_restrictive() && operand(operation) == Operand::Certain)
}
