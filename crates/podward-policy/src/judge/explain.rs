//! Judges with an eye on every rule.

use super::watch::{Step, Watch};
use super::{Decision, Found, How, View, judge_with, operand};
use crate::action::Action;
use crate::explanation::{Explanation, LayerExplanation, Said, Tried, TriedRule};
use crate::operation::{Lowered, Need, Operation, Operations, Subject};
use crate::pattern::{Hit, Token};
use crate::policy::Policy;
use crate::rule::{Operand, Rule};
use crate::verdict::{Cause, LayerName, RuleIdx};
use crate::work::Work;

/// Judges a call, and tells of every rule what it was to every operation.
pub(crate) fn explain(layers: &[(LayerName, Policy)], call: &Lowered) -> Explanation {
    let mut recorder = Recorder::default();
    let ruling = judge_with(layers, call, &mut recorder);
    let mut recorded = recorder.decided.into_iter();
    let explained = |(name, policy): &(LayerName, Policy)| LayerExplanation {
        layer: name.clone(),
        n_rules: policy.rules.len(),
        default_action: policy.default_action,
        default_location: policy.default_location.clone(),
        unresolved: policy.unresolved,
        rule_form: policy.rule_form,
        operations: match call {
            Lowered::NothingToRun => Vec::new(),
            Lowered::Operations(operations) => operations
                .iter()
                .zip(recorded.by_ref().take(operations.len()))
                .map(|(operation, recorded)| recorded.told(operation, operations, policy))
                .collect(),
        },
    };
    Explanation {
        ruling,
        layers: layers.iter().map(explained).collect(),
    }
}

/// Writes down what it sees.
#[derive(Default)]
struct Recorder {
    /// Of the operation that is being decided.
    steps: Vec<Step>,
    /// Layer by layer, the operations in order.
    decided: Vec<Recorded>,
}

struct Recorded {
    steps: Vec<Step>,
    action: Action,
    cause: Cause,
}

impl Watch for Recorder {
    const SEES_ALL: bool = true;
    const GOES_ON: bool = false;

    fn step(&mut self, step: Step, _: &Rule) {
        self.steps.push(step);
    }

    fn last(&mut self, _: Decision) {}

    fn decided(&mut self, found: &Found<'_>, view: &View<'_>) {
        self.decided.push(Recorded {
            steps: std::mem::take(&mut self.steps),
            action: found.decision.action,
            cause: found.cause(view.operations),
        });
    }
}

impl Recorded {
    fn told(self, operation: &Operation, operations: &Operations, policy: &Policy) -> Said {
        // What the verdict does not hang on has an allowance of work of its own.
        let mut view = View::new(policy, operations);
        let how = view.how(operation);
        let n_tried = self.steps.len();
        let tried: Vec<TriedRule> = self
            .steps
            .into_iter()
            .filter_map(|step| told(step, operation, policy))
            .collect();
        let rest = how.map(|how| view.rest(operation, how, n_tried));
        let rest = rest.unwrap_or_default();
        let nearest = match self.action {
            Action::Allow => None,
            Action::Ask | Action::Deny => nearest(operation, &tried, &rest, policy),
        };
        let later = rest.into_iter().filter(TriedRule::counts).collect();
        Said {
            action: self.action,
            cause: self.cause,
            tried,
            later,
            nearest,
        }
    }
}

impl View<'_> {
    /// The rules from a place on, which were not reached.
    fn rest(&mut self, operation: &Operation, how: How, from: usize) -> Vec<TriedRule> {
        let policy = self.policy;
        let rest = policy.rules.iter().enumerate().skip(from);
        rest.filter_map(|(idx, rule)| {
            let step = self.step(idx, rule, operation, how);
            told(step, operation, policy)
        })
        .collect()
    }
}

