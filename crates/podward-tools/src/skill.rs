//! `skill`: starts a workflow. What it is and what it restricts is for the worker to know.

use std::sync::Arc;

use async_trait::async_trait;
use podward_gate::Permit;
use podward_policy::{Operation, ToolName};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::built_in::{Arguments, BuiltIn, Ready};
use crate::error::BadArguments;
use crate::lower::names;
use crate::tool::{Invocation, Place, RunContext, Tool, ToolOutput};

/// The arguments of `skill`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Skill {
    /// The name of the skill.
    name: String,
    /// What the skill is to work on, in words. Default: nothing.
    arguments: Option<String>,
}

impl Arguments for Skill {
    const NAME: &'static str = names::SKILL;
    const DESCRIPTION: &'static str = "Start a skill: the result is its instructions, to be followed \
        from then on. While a skill is active, only the tools that it allows can be called; it ends \
        with the turn.";

    fn lower(self, tool: &ToolName, _: &Place) -> Result<Ready, BadArguments> {
        if self.name.trim().is_empty() {
            return Err(BadArguments::new(tool, "`name` is empty"));
        }
        Ok(Ready {
            lowered: Operation::plain(tool, &*self.name).into(),
            invocation: Box::new(Start(self)),
        })
    }
}

struct Start(Skill);

#[async_trait]
impl Invocation for Start {
    async fn run(self: Box<Self>, _permit: Permit, ctx: &RunContext) -> ToolOutput {
        let Skill { name, arguments } = self.0;
        match ctx.skills.start(&name, arguments.as_deref()).await {
            Ok(instructions) => ToolOutput::success(instructions),
            Err(why) => ToolOutput::failure(why),
        }
    }
}

/// Starts skills, for the running call of the tool `skill`.
#[async_trait]
pub trait StartSkill: Send + Sync {
    /// Starts a skill with what it is to work on: its instructions, or why it does not start, both
    /// written for the model.
    ///
    /// It takes effect once the call has its result, and only if that is these instructions.
    ///
    /// # Errors
    /// It does not start.
    async fn start(&self, name: &str, arguments: Option<&str>) -> Result<String, String>;
}

/// Starts no skill: for a call that nobody runs in a turn, and where there are none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSkills;

#[async_trait]
impl StartSkill for NoSkills {
    async fn start(&self, name: &str, _: Option<&str>) -> Result<String, String> {
        let name = crate::error::shown(name);
        Err(format!(
            "the skill `{name}` was not started: there are no skills here"
        ))
    }
}

/// The tool `skill`, for [`Registry::register`](crate::Registry::register) where there are skills.
///
/// `listing` tells the model which there are; it stands behind what the tool does.
#[must_use]
pub fn skill_tool(listing: &str) -> Arc<dyn Tool> {
    Arc::new(BuiltIn::<Skill>::with_listing(listing))
}

#[cfg(test)]
mod tests;
