//! All that asks about a call: what a remembered approval would have to answer.

use super::skills::{denial, is_unasked, owner};
use super::{Decision, Found, How, View, Why, counts_in_part, coverage, judge_by_layers};
use crate::action::Action;
use crate::asking::{AskedBy, Asker, Asking};
use crate::index::Candidate;
use crate::operation::{Lowered, Operation, OperationIdx, Subject};
use crate::pattern::Hit;
use crate::policy::{Policies, Policy};
use crate::rule::Rule;
use crate::rule::tools::stands_for_anything;
use crate::verdict::{Cause, LayerKind, LayerName, Ruling};

/// All that asks about a call; empty unless the ruling is ask.
pub(crate) fn asking(policies: &Policies, call: &Lowered) -> Vec<Asking> {
    if denial(&policies.skills, call).is_some() {
        return Vec::new();
    }
    let asking = asking_of_layers(&policies.layers, call);
    match owner(&policies.skills, call) {
        Some(_) if is_unasked(&asking) => Vec::new(),
        Some(_) | None => asking,
    }
}

/// All that asks about a call in these layers, whatever skills are active.
pub(super) fn asking_of_layers(layers: &[(LayerName, Policy)], call: &Lowered) -> Vec<Asking> {
    let Lowered::Operations(operations) = call else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let mut is_sure = true;
    for (name, policy) in layers {
        let mut view = View::new(policy, operations);
        for (idx, operation) in operations.iter().enumerate() {
            let Some(how) = view.how(operation) else {
                continue;
            };
            let askers = view.askers(operation, how);
            is_sure &= !askers.is_denied;
            all.extend(askers.of(name.kind, OperationIdx(idx), operation));
        }
        is_sure &= !view.work.is_used_up();
    }
    match is_sure {
        true => all,
        false => asking_beyond_doubt(layers, call, all),
    }
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

/// Some layer denies, or some text was too costly to compare: the ruling tells, and what was found
/// may be answered by a person only.
fn asking_beyond_doubt(
    layers: &[(LayerName, Policy)],
    call: &Lowered,
    mut found: Vec<Asking>,
) -> Vec<Asking> {
    let ruling = judge_by_layers(layers, call);
    if ruling.action != Action::Ask {
        return Vec::new();
    }
    let layer = match ruling.cause {
        Cause::Rule { layer, .. }
        | Cause::Default { layer, .. }
        | Cause::Unresolved { layer, .. }
        | Cause::Unnamed { layer } => Some(layer.kind),
        Cause::NoPolicy
        | Cause::NothingToRun
        | Cause::Unrestricted
        | Cause::Skill { .. }
        | Cause::SkillFiles { .. } => None,
    };
    for asking in &mut found {
        asking.grantable = false;
    }
    if let (Some(layer), Some(operation)) = (layer, ruling.operation) {
        found.push(Asking {
            operation,
            asker: Asker {
                layer,
                by: AskedBy::Unresolved,
            },
            grantable: false,
            ask_timeout: None,
        });
    }
    found
}

/// What of one layer asks about one operation.
#[derive(Debug, Default)]
struct Askers<'a> {
    rules: Vec<&'a Rule>,
    /// Rules that match the whole call: each can only tighten.
    whole: Vec<&'a Rule>,
    /// What asks where no rule ends the search.
    last: Option<AskedBy>,
    /// A rule, or the default, denies some way to fill the holes.
    may_be_denied: bool,
    /// The layer denies the operation.
    is_denied: bool,
}

impl<'a> View<'a> {
    /// As [`View::first_match`], but to the end: a deny behind a mix counts as well.
    fn askers(&mut self, operation: &Operation, how: How) -> Askers<'a> {
        let mut askers = Askers::default();
        let policy = self.policy;
        let mut n_possible = 0_usize;
        let mut n_possible_denies = 0_usize;
        for Candidate { idx, is_in_part } in self.order(operation, how) {
            let Some(rule) = policy.rules.get(idx) else {
                continue;
            };
            if is_in_part && !counts_in_part(rule, operation) {
                continue;
            }
            let mut hit = self.hit_of(idx, rule, operation, how);
            match self.hit_whole(idx, rule, operation) {
                Hit::No => {}
                Hit::May => hit = hit.max(Hit::May),
                Hit::Must => askers.whole.push(rule),
            }
            if hit == Hit::No {
                continue;
            }
            n_possible += 1;
            match rule.action {
                Action::Allow => {}
                Action::Ask => askers.rules.push(rule),
                Action::Deny => n_possible_denies += 1,
            }
            if hit == Hit::Must {
                return askers.end(n_possible, n_possible_denies, policy.unresolved);
            }
        }
        n_possible += 1;
        match self.last(operation, how) {
            Decision {
                action: Action::Allow,
                ..
            } => {}
            Decision {
                action: Action::Ask,
                why: Why::Unnamed,
            } => askers.last = Some(AskedBy::Unnamed),
            Decision {
                action: Action::Ask,
                why: Why::Default | Why::Rule(_) | Why::Unresolved(_) | Why::Unrestricted,
            } => askers.last = Some(AskedBy::Default),
            Decision {
                action: Action::Deny,
                ..
            } => n_possible_denies += 1,
        }
        askers.end(n_possible, n_possible_denies, policy.unresolved)
    }
}

impl Askers<'_> {
    fn end(mut self, n_possible: usize, n_possible_denies: usize, unresolved: Action) -> Self {
        let n_asks = self.rules.len() + usize::from(self.last.is_some());
        let is_mixed =
            ![0, n_possible].contains(&n_possible_denies) || ![0, n_possible].contains(&n_asks);
        let is_whole_denied = self.whole.iter().any(|rule| rule.action == Action::Deny);
        self.may_be_denied = n_possible_denies > 0 || is_whole_denied;
        self.is_denied = n_possible_denies == n_possible
            || (is_mixed && unresolved == Action::Deny)
            || is_whole_denied;
        let asks = |rule: &&&Rule| rule.action == Action::Ask;
        let rules = std::mem::take(&mut self.rules);
        self.rules = self.whole.iter().filter(asks).copied().collect();
        for rule in rules {
            if !self.whole.iter().any(|whole| std::ptr::eq(*whole, rule)) {
                self.rules.push(rule);
            }
        }
        self
    }

    fn of(self, layer: LayerKind, idx: OperationIdx, operation: &Operation) -> Vec<Asking> {
        let is_known = match &operation.subject {
            Subject::Unknown(_) => false,
            Subject::Command(_)
            | Subject::Path(_)
            | Subject::Tree(_)
            | Subject::Url(_)
            | Subject::Plain(_) => !stands_for_anything(operation),
        };
        let may_be_granted = is_known && !self.may_be_denied;
        let asking = |by, grantable, ask_timeout| Asking {
            operation: idx,
            asker: Asker { layer, by },
            grantable: grantable && may_be_granted,
            ask_timeout,
        };
        let mut all = Vec::new();
        if self.may_be_denied {
            all.push(asking(AskedBy::Unresolved, false, None));
        }
        all.extend(self.rules.into_iter().map(|rule| {
            let by = AskedBy::Rule {
                tool: rule.written_tool().into(),
                pattern: (*rule.pattern).into(),
            };
            asking(by, rule.grantable, rule.ask_timeout())
        }));
        all.extend(self.last.map(|by| asking(by, true, None)));
        all
    }
}