fn told(step: Step, operation: &Operation, policy: &Policy) -> Option<TriedRule> {
    let rule = policy.rules.get(step.idx)?;
    Some(TriedRule {
        rule: RuleIdx(step.idx),
        tool: rule.written_tool().into(),
        pattern: (*rule.pattern).into(),
        action: rule.action,
        location: rule.location(),
        tried: match step.tried {
            Tried::Differs => why_differs(rule, operation),
            tried => tried,
        },
        whole: match step.whole {
            Hit::No => None,
            Hit::May => Some(Tried::MayMatch),
            Hit::Must => Some(Tried::Matches),
        },
    })
}

/// What else could be said of a rule whose pattern does not match: whether it would, had it not been
/// for what an allow, or an operand that is known in part, asks of it.
fn why_differs(rule: &Rule, operation: &Operation) -> Tried {
    let mut work = Work::new();
    match rule.action {
        Action::Allow => {
            if let Subject::Url(url) = &operation.subject
                && url.has_user_info
            {
                return Tried::HidesUser;
            }
            let Some(strict) = rule.as_restrictive() else {
                return Tried::Differs;
            };
            match strict.hit(&operation.subject, operand(operation), &mut work) {
                Hit::Must => Tried::OtherForm,
                Hit::May | Hit::No => Tried::Differs,
            }
        }
        Action::Ask | Action::Deny => match operation.need {
            Need::Restrictive
                if rule.hit(&operation.subject, Operand::Possible, &mut work) != Hit::No =>
            {
                Tried::KnownInPart
            }
            _ => Tried::Differs, // nothing more is known
        },
    }
}

/// The allow that is least far from deciding.
fn nearest(
    operation: &Operation,
    tried: &[TriedRule],
    rest: &[TriedRule],
    policy: &Policy,
) -> Option<TriedRule> {
    let candidates = tried.iter().chain(rest).filter_map(|candidate| {
        let rule = policy.rules.get(candidate.rule.0)?;
        let rank = match (candidate.action, candidate.tried) {
            (Action::Ask | Action::Deny, _) | (_, Tried::OtherTool) => return None,
            (_, Tried::Matches | Tried::EqualsCall | Tried::CoversWhatItRuns) => usize::MAX,
            // Of what is not known no rule is nearer than another.
            (_, Tried::MayMatch) if matches!(operation.subject, Subject::Unknown(_)) => {
                return None;
            }
            (_, Tried::OtherForm | Tried::HidesUser | Tried::MayMatch) => usize::MAX - 1,
            (_, Tried::NotApplied | Tried::NamesNoAddress) => return None,
            (_, Tried::Differs | Tried::KnownInPart | Tried::ReachedByCode) => {
                match n_alike(rule, operation) {
                    0 => return None,
                    n_alike => n_alike,
                }
            }
        };
        Some((rank, candidate))
    });
    let mut nearest: Option<(usize, &TriedRule)> = None;
    for candidate in candidates {
        // Of several that are as near the first.
        if nearest.is_none_or(|nearest| candidate.0 > nearest.0) {
            nearest = Some(candidate);
        }
    }
    nearest.map(|(_, candidate)| candidate.clone())
}

/// Characters with which both the pattern and the text begin; as far as the first word at least.
fn n_alike(rule: &Rule, operation: &Operation) -> usize {
    let text = match &operation.subject {
        Subject::Command(command) => command.written.known_part(),
        Subject::Path(path) | Subject::Tree(path) => path.lexical.short.known_part(),
        Subject::Url(url) => url.text.known_part(),
        Subject::Plain(text) => text.known_part(),
        Subject::Unknown(_) => return 0,
    };
    let plain = rule.plain();
    let tokens = plain.tokens();
    let literal = tokens.iter().map_while(Token::literal);
    let alike: String = literal
        .zip(text.chars())
        .take_while(|(pattern, text)| pattern == text)
        .map(|(c, _)| c)
        .collect();
    let ends_word = |c: char| matches!(c, ' ' | '/');
    match alike.contains(ends_word) || alike == text {
        true => alike.chars().count(),
        false => 0,
    }
}
