//! `podward explain CALL`: a call of a session.

use std::path::{Path, PathBuf};

use podward_pod::layers::Loaded;
use podward_pod::{Inheritance, RecordedCall, recorded_call, with_causes};
use podward_protocol::{ExplainCall, ExplainedCall, Explanation};
use podward_tools::Place;

use super::super::chosen::Chosen;
use super::super::pods;
use super::{explained, text};
use crate::arguments::{Explain, Format};
use crate::connection::{CanApprove, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};

/// The name of this client.
const NAME: &str = "podward explain";

pub(super) fn run(call: &str, arguments: &Explain, screen: Screen) -> Result<Exit, Failure> {
    let places = layers::places()?;
    let recorded = recorded_call(&places, arguments.session.as_deref(), call)?;
    if recorded.n_other_sessions > 0 {
        let n = recorded.n_other_sessions;
        let sessions = if n == 1 {
            "session has"
        } else {
            "sessions have"
        };
        let what = format_args!("{n} other {sessions} such a call too: name one with --session");
        screen.say(Look::Strong, "explain", what);
    }
    let broken = recorded.broken.clone();
    if let Some(broken) = &broken {
        let what = format_args!("the decision log is not as it was written: {broken}");
        screen.say(Look::Warning, "warning", what);
    }
    let explained = match of_its_pod(&recorded, arguments, screen) {
        Some(explained) => explained,
        None => judged_now(recorded, arguments)?,
    };
    let text = match arguments.format {
        Format::Text => text::call(&explained, broken.as_deref()),
        Format::Json => crate::commands::json_line(&explained)?,
    };
    crate::commands::finish(screen, &text, Exit::Done)
}

/// What was decided then, and what the rules of now say.
fn judged_now(recorded: RecordedCall, arguments: &Explain) -> Result<ExplainedCall, Failure> {
    let loaded = match rules_of_now(&recorded, arguments) {
        Err(failure) if arguments.manifest.is_some() => return Err(failure),
        loaded => loaded,
    };
    let mut explained = recorded.explained();
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => {
            let why = with_causes(&failure);
            let first = why.lines().next().unwrap_or_default();
            explained.why_not_now = Some(format!("they cannot be read: {first}"));
            return Ok(explained);
        }
    };
    explained.policy_digest_now = Some(loaded.policy_digest());
    if explained.why_not_now.is_none() {
        explained.now = Some(now(loaded, &explained));
    }
    Ok(explained)
}

/// What the pod says that runs the session: its rules are those that count, whatever its files say by
/// now. `None`: none runs it, or other rules are asked for.
fn of_its_pod(
    recorded: &RecordedCall,
    arguments: &Explain,
    screen: Screen,
) -> Option<ExplainedCall> {
    if arguments.manifest.is_some() || arguments.layers.permissions.is_some() {
        return None;
    }
    let mut running = pods::all().ok()?.into_iter();
    let pod = running.find(|found| found.entry.session == recorded.session)?;
    let call = recorded.call.clone();
    let asked = super::super::runtime().and_then(|runtime| {
        runtime.block_on(async {
            let (client, _events) =
                connect(&pod.socket, NAME, CanApprove::No, &["closing"]).await?;
            Ok(client.ask(ExplainCall { call }).await?)
        })
    });
    match asked {
        Ok(explained) => Some(explained),
        Err(failure) => {
            let why = with_causes(&failure);
            let first = why.lines().next().unwrap_or_default();
            let what = format_args!("the pod of the session does not tell, its files do: {first}");
            screen.say(Look::Warning, "warning", what);
            None
        }
    }
}

fn now(loaded: Loaded, recorded: &ExplainedCall) -> Explanation {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let place = Place::new(&recorded.cwd, home).with_programs(loaded.resolved.programs);
    let chosen = Chosen {
        policies: loaded.resolved.policies,
        place,
    };
    explained(&chosen, &recorded.tool, recorded.arguments.clone())
}

/// The layers of now: those of the session, from the files that they were read from.
fn rules_of_now(recorded: &RecordedCall, arguments: &Explain) -> Result<Loaded, Failure> {
    let file_of = |layer: &str| {
        let mut layers = recorded.layers.iter();
        let found = layers.find(|known| known.layer == layer);
        found.map(|known| PathBuf::from(&known.file))
    };
    let manifest = arguments.manifest.clone().or_else(|| file_of("manifest"));
    let places = layers::places()?;
    // What held for a child from above holds for its calls now.
    let under = Inheritance::of_session(&places, recorded.session.as_str())?;
    let permissions = arguments.layers.permissions.clone();
    let layers = crate::arguments::Layers {
        permissions: match under {
            Some(_) => permissions,
            None => permissions.or_else(|| file_of("command-line")),
        },
    };
    let workspace = Path::new(&recorded.workspace);
    layers::load_for(
        &places,
        manifest.as_deref(),
        &layers,
        Some(workspace),
        under,
    )
}
