//! What the domain's values are on the wire: the one place where they are turned into it.

mod explanation;

use podward_gate::{Answer, AskReason, CallId, GrantId, Progress, RefusalCause};
use podward_policy::{
    Action, Cause, Coverage, Location, Lowered, Need, Operation, RuleIdx, Ruling, SkillSays,
    Subject, Text,
};
use podward_protocol as wire;
use podward_skill::{Allowed, ListKind};
use podward_tools::BadCall;
use podward_worker::{ActiveSkill, DecidedBy, Decision, EndReason, Limit, SkillEnd};

pub use explanation::{bad_call_explained, explained, explanation};
pub(crate) use explanation::{change, told_only};

/// A verdict with its cause.
#[must_use]
pub fn ruling(ruling: &Ruling) -> wire::Ruling {
    wire::Ruling {
        verdict: verdict(ruling.action),
        cause: cause(&ruling.cause),
        operation: ruling.operation.map(|idx| idx.0),
        coverage: match &ruling.coverage {
            Coverage::Full => wire::Coverage::Full,
            Coverage::Partial(why) => wire::Coverage::Partial {
                why: why.iter().map(ToString::to_string).collect(),
            },
        },
    }
}

/// What refuses a call that is none: it is never judged.
#[must_use]
pub fn bad_call(bad_call: &BadCall) -> wire::Ruling {
    wire::Ruling {
        verdict: wire::Verdict::Deny,
        cause: wire::Cause::BadCall {
            why: bad_call.to_string(),
        },
        operation: None,
        coverage: wire::Coverage::Full,
    }
}

const fn verdict(action: Action) -> wire::Verdict {
    match action {
        Action::Allow => wire::Verdict::Allow,
        Action::Ask => wire::Verdict::Ask,
        Action::Deny => wire::Verdict::Deny,
    }
}

/// What a call would do; nothing to run is an empty list.
#[must_use]
pub fn operations(lowered: &Lowered) -> Vec<wire::Operation> {
    match lowered {
        Lowered::NothingToRun => Vec::new(),
        Lowered::Operations(operations) => operations.iter().map(operation).collect(),
    }
}

/// What was decided about a call, and over what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What the call would do.
    pub operations: Vec<wire::Operation>,
    /// The verdict and its cause.
    pub ruling: wire::Ruling,
    /// Why the call does not run; `None` if it runs or is asked about.
    pub refusal: Option<wire::RefusalCause>,
    /// Who decided.
    pub by: wire::DecidedBy,
}

/// What was decided about a call.
#[must_use]
pub fn decided(decision: &Decision) -> Decided {
    let operations = decision
        .facts()
        .map(|facts| operations(facts.lowered()))
        .unwrap_or_default();
    let (asked, refusal, by) = match decision {
        Decision::Run { by, .. } => (None, None, run_by(by)),
        Decision::Ask(question) => (Some(question.reason()), None, wire::DecidedBy::Policy),
        Decision::Refuse(refusal) => (
            refusal.asked_for(),
            Some(refusal_cause(refusal.cause())),
            refused_by(refusal.cause()),
        ),
    };
    let verdict = match decision.ruling() {
        Some(ruling) => asked_ruling(ruling, asked),
        None => unjudged(decision),
    };
    Decided {
        operations,
        ruling: verdict,
        refusal,
        by,
    }
}

/// What clients are told of a decision, without what would have allowed it.
#[must_use]
pub(crate) fn verdict_told(decision: &Decision) -> wire::ToolCallVerdict {
    let decided = decided(decision);
    wire::ToolCallVerdict {
        call: wire::CallId::new(decision.id().as_str()),
        part_of: decision.part_of().map(|id| wire::CallId::new(id.as_str())),
        tool: decision.tool().to_owned(),
        operations: decided.operations,
        ruling: decided.ruling,
        refusal: decided.refusal,
        by: decided.by,
        allowed_by: None,
    }
}

/// A verdict over a call that is asked about for a reason, if it is.
#[must_use]
pub fn asked_ruling(judged: &Ruling, asked: Option<AskReason>) -> wire::Ruling {
    let mut verdict = ruling(judged);
    match asked {
        Some(AskReason::Repeated) => {
            verdict.verdict = wire::Verdict::Ask;
            verdict.cause = wire::Cause::Repeated;
        }
        Some(AskReason::Resumed) => verdict.verdict = wire::Verdict::Ask,
        Some(AskReason::Policy | AskReason::PolicyRepeated) | None => {}
    }
    verdict
}

