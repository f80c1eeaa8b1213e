//! A thread that serves connections, so that tests with and without a runtime can use it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread::JoinHandle;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A port of this machine that is served. Dropping it ends every connection, and waits for that.
#[derive(Debug)]
pub(crate) struct Listening {
    address: SocketAddr,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    /// Serves a port, 0 for any that is free: each connection by what `serve` makes of it.
    pub(crate) fn start<S>(
        port: u16,
        name: &str,
        serve: impl Fn(TcpStream) -> S + Send + 'static,
    ) -> std::io::Result<Self>
    where
        S: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let accepting = accept(listener, stop.clone(), serve);
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || runtime.block_on(accepting))?;
        Ok(Self {
            address,
            stop,
            thread: Some(thread),
        })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been told; the test goes on to say what it missed.
            let _ = thread.join();
        }
    }
}

async fn accept<S>(listener: TcpListener, stop: CancellationToken, serve: impl Fn(TcpStream) -> S)
where
    S: Future<Output = ()> + Send + 'static,
{
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
        connections.spawn(serve(stream));
        while connections.try_join_next().is_some() {}
    }
    connections.shutdown().await;
}
