//! An explanation in words.

use std::fmt::Write as _;

use podward_manifest::underlined;
use podward_policy::ByteSpan;
use podward_protocol::{
    Change, ExplainedCall, ExplainedOperation, Explanation, HoleKind, LayerSays, Place,
    RefusalCause, Ruling, Tried, TriedRule,
};
use podward_view::{
    below_text, by_text, cause_text, counted, need_text, one_line, operation_text, rule_lines,
    ruling_text,
};

/// Characters of a rule's pattern or of another text of one line.
const TEXT_CHARS: usize = 400;
/// Rules behind the one that decided that are listed.
const LATER_MAX: usize = 10;

/// A call that is made up, or one of now.
pub(super) fn explanation(explanation: &Explanation, command: Option<&str>) -> String {
    let mut text = ruling_text(&explanation.ruling);
    let n_operations = explanation.operations.len();
    for (idx, operation) in explanation.operations.iter().enumerate() {
        let decides = match explanation.ruling.operation == Some(idx) {
            true => ", which decides",
            false => "",
        };
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\noperation {} of {n_operations}{decides}: ", idx + 1);
        text.push_str(&operation_head(operation));
        if let (Some(command), Some(span)) = (command, operation.operation.span) {
            text.push_str(&underlined(command, ByteSpan::new(span.start..span.end)));
        }
        text.push_str(&operation_body(operation, explanation));
    }
    if explanation.shortened {
        text.push_str(
            "\nrules that were tried are left out: there are too many of them for one answer\n",
        );
    }
    if let Some(change) = &explanation.change {
        text.push('\n');
        text.push_str(&self::change(change));
    }
    text
}

/// A call of a session.
pub(super) fn call(explained: &ExplainedCall, broken: Option<&str>) -> String {
    let command = super::command(&explained.arguments);
    let mut text = format!(
        "call: {} of session {}, pod {}\ntool: {}\narguments: {}\ndirectory: {}\n",
        shown(explained.call.as_str()),
        explained.session,
        shown(&explained.pod),
        shown(&explained.tool),
        shown(&explained.arguments.to_string()),
        shown(&explained.cwd),
    );
    if let Some(part_of) = &explained.part_of {
        let _ = writeln!(text, "part of: {}", shown(part_of.as_str()));
    }
    for decision in &explained.decisions {
        let refusal = decision.refusal.as_ref().map(refusal).unwrap_or_default();
        let _ = writeln!(
            text,
            "{}: {}, by {}{refusal}",
            decision.time,
            shown(&decision.outcome),
            by_text(&decision.by)
        );
    }
    if let Some(broken) = broken {
        let _ = writeln!(text, "the log is not as it was written: {}", shown(broken));
    }
    let digest = shown(&explained.policy_digest);
    let _ = writeln!(text, "\nthen, by the rules {digest}:");
    text.push_str(&indented(&explanation(&explained.then, command)));
    match (&explained.policy_digest_now, &explained.now) {
        (Some(now), Some(judged)) if *now == explained.policy_digest => {
            text.push_str(
                match judged.ruling.verdict == explained.then.ruling.verdict {
                    true => "\nhow it came about, by the same rules:\n",
                    false => "\nby the same rules, without what else counted then:\n",
                },
            );
            text.push_str(&indented(&explanation(judged, command)));
        }
        (Some(now), Some(judged)) => {
            let _ = writeln!(text, "\nnow, by other rules, {}:", shown(now));
            text.push_str(&indented(&explanation(judged, command)));
        }
        (now, _) => {
            let why = explained
                .why_not_now
                .as_deref()
                .unwrap_or("nobody knows why");
            let _ = writeln!(
                text,
                "\nit is not judged by the rules of now: {}",
                shown(why)
            );
            if let Some(now) = now {
                let is = match *now == explained.policy_digest {
                    true => "they are the same",
                    false => "they are others",
                };
                let _ = writeln!(text, "{is}: {}", shown(now));
            }
        }
    }
    text
}

/// Why a call did not run, behind what was decided.
fn refusal(why: &RefusalCause) -> String {
    match why {
        RefusalCause::Futile { error } => format!(" ({}: {})", why.as_str(), shown(error)),
        _ => format!(" ({})", why.as_str()), // the rest stands in what was decided, or is the word
    }
}

fn operation_head(explained: &ExplainedOperation) -> String {
    let operation = &explained.operation;
    format!(
        "{} {}{}{}\n",
        shown(&operation.tool),
        shown(&operation_text(operation)),
        below_text(operation.subject),
        need_text(operation.need)
    )
}

fn operation_body(explained: &ExplainedOperation, all: &Explanation) -> String {
    let mut text = String::new();
    if !explained.holes.is_empty() && explained.operation.why.is_none() {
        let holes: Vec<&str> = explained.holes.iter().copied().map(hole_text).collect();
        let _ = writeln!(text, "  each … is not known before: {}", holes.join(", "));
    }
    if !explained.operation.partial.is_empty() {
        let why = shown(&explained.operation.partial.join("; "));
        let _ = writeln!(text, "  partial: {why}");
    }
    if !explained.forms.is_empty() {
        let forms: Vec<String> = explained
            .forms
            .iter()
            .map(|form| format!("`{}`", shown(form)))
            .collect();
        let _ = writeln!(text, "  also known as: {}", shown(&forms.join(", ")));
    }
    for layer in &explained.layers {
        text.push_str(&layer_head(layer));
        if !(all.shortened && layer.tried.is_empty()) {
            text.push_str(&layer_rules(layer));
        }
    }
    text
}

