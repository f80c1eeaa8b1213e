//! `podward attach [POD…]`.

use std::io::{self, IsTerminal as _};

use podward_attach::{Attach as Attached, Colors, run as show};
use podward_client::{Ending, Found};
use podward_protocol::CloseReason;
use podward_view::{Lines, visible};

use super::following::{Joined, Reader};
use super::pods::found;
use crate::arguments::{Attach, Format};
use crate::before::before;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};

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
        let mut joined = Joined::join(&pod.socket, NAME, Format::Text, screen).await?;
        tokio::select! {
            () = joined.cancel.cancelled() => {}
            () = joined.following.over() => {}
        }
        match joined.leave().await? {
            (Reader::Gone | Reader::Stuck, _) => Ok(Exit::Failed),
            (_, Some(received)) => Ok(received.exit()),
            (Reader::Cut(ending), None) if !is_stop(&ending) => Err(Failure::Cut(ending)),
            (Reader::There | Reader::Cut(_), None) => Ok(Exit::Done),
        }
    })
}

/// Whether the pod has stopped, which was said when it did.
const fn is_stop(ending: &Ending) -> bool {
    matches!(ending, Ending::Told(closing) if matches!(closing.reason, CloseReason::Stopping))
}
