//! A forward proxy, for clients that shall use one.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::setup::ProviderError;

/// The longest head of a request that is read.
const MAX_HEAD: usize = 16 * 1024;

/// A proxy that takes every request to the same place. Dropping it stops it.
#[derive(Debug)]
pub struct TestProxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl TestProxy {
    /// Starts a proxy that connects to `upstream` whatever host is asked for, so that a test can
    /// use names that do not exist.
    ///
    /// # Errors
    /// The system refuses.
    pub fn start(upstream: SocketAddr) -> Result<Self, ProviderError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let asked = Arc::default();
        let stop = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let serving = serve(listener, upstream, Arc::clone(&asked), stop.clone());
        let thread = std::thread::Builder::new()
            .name("test proxy".to_owned())
            .spawn(move || runtime.block_on(serving))?;
        Ok(Self {
            address,
            asked,
            stop,
            thread: Some(thread),
        })
    }

    /// The URL for `HTTP_PROXY` and `HTTPS_PROXY`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The first line of each request, such as `CONNECT provider.test:443 HTTP/1.1`.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for TestProxy {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic of the proxy has been told; the test goes on to say what it missed.
            let _ = thread.join();
        }
    }
}

async fn serve(
    listener: TcpListener,
    upstream: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
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
        let Ok((client, _)) = accepted else { continue };
        let asked = Arc::clone(&asked);
        // A connection that breaks is the client's to notice.
        connections.spawn(async move {
            let _: std::io::Result<()> = pass(client, upstream, &asked).await;
        });
        while connections.try_join_next().is_some() {}
    }
    connections.shutdown().await;
}

async fn pass(
    mut client: TcpStream,
    upstream: SocketAddr,
    asked: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MAX_HEAD {
        if client.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let text = String::from_utf8_lossy(&head);
    let line = text.lines().next().unwrap_or_default().to_owned();
    let is_tunnel = line.starts_with("CONNECT ");
    asked
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(line);
    let mut server = TcpStream::connect(upstream).await?;
    if is_tunnel {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    } else {
        server.write_all(&head).await?;
    }
    tokio::io::copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
