//! Rules that an earlier rule keeps from ever deciding (D1.4).

use crate::action::Action;
use crate::compile::{Domain, domain, has_wildcard};
use crate::pattern::{Glob, covers};
use crate::rule::Rule;
use crate::spec::{Finding, RuleField};
use crate::verdict::RuleIdx;
use crate::work::Work;

/// Steps that the search may cost altogether; what is not found by then is not said.
const LIMIT: u64 = 1 << 24;

/// A warning for each rule that a single earlier one covers.
pub(crate) fn covered_rules(rules: &[Rule]) -> Vec<Finding> {
    let mut work = Work::with_limit(LIMIT);
    let mut warnings = Vec::new();
    for (late_idx, late) in rules.iter().enumerate() {
        let earlier = rules.iter().take(late_idx).enumerate();
        for (early_idx, early) in earlier {
            if work.spend(1).is_err() {
                return warnings;
            }
            if covers_rule(early, late, &mut work) {
                warnings.push(warning(early, RuleIdx(early_idx), late, RuleIdx(late_idx)));
                break;
            }
        }
    }
    warnings
}

fn warning(early: &Rule, early_idx: RuleIdx, late: &Rule, late_idx: RuleIdx) -> Finding {
    let number = |idx: RuleIdx| idx.0 + 1;
    let remains = match (early.is_catch_all, late.is_restrictive()) {
        (_, true) => "; left to it are other spellings of a program or a path",
        (true, false) => {
            "; left to it is what a rule for everything leaves out, such as the reads of a command"
        }
        (false, false) => "",
    };
    let never = if remains.is_empty() {
        "never"
    } else {
        "almost never"
    };
    Finding {
        rule: late_idx,
        field: RuleField::Pattern,
        part: None,
        message: format!(
            "rule {} ({} `{}`) {never} decides: rule {} ({} `{}`, {}) stands before it and matches the same{remains}",
            number(late_idx),
            late.action,
            late.pattern,
            number(early_idx),
            early.action,
            early.pattern,
            early.location(),
        ),
        help: Some(match early.action == late.action {
            true => "remove it".to_owned(),
            false => format!(
                "the first rule that matches decides: move it before rule {}",
                number(early_idx)
            ),
        }),
    }
}

/// Whether an earlier rule matches every text that a later one matches as written.
pub(crate) fn covers_rule(early: &Rule, late: &Rule, work: &mut Work) -> bool {
    let same_pattern = early.pattern == late.pattern;
    // A pattern with a shell operator matches whole lines, and an allow without wildcards may be
    // the text of a whole call, which no pattern for its parts covers.
    let is_for_whole_call = match late.action {
        Action::Allow => late.literal().is_some() && late.has_operator(),
        Action::Ask | Action::Deny => late.has_operator(),
    };
    if is_for_whole_call && !(same_pattern && early.action == late.action) {
        return false;
    }
    if !early
        .tool()
        .covers(early.action, late.tool(), late.action, work)
    {
        return false;
    }
    if early.is_catch_all || (same_pattern && sees_as_much(early, late)) {
        return true;
    }
    match domain(late) {
        Some(Domain::Command) => covers(&early.command(), &late.command(), work),
        Some(Domain::Path) => covers_paths(early, late, work),
        Some(Domain::Url) => covers_urls(early, late, work),
        Some(Domain::Plain) => covers(&early.plain(), &late.plain(), work),
        // All kinds of texts may be meant.
        None => {
            covers(&early.plain(), &late.plain(), work)
                && covers(&early.command(), &late.command(), work)
                && covers_paths(early, late, work)
                && covers_urls(early, late, work)
        }
    }
}

/// Whether a rule of the earlier action matches all that the same pattern matches in a rule of the
/// later action.
fn sees_as_much(early: &Rule, late: &Rule) -> bool {
    match (early.action, late.action) {
        (Action::Allow, Action::Ask | Action::Deny) => early.literal().is_some() || no_tail(late),
        (Action::Ask | Action::Deny, _) | (Action::Allow, Action::Allow) => true,
    }
}

/// Whether a restrictive pattern matches nothing but what it says: not the directory itself.
fn no_tail(rule: &Rule) -> bool {
    matches!(domain(rule), Some(Domain::Command | Domain::Plain))
}

fn covers_paths(early: &Rule, late: &Rule, work: &mut Work) -> bool {
    early.path().anchor == late.path().anchor && covers(&early.path().glob, &late.path().glob, work)
}

fn covers_urls(early: &Rule, late: &Rule, work: &mut Work) -> bool {
    let covered = |glob: &Glob<'_>, work: &mut Work| covers(&early.url().any(), glob, work);
    // An allow covers fewer URLs than its text matches.
    let early_is_exact = early.is_restrictive() || early.url().is_exact_cover();
    (early_is_exact || !has_wildcard(&late.url().any().tokens()) && early.pattern == late.pattern)
        && covered(&late.url().any(), work)
}
