//! The wire formats: reading and checking a request, writing an answer.

mod anthropic;
mod chat;
mod conversation;
mod responses;

use podward_model::{Message, ModelEvent};
use serde_json::Value;

use self::conversation::Problem;
use crate::setup::ChatStyle;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
}

/// A request that is in order.
pub(crate) struct Asked {
    pub(crate) system: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) max_tokens: u32,
    pub(crate) model: String,
}

/// One event of a stream.
pub(crate) struct SseEvent {
    pub(crate) name: Option<&'static str>,
    pub(crate) data: String,
}

/// Writes the events of an answer.
pub(crate) enum Writer {
    Anthropic(anthropic::Writer),
    Chat(chat::Writer),
    Responses(responses::Writer),
}

/// Checks the body of a request as the provider does.
///
/// # Errors
/// The provider's words about what is wrong.
pub fn check_request(format: Format, body: &Value) -> Result<(), String> {
    format.read(body).map(|_| ()).map_err(|problem| problem.0)
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses];

    /// The format with a name as `[model] provider` has it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Its name in `[model] provider`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai",
            Self::OpenAiResponses => "openai-responses",
        }
    }

    /// What stands in a base URL behind the origin.
    pub(crate) const fn base_path(self) -> &'static str {
        match self {
            Self::Anthropic => "",
            Self::OpenAiChat | Self::OpenAiResponses => "/v1",
        }
    }

    /// The path that takes requests.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::OpenAiChat => "/v1/chat/completions",
            Self::OpenAiResponses => "/v1/responses",
        }
    }

    /// The header that holds the key, and what stands before the key.
    pub(crate) const fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::Anthropic => ("x-api-key", ""),
            Self::OpenAiChat | Self::OpenAiResponses => ("authorization", "Bearer "),
        }
    }

    /// Reads a request.
    pub(crate) fn read(self, body: &Value) -> Result<Asked, Problem> {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::OpenAiChat => chat::read(body),
            Self::OpenAiResponses => responses::read(body),
        }
    }

    /// The body of an error answer.
    pub(crate) fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::error(anthropic::error_kind(status), message),
            Self::OpenAiChat | Self::OpenAiResponses => chat::error(status, message),
        }
    }

    /// The provider's words about a conversation that is too long.
    pub(crate) fn context_too_long(self) -> Value {
        match self {
            Self::Anthropic => anthropic::error(
                "invalid_request_error",
                "prompt is too long: 200001 tokens > 200000 maximum",
            ),
            Self::OpenAiChat | Self::OpenAiResponses => serde_json::json!({"error": {
                "message": "This model's maximum context length is 128000 tokens. However, your \
                            messages resulted in 128001 tokens. Please reduce the length.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }}),
        }
    }

    /// A writer for an answer.
    pub(crate) fn writer(self, asked: &Asked, style: ChatStyle) -> Writer {
        match self {
            Self::Anthropic => Writer::Anthropic(anthropic::Writer::new(&asked.model)),
            Self::OpenAiChat => Writer::Chat(chat::Writer::new(&asked.model, style)),
            Self::OpenAiResponses => Writer::Responses(responses::Writer::new(&asked.model)),
        }
    }
}

impl Writer {
    /// What an answer begins with.
    pub(crate) fn begin(&mut self) -> Vec<SseEvent> {
        match self {
            Self::Anthropic(writer) => writer.begin(),
            Self::Chat(writer) => writer.begin(),
            Self::Responses(writer) => writer.begin(),
        }
    }

    /// What an event becomes.
    pub(crate) fn write(&mut self, event: ModelEvent) -> Vec<SseEvent> {
        match self {
            Self::Anthropic(writer) => writer.write(event),
            Self::Chat(writer) => writer.write(event),
            Self::Responses(writer) => writer.write(event),
        }
    }

    /// An error in the middle.
    pub(crate) fn error(&mut self, message: &str) -> SseEvent {
        match self {
            Self::Anthropic(_) => {
                SseEvent::named("error", &anthropic::error("overloaded_error", message))
            }
            Self::Chat(_) => SseEvent::unnamed(&chat::error(503, message)),
            Self::Responses(writer) => writer.error(message),
        }
    }
}

impl SseEvent {
    fn named(name: &'static str, data: &Value) -> Self {
        Self {
            name: Some(name),
            data: data.to_string(),
        }
    }

    fn unnamed(data: &Value) -> Self {
        Self {
            name: None,
            data: data.to_string(),
        }
    }

    /// The event as it stands in a stream.
    pub(crate) fn text(&self) -> String {
        match self.name {
            Some(name) => format!("event: {name}\ndata: {}\n\n", self.data),
            None => format!("data: {}\n\n", self.data),
        }
    }
}

#[cfg(test)]
mod tests;
