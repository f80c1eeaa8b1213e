//! Where a run's prompt comes from.

use std::io::{IsTerminal as _, Read as _};

use podward_manifest::{Model, Script};

use crate::arguments::Run;
use crate::failure::Failure;
use crate::screen::{Look, Screen};

/// The script of the demonstration, by the name that a manifest gives it.
pub(super) const DEMO: (&str, &str) = ("demo", include_str!("../../../demo/script.toml"));

/// What the agent of the demonstration is asked to do.
const DEMO_PROMPT: &str = include_str!("../../../demo/prompt.txt");

/// What the agent shall do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Prompt {
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
    pub(super) fn of(arguments: &Run, model: &Model, screen: Screen) -> Result<Self, Failure> {
        let text = match (&arguments.prompt, &arguments.resume, model) {
            (Some(text), _, _) if text != "-" => text.clone(),
            (None, Some(_), _) => return Ok(Self::GoOn),
            (None, None, Model::Scripted(Script::Embedded(_))) => DEMO_PROMPT.to_owned(),
            (_, _, Model::Undeclared | Model::Scripted(_) | Model::Remote(_)) => {
                from_standard_input(screen)?
            }
        };
        let text = text.trim();
        if text.is_empty() {
            return Err(Failure::Usage {
                message: "the prompt is empty".to_owned(),
                help: "say what the agent shall do: podward run MANIFEST \"…\"",
            });
        }
        Ok(Self::Text(text.to_owned()))
    }
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
