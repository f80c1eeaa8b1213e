//! Where a model is, and with which key.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use url::Host;

use crate::error::ModelError;

/// A model at a provider.
#[derive(Debug, Clone)]
pub struct Endpoint {
    base_url: Url,
    model: Arc<str>,
    key: Option<ApiKey>,
    limits: RequestLimits,
}

/// The key of a provider. It is sent to the provider and shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Arc<str>);

/// What bounds a request to a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLimits {
    /// How long connecting may take, with the TLS handshake: a network that works needs less.
    pub connect: Duration,
    /// How long the beginning of an answer may take: a local model that reads a long conversation
    /// on a slow machine sends nothing until it is through.
    pub first_byte: Duration,
    /// How long nothing may come in the middle of an answer: providers send something (`ping`, an
    /// empty delta, a comment) at least every half minute, a slow local model one token.
    pub idle: Duration,
    /// How often a request is made at most, the first time counted.
    pub attempts: NonZeroU32,
    /// The wait before the first retry; each further one is twice as long, give or take a quarter.
    pub first_wait: Duration,
    /// The longest wait before a retry, also when the provider asks for a longer one.
    pub longest_wait: Duration,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(300),
            attempts: const { NonZeroU32::new(6).unwrap() },
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
        }
    }
}

impl Endpoint {
    /// A model without a key, with the limits that hold for all.
    ///
    /// # Errors
    /// `base_url` is no absolute `http` or `https` URL, or has a user, a password, a query or a
    /// fragment; or `model` is empty.
    pub fn new(base_url: &str, model: &str) -> Result<Self, ModelError> {
        let wrong = |why: &str| ModelError::Settings {
            message: format!("`base_url` {why}"),
        };
        let url = Url::parse(base_url.trim())
            .map_err(|error| wrong(&format!("is no absolute URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("begins with neither `http://` nor `https://`"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "has a user or a password; a key comes from `key_env`, `key_file` or `key_command`",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong(
                "has a `?` or a `#`; it ends with the path of the API",
            ));
        }
        if model.trim().is_empty() {
            return Err(ModelError::Settings {
                message: "`model` is empty".to_owned(),
            });
        }
        Ok(Self {
            base_url: url,
            model: model.into(),
            key: None,
            limits: RequestLimits::default(),
        })
    }

    /// The same with a key.
    #[must_use]
    pub fn with_key(mut self, key: ApiKey) -> Self {
        self.key = Some(key);
        self
    }

    /// The same with other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Where the provider is.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.base_url.as_str()
    }

    /// The model's name at its provider.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The key.
    #[must_use]
    pub const fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// What bounds a request.
    #[must_use]
    pub const fn limits(&self) -> &RequestLimits {
        &self.limits
    }

    /// Whether the provider is this machine: it is then reached directly, never through a proxy.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self.base_url.host() {
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                name.eq_ignore_ascii_case("localhost")
                    || name.to_ascii_lowercase().ends_with(".localhost")
            }
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => {
                address.is_loopback()
                    || address
                        .to_ipv4_mapped()
                        .is_some_and(|address| address.is_loopback())
            }
            None => false,
        }
    }

    /// The host of the provider; empty if there is none.
    pub(crate) fn host(&self) -> &str {
        self.base_url.host_str().unwrap_or_default()
    }

    /// `http` or `https`.
    pub(crate) fn scheme(&self) -> &str {
        self.base_url.scheme()
    }

    /// The URL of a path below the base URL.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.base_url.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        url
    }
}

impl ApiKey {
    /// Reads a key; white space around it is left out.
    ///
    /// # Errors
    /// It is empty, or holds something other than visible ASCII characters. The error does not show
    /// it.
    pub fn new(text: &str) -> Result<Self, ModelError> {
        let text = text.trim();
        let wrong = |why: &str| ModelError::Settings {
            message: format!("the key {why}"),
        };
        if text.is_empty() {
            return Err(wrong("is empty"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("holds a character that no key has"));
        }
        Ok(Self(text.into()))
    }

    /// The key itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

#[cfg(test)]
mod tests;
