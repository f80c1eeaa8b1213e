//! Why a model gave no complete answer.

/// Why a model gave no complete answer.
///
/// A message is for people, holds no key, and is of bounded length: lower case, no full stop, unless
/// it quotes the provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The connection failed, or the stream ended in the middle.
    #[error("the connection to the model failed: {message}")]
    Connection {
        /// What happened.
        message: String,
    },
    /// No server runs where the model should be: on this machine, nothing takes connections there.
    #[error("no server of a model is running: {message}")]
    NotRunning {
        /// Where, and what the system says.
        message: String,
    },
    /// Nothing came for too long.
    #[error("the model did not answer in time: {message}")]
    Timeout {
        /// What was waited for, and how long.
        message: String,
    },
    /// The key is missing, wrong, or may not be used for this.
    #[error("the model's provider does not accept the key: {message}")]
    Authentication {
        /// The provider's words.
        message: String,
    },
    /// The provider does not take the request as it is.
    #[error("the model's provider refuses the request: {message}")]
    BadRequest {
        /// The provider's words.
        message: String,
    },
    /// The conversation is longer than the model can read.
    #[error("the conversation is too long for the model: {message}")]
    ContextTooLong {
        /// The provider's words.
        message: String,
    },
    /// Too many requests, or a quota is used up.
    #[error("the model's provider takes no more requests for now: {message}")]
    RateLimit {
        /// The provider's words.
        message: String,
    },
    /// The provider is overloaded or broken.
    #[error("the model's provider is overloaded or broken: {message}")]
    Overloaded {
        /// The provider's words.
        message: String,
    },
    /// The answer is not what the provider's format says.
    #[error("the model's answer cannot be read: {message}")]
    Protocol {
        /// What is wrong with it.
        message: String,
    },
    /// The provider answered with an error of another kind.
    #[error("the model's provider reports an error: {message}")]
    Provider {
        /// Its words.
        message: String,
    },
    /// The settings of the model cannot be used.
    #[error("the model cannot be used: {message}")]
    Settings {
        /// What is wrong with them.
        message: String,
    },
    /// A scripted model cannot go on.
    #[error("the script cannot go on at {place}: {message}")]
    Script {
        /// The step it is about.
        place: String,
        /// What is wrong.
        message: String,
    },
}

impl ModelError {
    /// What a person can do about it, where there is something.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Connection { .. } => {
                Some("check `base_url`, the network, and HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE")
            }
            Self::NotRunning { .. } => Some("start the server, or correct `base_url` in `[model]`"),
            Self::Timeout { .. } => Some("check that the model is running, or try again"),
            Self::Authentication { .. } => {
                Some("check `key_env`, `key_file` or `key_command` in `[model]`")
            }
            Self::BadRequest { .. } => {
                Some("check `provider`, `model` and `base_url` in `[model]`")
            }
            Self::ContextTooLong { .. } => {
                Some("set a smaller `history_size` in `[limits]`, or begin a new session")
            }
            Self::RateLimit { .. } => Some("wait, or check the plan at the provider"),
            Self::Overloaded { .. } => Some("try again later"),
            Self::Protocol { .. } => {
                Some("check that `provider` in `[model]` fits the server at `base_url`")
            }
            Self::Provider { .. } | Self::Settings { .. } | Self::Script { .. } => None,
        }
    }

    /// The words in it.
    pub(crate) const fn message_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Connection { message }
            | Self::NotRunning { message }
            | Self::Timeout { message }
            | Self::Authentication { message }
            | Self::BadRequest { message }
            | Self::ContextTooLong { message }
            | Self::RateLimit { message }
            | Self::Overloaded { message }
            | Self::Protocol { message }
            | Self::Provider { message }
            | Self::Settings { message } => Some(message),
            Self::Script { .. } => None,
        }
    }
}
