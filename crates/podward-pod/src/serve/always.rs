//! What an "always" may save.

use podward_gate::{AskReason, Question};
use podward_policy::{Asking, GrantRule, OperationIdx};
use podward_protocol as wire;
use podward_protocol::{Chosen, MethodError, MethodErrorCode};
use podward_shell::AddedPrograms;
use podward_tools::{Choice, Choices, Width, choices};

use crate::grants::wire_given;

/// The longest account of what was asked about, in characters.
const MAX_WHY: usize = 200;

/// What clients are offered.
pub(super) struct Offer {
    pub(super) choices: Vec<wire::Choice>,
    /// Why there is nothing to choose from.
    pub(super) no_always: Option<String>,
}

/// What an "always" to this question may save for the parts that are asked about.
pub(super) fn offer(question: &Question, asking: &[Asking], programs: &AddedPrograms) -> Offer {
    if let Some(why) = never(question) {
        return Offer {
            choices: Vec::new(),
            no_always: Some(why.to_owned()),
        };
    }
    let all = of(question, asking, programs);
    Offer {
        choices: (0..all.n_levels())
            .map(|level| wire::Choice {
                parts: all.at(level).into_iter().map(part).collect(),
            })
            .collect(),
        no_always: all.why_none().map(str::to_owned),
    }
}

/// The rules that an "always" saves.
pub(super) fn rules(
    question: &Question,
    asking: &[Asking],
    what: &Chosen,
    programs: &AddedPrograms,
) -> Result<Vec<GrantRule>, MethodError> {
    let not_grantable = |why: &str| {
        let message = format!("`always` cannot answer this: {why}");
        MethodError::new(MethodErrorCode::NotGrantable, message)
    };
    if let Some(why) = never(question) {
        return Err(not_grantable(why));
    }
    let all = of(question, asking, programs);
    if let Some(why) = all.why_none() {
        return Err(not_grantable(why));
    }
    match what {
        Chosen::Width(level) => all.rules(*level).ok_or_else(|| {
            let message = format!(
                "there is no choice {level}: the request has {}, counted from 0",
                all.n_levels()
            );
            MethodError::new(MethodErrorCode::InvalidParams, message)
        }),
        Chosen::Patterns(patterns) => {
            let patterns: Vec<_> = patterns
                .iter()
                .map(|chosen| (OperationIdx(chosen.operation), chosen.pattern.as_str()))
                .collect();
            all.rules_of(question.facts().lowered(), &patterns, programs)
                .map_err(|refused| {
                    let code = MethodErrorCode::PatternRefused {
                        operation: refused.operation.0,
                    };
                    MethodError {
                        code,
                        message: refused.to_string(),
                        help: refused.problem.help,
                    }
                })
        }
    }
}

/// What was asked about, for people who look at the grant later.
pub(super) fn why(question: &Question, copy_of: Option<&str>) -> String {
    let facts = question.facts();
    let text = format!("{} {}", facts.tool(), facts.arguments());
    let text = match text.char_indices().nth(MAX_WHY) {
        None => text,
        Some((at, _)) => format!("{}… [{} bytes in all]", text.split_at(at).0, text.len()),
    };
    match copy_of {
        None => text,
        Some(_) => format!("{text} [asked in a copy of the workspace]"),
    }
}

/// Why this kind of question is asked each time.
fn never(question: &Question) -> Option<&'static str> {
    match question.reason() {
        AskReason::Policy | AskReason::PolicyRepeated => None,
        AskReason::Resumed => {
            Some("it was asked about before the pod was started anew, and the rules ask no more")
        }
        AskReason::Repeated => {
            Some("the same call was made before in this turn, and is asked about each time")
        }
    }
}

fn of(question: &Question, asking: &[Asking], programs: &AddedPrograms) -> Choices {
    choices(question.facts().lowered(), asking, programs)
}

fn part(choice: &Choice) -> wire::ChoicePart {
    wire::ChoicePart {
        operation: choice.operation.0,
        tool: choice.tool.to_string(),
        pattern: choice.pattern.to_string(),
        given: wire_given(&choice.given),
        width: match choice.width {
            Width::Exact => wire::Width::Exact,
            Width::Similar => wire::Width::Similar,
            Width::Subcommand => wire::Width::Subcommand,
            Width::Program => wire::Width::Program,
            Width::File => wire::Width::File,
            Width::Directory => wire::Width::Directory,
            Width::Url => wire::Width::Url,
            Width::Host => wire::Width::Host,
            Width::SameArguments => wire::Width::SameArguments,
            Width::Tool => wire::Width::Tool,
        },
    }
}
