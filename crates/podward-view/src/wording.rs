//! The words for calls, verdicts, causes and outcomes: each worded once, for every command.

use std::fmt::Display;

use podward_protocol::{
    Cause, Coverage, DecidedBy, GrantFor, GrantId, MethodError, MethodErrorCode, Need, Operation,
    Outcome, Place, RefusalCause, RuleToAdd, Ruling, SkillSays, SkillStarted, Stands, SubjectKind,
};

use crate::visible::{Lines, one_line, visible};

/// Characters of a call, or of what is said about one, that are shown.
pub const CALL_CHARS: usize = 400;

/// Where a pod stands: the names of the pods above it, outermost first, and its own.
#[must_use]
pub fn pods_text(path: &[String], pod: &str) -> String {
    let pods = path.iter().map(String::as_str).chain([pod]);
    let pods: Vec<_> = pods.map(|pod| visible(pod, Lines::Escape)).collect();
    pods.join(" > ")
}

/// Why a call is asked about whatever the rules say.
pub(crate) const REPEATED: &str = "the same call three times or more in this turn";

/// A verdict with its cause, a line each.
#[must_use]
pub fn ruling_text(ruling: &Ruling) -> String {
    format!(
        "verdict: {}\ncause: {}\nwhy: {}\ncoverage: {}\n",
        ruling.verdict.as_str(),
        ruling.cause.as_str(),
        visible(&cause_text(ruling), Lines::Escape),
        coverage_text(&ruling.coverage),
    )
}

/// Whether all of a call was understood.
fn coverage_text(coverage: &Coverage) -> String {
    match coverage {
        Coverage::Full => "full".to_owned(),
        Coverage::Partial { why } => {
            format!("partial, {}", visible(&why.join("; "), Lines::Escape))
        }
    }
}

/// How far an operation needs an allow, in brackets behind it.
#[must_use]
pub const fn need_text(need: Need) -> &'static str {
    match need {
        Need::Full => "",
        Need::Restrictive => "  (can only tighten)",
        Need::Named => "  (a rule has to name it)",
        Need::Free => "  (needs no rule)",
        Need::Derived => "  (written on the side)",
        Need::RunBy => "  (run by another command)",
    }
}

/// What an operation is about: its text and where that leads, or why nobody knows what runs.
#[must_use]
pub fn operation_text(operation: &Operation) -> String {
    let text = operation.spelled.as_ref().unwrap_or(&operation.text);
    match (&operation.why, &operation.leads_to) {
        (Some(why), _) => format!("unknown code: {why}"),
        (None, Some(leads_to)) => format!("{text} -> {leads_to}"),
        (None, None) => text.clone(),
    }
}

/// Whether it is about all below a directory, in brackets behind it.
#[must_use]
pub const fn below_text(subject: SubjectKind) -> &'static str {
    match subject {
        SubjectKind::Tree => "  (all below it)",
        _ => "", // itself
    }
}

/// Why a verdict is what it is, in one line.
#[must_use]
pub fn cause_text(ruling: &Ruling) -> String {
    let place = place_text;
    match &ruling.cause {
        Cause::NoPolicy => "no rules at all".to_owned(),
        Cause::NothingToRun => "nothing to run".to_owned(),
        Cause::Rule {
            layer,
            rule,
            at,
            pattern,
            message,
        } => {
            let message = message
                .as_ref()
                .map(|message| format!(": {message}"))
                .unwrap_or_default();
            format!(
                "rule {rule} of {layer}, `{pattern}` ({}){message}",
                place(at)
            )
        }
        Cause::Default { layer, at } => format!("default of {layer} ({})", place(at)),
        Cause::Unresolved {
            layer,
            rule,
            at,
            why,
        } => {
            let at = at
                .as_ref()
                .map(|at| format!(" ({})", place(at)))
                .unwrap_or_default();
            let reason = match rule {
                Some(rule) => format!(", since rule {rule}{at} might match"),
                None => at,
            };
            format!("{why}: `unresolved` of {layer} decides{reason}")
        }
        Cause::Unrestricted => "no rule is against it".to_owned(),
        Cause::Unnamed { layer } => unnamed_text(layer),
        Cause::Skill { name, says, .. } => skill_text(name, says),
        Cause::SkillFiles { name, .. } => format!("the skill {name}'s own files"),
        Cause::Repeated => REPEATED.to_owned(),
        Cause::BadCall { why } => why.clone(),
        Cause::UnknownTool => "no such tool".to_owned(),
        Cause::NotJudged => "the turn ended before it was judged".to_owned(),
    }
}

