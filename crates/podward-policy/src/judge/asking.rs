//! All that asks about a call: what a remembered approval would have to answer.

use super::skills::under_skills;
use super::watch::{Step, Watch};
use super::{Decision, Found, View, Why, coverage, judge_by_layers, judge_with};
use crate::action::Action;
use crate::asking::{AskedBy, Asker, Asking};
use crate::operation::{Lowered, Subject};
use crate::pattern::Hit;
use crate::policy::{Policies, Policy};
use crate::rule::Rule;
use crate::rule::tools::stands_for_anything;
use crate::verdict::{Cause, Judged, LayerName, Ruling};

/// Judges a call over all layers and active skills, and tells all that asks about it.
pub(crate) fn judged(policies: &Policies, call: &Lowered) -> Judged {
    let mut asking = AllThatAsks::default();
    let ruling = judge_with(&policies.layers, call, &mut asking);
    under_skills(asking.about(ruling), policies, call)
}

/// What is said of a call that is asked about once all that asks is answered but for this: an ask
/// still, whose cause is one of these.
pub(crate) fn judge_rest(
    layers: &[(LayerName, Policy)],
    call: &Lowered,
    rest: &[Asking],
) -> Ruling {
    let Lowered::Operations(operations) = call else {
        return judge_by_layers(layers, call);
    };
    let mut worst: Option<Found<'_>> = None;
    for (name, policy) in layers {
        let mut view = View::new(policy, operations);
        for left in rest.iter().filter(|left| left.asker.layer == name.kind) {
            let Some(operation) = operations.get(left.operation) else {
                continue;
            };
            let found = Found {
                decision: view.decide(operation, &mut ()),
                operation: left.operation,
                layer: name,
                policy,
            };
            let asks = found.decision.action == Action::Ask;
            if asks && worst.as_ref().is_none_or(|w| found.weight() > w.weight()) {
                worst = Some(found);
            }
        }
    }
    match worst {
        Some(worst) => Ruling {
            action: Action::Ask,
            cause: worst.cause(operations),
            operation: Some(worst.operation),
            coverage: coverage(operations),
        },
        None => judge_by_layers(layers, call),
    }
}

/// What asks about a call, collected while it is judged.
#[derive(Default)]
struct AllThatAsks {
    found: Vec<Asking>,
    /// Some layer denies, or some text was too costly to compare.
    is_in_doubt: bool,
    /// About the operation that is being decided.
    askers: Askers,
}

/// What of one layer asks about one operation.
#[derive(Default)]
struct Askers {
    /// Rules, by their places.
    rules: Vec<usize>,
    /// Rules that match the whole call: each can only tighten.
    whole: Vec<usize>,
    /// What asks where no rule ends the search.
    last: Option<AskedBy>,
    /// How many rules, the default among them, say something of some way to fill the holes.
    n_possible: usize,
    n_possible_denies: usize,
    /// A rule that matches the whole call denies it.
    is_whole_denied: bool,
}

/// To the end: a deny behind a mix counts as well.
impl Watch for AllThatAsks {
    const SEES_ALL: bool = false;
    const GOES_ON: bool = true;

    fn step(&mut self, step: Step, rule: &Rule) {
        let askers = &mut self.askers;
        if step.whole == Hit::Must {
            match rule.action {
                Action::Allow => {}
                Action::Ask => askers.whole.push(step.idx),
                Action::Deny => askers.is_whole_denied = true,
            }
        }
        if step.hit() != Hit::No {
            askers.n_possible += 1;
            match rule.action {
                Action::Allow => {}
                Action::Ask => askers.rules.push(step.idx),
                Action::Deny => askers.n_possible_denies += 1,
            }
        }
    }

    fn last(&mut self, decisive: Decision) {
        let askers = &mut self.askers;
        askers.n_possible += 1;
        match decisive.action {
            Action::Allow => {}
            Action::Ask => {
                askers.last = Some(match decisive.why {
                    Why::Unnamed => AskedBy::Unnamed,
                    Why::Default | Why::Rule(_) | Why::Unresolved(_) | Why::Unrestricted => {
                        AskedBy::Default
                    }
                });
            }
            Action::Deny => askers.n_possible_denies += 1,
        }
    }

    fn decided(&mut self, found: &Found<'_>, view: &View<'_>) {
        let askers = std::mem::take(&mut self.askers);
        self.is_in_doubt |= view.is_used_up() || askers.deny(found.policy);
        askers.add_to(&mut self.found, found, view);
    }
}

impl AllThatAsks {
    /// All of it, beside the ruling. Where it is in doubt what the rules say, the ruling tells, and what was
    /// found may be answered by a person only.
    fn about(mut self, ruling: Ruling) -> Judged {
        if ruling.action != Action::Ask {
            self.found.clear();
        } else if self.is_in_doubt {
            for asking in &mut self.found {
                asking.grantable = false;
            }
            self.found.extend(unresolved(&ruling));
        }
        Judged {
            ruling,
            asking: self.found,
        }
    }
}

/// What asks where it is not known whether something denies.
fn unresolved(ruling: &Ruling) -> Option<Asking> {
    let layer = match &ruling.cause {
        Cause::Rule { layer, .. }
        | Cause::Default { layer, .. }
        | Cause::Unresolved { layer, .. }
        | Cause::Unnamed { layer } => layer.kind,
        Cause::NoPolicy
        | Cause::NothingToRun
        | Cause::Unrestricted
        | Cause::Skill { .. }
        | Cause::SkillFiles { .. } => return None,
    };
    Some(Asking {
        operation: ruling.operation?,
        asker: Asker {
            layer,
            by: AskedBy::Unresolved,
        },
        grantable: false,
        ask_timeout: None,
    })
}

impl Askers {
    /// Whether the layer denies the operation.
    fn deny(&self, policy: &Policy) -> bool {
        let n_asks = self.rules.len() + usize::from(self.last.is_some());
        let (n_denies, n_possible) = (self.n_possible_denies, self.n_possible);
        let is_mixed = ![0, n_possible].contains(&n_denies) || ![0, n_possible].contains(&n_asks);
        let is_denied = n_denies > 0 && n_denies == n_possible;
        is_denied || (is_mixed && policy.unresolved == Action::Deny) || self.is_whole_denied
    }

    fn add_to(self, all: &mut Vec<Asking>, found: &Found<'_>, view: &View<'_>) {
        let may_be_denied = self.n_possible_denies > 0 || self.is_whole_denied;
        let is_known = view
            .operations
            .get(found.operation)
            .is_some_and(|operation| {
                !matches!(operation.subject, Subject::Unknown(_)) && !stands_for_anything(operation)
            });
        let asking = |by, grantable, ask_timeout| Asking {
            operation: found.operation,
            asker: Asker {
                layer: found.layer.kind,
                by,
            },
            grantable: grantable && is_known && !may_be_denied,
            ask_timeout,
        };
        if may_be_denied {
            all.push(asking(AskedBy::Unresolved, false, None));
        }
        let not_whole = self.rules.iter().filter(|idx| !self.whole.contains(idx));
        let rules = self.whole.iter().chain(not_whole);
        all.extend(rules.filter_map(|idx| {
            let rule = found.policy.rules.get(*idx)?;
            let by = AskedBy::Rule {
                tool: rule.written_tool().into(),
                pattern: (*rule.pattern).into(),
            };
            Some(asking(by, rule.grantable, rule.ask_timeout()))
        }));
        all.extend(self.last.map(|by| asking(by, true, None)));
    }
}
