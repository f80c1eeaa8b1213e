//! The built-in tools: schema, lowering of a call to operations, and execution of what was permitted.
//!
//! It must never know whether a call is allowed, who is asked, or which model made it: it says what
//! a call would do, and runs it only when handed a permit.

mod arguments;
mod bash;
mod blocking;
mod built_in;
mod error;
mod file_edit;
mod file_write;
mod files;
#[cfg(test)]
mod fixture;
mod lower;
mod mcp;
mod read;
mod registry;
mod search;
mod text;
mod tool;
mod web_fetch;

pub use bash::{ENVIRONMENT_NAMES, bash_environment, find_bash};
pub use error::{BadArguments, BadCall, UnknownTool};
pub use registry::{NameTaken, Registry, lower};
pub use tool::{Invocation, Links, Place, Proposal, RunContext, Tool, ToolLimits, ToolOutput};
