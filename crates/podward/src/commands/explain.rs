//! `podward explain`: how a verdict came about.

mod recorded;
mod text;

use podward_protocol::Explanation;
use podward_tools::lower;
use serde_json::Value;

use super::chosen::{self, Chosen, Wanted};
use crate::arguments::{Explain, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

pub(super) fn run(arguments: &Explain, screen: Screen) -> Result<Exit, Failure> {
    if let Some(call) = &arguments.call {
        return recorded::run(call, arguments, screen);
    }
    let (Some(manifest), Some(tool), Some(input)) =
        (&arguments.manifest, &arguments.tool, &arguments.input)
    else {
        return Err(Failure::Usage {
            message: "a call needs --manifest, --tool and --input".to_owned(),
            help: "or name a call of a session: podward explain CALL",
        });
    };
    let input = chosen::input(input)?;
    let wanted = Wanted {
        manifest,
        isolated: arguments.isolated,
        workspace: arguments.workspace.as_deref(),
        layers: &arguments.layers,
    };
    let chosen = chosen::choose(&wanted, screen)?;
    let command = command(&input).map(str::to_owned);
    let explanation = explained(&chosen, tool, input);
    let text = match arguments.format {
        Format::Text => text::explanation(&explanation, command.as_deref()),
        Format::Json => super::json_line(&explanation)?,
    };
    super::finish(screen, &text, Exit::Done)
}

/// A call judged with an eye on every rule.
fn explained(chosen: &Chosen, tool: &str, input: Value) -> Explanation {
    let Chosen { policies, place } = chosen;
    match lower(tool, input, place) {
        Err(bad_call) => podward_pod::wire::bad_call_explained(&bad_call),
        Ok((_, lowered)) => podward_pod::wire::explained(policies, &lowered, &place.programs),
    }
}

/// What spans are bytes of: the command of bash.
fn command(input: &Value) -> Option<&str> {
    input.get("command").and_then(Value::as_str)
}
