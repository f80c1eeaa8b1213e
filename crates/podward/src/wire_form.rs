//! Verdicts and operations as they are sent.

use podward_policy::{
    Action, Cause, Coverage, Location, Lowered, Need, Operation, RuleIdx, Ruling, Subject, Text,
};
use podward_protocol as wire;

/// A verdict with its cause.
pub(crate) fn ruling(ruling: &Ruling) -> wire::Ruling {
    wire::Ruling {
        verdict: match ruling.action {
            Action::Allow => wire::Verdict::Allow,
            Action::Ask => wire::Verdict::Ask,
            Action::Deny => wire::Verdict::Deny,
        },
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

/// What a call would do; nothing to run is an empty list.
pub(crate) fn operations(lowered: &Lowered) -> Vec<wire::Operation> {
    match lowered {
        Lowered::NothingToRun => Vec::new(),
        Lowered::Operations(operations) => operations.iter().map(operation).collect(),
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

fn operation(operation: &Operation) -> wire::Operation {
    let anything = Text::anything();
    let (subject, text, why) = match &operation.subject {
        Subject::Command(command) => (wire::SubjectKind::Command, &command.written, None),
        Subject::Path(path) => (wire::SubjectKind::Path, &path.lexical.short, None),
        Subject::Url(url) => (wire::SubjectKind::Url, &url.text, None),
        Subject::Plain(text) => (wire::SubjectKind::Plain, text, None),
        Subject::Unknown(why) => {
            let why = why.as_str().to_owned();
            (wire::SubjectKind::Unknown, &anything, Some(why))
        }
    };
    wire::Operation {
        tool: operation.tool.to_string(),
        subject,
        text: text.to_string(),
        known: text.as_known().is_some(),
        need: match operation.need {
            Need::Full => wire::Need::Full,
            Need::Restrictive => wire::Need::Restrictive,
            Need::Free => wire::Need::Free,
            Need::DerivedFrom(_) => wire::Need::Derived,
            Need::RunBy { .. } => wire::Need::RunBy,
        },
        span: operation.span.map(|span| wire::Span {
            start: span.start,
            end: span.end,
        }),
        why,
    }
}