/// Why an address is asked about that rules do not deny.
pub(crate) fn unnamed_text(layer: &str) -> String {
    format!("the address is not public, and no rule of {layer} names it")
}

/// What a skill has against a call.
fn skill_text(name: &str, says: &SkillSays) -> String {
    let allowed = |list: &str| match list {
        "" => "its allowed-tools is empty".to_owned(),
        list => format!("its allowed-tools `{list}` does not list it"),
    };
    match says {
        SkillSays::NotListed { list } => format!("skill {name} is active, and {}", allowed(list)),
        SkillSays::Disallowed { entry, at } => format!(
            "skill {name} is active, and its disallowed-tools has `{entry}` ({})",
            place_text(at)
        ),
        SkillSays::Unresolved { list, why } => {
            let list = match list {
                Some(list) => format!("its allowed-tools `{list}`"),
                None => "its disallowed-tools".to_owned(),
            };
            format!("{why}: skill {name} is active, and {list} may not let it through")
        }
    }
}

/// What an active skill leaves of the tools, and what it says about them.
#[must_use]
pub fn skill_tools_text(started: &SkillStarted) -> String {
    let Some(n_tools) = started.n_tools else {
        return "it restricts no tool".to_owned();
    };
    let left = match n_tools {
        0 => "no tools".to_owned(),
        n => counted(n, "tool"),
    };
    let list = |key: &str, entries: &[String]| match entries {
        [] => format!("{key} is empty"),
        entries => format!("{key}: {}", entries.join(" ")),
    };
    let allowed = started.allowed_tools.iter();
    let disallowed = Some(&started.disallowed_tools).filter(|entries| !entries.is_empty());
    let lists: Vec<String> = allowed
        .map(|entries| list("allowed-tools", entries))
        .chain(disallowed.map(|entries| list("disallowed-tools", entries)))
        .collect();
    format!("{left} ({})", lists.join("; "))
}

/// A rule as it is written into a manifest, below a comment that says where it belongs.
#[must_use]
pub fn rule_lines(rule: &RuleToAdd) -> Vec<String> {
    let layer = &rule.layer;
    let stands = match &rule.stands {
        Stands::Anywhere => format!("among the rules of the {layer} layer"),
        Stands::Before { at } => {
            let place = place_text(at);
            format!("in the {layer} layer, in front of the rule at {place}")
        }
        Stands::First => format!("in the {layer} layer, in front of all other rules"),
    };
    let toml = rule.toml.lines().map(|line| visible(line, Lines::Escape));
    std::iter::once(format!("# {}", one_line(&stands, CALL_CHARS)))
        .chain(toml)
        .collect()
}

/// A place in a file of rules.
#[must_use]
pub fn place_text(at: &Place) -> String {
    format!("{}:{}:{}", at.file, at.line, at.column)
}

/// Why a pod did not do what it was asked to, in one line: what is wrong, the rule that denies it, what can
/// be done.
#[must_use]
pub fn error_text(error: &MethodError) -> String {
    let mut text = error.message.clone();
    if let MethodErrorCode::EditDenied(denied) = &error.code {
        text = format!("{text}: {}", cause_text(&denied.ruling));
    }
    match &error.help {
        Some(help) => format!("{text}; {help}"),
        None => text,
    }
}

/// Nobody was there, and `--auto` is not for it.
const NOT_AUTO: &str = "--auto does not answer what is not known before it runs; --auto=all would";

/// Why a call did not run, in a few words.
#[must_use]
pub fn refusal_text(cause: &RefusalCause) -> String {
    match cause {
        RefusalCause::Policy => "by the rules".to_owned(),
        RefusalCause::NoClient => "nobody is here to be asked".to_owned(),
        RefusalCause::Rejected { name, feedback } => {
            let said = feedback
                .as_ref()
                .map_or_else(String::new, |feedback| format!(": {feedback}"));
            one_line(&format!("by {}{said}", client_text(name)), CALL_CHARS)
        }
        RefusalCause::Expired => "nobody answered in time".to_owned(),
        RefusalCause::NotAuto => NOT_AUTO.to_owned(),
        RefusalCause::TooLarge => "too large to be asked about".to_owned(),
        RefusalCause::Futile { error } => futile_text(error),
        RefusalCause::ClientGone => "whoever could have answered left".to_owned(),
        RefusalCause::Hook { name, text } => {
            one_line(&format!("by hook {name}: {text}"), CALL_CHARS)
        }
        RefusalCause::HookFailed { name, why } => {
            one_line(&format!("hook {name} failed: {why}"), CALL_CHARS)
        }
        RefusalCause::NotJudged => "never judged".to_owned(),
        RefusalCause::BadCall | RefusalCause::UnknownTool => "bad call".to_owned(),
        RefusalCause::Cancelled => "cancelled".to_owned(),
        RefusalCause::PodStopped => "the pod stopped".to_owned(),
        RefusalCause::Interrupted => "interrupted".to_owned(),
    }
}

