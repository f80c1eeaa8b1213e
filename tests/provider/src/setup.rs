//! What a provider is to do.

use std::io;

use podward_model::ScriptedModel;

use crate::wire::Format;

/// What a provider is to do.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What it speaks.
    pub format: Format,
    /// What it answers.
    pub script: ScriptedModel,
    /// The key that each request needs; `None`: none is asked for.
    pub key: Option<String>,
    /// What happens to the first requests, one each; later ones are answered well.
    pub troubles: Vec<Trouble>,
    /// Which server [`Format::OpenAiChat`] is like.
    pub style: ChatStyle,
    /// Whether it speaks HTTPS.
    pub tls: Tls,
    /// The port; 0: any that is free.
    pub port: u16,
}

/// What goes wrong with one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// An error status, with `Retry-After` if there is one.
    Status(u16, Option<String>),
    /// The conversation is said to be too long.
    ContextTooLong,
    /// The connection is closed before anything is said.
    NoAnswer,
    /// The connection stays open and nothing is said.
    Silence,
    /// The connection breaks after so many bytes of the answer.
    CutAfter(usize),
    /// The answer ends after so many bytes, as if that were all.
    EndAfter(usize),
    /// Nothing more comes after so many bytes, and the connection stays open.
    StallAfter(usize),
    /// The answer comes in pieces of so many bytes.
    PiecesOf(usize),
    /// An error event comes after so many events.
    ErrorAfter(usize),
    /// The answer begins with a line of so many bytes that means nothing.
    HugeLine(usize),
    /// The answer is this, with this content type and status 200.
    Body {
        /// `Content-Type`.
        content_type: String,
        /// The whole body.
        body: String,
    },
    /// Another place is named.
    Redirect(String),
}

/// Which server a provider of Chat Completions is like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChatStyle {
    /// `api.openai.com`: arguments in pieces, usage in a chunk of its own, `[DONE]`.
    #[default]
    OpenAi,
    /// Ollama: whole arguments in one delta, the role in every delta, `stop` also with calls.
    Ollama,
    /// vLLM: `reasoning_content`, the name in every delta of a call, usage null until the end.
    Vllm,
    /// llama.cpp: no ids, usage beside the last choice.
    LlamaCpp,
    /// LM Studio: no index, neither usage nor `[DONE]`.
    LmStudio,
}

/// Whether a provider speaks HTTPS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// It speaks HTTP.
    Off,
    /// It has a certificate for `127.0.0.1`, `localhost` and `provider.test` of an authority that
    /// nobody knows.
    PrivateAuthority,
}

/// A provider that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The system refuses something.
    #[error("the test provider cannot start")]
    Io(#[from] io::Error),
    /// No certificate can be made.
    #[error("no certificate can be made")]
    Certificate(#[from] rcgen::Error),
    /// The certificate cannot be used.
    #[error("the certificate cannot be used")]
    Tls(#[from] tokio_rustls::rustls::Error),
}

impl Setup {
    /// A provider that behaves well.
    #[must_use]
    pub const fn new(format: Format, script: ScriptedModel) -> Self {
        Self {
            format,
            script,
            key: None,
            troubles: Vec::new(),
            style: ChatStyle::OpenAi,
            tls: Tls::Off,
            port: 0,
        }
    }

    /// The same with a key that each request needs.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// The same with these troubles.
    #[must_use]
    pub fn with_troubles(mut self, troubles: impl IntoIterator<Item = Trouble>) -> Self {
        self.troubles = troubles.into_iter().collect();
        self
    }

    /// The same, but like this server.
    #[must_use]
    pub const fn with_style(mut self, style: ChatStyle) -> Self {
        self.style = style;
        self
    }

    /// The same over HTTPS.
    #[must_use]
    pub const fn with_tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }
}