/// How far a refused call had come.
#[must_use]
pub const fn progress(cause: &RefusalCause) -> Progress {
    match cause {
        RefusalCause::Cancelled(progress)
        | RefusalCause::PodStopped(progress)
        | RefusalCause::Interrupted(progress) => *progress,
        RefusalCause::Policy
        | RefusalCause::NoClient { .. }
        | RefusalCause::Rejected { .. }
        | RefusalCause::Expired
        | RefusalCause::NotAuto
        | RefusalCause::TooLarge
        | RefusalCause::Futile { .. }
        | RefusalCause::ClientGone
        | RefusalCause::BadCall { .. }
        | RefusalCause::UnknownTool
        | RefusalCause::Hook { .. }
        | RefusalCause::HookFailed { .. }
        | RefusalCause::NotJudged => Progress::NotStarted,
    }
}

/// A limit as `[limits]` names it; one that no manifest sets by its own word.
const fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Steps => "max_steps",
        Limit::Wall => "turn_timeout",
        // Its calls, or its bytes.
        Limit::OutputTokens | Limit::Message => limit.as_str(),
    }
}

/// Why a turn ended.
#[must_use]
pub fn end_reason(reason: &EndReason) -> wire::TurnEndReason {
    match reason {
        EndReason::Done => wire::TurnEndReason::Done,
        EndReason::Limit(limit) => wire::TurnEndReason::Limit {
            limit: wire::LimitName(limit_name(*limit).to_owned()),
        },
        EndReason::Aborted { hook, reason } => wire::TurnEndReason::Aborted {
            reason: format!("{hook}: {reason}"),
        },
        // The end of one that is kept is told to nobody.
        EndReason::Cancelled | EndReason::Kept => wire::TurnEndReason::Cancelled,
        EndReason::Model(_) => wire::TurnEndReason::Failed,
    }
}

/// Why a call did not run.
#[must_use]
pub fn refusal_cause(cause: &RefusalCause) -> wire::RefusalCause {
    match cause {
        RefusalCause::Policy => wire::RefusalCause::Policy,
        RefusalCause::NoClient { .. } => wire::RefusalCause::NoClient,
        RefusalCause::Rejected { by, feedback } => wire::RefusalCause::Rejected {
            name: by.to_string(),
            feedback: feedback.as_ref().map(ToString::to_string),
        },
        RefusalCause::Expired => wire::RefusalCause::Expired,
        RefusalCause::NotAuto => wire::RefusalCause::NotAuto,
        RefusalCause::TooLarge => wire::RefusalCause::TooLarge,
        RefusalCause::Futile { error } => wire::RefusalCause::Futile {
            error: error.to_string(),
        },
        RefusalCause::ClientGone => wire::RefusalCause::ClientGone,
        RefusalCause::BadCall { .. } => wire::RefusalCause::BadCall,
        RefusalCause::UnknownTool => wire::RefusalCause::UnknownTool,
        RefusalCause::Hook { name, text } => wire::RefusalCause::Hook {
            name: name.to_string(),
            text: text.to_string(),
        },
        RefusalCause::HookFailed { name, why } => wire::RefusalCause::HookFailed {
            name: name.to_string(),
            why: why.to_string(),
        },
        RefusalCause::NotJudged => wire::RefusalCause::NotJudged,
        RefusalCause::Cancelled(_) => wire::RefusalCause::Cancelled,
        RefusalCause::PodStopped(_) => wire::RefusalCause::PodStopped,
        RefusalCause::Interrupted(_) => wire::RefusalCause::Interrupted,
    }
}

/// The ruling of a call that nobody judged.
fn unjudged(decision: &Decision) -> wire::Ruling {
    let cause = match decision {
        Decision::Refuse(refusal) => match refusal.cause() {
            RefusalCause::BadCall { why } => wire::Cause::BadCall {
                why: why.to_string(),
            },
            RefusalCause::UnknownTool => wire::Cause::UnknownTool,
            _ => wire::Cause::NotJudged, // the turn ended first
        },
        Decision::Run { .. } | Decision::Ask(_) => wire::Cause::NotJudged,
    };
    wire::Ruling {
        verdict: wire::Verdict::Deny,
        cause,
        operation: None,
        coverage: wire::Coverage::Full,
    }
}

