//! `podward send POD [TEXT]`.

use podward_client::Client;
use podward_protocol::Run;

use super::following::{Joined, Reader, exit};
use super::pods::find;
use crate::arguments::Send;
use crate::connection::{CanApprove, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::prompt;
use crate::question::Prompts;
use crate::screen::Screen;

/// The name of this client, for people and the decision log.
const NAME: &str = "podward send";

pub(super) fn run(arguments: &Send, screen: Screen) -> Result<Exit, Failure> {
    let socket = find(&arguments.pod)?;
    let run = prompt::of_a_send(
        arguments.prompt.as_deref(),
        arguments.skill.as_deref(),
        screen,
    )?;
    super::runtime()?.block_on(async {
        if !arguments.wait {
            // Nothing of what the pod tells is wanted.
            let (client, _events) =
                connect(&socket, NAME, CanApprove::No, &["turn_started"]).await?;
            start(&client, run).await?;
            return Ok(Exit::Done);
        }
        let mut joined =
            Joined::join(&socket, NAME, arguments.format, Prompts::NotTaken, screen).await?;
        let end = async {
            let turn = start(&joined.client, run).await?;
            Ok::<_, Failure>(joined.following.end_of(turn).await)
        };
        let end = tokio::select! {
            end = end => Some(end),
            () = joined.cancel.cancelled() => None,
        };
        let (reader, received) = joined.leave().await?;
        let end = end.transpose()?.flatten();
        Ok(match (reader, end, received) {
            (Reader::Gone | Reader::Stuck, _, _) => Exit::Failed,
            (_, Some(end), _) => exit(&end, None),
            (_, None, Some(received)) => received.exit(),
            (Reader::Cut(ending), None, None) => return Err(Failure::Cut(ending)),
            (Reader::There, None, None) => Exit::Failed,
        })
    })
}

/// Starts a turn, and says which.
async fn start(client: &Client, run: Run) -> Result<u64, Failure> {
    Ok(client.ask(run).await?.turn)
}
