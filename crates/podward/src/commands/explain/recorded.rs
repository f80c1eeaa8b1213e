//! `podward explain CALL`: a call of a session.

use std::path::{Path, PathBuf};

use podward_pod::layers::Loaded;
use podward_pod::{RecordedCall, recorded_call};
use podward_protocol::{ExplainedCall, ExplainedOperation, Explanation, Operation};
use podward_tools::Place;

use super::super::chosen::Chosen;
use super::{explained, text};
use crate::arguments::{Explain, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};

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
    let explained = judged_now(recorded, arguments)?;
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
    let mut explained = ExplainedCall {
        then: Explanation {
            ruling: recorded.ruling,
            operations: recorded.operations.into_iter().map(as_recorded).collect(),
            change: None,
        },
        session: recorded.session,
        call: recorded.call,
        pod: recorded.pod,
        part_of: recorded.part_of,
        tool: recorded.tool,
        arguments: recorded.arguments,
        workspace: recorded.workspace,
        cwd: recorded.cwd,
        decisions: recorded.decisions,
        policy_digest: recorded.policy_digest,
        policy_digest_now: None,
        now: None,
        why_not_now: None,
    };
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => {
            let why = crate::failure::chain(&failure);
            let first = why.lines().next().unwrap_or_default();
            explained.why_not_now = Some(format!("they cannot be read: {first}"));
            return Ok(explained);
        }
    };
    explained.policy_digest_now = Some(loaded.policy_digest());
    if recorded.replayable {
        let (tool, input) = (&explained.tool, explained.arguments.clone());
        explained.now = Some(now(loaded, tool, input, &explained));
    } else {
        let why = "its arguments are not all in the log, or it was no call of the model";
        explained.why_not_now = Some(why.to_owned());
    }
    Ok(explained)
}

fn now(
    loaded: Loaded,
    tool: &str,
    input: serde_json::Value,
    recorded: &ExplainedCall,
) -> Explanation {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let place = Place {
        cwd: PathBuf::from(&recorded.cwd),
        ..Place::new(PathBuf::from(&recorded.cwd), home).with_programs(loaded.resolved.programs)
    };
    let chosen = Chosen {
        policies: loaded.resolved.policies,
        place,
    };
    explained(&chosen, tool, input, &chosen.place)
}

/// The layers of now: those of the session, from the files that they were read from.
fn rules_of_now(recorded: &RecordedCall, arguments: &Explain) -> Result<Loaded, Failure> {
    let file_of = |layer: &str| {
        let mut layers = recorded.layers.iter();
        let found = layers.find(|known| known.layer == layer);
        found.map(|known| PathBuf::from(&known.file))
    };
    let manifest = arguments.manifest.clone().or_else(|| file_of("manifest"));
    let permissions = arguments.layers.permissions.clone();
    let layers = crate::arguments::Layers {
        permissions: permissions.or_else(|| file_of("command-line")),
    };
    let workspace = Path::new(&recorded.workspace);
    layers::load_for(
        &layers::places()?,
        manifest.as_deref(),
        &layers,
        Some(workspace),
    )
}

fn as_recorded(operation: Operation) -> ExplainedOperation {
    ExplainedOperation {
        operation,
        holes: Vec::new(),
        forms: Vec::new(),
        layers: Vec::new(),
    }
}
