//! OpenAI Responses.

use futures_util::{StreamExt, stream};

use crate::endpoint::Endpoint;
use crate::error::ModelError;
use crate::model::{Model, ModelRequest, ModelStream};

/// A model behind OpenAI Responses.
#[derive(Debug, Clone)]
pub struct OpenAiResponsesModel {
    endpoint: Endpoint,
}

impl OpenAiResponsesModel {
    /// The provider's own base URL.
    pub const BASE_URL: &'static str = "https://api.openai.com/v1";

    /// The model at an endpoint.
    ///
    /// # Errors
    /// No HTTP client can be made: no certificates can be read, or a proxy of the environment is
    /// none.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        Ok(Self { endpoint })
    }
}

impl Model for OpenAiResponsesModel {
    fn name(&self) -> &str {
        self.endpoint.model()
    }

    fn stream(&self, _request: ModelRequest) -> ModelStream {
        let message = format!("{} {}", self.endpoint.host(), self.endpoint.url(""));
        stream::iter([Err(ModelError::Provider { message })]).boxed()
    }
}
