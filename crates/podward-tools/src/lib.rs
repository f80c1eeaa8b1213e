//! The built-in tools: schema, lowering of a call to operations, and execution of what was permitted.
//!
//! It must never know whether a call is allowed, who is asked, or which model made it: it says what
//! a call would do, and runs it only when handed a permit.

mod error;
mod tool;

pub use error::{BadArguments, BadCall, UnknownTool};
pub use tool::{Invocation, Links, Place, Proposal, RunContext, Tool, ToolLimits, ToolOutput};
