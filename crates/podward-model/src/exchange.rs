//! One request to a provider and its answer: attempts, waits, time limits.

mod failure;
mod proxy;
mod wait;

use std::collections::VecDeque;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use serde_json::Value;

pub(crate) use self::failure::error_event;
use self::failure::{Failure, Retry};
use crate::endpoint::Endpoint;
use crate::error::ModelError;
use crate::event::ModelEvent;
use crate::model::ModelStream;
use crate::sse::{SseParser, TooLarge};

/// The largest answer that comes as one piece of JSON.
const MAX_WHOLE: usize = 16 * 1024 * 1024;

/// This machine; the port is the URL's. The last one is the one whose failure is told.
const LOOPBACK: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 0),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
];

/// Reads the events of a provider's stream.
pub(crate) trait Decoder: Send {
    /// Reads one event; its data may be anything.
    fn event(&mut self, name: &str, data: &str, out: &mut Out) -> Result<Progress, ModelError>;

    /// The stream has ended before the decoder said [`Progress::Done`].
    fn end(&mut self, out: &mut Out) -> Result<(), ModelError>;
}

/// Where a decoder puts what it reads.
pub(crate) type Out = VecDeque<ModelEvent>;

/// Whether an answer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More is to come.
    More,
    /// It is complete.
    Done,
}

/// A provider's address with all that a request to it needs.
#[derive(Clone)]
pub(crate) struct Connection {
    client: Client,
    url: Url,
    headers: HeaderMap,
    endpoint: Endpoint,
}

/// How a provider is told the key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyHeader {
    /// `x-api-key`.
    ApiKey,
    /// `authorization: Bearer`.
    Bearer,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

