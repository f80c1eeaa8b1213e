//! Model providers behind one trait, and what a conversation with a model is made of.
//!
//! It must never know what a tool does, what a rule is, or whether a call is allowed to run.

mod anthropic;
mod call;
mod endpoint;
mod error;
mod event;
mod exchange;
mod json;
mod message;
mod model;
mod openai_chat;
mod openai_responses;
mod outgoing;
mod pairing;
pub mod script;
mod sse;
mod trim;

pub use anthropic::AnthropicModel;
pub use endpoint::{ApiKey, Endpoint, RequestLimits};
pub use error::ModelError;
pub use event::{ModelEvent, StopReason, ToolInput, Usage};
pub use message::{Block, Message, Role, ThinkingSeal};
pub use model::{Model, ModelRequest, ModelStream, ToolSpec};
pub use openai_chat::OpenAiChatModel;
pub use openai_responses::OpenAiResponsesModel;
pub use pairing::{PairingError, check_pairing};
pub use script::ScriptedModel;
pub use trim::{conversation_bytes, trim, trim_keeping};