fn run_by(by: &DecidedBy) -> wire::DecidedBy {
    let client = |by: &str, edited| wire::DecidedBy::Client {
        name: by.to_owned(),
        edited,
    };
    match by {
        DecidedBy::Policy => wire::DecidedBy::Policy,
        DecidedBy::Grants { grants, by } => granted(grants, by),
        DecidedBy::Answer(answer) => match answer {
            Answer::Once { by } | Answer::Always { by, .. } => client(by, false),
            Answer::Edited { by } => client(by, true),
            Answer::Auto => wire::DecidedBy::Auto,
            Answer::Granted { grants, by } => granted(grants, by),
            // None of them lets a call run.
            Answer::Rejected { .. }
            | Answer::Expired
            | Answer::NoClient
            | Answer::NotAuto
            | Answer::TooLarge
            | Answer::Futile { .. }
            | Answer::ClientGone
            | Answer::Cancelled
            | Answer::PodStopped
            | Answer::Interrupted
            | Answer::Hook { .. }
            | Answer::HookFailed { .. } => wire::DecidedBy::Pod,
        },
    }
}

/// The grants that let a call run, and who gave the last of them.
pub(crate) fn granted(grants: &[GrantId], by: &str) -> wire::DecidedBy {
    wire::DecidedBy::Grants {
        grants: grant_ids(grants),
        name: by.to_owned(),
    }
}

/// The ids of grants.
pub(crate) fn grant_ids(grants: &[GrantId]) -> Vec<wire::GrantId> {
    let ids = grants.iter();
    ids.map(|grant| wire::GrantId::new(grant.as_str()))
        .collect()
}

fn refused_by(cause: &RefusalCause) -> wire::DecidedBy {
    match cause {
        RefusalCause::Policy => wire::DecidedBy::Policy,
        RefusalCause::Hook { name, .. } | RefusalCause::HookFailed { name, .. } => {
            wire::DecidedBy::Hook {
                name: name.to_string(),
            }
        }
        RefusalCause::Rejected { by, .. } => wire::DecidedBy::Client {
            name: by.to_string(),
            edited: false,
        },
        RefusalCause::NoClient { .. }
        | RefusalCause::Expired
        | RefusalCause::NotAuto
        | RefusalCause::TooLarge
        | RefusalCause::Futile { .. }
        | RefusalCause::ClientGone
        | RefusalCause::BadCall { .. }
        | RefusalCause::UnknownTool
        | RefusalCause::NotJudged
        | RefusalCause::Cancelled(_)
        | RefusalCause::PodStopped(_)
        | RefusalCause::Interrupted(_) => wire::DecidedBy::Pod,
    }
}

fn cause(cause: &Cause) -> wire::Cause {
    match cause {
        Cause::NoPolicy => wire::Cause::NoPolicy,
        Cause::NothingToRun => wire::Cause::NothingToRun,
        Cause::Rule {
            layer,
            rule,
            location,
            pattern,
            message,
        } => wire::Cause::Rule {
            layer: layer.to_string(),
            rule: number(*rule),
            at: place(location),
            pattern: pattern.to_string(),
            message: message.as_ref().map(ToString::to_string),
        },
        Cause::Default { layer, location } => wire::Cause::Default {
            layer: layer.to_string(),
            at: place(location),
        },
        Cause::Unresolved {
            layer,
            rule,
            location,
            why,
        } => wire::Cause::Unresolved {
            layer: layer.to_string(),
            rule: rule.map(number),
            at: location.as_ref().map(place),
            why: why.to_string(),
        },
        Cause::Unrestricted => wire::Cause::Unrestricted,
        Cause::Unnamed { layer } => wire::Cause::Unnamed {
            layer: layer.to_string(),
        },
        Cause::Skill { name, digest, says } => wire::Cause::Skill {
            name: name.to_string(),
            digest: digest.to_string(),
            says: skill_says(says),
        },
        Cause::SkillFiles { name, digest } => wire::Cause::SkillFiles {
            name: name.to_string(),
            digest: digest.to_string(),
        },
    }
}

