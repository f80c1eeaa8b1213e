//! A text with holes: what the rules say over the ways to fill them.

use super::{Decision, Why};
use crate::action::Action;

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
    pub(super) fn at_least(&mut self, action: Action, rule: usize) {
        if self.floor.is_none_or(|(floor, _)| action > floor) {
            self.floor = Some((action, rule));
        }
    }

    pub(super) fn add(&mut self, action: Action, rule: Option<usize>) {
        self.strictest = self.strictest.max(Some(action));
        self.mildest = Some(self.mildest.map_or(action, |mildest| mildest.min(action)));
        self.first = self.first.or(rule);
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
