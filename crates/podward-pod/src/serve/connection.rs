//! One client's connection: its lines to the server, the server's lines to it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use podward_protocol::{MAX_REQUEST_BYTES, RefusedRequest, Request, decode_request};
use podward_scope::family::{self, Kinship};
use tokio::io::{AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use super::lines::{Read, next_line};
use super::outbox::Outbox;

/// How long a client may let a write wait.
const WRITE_TIME: Duration = Duration::from_secs(30);

/// Lines are written together up to this size, in bytes.
const BATCH_BYTES: usize = 64 * 1024;

/// The number of a client: no other of this run has it.
pub(crate) type ClientNumber = u64;

/// What a connection tells the server.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Who it is.
    Came(Standing),
    /// A request, or a line that is none.
    Line(Result<Request, RefusedRequest>),
    /// A line that is longer than it may be: what follows cannot be read.
    TooLong,
    /// Nothing more comes.
    Gone,
}

/// Where a client's process stands to the pod's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is no process of the pod's.
    Apart,
    /// It was started below the pod: by a tool, or by a hook.
    Below,
    /// It was started below another pod.
    BelowAnother,
    /// Nothing certain can be said.
    Unknown,
}

/// How a client came.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Door {
    /// By the socket, at this moment.
    Socket(family::Moment),
    /// It is the pod above, which has started this process.
    Above,
}

/// Serves a connection to its end.
pub(crate) async fn serve(
    stream: UnixStream,
    number: ClientNumber,
    door: Door,
    outbox: Outbox,
    heard: mpsc::Sender<(ClientNumber, Heard)>,
) {
    let standing = match door {
        Door::Above => Standing::Apart,
        Door::Socket(accepted) => standing(&stream, accepted),
    };
    // Fails only when the server is gone, here and below.
    if heard.send((number, Heard::Came(standing))).await.is_err() {
        return;
    }
    let (reader, writer) = stream.into_split();
    tokio::select! {
        () = listen(BufReader::with_capacity(16 * 1024, reader), number, &heard) => {
            let _ = heard.send((number, Heard::Gone)).await;
        }
        written = write(writer, &outbox) => {
            if let Err(error) = written {
                tracing::debug!(%error, "a client cannot be written to");
            }
            outbox.close();
            let _ = heard.send((number, Heard::Gone)).await;
        }
    }
}

fn standing(stream: &UnixStream, accepted: family::Moment) -> Standing {
    match family::peer_kinship(stream, accepted) {
        // What runs in the pod's own process is no tool.
        Ok(Kinship::Apart | Kinship::Same) => Standing::Apart,
        Ok(Kinship::Below) => Standing::Below,
        Ok(Kinship::BelowAnother) => Standing::BelowAnother,
        Err(error) => {
            tracing::warn!(%error, "nothing is known of a client's process");
            Standing::Unknown
        }
    }
}

/// Passes on what a client says, until it says no more.
async fn listen(
    mut reader: BufReader<tokio::net::unix::OwnedReadHalf>,
    number: ClientNumber,
    heard: &mpsc::Sender<(ClientNumber, Heard)>,
) {
    loop {
        let what = match next_line(&mut reader, MAX_REQUEST_BYTES).await {
            Ok(Read::Line(line)) => Heard::Line(decode_request(&line)),
            Ok(Read::TooLong) => {
                // The server closes the connection, once it has said so.
                let _ = heard.send((number, Heard::TooLong)).await;
                return std::future::pending().await;
            }
            Ok(Read::End) | Err(_) => return,
        };
        if heard.send((number, what)).await.is_err() {
            return;
        }
    }
}

/// Writes what is for a client until nothing more will be.
async fn write(mut writer: impl AsyncWrite + Unpin, outbox: &Outbox) -> io::Result<()> {
    let mut bytes = Vec::new();
    while let Some(line) = outbox.next().await {
        bytes.clear();
        add(&mut bytes, &line);
        while bytes.len() < BATCH_BYTES
            && let Some(line) = outbox.next_now()
        {
            add(&mut bytes, &line);
        }
        let written = tokio::time::timeout(WRITE_TIME, writer.write_all(&bytes)).await;
        written.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        bytes.shrink_to(2 * BATCH_BYTES);
    }
    writer.shutdown().await
}

fn add(bytes: &mut Vec<u8>, line: &Arc<str>) {
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
}
