//! A connection to a pod.

mod running;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use podward_protocol::{
    DecodeError, EncodeError, Envelope, Event, Hello, Line, Method, MethodId, MethodName, Params,
    Reply, Request, Welcome, decode_line, encode_request,
};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::backlog::{Taker, backlog};
use crate::error::{ClientError, Ending};
use crate::lines::next_line;
use running::{Calls, serve};

/// How long a pod may take to answer `hello`.
pub const HELLO_TIME: Duration = Duration::from_secs(30);

/// The number of `hello`.
const HELLO_ID: MethodId = MethodId(0);

/// Asks a pod for things. Clones share one connection, which is closed when the last of them and the
/// [`Events`] are gone.
#[derive(Debug, Clone)]
pub struct Client {
    calls: Arc<Calls>,
    welcome: Arc<Welcome>,
    // Closes the connection when nobody has it any more.
    _task: Arc<AbortOnDropHandle<()>>,
}

/// What a pod tells. Pings are not seen here: each is answered when all that came before it was taken, so
/// that somebody who takes nothing any more counts as gone. Where this is dropped they are answered at
/// once.
#[derive(Debug)]
pub struct Events {
    taker: Taker,
    calls: Arc<Calls>,
    // The same.
    _task: Arc<AbortOnDropHandle<()>>,
}

impl Client {
    /// Connects to the pod that listens at a socket, and says who one is.
    ///
    /// # Errors
    /// Nobody listens there, or a process of another user does; the pod refuses, or does not answer
    /// within [`HELLO_TIME`].
    pub async fn connect(socket: &Path, hello: Hello) -> Result<(Self, Events), ClientError> {
        let stream = UnixStream::connect(socket).await.map_err(|source| {
            let socket = socket.to_owned();
            match source.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                    ClientError::NotThere { socket, source }
                }
                _ => ClientError::NotReached { socket, source }, // it is there
            }
        })?;
        check_owner(&stream, socket)?;
        Self::over(stream, socket, hello).await
    }

    /// Says who one is to a pod at the other end of a connection that is there; `name`: what errors call
    /// it.
    ///
    /// # Errors
    /// The pod refuses, or does not answer within [`HELLO_TIME`].
    pub async fn over(
        stream: UnixStream,
        name: &Path,
        hello: Hello,
    ) -> Result<(Self, Events), ClientError> {
        let line = encode(HELLO_ID, hello.into())?;
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::with_capacity(64 * 1024, reader);
        let greeted = timeout(HELLO_TIME, async {
            // A pod that refuses this client says so and reads nothing: what it says counts.
            let _ = writer.write_all(line.as_bytes()).await;
            welcome(&mut reader).await
        });
        let welcome = greeted.await.map_err(|_| ClientError::Unanswered {
            socket: name.to_owned(),
            seconds: HELLO_TIME.as_secs(),
        })??;
        let (pings, pinged) = watch::channel(None);
        let (filler, taker) = backlog(Arc::new(pings));
        let (calls, outgoing) = Calls::new();
        let serving = serve(reader, writer, Arc::clone(&calls), outgoing, filler, pinged);
        let task = Arc::new(AbortOnDropHandle::new(tokio::spawn(serving)));
        let events = Events {
            taker,
            calls: Arc::clone(&calls),
            _task: Arc::clone(&task),
        };
        let welcome = Arc::new(welcome);
        let client = Self {
            calls,
            welcome,
            _task: task,
        };
        Ok((client, events))
    }

    /// What the pod said when the connection was made.
    #[must_use]
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Whether the connection is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.calls.is_over()
    }

    /// Asks for something and waits for what comes of it. Other requests can be made meanwhile; where the
    /// wait is given up the pod may do it all the same.
    ///
    /// # Errors
    /// The pod refuses, or the connection is over.
    pub async fn call(&self, method: Method) -> Result<Reply, ClientError> {
        let name = method.name();
        let id = self.calls.next_id();
        let line = encode(id, method)?;
        let answered = self.calls.send(id, name, line).await?;
        match answered.await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::Over(self.calls.ending())),
        }
    }

    /// The same, with the parameters of a method and the reply of just this method.
    ///
    /// # Errors
    /// The pod refuses, or the connection is over.
    pub async fn ask<P: Params>(&self, params: P) -> Result<P::Reply, ClientError> {
        let reply = self.call(params.into()).await?;
        let method = reply.method();
        P::of(reply).ok_or_else(|| other_reply(method))
    }
}

impl Events {
    /// Waits for the next event; `None` when no more come. Nothing is lost where the wait is given up.
    pub async fn next(&mut self) -> Option<Envelope> {
        self.taker.next().await
    }

    /// Why no more events come; what it says while they still do means nothing.
    #[must_use]
    pub fn ending(&self) -> Ending {
        self.calls.events_ending()
    }
}

/// Whoever listens would be told what is asked, and could ask for approvals of its own: it has to be
/// a process of this user, also for root.
fn check_owner(stream: &UnixStream, socket: &Path) -> Result<(), ClientError> {
    let peer = stream.peer_cred().map_err(|source| {
        let socket = socket.to_owned();
        ClientError::NotReached { socket, source }
    })?;
    if peer.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(ClientError::Foreign {
        socket: socket.to_owned(),
        owner: peer.uid(),
    })
}

fn other_reply(method: MethodName) -> ClientError {
    let why = format!("a reply to `{}` that was not asked for", method.as_str());
    ClientError::Nonsense(why.into())
}

/// The line of a request, with its newline.
fn encode(id: MethodId, method: Method) -> Result<String, ClientError> {
    let mut line = encode_request(&Request { method, id }).map_err(|error| match error {
        EncodeError::LineTooLong { n_bytes, .. } => ClientError::RequestTooLong { n_bytes },
        other => ClientError::Nonsense(other.into()), // it has no JSON form
    })?;
    line.push('\n');
    Ok(line)
}

/// Reads what comes until `hello` is answered.
async fn welcome(
    reader: &mut BufReader<tokio::net::unix::OwnedReadHalf>,
) -> Result<Welcome, ClientError> {
    loop {
        let line = next_line(reader).await.map_err(ClientError::Over)?;
        let response = match decode_line(&line) {
            Ok(Line::Response(response)) => response,
            Ok(Line::Event(Envelope {
                event: Event::Closing(closing),
                ..
            })) => return Err(ClientError::Over(Ending::Told(closing))),
            Ok(Line::Event(_)) | Err(DecodeError::UnknownEvent { .. }) => continue,
            Err(DecodeError::UnknownErrorCode { code, message, .. }) => {
                return Err(ClientError::UnknownCode { code, message });
            }
            Err(error) => return Err(ClientError::Over(Ending::BadLine(Arc::new(error)))),
        };
        return match response.result {
            // Whatever its number: nothing else was asked for.
            Err(error) => Err(ClientError::Refused(error)),
            Ok(reply) => match reply.read(MethodName::Hello) {
                Ok(Reply::Hello(welcome)) => Ok(welcome),
                Ok(other) => Err(other_reply(other.method())),
                Err(error) => Err(ClientError::Nonsense(error.into())),
            },
        };
    }
}

#[cfg(test)]
mod tests;
