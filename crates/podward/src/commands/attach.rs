//! `podward attach [POD…]`.

use std::io::{self, IsTerminal as _};

use podward_attach::{Attach as Attached, Colors, Settings, run as show};
use podward_client::{Ending, Found};
use podward_pod::{Accounts, Places, read_guarded, with_causes};
use podward_protocol::CloseReason;
use podward_view::{Lines, visible};

use super::following::{Joined, Reader};
use super::pods::found;
use crate::arguments::{Attach, Format};
use crate::before::before;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::question::Prompts;
use crate::screen::{Look, Screen};

/// The name of the file in the user's directory that says which key does what.
const KEYS_FILE: &str = "attach.toml";

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
    let places = layers::places()?;
    let attached = Attached {
        run_dir: places.run_dir().to_path_buf(),
        settings: settings(&places)?,
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

/// The person's keys: those of their file where there is one, which nobody else may have written.
fn settings(places: &Places) -> Result<Settings, Failure> {
    let path = places.config_dir().join(KEYS_FILE);
    let wrong = |why: String| Failure::Usage {
        message: format!("`{}` cannot be used\n{why}", path.display()),
        help: "docs/attach.md lists what can be in it; without it the usual keys count",
    };
    let bytes = read_guarded(&path, &Accounts::of_this_machine());
    let Some(bytes) = bytes.map_err(|error| wrong(with_causes(&error)))? else {
        return Ok(Settings::default());
    };
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is no UTF-8".to_owned()))?;
    Settings::read(&text).map_err(|error| wrong(error.to_string()))
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
        let mut joined =
            Joined::join(&pod.socket, NAME, Format::Text, Prompts::Taken, screen).await?;
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
