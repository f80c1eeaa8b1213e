//! What one layer says of each operation of a call.

use super::{View, Why};
use crate::analysis::Decided;
use crate::operation::{Lowered, OperationIdx};
use crate::policy::Policy;
use crate::verdict::RuleIdx;

/// What a layer says of each operation, in their order.
pub(crate) fn decisions(policy: &Policy, call: &Lowered) -> Vec<Decided> {
    let Lowered::Operations(operations) = call else {
        return Vec::new();
    };
    let mut view = View::new(policy, operations);
    let decided = |(idx, operation)| {
        let decision = view.decide(operation, &mut ());
        Decided {
            operation: OperationIdx(idx),
            action: decision.action,
            rule: match decision.why {
                Why::Rule(rule) => Some(RuleIdx(rule)),
                Why::Default | Why::Unresolved(_) | Why::Unrestricted | Why::Unnamed => None,
            },
        }
    };
    operations.iter().enumerate().map(decided).collect()
}
