//! `spawn`: starts a child pod. What it is and how it is held is for the pod to know.

use std::sync::Arc;

use async_trait::async_trait;
use podward_gate::{CallId, Permit};
use podward_policy::{Operation, ToolName};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::built_in::{Arguments, BuiltIn, Ready};
use crate::error::BadArguments;
use crate::lower::names;
use crate::tool::{Invocation, Place, RunContext, Tool, ToolOutput};

/// The arguments of `spawn`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spawn {
    /// The name of the child.
    child: String,
    /// What it is to do, and all that it has to know for that.
    prompt: String,
}

impl Arguments for Spawn {
    const NAME: &'static str = names::SPAWN;
    const DESCRIPTION: &'static str = "Start a child: an agent of its own, which sees nothing of this \
        conversation, works through the prompt in this workspace and ends. The result is what it wrote \
        last. Several calls in one message work at the same time.";

    fn lower(self, tool: &ToolName, _: &Place) -> Result<Ready, BadArguments> {
        for (name, value) in [("child", &self.child), ("prompt", &self.prompt)] {
            if value.trim().is_empty() {
                return Err(BadArguments::new(tool, format!("`{name}` is empty")));
            }
        }
        Ok(Ready {
            lowered: Operation::plain(tool, &*self.child).into(),
            invocation: Box::new(Start(self)),
        })
    }
}

struct Start(Spawn);

#[async_trait]
impl Invocation for Start {
    fn session(&self, ctx: &RunContext) -> Option<String> {
        ctx.children.session()
    }

    async fn run(self: Box<Self>, permit: Permit, ctx: &RunContext) -> ToolOutput {
        let Spawn { child, prompt } = self.0;
        let call = ChildCall {
            id: permit.facts().id(),
            session: ctx.session.as_deref(),
            child: &child,
            prompt,
        };
        ctx.children.run(call, &ctx.cancel).await
    }
}

/// A running call of the tool `spawn`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildCall<'a> {
    /// Its id.
    pub id: &'a CallId,
    /// The session that the child works in, as [`RunChild::session`] said; one that it has begun goes on.
    pub session: Option<&'a str>,
    /// The child's name.
    pub child: &'a str,
    /// What it is to do.
    pub prompt: String,
}

/// Runs children, for the running call of the tool `spawn`.
#[async_trait]
pub trait RunChild: Send + Sync {
    /// The id of a session for one more child; `None`: none starts here.
    fn session(&self) -> Option<String>;

    /// Has a child work through a prompt; what came of it, written for the model. When `cancel` is
    /// cancelled it ends soon, with all that it has started.
    async fn run(&self, call: ChildCall<'_>, cancel: &CancellationToken) -> ToolOutput;

    /// Whether the child of a session, which runs no longer, is in the middle of its turn: then whoever goes
    /// on with the call goes on with it.
    async fn is_in_turn(&self, session: &str) -> bool;
}

/// Runs no child: for a call that nobody runs in a pod, and where there are none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoChildren;

#[async_trait]
impl RunChild for NoChildren {
    fn session(&self) -> Option<String> {
        None
    }

    async fn run(&self, call: ChildCall<'_>, _: &CancellationToken) -> ToolOutput {
        let child = crate::error::shown(call.child);
        ToolOutput::failure(format!(
            "the child `{child}` was not started: there are no children here"
        ))
    }

    async fn is_in_turn(&self, _: &str) -> bool {
        false
    }
}

/// The tool `spawn`, for [`Registry::register`](crate::Registry::register) where there are children.
///
/// `listing` tells the model which there are; it stands behind what the tool does.
#[must_use]
pub fn spawn_tool(listing: &str) -> Arc<dyn Tool> {
    Arc::new(BuiltIn::<Spawn>::with_listing(listing))
}

#[cfg(test)]
mod tests;
