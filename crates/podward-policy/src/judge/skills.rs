//! What the active skills deny, and that their own files are not asked about.

use std::borrow::Cow;
use std::sync::Arc;

use super::asking::judged;
use super::coverage::why_unknown;
use super::{View, Why, coverage};
use crate::action::Action;
use crate::asking::Asking;
use crate::operation::{Lowered, Need, Operation, OperationIdx, PathSubject, Subject};
use crate::policy::{Policies, Policy};
use crate::skill::{SkillFiles, SkillLayer, SkillSays};
use crate::tool::ToolName;
use crate::verdict::{Cause, Judged, Ruling};

/// Judges a call of a tool: one to which a skill leaves nothing is denied whatever the call would do.
pub(crate) fn judge_call(policies: &Policies, tool: &ToolName, call: &Lowered) -> Judged {
    let judged = judged(policies, call);
    if judged.ruling.action == Action::Deny {
        return judged;
    }
    match policies.skills.iter().find(|skill| !skill.leaves(tool)) {
        Some(skill) => Judged::settled(Ruling {
            action: Action::Deny,
            cause: skill.cause(skill.not_listed()),
            operation: None,
            coverage: judged.ruling.coverage,
        }),
        None => judged,
    }
}

/// What the layers say of a call, unless they leave it and a skill denies it, or they ask about a
/// skill's own files.
pub(super) fn under_skills(judged: Judged, policies: &Policies, call: &Lowered) -> Judged {
    if judged.ruling.action == Action::Deny {
        return judged;
    }
    if let Some(denial) = denial(&policies.skills, call) {
        return Judged::settled(denial);
    }
    match owner(&policies.skills, call) {
        Some(owner) if is_unasked(&judged.asking) => Judged::settled(Ruling {
            action: Action::Allow,
            cause: Cause::SkillFiles {
                name: owner.skill.name.clone(),
                digest: owner.skill.digest.clone(),
            },
            ..judged.ruling
        }),
        Some(_) | None => judged,
    }
}

/// Whether all that asks about a skill's own files is left unasked: none of it stands for a possible
/// deny, and none has to be answered by a person each time.
fn is_unasked(asking: &[Asking]) -> bool {
    !asking.is_empty() && asking.iter().all(|asking| asking.grantable)
}

/// The skill whose own files a call reads, if that is all that it does.
fn owner<'s>(skills: &'s [Arc<SkillLayer>], call: &Lowered) -> Option<&'s SkillLayer> {
    let Lowered::Operations(operations) = call else {
        return None;
    };
    if !call.only_reads() {
        return None;
    }
    let is_in = |files: &SkillFiles, operation: &Operation| match &operation.subject {
        Subject::Path(path) => lies_in(path, files),
        Subject::Tree(_)
        | Subject::Command(_)
        | Subject::Url(_)
        | Subject::Plain(_)
        | Subject::Unknown(_) => false,
    };
    let holds = |files: &SkillFiles| operations.iter().all(|operation| is_in(files, operation));
    let skills = skills.iter().map(|skill| &**skill);
    skills
        .into_iter()
        .find(|skill| skill.files.as_ref().is_some_and(holds))
}

fn lies_in(path: &PathSubject, files: &SkillFiles) -> bool {
    let mut forms = std::iter::once(&path.lexical).chain(&path.resolved);
    forms.all(|form| {
        form.absolute
            .as_known()
            .is_some_and(|path| files.hold(path))
    })
}

/// What the first skill that denies a call says of it.
fn denial(skills: &[Arc<SkillLayer>], call: &Lowered) -> Option<Ruling> {
    let Lowered::Operations(operations) = call else {
        return None;
    };
    skills.iter().find_map(|skill| {
        let policy = skill.policy.as_ref()?;
        let mut view = View::new(policy, operations);
        let denied = operations
            .iter()
            .enumerate()
            .filter_map(|(idx, operation)| {
                let decision = view.decide(&as_listed(operation), &mut ());
                let is_denied = decision.action != Action::Allow;
                is_denied.then(|| {
                    (
                        skill.says(policy, decision.why, operation),
                        OperationIdx(idx),
                    )
                })
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
    fn says(&self, policy: &Policy, why: Why, operation: &Operation) -> SkillSays {
        match why {
            Why::Rule(idx) => match policy.rules.get(idx) {
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