impl Connection {
    pub(crate) fn new(
        endpoint: Endpoint,
        path: &str,
        key_header: KeyHeader,
    ) -> Result<Self, ModelError> {
        let settings = |message: String| ModelError::Settings { message };
        let mut builder = Client::builder()
            .user_agent(concat!("podward/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(endpoint.limits().connect)
            // A redirect would take the key to another place.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .no_proxy();
        if endpoint.is_loopback() {
            // Nobody is asked what `localhost` and the names below it are (RFC 6761, 6.3).
            builder = builder.resolve_to_addrs(endpoint.host(), &LOOPBACK);
        } else if let Some(proxy) = proxy::of_environment(endpoint.scheme())? {
            builder = builder.proxy(proxy);
        }
        let client = builder
            .build()
            .map_err(|error| settings(failure::chain(&error)))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = endpoint.key() {
            let (name, value) = match key_header {
                KeyHeader::ApiKey => ("x-api-key", key.expose().to_owned()),
                KeyHeader::Bearer => ("authorization", format!("Bearer {}", key.expose())),
            };
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| settings("the key holds a character that no key has".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(Self {
            client,
            url: endpoint.url(path),
            headers,
            endpoint,
        })
    }

    /// The same with one more header.
    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        let name = HeaderName::from_static(name);
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    pub(crate) const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

/// Sends a request and reads its answer.
pub(crate) fn answer<D: Decoder + Clone + 'static>(
    connection: Arc<Connection>,
    body: &Value,
    decoder: D,
) -> ModelStream {
    let exchange = Exchange {
        connection,
        body: body.to_string(),
        decoder,
        out: Out::new(),
        attempt: 1,
        has_content: false,
        state: State::Sending,
    };
    stream::unfold(Some(exchange), |exchange| async move {
        let mut exchange = exchange?;
        match exchange.next().await {
            Ok(Some(event)) => Some((Ok(event), Some(exchange))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed()
}

struct Exchange<D> {
    connection: Arc<Connection>,
    body: String,
    /// A decoder that has read nothing.
    decoder: D,
    out: Out,
    /// The attempt that runs, from 1.
    attempt: u32,
    /// Something was said: from here on nothing is tried again.
    has_content: bool,
    state: State<D>,
}

enum State<D> {
    Sending,
    Waiting(Duration),
    Reading(Box<Reading<D>>),
    /// It failed after something was said.
    Failed(ModelError),
    Ended,
}

struct Reading<D> {
    response: Response,
    decoder: D,
    form: Form,
}

/// How an answer comes.
enum Form {
    Stream(SseParser),
    /// As one JSON text, from servers that do not stream.
    Whole(Vec<u8>),
}

impl<D: Decoder + Clone> Exchange<D> {
    async fn next(&mut self) -> Result<Option<ModelEvent>, ModelError> {
        loop {
            if let Some(event) = self.out.pop_front() {
                return Ok(Some(event));
            }
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(None),
                State::Failed(error) => return Err(error),
                State::Waiting(after) => {
                    tokio::time::sleep(after).await;
                    self.state = State::Sending;
                }
                State::Sending => match self.send().await {
                    Ok(reading) => self.state = State::Reading(Box::new(reading)),
                    Err(failure) => self.fail(failure)?,
                },
                State::Reading(reading) => {
                    if let Err(failure) = self.read(reading).await {
                        self.fail(failure)?;
                    }
                }
            }
        }
    }

    async fn send(&mut self) -> Result<Reading<D>, Failure> {
        let Connection {
            client,
            url,
            headers,
            endpoint,
        } = &*self.connection;
        let request = client
            .post(url.clone())
            .headers(headers.clone())
            .body(self.body.clone())
            .send();
        let limit = endpoint.limits().first_byte;
        let response = tokio::time::timeout(limit, request)
            .await
            .map_err(|_| failure::timeout("nothing came", limit))?
            .map_err(|error| failure::connection(&error, endpoint))?;
        if !response.status().is_success() {
            return Err(failure::status(response, endpoint).await);
        }
        let content_type = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_ascii_lowercase();
        let form = match content_type.split(';').next().unwrap_or_default().trim() {
            "application/json" => Form::Whole(Vec::new()),
            // Some servers name none.
            "text/event-stream" | "" => Form::Stream(SseParser::default()),
            other => {
                return Err(Failure::last(ModelError::Protocol {
                    message: format!(
                        "it is no stream of events but `{}`",
                        failure::clean(other, endpoint)
                    ),
                }));
            }
        };
        Ok(Reading {
            response,
            decoder: self.decoder.clone(),
            form,
        })
    }

    /// Reads the next piece.
    async fn read(&mut self, mut reading: Box<Reading<D>>) -> Result<(), Failure> {
        let endpoint = &self.connection.endpoint;
        let limits = endpoint.limits();
        let limit = if self.has_content {
            limits.idle
        } else {
            limits.first_byte
        };
        let bytes = tokio::time::timeout(limit, reading.response.chunk())
            .await
            .map_err(|_| failure::timeout("nothing more came", limit))?;
        let read = match bytes {
            Ok(Some(bytes)) => reading.push(&bytes, &mut self.out),
            Ok(None) => reading.end(&mut self.out),
            Err(error) => reading
                .decoder
                .end(&mut self.out)
                .map(|()| Progress::Done)
                .map_err(|_| failure::connection(&error, endpoint)),
        };
        let is_content = |event: &ModelEvent| !matches!(event, ModelEvent::Usage(_));
        self.has_content |= self.out.iter().any(is_content);
        match read {
            Ok(Progress::More) => self.state = State::Reading(reading),
            Ok(Progress::Done) => {}
            // What came before it is told first.
            Err(failure) if self.has_content => {
                self.state = State::Failed(failure.cleaned(endpoint).error);
            }
            Err(failure) => return Err(failure.cleaned(endpoint)),
        }
        Ok(())
    }

    /// Tries again, or ends with the error.
    fn fail(&mut self, failure: Failure) -> Result<(), ModelError> {
        let limits = self.connection.endpoint.limits();
        let Retry::After(asked) = failure.retry else {
            return Err(failure.error);
        };
        if self.has_content || self.attempt >= limits.attempts.get() {
            return Err(failure.error);
        }
        let after = wait::before(self.attempt, asked, wait::jitter(), limits);
        self.attempt += 1;
        self.out.clear();
        self.out.push_back(ModelEvent::Retry {
            attempt: self.attempt,
            reason: failure.error.to_string(),
            after,
        });
        self.state = State::Waiting(after);
        Ok(())
    }
}

impl<D: Decoder> Reading<D> {
    fn push(&mut self, bytes: &[u8], out: &mut Out) -> Result<Progress, Failure> {
        let too_large = || {
            Failure::last(ModelError::Protocol {
                message: "a part of it is larger than any provider sends".to_owned(),
            })
        };
        match &mut self.form {
            Form::Stream(parser) => {
                let events = parser.push(bytes).map_err(|TooLarge| too_large())?;
                for event in events {
                    match self.decoder.event(&event.name, &event.data, out) {
                        Ok(Progress::More) => {}
                        Ok(Progress::Done) => return Ok(Progress::Done),
                        Err(error) => return Err(Failure::of_event(error)),
                    }
                }
            }
            Form::Whole(whole) => {
                if whole.len().saturating_add(bytes.len()) > MAX_WHOLE {
                    return Err(too_large());
                }
                whole.extend_from_slice(bytes);
            }
        }
        Ok(Progress::More)
    }

    fn end(&mut self, out: &mut Out) -> Result<Progress, Failure> {
        if let Form::Whole(whole) = &self.form {
            let text = String::from_utf8_lossy(whole);
            match self.decoder.event("", &text, out) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => return Ok(Progress::Done),
                Err(error) => return Err(Failure::of_event(error)),
            }
        }
        self.decoder.end(out).map_err(Failure::of_event)?;
        Ok(Progress::Done)
    }
}

#[cfg(test)]
mod tests;