/// A skill that is active, and the call that started it, if none did with a prompt.
pub(crate) fn skill_started(skill: &ActiveSkill, call: Option<CallId>) -> wire::SkillStarted {
    let lists = skill.record.lists();
    let written = |list| {
        let entries = lists.entries(list).iter();
        entries.map(|entry| entry.written.to_string()).collect()
    };
    wire::SkillStarted {
        name: skill.record.name.to_string(),
        digest: skill.record.digest.to_string(),
        n_tools: skill
            .n_tools
            .and_then(|n_tools| u64::try_from(n_tools).ok()),
        allowed_tools: match lists.allowed {
            Allowed::NotRestricted => None,
            Allowed::Only(_) => Some(written(ListKind::Allowed)),
        },
        disallowed_tools: written(ListKind::Disallowed),
        by: match call {
            Some(call) => wire::SkillStarter::Model {
                call: wire::CallId::new(call.as_str()),
            },
            None => wire::SkillStarter::Prompt,
        },
    }
}

/// A skill that is active no longer; one that never began is not told of.
pub(crate) fn skill_ended(name: &str, why: &SkillEnd) -> Option<wire::SkillEnded> {
    let why = match why {
        SkillEnd::TurnEnded => wire::SkillEndReason::Turn,
        SkillEnd::Client { by } => wire::SkillEndReason::Client {
            name: by.to_string(),
        },
        SkillEnd::Interrupted => return None,
    };
    let name = name.to_owned();
    Some(wire::SkillEnded { name, why })
}

fn skill_says(says: &SkillSays) -> wire::SkillSays {
    match says {
        SkillSays::NotListed { list } => wire::SkillSays::NotListed {
            list: list.to_string(),
        },
        SkillSays::Disallowed { entry, location } => wire::SkillSays::Disallowed {
            entry: entry.to_string(),
            at: place(location),
        },
        SkillSays::Unresolved { list, why } => wire::SkillSays::Unresolved {
            list: list.as_ref().map(ToString::to_string),
            why: why.to_string(),
        },
    }
}

/// People count from 1.
const fn number(rule: RuleIdx) -> usize {
    rule.0 + 1
}

fn place(location: &Location) -> wire::Place {
    wire::Place {
        file: location.file.to_string(),
        line: location.line,
        column: location.column,
    }
}

/// A command as a shell has to be given it, where that is not its text.
fn spelled(operation: &Operation) -> Option<String> {
    let Subject::Command(command) = &operation.subject else {
        return None;
    };
    let is_text = |spelled: &String| command.written.known_part() == spelled;
    command.spelled().filter(|spelled| !is_text(spelled))
}

fn operation(operation: &Operation) -> wire::Operation {
    let anything = Text::anything();
    let (subject, text, why) = match &operation.subject {
        Subject::Command(command) => (wire::SubjectKind::Command, &command.written, None),
        Subject::Path(path) => (wire::SubjectKind::Path, &path.lexical.short, None),
        Subject::Tree(path) => (wire::SubjectKind::Tree, &path.lexical.short, None),
        Subject::Url(url) => (wire::SubjectKind::Url, &url.text, None),
        Subject::Plain(text) => (wire::SubjectKind::Plain, text, None),
        Subject::Unknown(why) => {
            let why = why.as_str().to_owned();
            (wire::SubjectKind::Unknown, &anything, Some(why))
        }
    };
    let leads_to = match &operation.subject {
        Subject::Path(path) | Subject::Tree(path) => path.resolved.as_ref(),
        Subject::Command(_) | Subject::Url(_) | Subject::Plain(_) | Subject::Unknown(_) => None,
    };
    wire::Operation {
        tool: operation.tool.to_string(),
        subject,
        text: text.to_string(),
        spelled: spelled(operation),
        leads_to: leads_to.map(|form| form.short.to_string()),
        known: text.as_known().is_some(),
        need: match operation.need {
            Need::Full => wire::Need::Full,
            Need::Restrictive => wire::Need::Restrictive,
            Need::Named => wire::Need::Named,
            Need::Free => wire::Need::Free,
            Need::DerivedFrom(_) => wire::Need::Derived,
            Need::RunBy { .. } => wire::Need::RunBy,
        },
        span: operation.span.map(|span| wire::Span {
            start: span.start,
            end: span.end,
        }),
        why,
        partial: operation.partial.iter().map(ToString::to_string).collect(),
    }
}
