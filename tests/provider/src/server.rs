//! The server: a thread of its own, so that tests with and without a runtime can use it.

mod answer;
mod ledger;

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use self::answer::Broken;
use self::ledger::Ledger;
pub use self::ledger::Recorded;
use crate::setup::{ProviderError, Setup, Tls};
use crate::tls;

/// A provider that is running. Dropping it stops it.
#[derive(Debug)]
pub struct TestProvider {
    address: SocketAddr,
    base_url: String,
    authority: Option<String>,
    ledger: Arc<Ledger>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl TestProvider {
    /// Starts a provider on this machine.
    ///
    /// # Errors
    /// The system refuses, or no certificate can be made.
    pub fn start(setup: Setup) -> Result<Self, ProviderError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, setup.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (acceptor, authority, scheme) = match setup.tls {
            Tls::Off => (None, None, "http"),
            Tls::PrivateAuthority => {
                let (acceptor, authority) = tls::acceptor()?;
                (Some(acceptor), Some(authority), "https")
            }
        };
        let base_url = format!("{scheme}://{address}{}", setup.format.base_path());
        let ledger = Arc::new(Ledger::new());
        let stop = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let server = serve(
            listener,
            acceptor,
            Arc::new(setup),
            Arc::clone(&ledger),
            stop.clone(),
        );
        let thread = std::thread::Builder::new()
            .name("test provider".to_owned())
            .spawn(move || runtime.block_on(server))?;
        Ok(Self {
            address,
            base_url,
            authority,
            ledger,
            stop,
            thread: Some(thread),
        })
    }

    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
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

impl Drop for TestProvider {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic of the server has been told; the test goes on to say what it missed.
            let _ = thread.join();
        }
    }
}

async fn serve(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    setup: Arc<Setup>,
    ledger: Arc<Ledger>,
    stop: CancellationToken,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else { continue };
        let (setup, ledger) = (Arc::clone(&setup), Arc::clone(&ledger));
        let acceptor = acceptor.clone();
        connections.spawn(async move {
            match acceptor {
                None => connection(stream, setup, ledger).await,
                // A client that does not trust the certificate has nothing to say.
                Some(acceptor) => {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        connection(stream, setup, ledger).await;
                    }
                }
            }
        });
        while connections.try_join_next().is_some() {}
    }
    connections.shutdown().await;
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
