//! Anthropic Messages.

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

/// The version of the format, sent with every request.
const VERSION: &str = "2023-06-01";

/// A model behind Anthropic Messages.
#[derive(Debug, Clone)]
pub struct AnthropicModel {
    connection: Arc<Connection>,
}

impl AnthropicModel {
    /// The provider's own base URL.
    pub const BASE_URL: &'static str = "https://api.anthropic.com";

    /// The model at an endpoint; its base URL may end with `/v1` or not.
    ///
    /// # Errors
    /// No HTTP client can be made: no certificates can be read, or a proxy of the environment is
    /// none.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let has_version = endpoint.base_url().trim_end_matches('/').ends_with("/v1");
        let path = if has_version {
            "messages"
        } else {
            "v1/messages"
        };
        let connection = Connection::new(endpoint, path, KeyHeader::ApiKey)?
            .with_header("anthropic-version", VERSION);
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

impl Model for AnthropicModel {
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
