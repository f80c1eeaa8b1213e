//! Where a run's prompt comes from.

use std::io::{IsTerminal as _, Read as _};

use podward_manifest::{Model, Script};

use crate::failure::Failure;
use crate::screen::{Look, Screen};

/// What the agent of the demonstration is asked to do.
const DEMO_PROMPT: &str = include_str!("../demo/prompt.txt");

/// What the agent shall do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// This.
    Text(String),
    /// Finish the turn that was cut off.
    GoOn,
}

impl Prompt {
    /// The argument, what `-` or its absence stands for, or the demonstration's own.
    ///
    /// # Errors
    /// Standard input cannot be read, or there is nothing to do.
    pub(crate) fn of_a_run(
        given: Option<&str>,
        resume: Option<&str>,
        model: &Model,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let text = match (given, resume, model) {
            (Some(text), _, _) if text != "-" => text.to_owned(),
            (None, Some(_), _) => return Ok(Self::GoOn),
            (None, None, Model::Scripted(Script::Embedded(_))) => DEMO_PROMPT.to_owned(),
            (_, _, Model::Undeclared | Model::Scripted(_) | Model::Remote(_)) => {
                from_standard_input(screen)?
            }
        };
        not_empty(&text).map(Self::Text)
    }
}

/// The argument, or what `-` or its absence stands for.
///
/// # Errors
/// Standard input cannot be read, or there is nothing to do.
pub(crate) fn of_a_send(given: Option<&str>, screen: Screen) -> Result<String, Failure> {
    match given {
        Some(text) if text != "-" => not_empty(text),
        Some(_) | None => not_empty(&from_standard_input(screen)?),
    }
}

fn not_empty(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::Usage {
            message: "the prompt is empty".to_owned(),
            help: "say what the agent shall do: podward run MANIFEST \"…\"",
        });
    }
    Ok(text.to_owned())
}

fn from_standard_input(screen: Screen) -> Result<String, Failure> {
    let mut stdin = std::io::stdin().lock();
    if stdin.is_terminal() {
        screen.say(
            Look::Strong,
            "prompt",
            "end it with Ctrl-D on a line of its own",
        );
    }
    let mut text = String::new();
    stdin.read_to_string(&mut text).map_err(Failure::Stdin)?;
    Ok(text)
}
