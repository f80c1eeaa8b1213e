//! `bash`: a command line, run by a real bash.

mod capture;
mod environment;
mod execution;
mod variables;

use std::time::Duration;

use async_trait::async_trait;
use podward_gate::Permit;
use podward_policy::ToolName;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bash::execution::execute;
use crate::built_in::{Arguments, Ready};
use crate::error::BadArguments;
use crate::keep;
use crate::lower::names;
use crate::lower::shell::lower_command;
use crate::tool::{Invocation, Place, RunContext, ToolOutput};

pub use environment::find_bash;
pub(crate) use variables::{USUAL_NAMES, names_of};

/// The arguments of `bash`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bash {
    /// The command line. Each call starts a new shell in the workspace: `cd` and variables do not
    /// carry over.
    command: String,
    /// Milliseconds after which the command is killed. The default is also the most.
    timeout_ms: Option<std::num::NonZeroU64>,
    /// What the command is for, in a few words, for the person who reads along.
    #[expect(dead_code, reason = "read by people in the arguments, not by the tool")]
    description: Option<String>,
}

/// A command line that is ready to run.
#[derive(Debug)]
pub(crate) struct Command {
    /// The text for `bash -c`; no NUL.
    pub(crate) text: String,
    /// The time-out that the call asks for; the limit of the pod may be less.
    pub(crate) timeout: Option<Duration>,
}

impl Arguments for Bash {
    const NAME: &'static str = names::BASH;
    const DESCRIPTION: &'static str = "Run a command line with bash (no profile, no rc files, \
        standard input is empty) and return its output, standard error included, and its exit \
        code. Each call starts a new shell in the workspace. Long output is cut in the middle. A \
        command that takes too long is killed with all it started; background processes end with the \
        call. For one file or a search, the \
        tools for that give better results than cat, sed or find.";

    fn lower(self, tool: &ToolName, place: &Place) -> Result<Ready, BadArguments> {
        if self.command.contains('\0') {
            return Err(BadArguments::new(
                tool,
                "`command` holds a NUL character, which no command line can",
            ));
        }
        Ok(Ready {
            lowered: lower_command(&self.command, place),
            invocation: Box::new(Command {
                text: self.command,
                timeout: self.timeout_ms.map(|ms| Duration::from_millis(ms.get())),
            }),
        })
    }
}

#[async_trait]
impl Invocation for Command {
    async fn run(self: Box<Self>, permit: Permit, ctx: &RunContext) -> ToolOutput {
        let kept = match keep::before_command(ctx, permit.facts()).await {
            Ok(kept) => kept,
            Err(not_run) => return not_run,
        };
        let output = execute(*self, ctx).await;
        keep::after_command(kept).await;
        output
    }
}
