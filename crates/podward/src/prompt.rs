//! Where a run's prompt comes from.

use std::io::{IsTerminal as _, Read as _};

use podward_manifest::{Model, Script};
use podward_protocol::Run;

use crate::failure::Failure;
use crate::screen::{Look, Screen};

/// What the agent of the demonstration is asked to do.
const DEMO_PROMPT: &str = include_str!("../demo/prompt.txt");

/// What helps against an empty prompt.
const RUN_HELP: &str = "say what the agent shall do: podward run MANIFEST \"…\"";
const SEND_HELP: &str = "say what the agent shall do: podward send POD \"…\"";

/// What the agent shall do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// This: a prompt, a skill, or both.
    Text {
        prompt: Option<String>,
        skill: Option<String>,
    },
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
        skill: Option<&str>,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let text = match (given, resume, model) {
            (Some(text), _, _) if text != "-" => text.to_owned(),
            (None, _, _) if skill.is_some() => return Ok(Self::skill_alone(skill)),
            (None, Some(_), _) => return Ok(Self::GoOn),
            (None, None, Model::Scripted(Script::Embedded(_))) => DEMO_PROMPT.to_owned(),
            (_, _, Model::Undeclared | Model::Scripted(_) | Model::Remote(_)) => {
                from_standard_input(screen)?
            }
        };
        Ok(Self::Text {
            prompt: Some(not_empty(&text, RUN_HELP)?),
            skill: skill.map(str::to_owned),
        })
    }

    /// A skill whose instructions are all that is said.
    fn skill_alone(skill: Option<&str>) -> Self {
        Self::Text {
            prompt: None,
            skill: skill.map(str::to_owned),
        }
    }
}

/// The argument, or what `-` or its absence stands for, with a skill; which may be all.
///
/// # Errors
/// Standard input cannot be read, or there is nothing to do.
pub(crate) fn of_a_send(
    given: Option<&str>,
    skill: Option<&str>,
    screen: Screen,
) -> Result<Run, Failure> {
    let prompt = match given {
        Some(text) if text != "-" => Some(not_empty(text, SEND_HELP)?),
        None if skill.is_some() => None,
        Some(_) | None => Some(not_empty(&from_standard_input(screen)?, SEND_HELP)?),
    };
    Ok(Run {
        prompt,
        skill: skill.map(str::to_owned),
    })
}

fn not_empty(text: &str, help: &'static str) -> Result<String, Failure> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::Usage {
            message: "the prompt is empty".to_owned(),
            help,
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
