//! What one layer says, and the cause that is told of it.

use super::coverage::why_unknown;
use crate::action::Action;
use crate::operation::{OperationIdx, Operations};
use crate::policy::Policy;
use crate::rule::Rule;
use crate::verdict::{Cause, LayerName, RuleIdx};

/// What one layer says of one operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decision {
    pub(super) action: Action,
    pub(super) why: Why,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Why {
    Rule(usize),
    Default,
    /// The ways to fill the holes do not agree; the first rule that some of them match.
    Unresolved(Option<usize>),
    Unrestricted,
    /// No rule names the address, and the default would have allowed it.
    Unnamed,
}

/// A decision and whose it is.
pub(super) struct Found<'a> {
    pub(super) decision: Decision,
    pub(super) operation: OperationIdx,
    pub(super) layer: &'a LayerName,
    pub(super) policy: &'a Policy,
}

impl Found<'_> {
    /// The stricter one decides; of two equal ones that which says more, then the first.
    pub(super) fn weight(&self) -> (Action, u8) {
        let says = match self.decision.why {
            Why::Unrestricted => 0,
            Why::Default | Why::Unnamed => 1,
            Why::Unresolved(_) => 2,
            Why::Rule(_) => 3,
        };
        (self.decision.action, says)
    }

    pub(super) fn cause(&self, operations: &Operations) -> Cause {
        let layer = self.layer.clone();
        let rule_at = |idx: usize| self.policy.rules.get(idx);
        let default = |layer| Cause::Default {
            layer,
            location: self.policy.default_location.clone(),
        };
        match self.decision.why {
            Why::Unrestricted => Cause::Unrestricted,
            Why::Unnamed => Cause::Unnamed { layer },
            Why::Default => default(layer),
            Why::Rule(idx) => match rule_at(idx) {
                Some(rule) => Cause::Rule {
                    layer,
                    rule: RuleIdx(idx),
                    location: rule.location(),
                    pattern: rule.pattern.clone(),
                    message: rule.message().cloned(),
                },
                None => default(layer),
            },
            Why::Unresolved(idx) => Cause::Unresolved {
                layer,
                rule: idx.map(RuleIdx),
                location: idx.and_then(rule_at).map(Rule::location),
                why: why_unknown(operations.get(self.operation)),
            },
        }
    }
}
