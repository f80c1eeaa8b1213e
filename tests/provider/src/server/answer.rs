//! One request and its answer.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use podward_model::{Model, ModelError, ModelEvent, ModelRequest, ModelStream};
use serde_json::Value;

use super::ledger::{Ledger, Recorded};
use crate::setup::{Setup, Trouble};
use crate::wire::{Asked, Writer};

/// The largest request that is read.
const MAX_REQUEST: usize = 64 * 1024 * 1024;

/// The connection breaks here, on purpose.
#[derive(Debug, thiserror::Error)]
#[error("broken on purpose")]
pub(crate) struct Broken;

type Body = BoxBody<Bytes, Broken>;
type Bodies = BoxStream<'static, Result<Bytes, Broken>>;

/// What is to be told about a request.
enum Verdict {
    Fine(Asked),
    Wrong(StatusCode, String),
}

pub(crate) async fn answer(
    request: Request<Incoming>,
    setup: &Setup,
    ledger: Arc<Ledger>,
) -> Result<Response<Body>, Broken> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_REQUEST)
        .collect()
        .await
        .map_err(|_| Broken)?
        .to_bytes();
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let mut recorded = Recorded {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        headers: headers.collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
        problem: None,
    };
    let verdict = judge(&head.method, &recorded, setup);
    if let Verdict::Wrong(_, message) = &verdict {
        recorded.problem = Some(message.clone());
    }
    let number = ledger.record(recorded);
    let trouble = setup.troubles.get(number).unwrap_or(&Trouble::None);
    match verdict {
        Verdict::Wrong(status, message) => {
            let body = setup.format.error(status.as_u16(), &message);
            response(status, "application/json", body.to_string())
        }
        Verdict::Fine(asked) => troubled(trouble, &asked, setup, ledger).await,
    }
}

fn judge(method: &Method, request: &Recorded, setup: &Setup) -> Verdict {
    if method != Method::POST || request.path != setup.format.path() {
        return Verdict::Wrong(
            StatusCode::NOT_FOUND,
            format!("there is no {method} {}", request.path),
        );
    }
    let (header, prefix) = setup.format.key_header();
    let found = request.header(header);
    let expected = setup.key.as_ref().map(|key| format!("{prefix}{key}"));
    if let Some(expected) = expected
        && found != Some(expected.as_str())
    {
        // Some providers repeat what they were sent.
        return Verdict::Wrong(
            StatusCode::UNAUTHORIZED,
            format!("Incorrect API key provided: {}", found.unwrap_or_default()),
        );
    }
    if request.header("content-type") != Some("application/json") {
        return Verdict::Wrong(
            StatusCode::BAD_REQUEST,
            "content-type: expected application/json".to_owned(),
        );
    }
    if request.path == "/v1/messages" && request.header("anthropic-version") != Some("2023-06-01") {
        return Verdict::Wrong(
            StatusCode::BAD_REQUEST,
            "anthropic-version: header is required".to_owned(),
        );
    }
    match setup.format.read(&request.body) {
        Ok(asked) => Verdict::Fine(asked),
        Err(problem) => Verdict::Wrong(StatusCode::BAD_REQUEST, problem.0),
    }
}

async fn troubled(
    trouble: &Trouble,
    asked: &Asked,
    setup: &Setup,
    ledger: Arc<Ledger>,
) -> Result<Response<Body>, Broken> {
    let answer = |error_after| script_answer(asked, setup, error_after);
    let body = match trouble {
        Trouble::None => answer(None),
        Trouble::ErrorAfter(n_events) => answer(Some(*n_events)),
        Trouble::Status(status, retry_after) => return error(setup, *status, retry_after.as_ref()),
        Trouble::ContextTooLong => {
            let body = setup.format.context_too_long().to_string();
            return response(StatusCode::BAD_REQUEST, "application/json", body);
        }
        Trouble::Redirect(location) => return redirect(location),
        Trouble::NoAnswer => return Err(Broken),
        Trouble::Silence => {
            let _guard = Guard::new(ledger);
            return std::future::pending().await;
        }
        Trouble::CutAfter(n_bytes) => head(answer(None), *n_bytes)
            .chain(stream::iter([Err(Broken)]))
            .boxed(),
        Trouble::EndAfter(n_bytes) => head(answer(None), *n_bytes),
        Trouble::StallAfter(n_bytes) => head(answer(None), *n_bytes)
            .chain(stream::pending())
            .boxed(),
        Trouble::PiecesOf(n_bytes) => pieces(answer(None), *n_bytes),
        Trouble::HugeLine(n_bytes) => huge_line(*n_bytes).chain(answer(None)).boxed(),
        Trouble::Body { content_type, body } => {
            return response(StatusCode::OK, content_type, body.clone());
        }
    };
    let frames = guarded(body, Guard::new(ledger)).map(|bytes| bytes.map(Frame::data));
    built(
        Response::builder().header(CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        BodyExt::boxed(StreamBody::new(SyncStream(frames.boxed().into()))),
    )
}

/// The answer of the script as the bytes of a stream.
fn script_answer(asked: &Asked, setup: &Setup, error_after: Option<usize>) -> Bodies {
    let events = setup.script.stream(ModelRequest {
        system: asked.system.as_str().into(),
        messages: Arc::new(asked.messages.clone()),
        tools: Arc::default(),
        max_tokens: asked.max_tokens,
    });
    let mut writer = setup.format.writer(asked, setup.style);
    let begun: VecDeque<String> = writer.begin().iter().map(|event| event.text()).collect();
    let answer = ScriptAnswer {
        events,
        writer,
        ready: begun,
        n_left: error_after,
    };
    stream::unfold(answer, |mut answer| async move {
        let text = answer.next().await?;
        Some((Ok(Bytes::from(text)), answer))
    })
    .boxed()
}

struct ScriptAnswer {
    events: ModelStream,
    writer: Writer,
    ready: VecDeque<String>,
    /// Events before an error; `None`: there is none.
    n_left: Option<usize>,
}

impl ScriptAnswer {
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(text) = self.ready.pop_front() {
                return Some(text);
            }
            match self.n_left.map(|n_left| n_left.checked_sub(1)) {
                Some(None) => {
                    self.n_left = None;
                    self.events = stream::empty().boxed();
                    return Some(self.writer.error("Overloaded").text());
                }
                Some(n_left) => self.n_left = n_left,
                None => {}
            }
            let event: Result<ModelEvent, ModelError> = self.events.next().await?;
            match event {
                Ok(event) => {
                    let texts = self.writer.write(event);
                    self.ready.extend(texts.iter().map(|event| event.text()));
                }
                Err(error) => return Some(self.writer.error(&error.to_string()).text()),
            }
        }
    }
}

