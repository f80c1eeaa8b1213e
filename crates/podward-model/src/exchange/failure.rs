//! What a failed request means: which error, and whether it is worth another attempt.

use std::error::Error;
use std::io;
use std::time::Duration;

use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use super::wait;
use crate::endpoint::Endpoint;
use crate::error::ModelError;

/// The most that is read of an error's body.
const MAX_BODY: usize = 64 * 1024;
/// How long reading it may take: it is only for people.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Characters of a provider's words that are shown.
const MAX_WORDS: usize = 500;

/// What providers say when a conversation is too long.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "context_length_exceeded",
    "maximum context length",
    "context length",
    "exceed_context_size",
    "available context size",
    "context window",
    "exceed context limit",
    "input is too long",
    "request_too_large",
    "too many tokens",
];

/// An attempt that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ModelError,
    pub(super) retry: Retry,
}

/// Whether another attempt may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    No,
    /// After this long, if the provider says how long.
    After(Option<Duration>),
}

impl Failure {
    /// A failure for good.
    pub(super) const fn last(error: ModelError) -> Self {
        Self {
            error,
            retry: Retry::No,
        }
    }

    /// What a decoder found, or was told in the stream.
    pub(super) const fn of_event(error: ModelError) -> Self {
        let retry = match &error {
            ModelError::Connection { .. }
            | ModelError::Overloaded { .. }
            | ModelError::RateLimit { .. } => Retry::After(None),
            ModelError::NotRunning { .. }
            | ModelError::Timeout { .. }
            | ModelError::Authentication { .. }
            | ModelError::BadRequest { .. }
            | ModelError::ContextTooLong { .. }
            | ModelError::Protocol { .. }
            | ModelError::Provider { .. }
            | ModelError::Settings { .. }
            | ModelError::Script { .. } => Retry::No,
        };
        Self { error, retry }
    }

    /// The same in words that may be shown.
    pub(super) fn cleaned(mut self, endpoint: &Endpoint) -> Self {
        if let Some(message) = self.error.message_mut() {
            *message = clean(message, endpoint);
        }
        self
    }
}

/// Nothing came in time.
pub(super) fn timeout(what: &str, limit: Duration) -> Failure {
    Failure::last(ModelError::Timeout {
        message: format!("{what} for {} s", limit.as_secs_f32()),
    })
}

/// The connection failed.
pub(super) fn connection(error: &reqwest::Error, endpoint: &Endpoint) -> Failure {
    let message = format!("`{}`: {}", endpoint.base_url(), chain(error));
    let message = clean(&message, endpoint);
    // Nobody is there to come back in a second: a server of this machine has to be started.
    if error.is_connect() && endpoint.is_loopback() && is_refused(error) {
        return Failure::last(ModelError::NotRunning { message });
    }
    // A certificate that is not trusted now will not be in a second.
    let is_final = error.is_builder() || message.to_ascii_lowercase().contains("certificate");
    Failure {
        error: ModelError::Connection { message },
        retry: if is_final {
            Retry::No
        } else {
            Retry::After(None)
        },
    }
}

/// Whether nothing listens at the port that was connected to.
fn is_refused(error: &reqwest::Error) -> bool {
    let mut next: Option<&dyn Error> = error.source();
    while let Some(cause) = next {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        if kind == Some(io::ErrorKind::ConnectionRefused) {
            return true;
        }
        next = cause.source();
    }
    false
}

/// An error with its causes, without the URL.
pub(super) fn chain(error: &reqwest::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next: Option<&dyn Error> = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        next = cause.source();
        // Layers of the HTTP client that say nothing but that they have a cause.
        let is_wrapper = text.starts_with("client error (") || text == "tcp connect error";
        let is_repeated = parts.last().is_some_and(|last| last.contains(&text));
        let says_nothing = is_repeated || (is_wrapper && next.is_some());
        if !says_nothing {
            parts.push(text);
        }
    }
    if parts.is_empty() {
        // Without a cause it says itself what is wrong; the URL is not part of its kind.
        return if error.is_timeout() {
            "it took too long".to_owned()
        } else {
            "the request could not be sent".to_owned()
        };
    }
    parts.join(": ")
}

/// The provider answered with an error status.
pub(super) async fn status(response: Response, endpoint: &Endpoint) -> Failure {
    let status = response.status();
    // Nothing is there: the address is what may be wrong.
    let place = match status.as_u16() {
        404 | 405 => format!(", asked at {}", response.url()),
        _ => String::new(),
    };
    let headers = response.headers().clone();
    let body = body(response).await;
    let retry_after = retry_after(&headers);
    let words = Words::read(&body);
    let message = match (&headers.get(LOCATION), status.is_redirection()) {
        (Some(location), true) => format!(
            "it names another place, `{}`",
            String::from_utf8_lossy(location.as_bytes())
        ),
        _ if words.message.is_empty() => String::new(),
        _ => words.message.clone(),
    };
    let message = clean(&message, endpoint);
    let message = if message.is_empty() {
        format!("HTTP status {status}{place}")
    } else {
        format!("{message} (HTTP status {}{place})", status.as_u16())
    };
    of_status(status, retry_after, &words, message)
}

