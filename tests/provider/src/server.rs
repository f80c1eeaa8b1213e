//! The server.

mod answer;
mod ledger;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use self::answer::Broken;
use self::ledger::Ledger;
pub use self::ledger::Recorded;
use crate::listening::Listening;
use crate::setup::{ProviderError, Setup, Tls};
use crate::tls;

/// A provider that is running. Dropping it stops it.
#[derive(Debug)]
pub struct TestProvider {
    listening: Listening,
    base_url: String,
    authority: Option<String>,
    ledger: Arc<Ledger>,
}

impl TestProvider {
    /// Starts a provider on this machine.
    ///
    /// # Errors
    /// The system refuses, or no certificate can be made.
    pub fn start(setup: Setup) -> Result<Self, ProviderError> {
        let (acceptor, authority, scheme) = match setup.tls {
            Tls::Off => (None, None, "http"),
            Tls::PrivateAuthority => {
                let (acceptor, authority) = tls::acceptor()?;
                (Some(acceptor), Some(authority), "https")
            }
        };
        let (setup, ledger) = (Arc::new(setup), Arc::new(Ledger::new()));
        let (serving, noted) = (Arc::clone(&setup), Arc::clone(&ledger));
        let listening = Listening::start(setup.port, "test provider", move |stream| {
            let (setup, ledger) = (Arc::clone(&serving), Arc::clone(&noted));
            let acceptor = acceptor.clone();
            async move {
                match acceptor {
                    None => connection(stream, setup, ledger).await,
                    // A client that does not trust the certificate has nothing to say.
                    Some(acceptor) => {
                        if let Ok(stream) = acceptor.accept(stream).await {
                            connection(stream, setup, ledger).await;
                        }
                    }
                }
            }
        })?;
        let (address, path) = (listening.address(), setup.format.base_path());
        Ok(Self {
            listening,
            base_url: format!("{scheme}://{address}{path}"),
            authority,
            ledger,
        })
    }

    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    /// The `base_url` for a client.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The certificate of its authority as PEM; `None` without TLS.
    #[must_use]
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// All requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.ledger.requests()
    }

    /// Waits until so many requests have come.
    pub async fn requested(&self, n_requests: usize) {
        self.ledger.requested(n_requests).await;
    }

    /// Waits until so many answers have lost their reader before their end.
    pub async fn abandoned(&self, n_answers: usize) {
        self.ledger.abandoned(n_answers).await;
    }
}

async fn connection<S>(stream: S, setup: Arc<Setup>, ledger: Arc<Ledger>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(|request| {
        let (setup, ledger) = (Arc::clone(&setup), Arc::clone(&ledger));
        async move { answer::answer(request, &setup, ledger).await }
    });
    // That a client goes away, or that an answer is cut on purpose, is no error here.
    let _: Result<(), _> = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl From<Infallible> for Broken {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

#[cfg(test)]
mod tests;
