//! A pod as its clients see it, in this process or behind a socket.

use std::path::Path;

use podward_client::{Client, ClientError};
use podward_pod::LocalCaller;
use podward_protocol::{Envelope, Hello, Method, MethodError, PROTOCOL_VERSION, Reply};
use tokio::sync::mpsc::Receiver;

use crate::failure::Failure;

/// Asks a pod for something.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// The pod of this process.
    Here(LocalCaller),
    /// A pod behind a socket.
    There(Client),
}

/// What a pod tells.
#[derive(Debug)]
pub(crate) enum Events {
    /// The pod of this process: it waits until its events are taken.
    Here(Receiver<Envelope>),
    /// A pod behind a socket: it cuts off who is too slow.
    There(podward_client::Events),
}

/// Whether a client can answer what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CanApprove {
    Yes,
    No,
}

/// Why a pod did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// It refused.
    #[error("the pod says: {0}")]
    Refused(MethodError),
    /// It cannot be reached.
    #[error("the pod cannot be reached")]
    Lost(#[source] ClientError),
}

impl From<ClientError> for CallError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused(error) => Self::Refused(error),
            lost => Self::Lost(lost),
        }
    }
}

impl Caller {
    /// Asks for something and waits for the answer.
    ///
    /// # Errors
    /// The pod refuses, or cannot be reached.
    pub(crate) async fn call(&self, method: Method) -> Result<Reply, CallError> {
        match self {
            Self::Here(caller) => caller.call(method).await.map_err(CallError::Refused),
            Self::There(client) => Ok(client.call(method).await?),
        }
    }
}

impl Events {
    /// Waits for the next event; nothing is lost where the wait is given up.
    pub(crate) async fn next(&mut self) -> Option<Envelope> {
        match self {
            Self::Here(events) => events.recv().await,
            Self::There(events) => events.next().await,
        }
    }

    /// How the connection was lost, after the last event; `None` for a pod that ended here.
    pub(crate) fn ending(&self) -> Option<podward_client::Ending> {
        match self {
            Self::Here(_) => None,
            Self::There(events) => Some(events.ending()),
        }
    }
}

/// Connects to a pod. `events` names those that are wanted, all if it is empty.
///
/// # Errors
/// Nobody listens there, or the pod speaks another version of the protocol.
pub(crate) async fn connect(
    socket: &Path,
    name: &str,
    can_approve: CanApprove,
    events: &[&str],
) -> Result<(Client, podward_client::Events), Failure> {
    let names = events.iter().map(|name| (*name).to_owned()).collect();
    let hello = Hello {
        protocol: PROTOCOL_VERSION,
        client: name.to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        can_approve: can_approve == CanApprove::Yes,
        events: (!events.is_empty()).then_some(names),
    };
    let connected = Client::connect(socket, hello).await;
    connected.map_err(|error| Failure::Call(error.into()))
}
