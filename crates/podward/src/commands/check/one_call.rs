//! `podward check --manifest FILE --tool NAME --input JSON`.

use podward_manifest::underlined;
use podward_policy::{Action, ByteSpan};
use podward_protocol::{Operation, Ruling};
use podward_view::{Lines, below_text, need_text, ruling_text, visible};
use serde::Serialize;
use serde_json::Value;

use crate::arguments::{Check, Format};
use crate::commands::chosen::{self, Chosen, Wanted};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judged::{Judged, judge};
use crate::screen::Screen;

pub(super) fn run(arguments: &Check, screen: Screen) -> Result<Exit, Failure> {
    let (Some(manifest), Some(tool), Some(input)) =
        (&arguments.manifest, &arguments.tool, &arguments.input)
    else {
        return Err(Failure::Usage {
            message: "a call needs --manifest, --tool and --input".to_owned(),
            help: "or judge files of cases with --cases FILE…",
        });
    };
    let input = chosen::input(input)?;
    let wanted = Wanted {
        manifest,
        isolated: arguments.isolated,
        workspace: arguments.workspace.as_deref(),
        layers: &arguments.layers,
    };
    let Chosen {
        policies, place, ..
    } = chosen::choose(&wanted, screen)?;
    // Spans are bytes of bash's command.
    let command = input
        .get("command")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let judged = judge(&policies, tool, input, &place);
    let text = match arguments.format {
        Format::Text => text(&judged, command.as_deref()),
        Format::Json => json_line(&judged),
    };
    let exit = match judged.action() {
        Action::Allow => Exit::Done,
        Action::Deny => Exit::Deny,
        Action::Ask => Exit::Ask,
    };
    crate::commands::finish(screen, &text, exit)
}

/// What is printed for programs.
#[derive(Debug, Serialize)]
struct Line {
    #[serde(flatten)]
    ruling: Ruling,
    operations: Vec<Operation>,
}

fn json_line(judged: &Judged) -> String {
    let line = Line {
        ruling: judged.wire_ruling(),
        operations: judged.wire_operations(),
    };
    // Wire types have a JSON form.
    podward_protocol::json_line(&line).unwrap_or_default() + "\n"
}

fn text(judged: &Judged, command: Option<&str>) -> String {
    let ruling = judged.wire_ruling();
    let operations = judged.wire_operations();
    let mut text = ruling_text(&ruling);
    let decided = ruling.operation.and_then(|idx| operations.get(idx));
    if let (Some(command), Some(span)) = (command, decided.and_then(|decided| decided.span)) {
        let span = ByteSpan::new(span.start..span.end);
        text.push_str(&underlined(command, span));
    }
    if !operations.is_empty() {
        text.push_str("operations:\n");
    }
    let spans = operations
        .iter()
        .map(|operation| span_text(operation).len());
    // With a gap behind; none where the tool's calls have no parts.
    let width = spans.max().filter(|len| *len > 0).map_or(0, |len| len + 2);
    for (idx, operation) in operations.iter().enumerate() {
        let mark = if ruling.operation == Some(idx) {
            '>'
        } else {
            ' '
        };
        text.push_str(&format!("{mark} {}\n", operation_text(operation, width)));
        if !operation.partial.is_empty() {
            let why = visible(&operation.partial.join("; "), Lines::Escape);
            text.push_str(&format!("{:1$}partial: {why}\n", "", 21 + width));
        }
    }
    text
}

fn span_text(operation: &Operation) -> String {
    operation
        .span
        .map(|span| format!("{}..{}", span.start, span.end))
        .unwrap_or_default()
}

fn operation_text(operation: &Operation, width: usize) -> String {
    format!(
        "{:<18} {:<width$}{}{}{}",
        operation.tool,
        span_text(operation),
        visible(&podward_view::operation_text(operation), Lines::Escape),
        below_text(operation.subject),
        need_text(operation.need),
    )
}
