//! The built-in tools: schema, lowering of a call to operations, and execution of what was permitted.
//!
//! It must never know whether a call is allowed, who is asked, or which model made it: it says what
//! a call would do, and runs it only when handed a permit.
//!
//! A program that embeds podward adds tools of its own: a [`Tool`] says what a call would do, its
//! [`Invocation`] does it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use podward_gate::Permit;
//! use podward_policy::{Operation, ToolName};
//! use podward_tools::{
//!     BadArguments, BadCall, Invocation, Place, Proposal, Registry, RunContext, Tool, ToolOutput,
//!     canonical_arguments,
//! };
//! use serde_json::{Value, json};
//!
//! struct Deploy(ToolName);
//! struct DeployTo(String);
//!
//! impl Tool for Deploy {
//!     fn name(&self) -> &ToolName {
//!         &self.0
//!     }
//!     fn description(&self) -> &str {
//!         "Deploy to a stage"
//!     }
//!     fn schema(&self) -> Value {
//!         json!({"type": "object", "properties": {"stage": {"type": "string"}}})
//!     }
//!     fn propose(&self, arguments: Value, _: &Place) -> Result<Proposal, BadCall> {
//!         let Some(stage) = arguments["stage"].as_str() else {
//!             return Err(BadArguments::new(&self.0, "`stage` is missing").into());
//!         };
//!         Ok(Proposal {
//!             arguments: canonical_arguments(&self.0, &arguments)?,
//!             // Rules are matched against the stage: tool = "deploy", pattern = "production".
//!             lowered: Operation::plain(&self.0, stage).into(),
//!             invocation: Box::new(DeployTo(stage.to_owned())),
//!         })
//!     }
//! }
//!
//! #[async_trait]
//! impl Invocation for DeployTo {
//!     async fn run(self: Box<Self>, _: Permit, _: &RunContext) -> ToolOutput {
//!         ToolOutput::success(format!("deployed to {}", self.0))
//!     }
//! }
//!
//! let mut registry = Registry::built_in();
//! registry.register(Arc::new(Deploy(ToolName::new("deploy")?)))?;
//! let place = Place::new("/work", None).isolated();
//! let proposal = registry.propose("deploy", json!({"stage": "test"}), &place)?;
//! assert_eq!(&*proposal.arguments, r#"{"stage":"test"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod bash;
mod blocking;
mod built_in;
mod choices;
mod error;
mod file_edit;
mod file_write;
mod files;
#[cfg(test)]
mod fixture;
mod keep;
mod lower;
mod mcp;
mod precheck;
mod read;
mod registry;
mod search;
mod skill;
mod spawn;
mod text;
mod tool;
mod web_fetch;

pub use arguments::canonical as canonical_arguments;
pub use bash::find_bash;
pub use choices::{
    AllowingRule, Choice, ChoicePart, Choices, PatternRefused, Stands, Width, allowing_rules,
    check_pattern, choices, rules_to_allow,
};
pub use error::{BadArguments, BadCall, UnknownTool};
pub use keep::{Changes, Deed, Keep, Kept, NotKept, Reach};
pub use registry::{NameTaken, Registry, arguments_of_text, lower};
pub use skill::{NoSkills, StartSkill, skill_tool};
pub use spawn::{ChildCall, NoChildren, RunChild, spawn_tool};
pub use tool::{
    Invocation, Judge, Judged, Links, Meanwhile, Occasion, Place, Precheck, Proposal, RunContext,
    Tool, ToolLimits, ToolOutput, Unjudged,
};
