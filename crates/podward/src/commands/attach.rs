//! `podward attach [POD…]`.

use std::io::{self, IsTerminal as _};

use podward_attach::{Attach as Attached, Colors, run as show};
use podward_client::Found;
use podward_view::{Lines, visible};
use tokio_util::sync::CancellationToken;

use super::following::{Following, ends};
use super::pods::found;
use crate::arguments::{Attach, Format};
use crate::before::before;
use crate::connection::{Caller, CanApprove, Events, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::follow::{Follow, Lists};
use crate::layers;
use crate::screen::{Look, Screen};
use crate::signals;
use crate::terminal::Terminal;
use crate::transcript::Asked;

/// The name of this client where it speaks in lines.
const NAME: &str = "podward attach";

pub(super) fn run(arguments: &Attach, screen: Screen) -> Result<Exit, Failure> {
    let pods: Result<Vec<Found>, Failure> = arguments.pods.iter().map(|name| found(name)).collect();
    let pods = pods?;
    if arguments.plain {
        return in_lines(pods, screen);
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::Usage {
            message: "there is no terminal to show pods on".to_owned(),
            help: "`podward attach --plain POD` writes lines",
        });
    }
    let attached = Attached {
        run_dir: layers::places()?.run_dir().to_path_buf(),
        pods,
        colors: match screen.data.is_colored {
            true => Colors::Sixteen,
            false => Colors::None,
        },
        look: before,
    };
    let outcome = super::runtime()?.block_on(show(attached))?;
    if !outcome.draft.is_empty() {
        let draft = visible(&outcome.draft, Lines::Keep);
        screen.say(Look::Strong, "not sent", draft);
    }
    Ok(Exit::Done)
}

/// Follows one pod in lines, and asks in place at a terminal.
fn in_lines(pods: Vec<Found>, screen: Screen) -> Result<Exit, Failure> {
    let [pod] = pods.as_slice() else {
        return Err(Failure::Usage {
            message: "lines are of one pod".to_owned(),
            help: "name one: `podward attach --plain POD`; `podward pods` lists them",
        });
    };
    super::runtime()?.block_on(async {
        let terminal = Terminal::of_a_person();
        let can_approve = match &terminal {
            Some(_) => CanApprove::Yes,
            None => CanApprove::No,
        };
        let (client, events) = connect(&pod.socket, NAME, can_approve, &[]).await?;
        let cancel = CancellationToken::new();
        let watch = signals::watch(cancel.clone()).map_err(Failure::Runtime)?;
        let (ended, ends) = ends();
        let done = CancellationToken::new();
        let follow = Follow {
            events: Events::There(events),
            caller: Caller::There(client),
            format: Format::Text,
            screen,
            terminal,
            whom: Asked::Clients,
            lists: Lists::Nothing,
            cancel: cancel.clone(),
            done: done.clone(),
            ended,
        };
        let mut following = Following::start(follow, ends);
        tokio::select! {
            () = cancel.cancelled() => {}
            () = async { while following.end_of(u64::MAX).await.is_some() {} } => {}
        }
        done.cancel();
        let reader = following.finish().await;
        let received = watch.stop().await;
        reader?;
        Ok(received.map_or(Exit::Done, |received| received.exit()))
    })
}