/// The first bytes of an answer.
fn head(body: Bodies, n_bytes: usize) -> Bodies {
    stream::unfold((body, n_bytes), |(mut body, n_left)| async move {
        if n_left == 0 {
            return None;
        }
        let mut bytes = body.next().await?.ok()?;
        bytes.truncate(n_left);
        let n_left = n_left - bytes.len();
        Some((Ok(bytes), (body, n_left)))
    })
    .boxed()
}

/// An answer in pieces.
fn pieces(body: Bodies, n_bytes: usize) -> Bodies {
    body.flat_map(move |bytes| {
        let pieces: Vec<_> = match bytes {
            Ok(bytes) => bytes
                .chunks(n_bytes.max(1))
                .map(|piece| Ok(Bytes::copy_from_slice(piece)))
                .collect(),
            Err(broken) => vec![Err(broken)],
        };
        stream::iter(pieces)
    })
    .boxed()
}

/// A line that means nothing.
fn huge_line(n_bytes: usize) -> Bodies {
    const PIECE: usize = 64 * 1024;
    let whole = stream::repeat_with(|| Ok(Bytes::from_static(&[b'x'; PIECE])));
    let rest = Bytes::from(vec![b'x'; n_bytes % PIECE]);
    whole
        .take(n_bytes / PIECE)
        .chain(stream::iter([Ok(rest), Ok(Bytes::from_static(b"\n\n"))]))
        .boxed()
}

/// Tells the ledger if it is dropped before its end.
struct Guard {
    ledger: Option<Arc<Ledger>>,
}

impl Guard {
    const fn new(ledger: Arc<Ledger>) -> Self {
        Self {
            ledger: Some(ledger),
        }
    }

    fn ended(&mut self) {
        self.ledger = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(ledger) = self.ledger.take() {
            ledger.abandon();
        }
    }
}

fn guarded(body: Bodies, guard: Guard) -> Bodies {
    stream::unfold((body, guard), |(mut body, mut guard)| async move {
        match body.next().await {
            Some(bytes) => {
                if bytes.is_err() {
                    guard.ended(); // it breaks here by itself
                }
                Some((bytes, (body, guard)))
            }
            None => {
                guard.ended();
                None
            }
        }
    })
    .boxed()
}

/// A body has to be `Sync`; nobody looks at a stream from two sides.
struct SyncStream(std::sync::Mutex<BoxStream<'static, Result<Frame<Bytes>, Broken>>>);

impl futures_util::Stream for SyncStream {
    type Item = Result<Frame<Bytes>, Broken>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        match self.get_mut().0.get_mut() {
            Ok(stream) => stream.poll_next_unpin(context),
            Err(_) => std::task::Poll::Ready(None),
        }
    }
}

fn error(
    setup: &Setup,
    status: u16,
    retry_after: Option<&String>,
) -> Result<Response<Body>, Broken> {
    let body: Value = setup.format.error(status, "on purpose");
    let mut builder = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "application/json");
    if let Some(retry_after) = retry_after {
        builder = builder.header(RETRY_AFTER, retry_after);
    }
    built(builder, full(body.to_string()))
}

fn redirect(location: &str) -> Result<Response<Body>, Broken> {
    let builder = Response::builder()
        .status(StatusCode::TEMPORARY_REDIRECT)
        .header(LOCATION, location);
    built(builder, full(String::new()))
}

fn response(
    status: StatusCode,
    content_type: &str,
    body: String,
) -> Result<Response<Body>, Broken> {
    let builder = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, content_type);
    built(builder, full(body))
}

fn full(body: String) -> Body {
    Full::new(Bytes::from(body)).map_err(Into::into).boxed()
}

fn built(builder: hyper::http::response::Builder, body: Body) -> Result<Response<Body>, Broken> {
    builder.body(body).map_err(|_| Broken)
}
