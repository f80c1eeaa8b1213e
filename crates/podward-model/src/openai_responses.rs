//! OpenAI Responses.

mod decode;
mod request;

use std::sync::Arc;

use serde_json::Value;

use self::decode::Decoder;
use crate::endpoint::Endpoint;
use crate::error::ModelError;
use crate::exchange::{self, Connection, KeyHeader};
use crate::model::{Model, ModelRequest, ModelStream};
use crate::outgoing::FitWords;

/// A model behind Responses. Nothing is stored at the provider: each request carries the
/// conversation, with what a reasoning model needs to go on with its thoughts.
///
/// The format has no flag for a result that is an error: such a result begins with `[error] `.
#[derive(Debug, Clone)]
pub struct OpenAiResponsesModel {
    connection: Arc<Connection>,
}

impl OpenAiResponsesModel {
    /// The provider's own base URL.
    pub const BASE_URL: &'static str = "https://api.openai.com/v1";

    /// The model at an endpoint, whose base URL mostly ends with `/v1`.
    ///
    /// # Errors
    /// No HTTP client can be made: no certificates can be read, or a proxy of the environment is
    /// none.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let connection = Connection::new(endpoint, "responses", KeyHeader::Bearer)?;
        Ok(Self {
            connection: Arc::new(connection),
        })
    }

    /// The body of the HTTP request for a request.
    #[must_use]
    pub fn request_body(&self, request: &ModelRequest) -> Value {
        let mut names = FitWords::names(&request.tools);
        request::body(self.name(), request, &mut names)
    }
}

impl Model for OpenAiResponsesModel {
    fn name(&self) -> &str {
        self.connection.endpoint().model()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let mut names = FitWords::names(&request.tools);
        let body = request::body(self.name(), &request, &mut names);
        let decoder = Decoder::new(self.name(), Arc::new(names));
        exchange::answer(Arc::clone(&self.connection), &body, decoder)
    }
}

/// A decoder that has read nothing.
#[cfg(test)]
pub(crate) fn decoder(names: Arc<FitWords>) -> Box<dyn exchange::Decoder> {
    Box::new(Decoder::new("m", names))
}
