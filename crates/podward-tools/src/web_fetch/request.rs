//! One request to addresses that were judged, and its answer within the limits.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, LOCATION};
use reqwest::{Client, Response, StatusCode, redirect, retry};
use url::Url;

use super::content::Kind;

const USER_AGENT: &str = concat!("podward/", env!("CARGO_PKG_VERSION"));

const WANTED: &str = "text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, \
                      application/xml;q=0.8, text/*;q=0.8, */*;q=0.1";

/// Header lines that an answer may have. The HTTP library reads at most about 400 KiB of them.
const HEADERS_MAX: usize = 100;

/// What a server answered.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// As the server wrote it.
    pub(super) content_type: Option<String>,
    pub(super) body: Body,
}

/// What became of an answer's body.
pub(super) enum Body {
    /// It is elsewhere: the value of `Location`.
    Elsewhere(String),
    /// Text of some kind.
    Text {
        kind: Kind,
        bytes: Vec<u8>,
        /// There is more than the limit.
        is_cut: bool,
    },
    /// Not text; its length if the server says it.
    Binary(Option<u64>),
}

/// Sends one `GET` and reads the answer, at most `n_bytes` of its body.
///
/// Nothing but the judged addresses is connected to: the client knows no proxy, follows no redirect,
/// keeps no connection, and has no other way to find an address. TLS and `Host` use the URL's host.
pub(super) async fn get(
    url: &Url,
    addresses: &[IpAddr],
    n_bytes: usize,
) -> Result<Answer, reqwest::Error> {
    let client = client(url, addresses)?;
    let response = client
        .get(url.clone())
        .header(ACCEPT, WANTED)
        .send()
        .await?;
    let status = response.status();
    let content_type = header(&response, &CONTENT_TYPE);
    if let (true, Some(location)) = (is_redirect(status), header(&response, &LOCATION)) {
        return Ok(Answer {
            status,
            content_type,
            body: Body::Elsewhere(location),
        });
    }
    let body = body(response, content_type.as_deref(), n_bytes).await?;
    Ok(Answer {
        status,
        content_type,
        body,
    })
}

fn client(url: &Url, addresses: &[IpAddr]) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        // One request a connection: HTTP/2 would have nothing to share, and could be asked to.
        .http1_only()
        .http1_max_headers(HEADERS_MAX)
        .pool_max_idle_per_host(0)
        .dns_resolver(Arc::new(JudgedAddresses(addresses.into())));
    match url.scheme() {
        "https" => builder.https_only(true),
        // No certificate is looked at, so a machine without any will do.
        _ => builder.tls_certs_only([]),
    }
    .build()
}

/// Answers every question with the addresses that were judged.
struct JudgedAddresses(Arc<[IpAddr]>);

impl Resolve for JudgedAddresses {
    fn resolve(&self, _name: Name) -> Resolving {
        let addresses = Arc::clone(&self.0);
        // Port 0 stands for the URL's.
        let found: Addrs = Box::new(
            (0..addresses.len())
                .filter_map(move |idx| Some(SocketAddr::new(*addresses.get(idx)?, 0))),
        );
        Box::pin(std::future::ready(Ok(found)))
    }
}

const fn is_redirect(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    )
}

/// A header's value; bytes that are no UTF-8 become U+FFFD.
fn header(response: &Response, name: &HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Reads a body, unpacked, until the limit or until it shows that it is no text.
async fn body(
    mut response: Response,
    content_type: Option<&str>,
    n_bytes: usize,
) -> Result<Body, reqwest::Error> {
    let length = header(&response, &CONTENT_LENGTH).and_then(|length| length.parse().ok());
    let mut bytes = Vec::new();
    let mut is_cut = false;
    if Kind::of(content_type, &[]) == Kind::Binary {
        return Ok(Body::Binary(length));
    }
    while let Some(chunk) = response.chunk().await? {
        let room = n_bytes.saturating_sub(bytes.len());
        bytes.extend(chunk.iter().take(room));
        if chunk.len() > room {
            is_cut = true;
            break;
        }
    }
    Ok(match Kind::of(content_type, &bytes) {
        Kind::Binary => Body::Binary(length),
        kind @ (Kind::Html | Kind::Plain) => Body::Text {
            kind,
            bytes,
            is_cut,
        },
    })
}

/// Why a request failed, with its causes and without the URL.
pub(super) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Layers of the HTTP client that say nothing but that they have a cause.
        let is_wrapper = text.starts_with("error sending request")
            || text.starts_with("client error (")
            || text == "tcp connect error";
        if is_wrapper {
            text = cause_text;
        } else if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
