//! An answer as the command line gives it.

use podward_protocol::{Always, Answer, Chosen, ChosenPattern, GrantFor, PermissionRequest, Time};
use serde_json::{Map, Value};

use crate::arguments::{Reply, ReplyAnswer};
use crate::failure::Failure;

/// What an option belongs to.
const OPTIONS: &str = "--feedback belongs to `reject`, --arguments to `edit`, --width, --pattern and \
                       --for to `always`";

/// An answer, and what has to be known of the question before it can be given.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    /// This answer.
    Answer(Answer),
    /// A pattern for the only part of the call that asks, whichever that is.
    PatternForTheOnlyPart { pattern: String, lasts: GrantFor },
}

/// Reads the answer; `input` is what `--arguments -` stands for.
///
/// # Errors
/// An option is missing, does not belong to the answer, or makes no sense.
pub(super) fn wanted(
    arguments: &Reply,
    input: impl FnOnce() -> Result<String, Failure>,
) -> Result<Wanted, Failure> {
    let is_for = |answer, is_given: bool| is_given && arguments.answer != answer;
    let is_misplaced = is_for(ReplyAnswer::Reject, arguments.feedback.is_some())
        || is_for(ReplyAnswer::Edit, arguments.arguments.is_some())
        || is_for(
            ReplyAnswer::Always,
            arguments.width.is_some() || !arguments.pattern.is_empty() || arguments.span.is_some(),
        );
    if is_misplaced {
        return Err(Failure::Usage {
            message: "an option does not belong to this answer".to_owned(),
            help: OPTIONS,
        });
    }
    let answer = match arguments.answer {
        ReplyAnswer::Once => Answer::Once,
        ReplyAnswer::Reject => Answer::Reject {
            feedback: arguments.feedback.clone(),
        },
        ReplyAnswer::Edit => Answer::Edit {
            arguments: edited(arguments, input)?,
        },
        ReplyAnswer::Always => return always(arguments),
    };
    Ok(Wanted::Answer(answer))
}

fn edited(
    arguments: &Reply,
    input: impl FnOnce() -> Result<String, Failure>,
) -> Result<Map<String, Value>, Failure> {
    let text = match arguments.arguments.as_deref() {
        Some("-") => input()?,
        Some(text) => text.to_owned(),
        None => {
            return Err(Failure::Usage {
                message: "`edit` needs --arguments".to_owned(),
                help: "give all of the new arguments: --arguments '{\"command\":\"git push --dry-run\"}'",
            });
        }
    };
    let problem = match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => return Ok(arguments),
        Ok(_) => "--arguments is no JSON object".to_owned(),
        Err(error) => format!("--arguments is no JSON: {error}"),
    };
    Err(Failure::Usage {
        message: problem,
        help: "give the tool's arguments as an object: --arguments '{\"command\":\"git status\"}'",
    })
}

fn always(arguments: &Reply) -> Result<Wanted, Failure> {
    let lasts = lasts(arguments.span.as_deref().unwrap_or("session"))?;
    let parts: Vec<(Option<usize>, &str)> =
        arguments.pattern.iter().map(|text| part(text)).collect();
    let what = match (arguments.width, parts.as_slice()) {
        (Some(width), _) => Chosen::Width(usize::from(width).saturating_sub(1)),
        (None, []) => {
            return Err(Failure::Usage {
                message: "`always` needs --width or --pattern".to_owned(),
                help: "`podward pending` shows what each width would save",
            });
        }
        (None, [(None, pattern)]) => {
            let pattern = (*pattern).to_owned();
            return Ok(Wanted::PatternForTheOnlyPart { pattern, lasts });
        }
        (None, parts) => {
            let patterns: Option<Vec<ChosenPattern>> = parts
                .iter()
                .map(|(operation, pattern)| {
                    Some(ChosenPattern {
                        operation: (*operation)?,
                        pattern: (*pattern).to_owned(),
                    })
                })
                .collect();
            Chosen::Patterns(patterns.ok_or_else(|| Failure::Usage {
                message: "of several patterns each needs the number of its part".to_owned(),
                help: "`podward pending` shows the numbers: --pattern '1=git push *'",
            })?)
        }
    };
    Ok(Wanted::Answer(Answer::Always(Always { what, lasts })))
}

/// A pattern, and the place of its operation if its number, from 1, is in front.
fn part(text: &str) -> (Option<usize>, &str) {
    let Some((number, pattern)) = text.split_once('=') else {
        return (None, text);
    };
    match number
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_sub(1))
    {
        Some(place) => (Some(place), pattern),
        None => (None, text),
    }
}

fn lasts(text: &str) -> Result<GrantFor, Failure> {
    let uses = text.strip_suffix('x').and_then(|n| n.parse().ok());
    match (text, uses) {
        ("session", _) => Ok(GrantFor::Session),
        ("project", _) => Ok(GrantFor::Project),
        (_, Some(n)) if n > 0 => Ok(GrantFor::Uses { n }),
        _ => text
            .parse::<Time>()
            .map(|time| GrantFor::Until { time })
            .map_err(|_| Failure::Usage {
                message: format!("`{text}` is no time to keep an answer for"),
                help: "--for takes `session`, `project`, a time such as 2026-01-31T18:00:00Z, or a \
                       number of uses such as `5x`",
            }),
    }
}

/// The place of the only operation of a question that asks.
///
/// # Errors
/// Several ask.
pub(super) fn only_part(request: &PermissionRequest) -> Result<usize, Failure> {
    let mut asking: Vec<usize> = request.asking.iter().map(|one| one.operation).collect();
    asking.extend(request.ruling.operation);
    asking.sort_unstable();
    asking.dedup();
    match asking.as_slice() {
        [only] => Ok(*only),
        several => Err(Failure::Usage {
            message: format!(
                "several parts of this call ask ({}): each needs a pattern",
                several
                    .iter()
                    .map(|at| (at + 1).to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            help: "write --pattern 'NUMBER=…' for each, with the numbers of `podward pending`",
        }),
    }
}

#[cfg(test)]
mod tests;
