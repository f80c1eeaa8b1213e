//! The trait that every model provider implements.

use std::sync::Arc;

use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::error::ModelError;
use crate::event::ModelEvent;
use crate::message::Message;

/// A model's answer, as it comes in. Dropping the stream cancels the request.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// A model that can be asked.
pub trait Model: Send + Sync {
    /// The model's name, for people and logs.
    fn name(&self) -> &str;

    /// Asks the model.
    ///
    /// The stream yields the answer event by event and ends after [`ModelEvent::Stopped`] or the
    /// first error. It waits for nothing that only the reader of the stream could provide.
    fn stream(&self, request: ModelRequest) -> ModelStream;
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// What the model is told before the conversation; may be empty.
    pub system: Arc<str>,
    /// The conversation: every tool call in it is answered in the message after its own (see
    /// [`check_pairing`](crate::check_pairing)).
    pub messages: Arc<Vec<Message>>,
    /// The tools that are offered.
    pub tools: Arc<Vec<ToolSpec>>,
    /// The most tokens that the answer may have.
    pub max_tokens: u32,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}
