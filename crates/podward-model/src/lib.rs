//! Model providers behind one trait, and what a conversation with a model is made of.
//!
//! It must never know what a tool does, what a rule is, or whether a call is allowed to run.

mod event;
mod message;
mod model;
mod pairing;
pub mod script;

pub use event::{ModelEvent, StopReason, ToolInput, Usage};
pub use message::{Block, Message, Role};
pub use model::{Model, ModelError, ModelRequest, ModelStream, ToolSpec};
pub use pairing::{PairingError, check_pairing};
pub use script::ScriptedModel;
