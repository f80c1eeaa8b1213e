//! The verdict over a call: first match in each layer, holes, the strictest over operations and
//! layers, with its cause.

use crate::action::Action;
use crate::operation::{Lowered, Need, Operation, OperationIdx, Operations, Subject};
use crate::policy::{Policies, Policy};
use crate::rule::path::tightens_nothing;
use crate::rule::tools::stands_for_anything;
use crate::rule::{Rule, has_expansion};
use crate::tool::{BASH, EXTERNAL_DIRECTORY, ToolName};
use crate::verdict::{Cause, Coverage, LayerName, Ruling};
use crate::work::Work;

mod asking;
mod coverage;
mod decided;
mod decision;
mod explain;
mod fillings;
mod how;
mod reach;
mod skills;
mod watch;

pub(crate) use asking::{judge_rest, judged};
use coverage::coverage;
pub(crate) use decided::decisions;
use decision::{Decision, Found, Why};
pub(crate) use explain::explain;
use fillings::{OverFillings, counts_in_part};
use how::{CatchAll, How, is_located, operand};
pub(crate) use reach::may_ever_run;
pub(crate) use skills::judge_call;

use crate::explanation::Tried;
use crate::index::{Candidate, Order};
use crate::pattern::Hit;
use watch::{Step, Watch};

/// Judges a call over all layers and active skills.
pub(crate) fn judge(policies: &Policies, call: &Lowered) -> Ruling {
    match policies.skills.is_empty() {
        true => judge_by_layers(&policies.layers, call),
        false => judged(policies, call).ruling,
    }
}

/// Judges a call over all layers.
pub(crate) fn judge_by_layers(layers: &[(LayerName, Policy)], call: &Lowered) -> Ruling {
    judge_with(layers, call, &mut ())
}

/// Judges a call over all layers, and lets somebody watch.
fn judge_with(layers: &[(LayerName, Policy)], call: &Lowered, watch: &mut impl Watch) -> Ruling {
    let operations = match call {
        Lowered::NothingToRun => {
            return Ruling {
                action: Action::Allow,
                cause: Cause::NothingToRun,
                operation: None,
                coverage: Coverage::Full,
            };
        }
        Lowered::Operations(operations) => operations,
    };
    let coverage = coverage(operations);
    let mut worst: Option<Found<'_>> = None;
    for (name, policy) in layers {
        let mut view = View::new(policy, operations);
        for (idx, operation) in operations.iter().enumerate() {
            let found = Found {
                decision: view.decide(operation, watch),
                operation: OperationIdx(idx),
                layer: name,
                policy,
            };
            watch.decided(&found, &view);
            if worst
                .as_ref()
                .is_none_or(|worst| found.weight() > worst.weight())
            {
                worst = Some(found);
            }
        }
    }
    match worst {
        Some(worst) => Ruling {
            action: worst.decision.action,
            cause: worst.cause(operations),
            operation: Some(worst.operation),
            coverage,
        },
        None => Ruling {
            action: Action::Allow,
            cause: Cause::NoPolicy,
            operation: None,
            coverage,
        },
    }
}

/// The rule without wildcards that is the text of the whole call.
fn exact(policy: &Policy, text: &str, own_tool: Option<&ToolName>) -> Option<usize> {
    let is_exact = |idx: &usize| {
        policy.rules.get(*idx).is_some_and(|rule| {
            rule.action == Action::Allow
                && rule.literal() == Some(text)
                && own_tool.is_none_or(|tool| rule.tool().matches(tool, rule.action))
        })
    };
    match policy.index.get().and_then(Option::as_ref) {
        Some(index) => index.with_literal(text).find(is_exact),
        None => (0..policy.rules.len()).find(is_exact),
    }
}

/// A call as one layer sees it.
struct View<'a> {
    policy: &'a Policy,
    operations: &'a Operations,
    /// The tool that the call is to.
    own_tool: Option<&'a ToolName>,
    /// The rule without wildcards that is the text of the whole call.
    exact: Option<usize>,
    /// What the verdict hangs on.
    decisive: Findings,
    /// What is found out beside it, which has an allowance of work of its own: so the verdict is the
    /// same, whoever watches.
    beside: Findings,
}

/// What was found out about a call, and the work that is left for more.
#[derive(Debug, Default)]
struct Findings {
    /// What each rule says of the text of the whole call, once it was asked.
    of_whole: Vec<(usize, Hit)>,
    work: Work,
}

impl<'a> View<'a> {
    fn new(policy: &'a Policy, operations: &'a Operations) -> Self {
        let first = operations
            .iter()
            .filter(|operation| operation.tool.as_str() != EXTERNAL_DIRECTORY)
            .find(|operation| match operation.need {
                Need::Full | Need::Named | Need::Free | Need::RunBy { .. } => true,
                Need::Restrictive | Need::DerivedFrom(_) => false,
            })
            .map(|operation| &operation.tool);
        // A command line may be nothing but what it writes on the side (`> x`).
        let own_tool = match operations.whole() {
            Some(_) => Some(&*BASH),
            None => first,
        };
        let exact = operations
            .whole()
            .and_then(|whole| exact(policy, &whole.exact, own_tool));
        Self {
            policy,
            operations,
            own_tool,
            exact,
            decisive: Findings::default(),
            beside: Findings::default(),
        }
    }

