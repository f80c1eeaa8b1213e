//! `podward cancel POD`, `podward stop POD`.

use podward_client::ClientError;
use podward_protocol::{Cancel, MethodErrorCode, Stop};

use super::pods::find;
use crate::arguments;
use crate::connection::{CanApprove, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::{Look, Screen};

/// The names of these clients: `podward` alone stands for the pod itself.
const CANCEL: &str = "podward cancel";
const STOP: &str = "podward stop";

/// Cancels the turn that runs; none is as good.
pub(super) fn cancel(arguments: &arguments::Cancel, screen: Screen) -> Result<Exit, Failure> {
    let socket = find(&arguments.pod)?;
    super::runtime()?.block_on(async {
        let (client, _events) = connect(&socket, CANCEL, CanApprove::No, &["closing"]).await?;
        match client.ask(Cancel {}).await {
            Ok(_) => Ok(Exit::Done),
            Err(ClientError::Refused(error)) if error.code == MethodErrorCode::Idle => {
                screen.say(Look::Strong, "note", "no turn runs");
                Ok(Exit::Done)
            }
            Err(error) => Err(error.into()),
        }
    })
}

/// Stops the pod, and waits until it has.
pub(super) fn stop(arguments: &arguments::Stop) -> Result<Exit, Failure> {
    let socket = find(&arguments.pod)?;
    super::runtime()?.block_on(async {
        let (client, mut events) = connect(&socket, STOP, CanApprove::No, &["closing"]).await?;
        match client.ask(Stop {}).await {
            Ok(_) => {}
            // Somebody else asked for it before.
            Err(ClientError::Refused(error)) if error.code == MethodErrorCode::Stopping => {}
            Err(error) => return Err(error.into()),
        }
        // The pod closes the connection when it is done.
        while events.next().await.is_some() {}
        Ok(Exit::Done)
    })
}
