//! What the active skills deny.

use std::borrow::Cow;
use std::sync::Arc;

use super::{View, Why, coverage, why_unknown};
use crate::action::Action;
use crate::operation::{Lowered, Need, Operation, OperationIdx};
use crate::policy::Policies;
use crate::skill::{SkillLayer, SkillSays};
use crate::tool::ToolName;
use crate::verdict::{Cause, Ruling};

/// Judges a call of a tool: one to which a skill leaves nothing is denied whatever the call would do.
pub(crate) fn judge_call(policies: &Policies, tool: &ToolName, call: &Lowered) -> Ruling {
    let ruling = policies.judge(call);
    if ruling.action == Action::Deny {
        return ruling;
    }
    match policies.skills.iter().find(|skill| !skill.leaves(tool)) {
        Some(skill) => Ruling {
            action: Action::Deny,
            cause: skill.cause(skill.not_listed()),
            operation: None,
            coverage: ruling.coverage,
        },
        None => ruling,
    }
}

/// What the layers say of a call, unless they leave it and a skill denies it.
pub(crate) fn under_skills(ruling: Ruling, skills: &[Arc<SkillLayer>], call: &Lowered) -> Ruling {
    match ruling.action {
        Action::Deny => ruling,
        Action::Allow | Action::Ask => denial(skills, call).unwrap_or(ruling),
    }
}

/// What the first skill that denies a call says of it.
pub(super) fn denial(skills: &[Arc<SkillLayer>], call: &Lowered) -> Option<Ruling> {
    let Lowered::Operations(operations) = call else {
        return None;
    };
    skills.iter().find_map(|skill| {
        let mut view = View::new(&skill.policy, operations);
        let denied = operations
            .iter()
            .enumerate()
            .filter_map(|(idx, operation)| {
                let decision = view.decide(&as_listed(operation), &mut ());
                let is_denied = decision.action != Action::Allow;
                is_denied.then(|| (skill.says(decision.why, operation), OperationIdx(idx)))
            });
        let (says, operation) =
            denied.max_by_key(|(says, idx)| (weight(says), usize::MAX - idx.0))?;
        Some(Ruling {
            action: Action::Deny,
            cause: skill.cause(says),
            operation: Some(operation),
            coverage: coverage(operations),
        })
    })
}

/// An operation as lists see it. That an address has to be named is said by the layers alone: a skill
/// that lists all of a tool, or restricts nothing of it, has nothing against an address.
fn as_listed(operation: &Operation) -> Cow<'_, Operation> {
    match operation.need {
        Need::Named => Cow::Owned(Operation {
            need: Need::Full,
            ..operation.clone()
        }),
        Need::Full | Need::Restrictive | Need::Free | Need::DerivedFrom(_) | Need::RunBy { .. } => {
            Cow::Borrowed(operation)
        }
    }
}

/// Of two denials that which says more.
const fn weight(says: &SkillSays) -> u8 {
    match says {
        SkillSays::NotListed { .. } => 0,
        SkillSays::Unresolved { .. } => 1,
        SkillSays::Disallowed { .. } => 2,
    }
}

impl SkillLayer {
    fn cause(&self, says: SkillSays) -> Cause {
        Cause::Skill {
            name: self.skill.name.clone(),
            digest: self.skill.digest.clone(),
            says,
        }
    }

    fn not_listed(&self) -> SkillSays {
        SkillSays::NotListed {
            list: self.skill.allowed.clone().unwrap_or_default(),
        }
    }

    /// What stands against an operation.
    fn says(&self, why: Why, operation: &Operation) -> SkillSays {
        match why {
            Why::Rule(idx) => match self.policy.rules.get(idx) {
                Some(rule) => SkillSays::Disallowed {
                    entry: (**rule.message().unwrap_or(&rule.pattern)).into(),
                    location: rule.location(),
                },
                None => self.not_listed(),
            },
            Why::Unresolved(_) => SkillSays::Unresolved {
                list: self.skill.allowed.clone(),
                why: why_unknown(Some(operation)),
            },
            Why::Default | Why::Unrestricted | Why::Unnamed => self.not_listed(),
        }
    }
}