    /// What the layer says of an operation.
    fn decide(&mut self, operation: &Operation, watch: &mut impl Watch) -> Decision {
        match self.how(operation) {
            Some(how) => self.first_match(operation, how, watch),
            None => Decision {
                action: Action::Allow,
                why: Why::Unrestricted,
            },
        }
    }

    /// How the rules are tried on an operation; `None`: the layer says nothing of it.
    fn how(&mut self, operation: &Operation) -> Option<How> {
        let says_nothing = match operation.need {
            Need::Restrictive => match &operation.subject {
                Subject::Path(path) | Subject::Tree(path) => tightens_nothing(path),
                Subject::Url(url) => url.text.known_part().is_empty() && has_expansion(&url.text),
                Subject::Command(_) | Subject::Plain(_) | Subject::Unknown(_) => false,
            },
            Need::Full | Need::Named | Need::Free | Need::DerivedFrom(_) | Need::RunBy { .. } => {
                false
            }
        };
        if says_nothing {
            return None;
        }
        let mut how = How {
            cover: None,
            meets_default: match operation.need {
                Need::Restrictive | Need::Free => false,
                Need::Full | Need::Named | Need::DerivedFrom(_) | Need::RunBy { .. } => {
                    operation.tool.as_str() != EXTERNAL_DIRECTORY
                }
            },
            catch_all: match operation.need {
                Need::Free | Need::Named => CatchAll::Never,
                Need::Restrictive if self.own_tool == Some(&operation.tool) => CatchAll::Never,
                Need::Restrictive => CatchAll::OfItsTool,
                Need::Full | Need::DerivedFrom(_) | Need::RunBy { .. } => CatchAll::Always,
            },
        };
        match operation.need {
            Need::DerivedFrom(command) if self.is_allowed_with_all(command) => {
                how.meets_default = false;
                how.catch_all = CatchAll::OfItsTool;
            }
            // The words of the wrapper do not say where what it runs lies.
            Need::RunBy { wrapper, reach } if !is_located(operation) => {
                how.cover = self.rule_over(wrapper, reach);
            }
            Need::Full
            | Need::Restrictive
            | Need::Named
            | Need::Free
            | Need::DerivedFrom(_)
            | Need::RunBy { .. } => {}
        }
        Some(how)
    }

    /// Whether a tool-wide `*` allow, or an allow default, decides a command.
    fn is_allowed_with_all(&mut self, command: OperationIdx) -> bool {
        let Some(command) = self.operations.get(command) else {
            return false;
        };
        match self.first_match(command, How::default(), &mut ()) {
            Decision {
                action: Action::Allow,
                why: Why::Rule(idx),
            } => self
                .policy
                .rules
                .get(idx)
                .is_some_and(|rule| rule.is_catch_all),
            _ => false,
        }
    }

    /// The allow that decides a wrapper, if its text before the first wildcard reaches past the
    /// name of the program that the wrapper runs.
    fn rule_over(&mut self, wrapper: OperationIdx, reach: usize) -> Option<usize> {
        let wrapper = self.operations.get(wrapper)?;
        match self.first_match(wrapper, How::default(), &mut ()) {
            Decision {
                action: Action::Allow,
                why: Why::Rule(idx),
            } => {
                let rule = self.policy.rules.get(idx)?;
                (rule.command().n_literal_prefix() >= reach).then_some(idx)
            }
            _ => None,
        }
    }

    /// Tries the rules in order. A rule that some ways to fill the holes match adds what it says;
    /// the first that all match, or else the default, ends the search. A match of the whole call
    /// does not end it: it only tightens what is said of the operation itself, or what is appended
    /// could hide a deny behind an ask (D5.5).
    fn first_match<W: Watch>(
        &mut self,
        operation: &Operation,
        how: How,
        watch: &mut W,
    ) -> Decision {
        let mut said = OverFillings::default();
        let policy = self.policy;
        let order = match W::SEES_ALL {
            true => Order::all(policy.rules.len()),
            false => self.order(operation, how),
        };
        let is_tree = matches!(operation.subject, Subject::Tree(_));
        for Candidate { idx, is_in_part } in order {
            let Some(rule) = policy.rules.get(idx) else {
                continue;
            };
            if is_in_part && !counts_in_part(rule, operation) {
                continue;
            }
            // What comes after a mix, or says what all say so far, decides nothing.
            let is_mixed = said.is_mixed();
            let is_beside = is_mixed || (is_in_part && !is_tree && said.is_only(rule.action));
            let step = match (is_beside, W::GOES_ON) {
                (false, _) => self.step(idx, rule, operation, how),
                (true, true) => self.beside(|view| view.step(idx, rule, operation, how)),
                (true, false) if is_mixed => break,
                (true, false) => continue,
            };
            watch.step(step, rule);
            let hit = step.hit();
            if !is_beside {
                said.hear(step, rule.action);
            }
            if hit == Hit::Must {
                let decisive = Decision {
                    action: rule.action,
                    why: Why::Rule(idx),
                };
                return said.end(decisive, policy.unresolved);
            }
        }
        let last = self.last(operation, how);
        watch.last(last);
        said.end(last, policy.unresolved)
    }