fn of_status(
    status: StatusCode,
    retry_after: Option<Duration>,
    words: &Words,
    message: String,
) -> Failure {
    if words.say_too_long() && matches!(status.as_u16(), 400 | 413 | 422 | 500) {
        return Failure::last(ModelError::ContextTooLong { message });
    }
    match status.as_u16() {
        401 | 403 => Failure::last(ModelError::Authentication { message }),
        429 if words.say_no_money() => Failure::last(ModelError::RateLimit { message }),
        429 => Failure {
            error: ModelError::RateLimit { message },
            retry: Retry::After(retry_after),
        },
        413 => Failure::last(ModelError::ContextTooLong { message }),
        300..500 => Failure::last(ModelError::BadRequest { message }),
        501 | 505 => Failure::last(ModelError::Provider { message }),
        500..600 => Failure {
            error: ModelError::Overloaded { message },
            retry: Retry::After(retry_after),
        },
        _ => Failure::last(ModelError::Provider { message }),
    }
}

/// The error of an event that says `kind` (or code) and `message`.
pub(crate) fn error_event(error: &Value) -> ModelError {
    let words = Words::of(error);
    let message = if words.message.is_empty() {
        "it gives no reason".to_owned()
    } else {
        words.message.clone()
    };
    if words.say_too_long() {
        return ModelError::ContextTooLong { message };
    }
    match (words.kind.as_str(), words.code.as_str()) {
        ("rate_limit_error" | "rate_limit_exceeded", _) | (_, "rate_limit_exceeded" | "429") => {
            ModelError::RateLimit { message }
        }
        ("overloaded_error" | "api_error" | "server_error" | "timeout_error", _)
        | (_, "server_error" | "server_overloaded" | "500" | "502" | "503" | "504" | "529") => {
            ModelError::Overloaded { message }
        }
        ("authentication_error" | "permission_error", _) | (_, "invalid_api_key" | "401") => {
            ModelError::Authentication { message }
        }
        ("invalid_request_error" | "not_found_error", _) => ModelError::BadRequest { message },
        _ => ModelError::Provider { message },
    }
}

/// What a provider says about an error.
#[derive(Debug, Default)]
struct Words {
    message: String,
    kind: String,
    code: String,
}

impl Words {
    fn read(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::of(value.get("error").unwrap_or(&value)),
            // A page of a proxy, or plain text.
            Err(_) if body.trim_start().starts_with('<') => Self::default(),
            Err(_) => Self {
                message: body.trim().to_owned(),
                ..Self::default()
            },
        }
    }

    fn of(error: &Value) -> Self {
        let text = |field: &str| match error.get(field) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(), // not there, or nothing that can be shown
        };
        let message = match error {
            Value::String(message) => message.clone(),
            _ => ["message", "detail", "error"] // in the order of who is known to say it
                .into_iter()
                .map(text)
                .find(|text| !text.is_empty())
                .unwrap_or_default(),
        };
        Self {
            message,
            kind: text("type"),
            code: text("code"),
        }
    }

    fn say_too_long(&self) -> bool {
        [&self.message, &self.kind, &self.code]
            .into_iter()
            .any(|text| {
                let text = text.to_ascii_lowercase();
                TOO_LONG.iter().any(|sign| text.contains(sign))
            })
    }

    /// The quota is used up: waiting does not help.
    fn say_no_money(&self) -> bool {
        let signs = ["insufficient_quota", "billing"];
        [&self.kind, &self.code]
            .into_iter()
            .any(|text| signs.iter().any(|sign| text.contains(sign)))
    }
}

async fn body(mut response: Response) -> String {
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(bytes)) = response.chunk().await {
            let left = MAX_BODY.saturating_sub(body.len());
            body.extend(bytes.iter().take(left));
            if left == 0 {
                break;
            }
        }
    };
    // What came until then is what is shown.
    let _ = tokio::time::timeout(BODY_TIME, reading).await;
    String::from_utf8_lossy(&body).into_owned()
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    wait::retry_after(value, std::time::SystemTime::now())
}

/// A provider's words as they may be shown: short, on one line, without the key.
pub(super) fn clean(text: &str, endpoint: &Endpoint) -> String {
    let text = match endpoint.key() {
        Some(key) => text.replace(key.expose(), "…"),
        None => text.to_owned(),
    };
    let mut words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    let mut clean = String::new();
    let mut n_chars = 0;
    for word in &mut words {
        if n_chars > 0 {
            clean.push(' ');
        }
        for c in word.chars() {
            if n_chars >= MAX_WORDS {
                return clean + "…";
            }
            clean.push(c);
            n_chars += 1;
        }
    }
    clean
}

#[cfg(test)]
mod tests;
