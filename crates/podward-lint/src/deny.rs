//! Denies of which an earlier allow lets through a part.

use podward_policy::{Action, Effort, Overlap, RuleIdx};

use crate::call::Call;
use crate::code::Code;
use crate::engine::Engine;
use crate::finding::{Finding, Part};
use crate::reach::told;

/// As many allows as are named in one finding.
const MOST_RELATED: usize = 3;

/// What earlier allows let through of what a rule denies. An allow that is about nothing else, or that
/// names what the deny names and more, is an exception from the deny, and meant.
pub(crate) fn finding(engine: &Engine<'_>, idx: RuleIdx, effort: &mut Effort) -> Option<Finding> {
    let rule = engine.rule(idx)?;
    if rule.action != Action::Deny || rule.is_catch_all || rule.has_operator {
        return None;
    }
    let mut witnesses = Vec::new();
    let mut related = Vec::new();
    for (early_idx, early) in engine.before(idx) {
        let counts = early.action == Action::Allow
            && !early.is_catch_all
            && !names_what_is_denied(early.pattern, rule.pattern);
        if !counts || related.len() == MOST_RELATED {
            continue;
        }
        for tool in engine.layer.tools(idx) {
            let Overlap::Partly(text) = engine.layer.overlap(idx, early_idx, &tool, effort) else {
                continue;
            };
            let Some(judged) = Call::of_text(&tool, &text).and_then(|call| engine.judge(call))
            else {
                continue;
            };
            let is_allowed = judged.witness.action == Action::Allow;
            if is_allowed && judged.witness.rule == Some(early_idx) {
                witnesses.push(judged.witness);
                related.push(early_idx);
                break;
            }
        }
    }
    let first = related.first()?;
    let names = related
        .iter()
        .filter_map(|at| Some(told(*at, engine.rule(*at)?)));
    Some(Finding {
        code: Code::DenyAfterAllow,
        layer_idx: engine.layer_idx,
        part: Part::Pattern(idx),
        message: format!(
            "{} comes after {}, which lets through a part of what it denies",
            told(idx, rule),
            names.collect::<Vec<_>>().join(" and ")
        ),
        help: format!(
            "the first rule that matches decides: move the deny before rule {}",
            first.0 + 1
        ),
        witnesses,
        related,
    })
}

/// Whether an allow is written with all that a deny is written with, in its order, and more:
/// `*.env.example` before `.env.*`.
fn names_what_is_denied(allow: &str, deny: &str) -> bool {
    let parts = deny
        .split(['*', '?', '[', ']'])
        .filter(|part| !part.is_empty());
    let mut rest = allow;
    for part in parts {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    allow.len() > deny.len()
}

#[cfg(test)]
mod tests {
    use super::names_what_is_denied;

    #[test]
    fn an_exception_names_what_is_denied_and_more() {
        for (allow, deny, expected) in [
            ("*.env.example", ".env.*", true),
            ("*.env.example", ".git/*", false),
            ("git * main", "git push *", false),
            ("git push * main", "git push *", true),
            ("src/*", "*.pem", false),
            ("a*", "a*", false),
        ] {
            assert_eq!(
                names_what_is_denied(allow, deny),
                expected,
                "{allow} {deny}"
            );
        }
    }
}