    /// Finds something out that the verdict does not hang on.
    fn beside<T>(&mut self, find: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.decisive, &mut self.beside);
        let found = find(self);
        std::mem::swap(&mut self.decisive, &mut self.beside);
        found
    }

    /// Whether something was left open because it would have cost too much.
    const fn is_used_up(&self) -> bool {
        self.decisive.work.is_used_up() || self.beside.work.is_used_up()
    }

    /// What the rule at this place is to an operation.
    fn step(&mut self, idx: usize, rule: &Rule, operation: &Operation, how: How) -> Step {
        Step {
            idx,
            tried: self.tried(idx, rule, operation, how),
            whole: self.hit_whole(idx, rule, operation),
        }
    }

    /// The rules to try, in order: at least those that may match.
    fn order(&self, operation: &Operation, how: How) -> Order<'a> {
        let index = self.policy.index.get().and_then(Option::as_ref);
        index
            .and_then(|index| index.order(operation, self.operations, [self.exact, how.cover]))
            .unwrap_or_else(|| Order::all(self.policy.rules.len()))
    }

    /// What is said where no rule ends the search.
    fn last(&self, operation: &Operation, how: How) -> Decision {
        let default_action = self.policy.default_action;
        match how.meets_default {
            true if operation.need == Need::Named && default_action == Action::Allow => Decision {
                action: Action::Ask,
                why: Why::Unnamed,
            },
            true => Decision {
                action: default_action,
                why: Why::Default,
            },
            false => Decision {
                action: Action::Allow,
                why: Why::Unrestricted,
            },
        }
    }

    /// What the rule at this place is to an operation, the text of the whole call aside.
    fn tried(&mut self, idx: usize, rule: &Rule, operation: &Operation, how: How) -> Tried {
        if self.exact == Some(idx) {
            return Tried::EqualsCall;
        }
        if how.cover == Some(idx) {
            return Tried::CoversWhatItRuns;
        }
        self.tried_by_itself(rule, operation, how.catch_all)
    }

    /// Whether the rule at this place matches the text of the whole call, of which an operation is a
    /// part.
    fn hit_whole(&mut self, idx: usize, rule: &Rule, operation: &Operation) -> Hit {
        let is_part = match &operation.subject {
            Subject::Command(_) | Subject::Unknown(_) => true,
            Subject::Path(_) | Subject::Tree(_) | Subject::Url(_) | Subject::Plain(_) => false,
        };
        if !rule.has_operator() || !is_part || !rule.tool().matches(&operation.tool, rule.action) {
            return Hit::No;
        }
        if self.operations.whole().is_none() {
            return Hit::No;
        }
        let Findings { of_whole, work } = &mut self.decisive;
        match of_whole.binary_search_by_key(&idx, |(known, _)| *known) {
            Ok(at) => of_whole.get(at).map_or(Hit::May, |(_, hit)| *hit),
            Err(at) => {
                let found = rule.hit_whole(self.operations.whole(), work);
                of_whole.insert(at, (idx, found));
                found
            }
        }
    }

    fn tried_by_itself(
        &mut self,
        rule: &Rule,
        operation: &Operation,
        catch_all: CatchAll,
    ) -> Tried {
        if rule.tool().matches(&operation.tool, rule.action) {
            let is_applied = match catch_all {
                CatchAll::Always => true,
                CatchAll::OfItsTool => !(rule.is_catch_all && rule.tool().is_glob()),
                CatchAll::Never => !rule.is_catch_all,
            };
            if !is_applied {
                return Tried::NotApplied;
            }
            if operation.need == Need::Named && !rule.may_name(&operation.subject) {
                return Tried::NamesNoAddress;
            }
            let operand = operand(operation);
            return match rule.hit(&operation.subject, operand, &mut self.decisive.work) {
                Hit::No => Tried::Differs,
                Hit::May => Tried::MayMatch,
                Hit::Must => Tried::Matches,
            };
        }
        let may_be_reached =
            rule.is_restrictive() && stands_for_anything(operation) && rule.is_reached_by_code;
        match may_be_reached {
            true => Tried::ReachedByCode,
            false => Tried::OtherTool,
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod properties;
