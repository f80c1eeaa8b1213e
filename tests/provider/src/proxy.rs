//! A forward proxy, for clients that shall use one.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::listening::Listening;
use crate::setup::ProviderError;

/// The longest head of a request that is read.
const MAX_HEAD: usize = 16 * 1024;

/// A proxy that takes every request to the same place. Dropping it stops it.
#[derive(Debug)]
pub struct TestProxy {
    listening: Listening,
    asked: Arc<Mutex<Vec<String>>>,
}

impl TestProxy {
    /// Starts a proxy that connects to `upstream` whatever host is asked for, so that a test can
    /// use names that do not exist.
    ///
    /// # Errors
    /// The system refuses.
    pub fn start(upstream: SocketAddr) -> Result<Self, ProviderError> {
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let noted = Arc::clone(&asked);
        let listening = Listening::start(0, "test proxy", move |client| {
            let asked = Arc::clone(&noted);
            async move {
                // A connection that breaks is the client's to notice.
                let _: std::io::Result<()> = pass(client, upstream, &asked).await;
            }
        })?;
        Ok(Self { listening, asked })
    }

    /// The URL for `HTTP_PROXY` and `HTTPS_PROXY`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.listening.address())
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