/// What became of a question, in a few words.
#[must_use]
pub fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::ApprovedOnce => "yes, once".to_owned(),
        Outcome::ApprovedAlways { .. } => "yes, always".to_owned(),
        Outcome::ApprovedEdited => "yes, with other arguments".to_owned(),
        Outcome::Auto => "yes, by --auto".to_owned(),
        Outcome::Rejected => "no".to_owned(),
        Outcome::RejectedWithFeedback { feedback } => {
            one_line(&format!("no: {feedback}"), CALL_CHARS)
        }
        Outcome::Expired => "nobody answered in time".to_owned(),
        Outcome::NoClient => "nobody is here to be asked".to_owned(),
        Outcome::NotAuto => NOT_AUTO.to_owned(),
        Outcome::TooLarge => "too large to be asked about".to_owned(),
        Outcome::Futile { error } => futile_text(error),
        Outcome::ClientGone => "whoever could have answered left".to_owned(),
        Outcome::Cancelled => "the turn was cancelled".to_owned(),
        Outcome::PodStopped => "the pod stopped".to_owned(),
        Outcome::Interrupted => "the pod ended before it was answered".to_owned(),
        Outcome::Policy => "the rules deny it by now".to_owned(),
        Outcome::Hook { name, text } => {
            one_line(&format!("no, by hook {name}: {text}"), CALL_CHARS)
        }
        Outcome::HookFailed { name, why } => {
            one_line(&format!("no, hook {name} failed: {why}"), CALL_CHARS)
        }
    }
}

/// Nobody is asked about what can only fail.
fn futile_text(error: &str) -> String {
    one_line(
        &format!("nobody was asked, for it could only fail: {error}"),
        CALL_CHARS,
    )
}

/// Who settled a question.
#[must_use]
pub fn by_text(by: &DecidedBy) -> String {
    match by {
        DecidedBy::Policy => "the rules".to_owned(),
        DecidedBy::Pod => "the pod".to_owned(),
        DecidedBy::Client { name, .. } => client_text(name),
        DecidedBy::Grants { grants, name } => {
            let ids: Vec<_> = grants.iter().map(GrantId::as_str).collect();
            let word = if ids.len() == 1 { "grant" } else { "grants" };
            let ids = ids.join(", ");
            one_line(&format!("{word} {ids}, given by {name}"), CALL_CHARS)
        }
        DecidedBy::Auto => "--auto".to_owned(),
        DecidedBy::Hook { name } => one_line(&format!("hook {name}"), CALL_CHARS),
    }
}

/// A client's name; between quotes where it could be taken for other words.
#[must_use]
pub fn client_text(name: &str) -> String {
    let is_word = name.starts_with(char::is_alphanumeric)
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "-_.@:/".contains(c));
    let shown = one_line(name, CALL_CHARS);
    if is_word {
        shown
    } else {
        format!("\"{shown}\"")
    }
}

/// How long a remembered approval counts.
#[must_use]
pub fn lasts_text(lasts: &GrantFor) -> String {
    match lasts {
        GrantFor::Session => "this session".to_owned(),
        GrantFor::Project => "every session in this workspace".to_owned(),
        GrantFor::Until { time } => format!("every session in this workspace, until {time}"),
        GrantFor::Uses { n: 1 } => "one call in this workspace".to_owned(),
        GrantFor::Uses { n } => format!("{n} calls in this workspace"),
    }
}

/// How many of something whose word takes an `s`.
#[must_use]
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, word: &str) -> String {
    match n == N::from(1) {
        true => format!("{n} {word}"),
        false => format!("{n} {word}s"),
    }
}

/// Lines, each once, with how often it is there.
#[must_use]
pub fn each_once(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for line in lines {
        match all.iter_mut().find(|(there, _)| *there == line) {
            Some((_, n_times)) => *n_times += 1,
            None => all.push((line, 1)),
        }
    }
    let told = all.into_iter().map(|(line, n_times)| match n_times {
        1 => line,
        n_times => format!("{line}  ({n_times} times)"),
    });
    told.collect()
}

#[cfg(test)]
mod tests;