fn hole_text(kind: HoleKind) -> &'static str {
    match kind {
        HoleKind::Quoted => "a value within one word",
        HoleKind::Unquoted => "any number of words",
        HoleKind::FileGlob => "names of files",
        HoleKind::Anything => "anything",
    }
}

fn layer_head(says: &LayerSays) -> String {
    let ruling = Ruling {
        verdict: says.verdict,
        cause: says.cause.clone(),
        operation: None,
        coverage: podward_protocol::Coverage::Full,
    };
    format!(
        "  {} layer says {}: {}\n",
        shown(&says.layer),
        says.verdict.as_str(),
        shown(&cause_text(&ruling))
    )
}

/// The rules that were tried, and those behind them.
fn layer_rules(says: &LayerSays) -> String {
    let mut text = String::new();
    let mut rest = says.tried.as_slice();
    while let Some(first) = rest.first() {
        let is_other = |rule: &TriedRule| rule.result == Tried::OtherTool && rule.whole.is_none();
        let n_others = rest.iter().take_while(|rule| is_other(rule)).count();
        if n_others > 1 {
            let last = first.rule + n_others - 1;
            let _ = writeln!(text, "    {}-{last}: about other tools", first.rule);
        } else {
            text.push_str(&rule_text(first));
        }
        rest = rest.get(n_others.max(1)..).unwrap_or_default();
    }
    let n_behind = says.n_rules.saturating_sub(says.tried.len());
    if n_behind > 0 && says.tried.is_empty() {
        let _ = writeln!(
            text,
            "    no rule is tried: nothing of it is known that could tighten"
        );
    } else if n_behind > 0 {
        let is_sure =
            |rule: &TriedRule| !matches!(rule.result, Tried::MayMatch | Tried::ReachedByCode);
        let would = match says.later.as_slice() {
            [] => "none would match",
            later if later.iter().all(is_sure) => "these would match, too late:",
            _ => "these would match or might, too late:",
        };
        let rules = counted(n_behind, "rule");
        let _ = writeln!(text, "    {rules} not reached; {would}");
        for rule in says.later.iter().take(LATER_MAX) {
            text.push_str(&rule_text(rule));
        }
        if let Some(n_more @ 1..) = says.later.len().checked_sub(LATER_MAX) {
            let _ = writeln!(text, "    … and {n_more} more");
        }
    }
    if let Some(near) = &says.nearest_allow {
        let why = match near.result {
            Tried::Matches | Tried::EqualsCall | Tried::CoversWhatItRuns => "it comes too late",
            other => tried_text(other),
        };
        let _ = writeln!(
            text,
            "    nearest allow: rule {}, `{}` ({}): {why}",
            near.rule,
            shown(&near.pattern),
            place(&near.at)
        );
    }
    text
}

fn rule_text(rule: &TriedRule) -> String {
    let whole = match rule.whole {
        Some(Tried::Matches) => "; matches the whole line",
        Some(_) => "; may match the whole line",
        None => "",
    };
    let does_not_count = match (rule.action, rule.result) {
        (podward_protocol::Verdict::Allow, Tried::MayMatch) => ", and an allow must",
        _ => "", // it counts, or does not match at all
    };
    format!(
        "    {}: {} {} `{}` ({}): {}{does_not_count}{whole}\n",
        rule.rule,
        rule.action.as_str(),
        shown(&rule.tool),
        shown(&rule.pattern),
        place(&rule.at),
        tried_text(rule.result),
    )
}

/// What a rule was to an operation.
fn tried_text(tried: Tried) -> &'static str {
    match tried {
        Tried::OtherTool => "about other tools",
        Tried::NotApplied => "`*` says what a default says, and is not applied here",
        Tried::NamesNoAddress => "does not name the address",
        Tried::Differs => "does not match",
        Tried::OtherForm => {
            "matches another form of it only; an allow has to match what is written, and every form \
             of a path"
        }
        Tried::HidesUser => "the URL has a user name in it, and no allow covers that",
        Tried::KnownInPart => {
            "might match, but what is known in part can only tighten where it must"
        }
        Tried::MayMatch => "may match",
        Tried::ReachedByCode => "unknown code may do this too",
        Tried::Matches => "matches",
        Tried::EqualsCall => "is the text of the whole call",
        Tried::CoversWhatItRuns => "covers the command that runs it, and reaches past its name",
    }
}

fn change(change: &Change) -> String {
    let rules = match change {
        Change::None { why } => return format!("no rule would allow this call: {}\n", shown(why)),
        Change::LeftOut => {
            return "the rules that would allow this call are too long to be told\n".to_owned();
        }
        Change::Rules { rules } => rules,
    };
    let mut text = match rules.len() {
        1 => "this rule, the narrowest, would allow the call:\n".to_owned(),
        _ => "these rules together, the narrowest, would allow the call:\n".to_owned(),
    };
    for rule in rules {
        for line in rule_lines(rule) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn place(at: &Place) -> String {
    format!("{}:{}:{}", shown(&at.file), at.line, at.column)
}

fn shown(text: &str) -> String {
    one_line(text, TEXT_CHARS)
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| match line {
            "" => "\n".to_owned(),
            line => format!("  {line}\n"),
        })
        .collect()
}
