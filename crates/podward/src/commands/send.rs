//! `podward send POD [TEXT]`.

use podward_client::Client;
use podward_protocol::Run;
use tokio_util::sync::CancellationToken;

use super::following::{Following, Reader, ends, exit};
use super::pods::find;
use crate::arguments::Send;
use crate::connection::{Caller, CanApprove, Events, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::follow::{Follow, Lists};
use crate::prompt;
use crate::screen::Screen;
use crate::signals;
use crate::terminal::Terminal;
use crate::transcript::Asked;

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
        let terminal = Terminal::of_a_person();
        let can_approve = match &terminal {
            Some(_) => CanApprove::Yes,
            None => CanApprove::No,
        };
        let (client, events) = connect(&socket, NAME, can_approve, &[]).await?;
        let cancel = CancellationToken::new();
        let watch = signals::watch(cancel.clone()).map_err(Failure::Runtime)?;
        let (ended, ends) = ends();
        let done = CancellationToken::new();
        let follow = Follow {
            events: Events::There(events),
            caller: Caller::There(client.clone()),
            format: arguments.format,
            screen,
            terminal,
            whom: Asked::Clients,
            lists: Lists::Nothing,
            cancel: cancel.clone(),
            done: done.clone(),
            ended,
        };
        let mut following = Following::start(follow, ends);
        let end = async {
            let turn = start(&client, run).await?;
            Ok::<_, Failure>(following.end_of(turn).await)
        };
        let end = tokio::select! {
            end = end => Some(end),
            () = cancel.cancelled() => None,
        };
        done.cancel();
        let reader = following.finish().await;
        let received = watch.stop().await;
        let reader = reader?;
        if let Reader::Stuck = reader {
            signals::end(received);
        }
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
