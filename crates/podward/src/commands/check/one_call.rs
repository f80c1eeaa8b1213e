//! `podward check --manifest FILE --tool NAME --input JSON`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_manifest::underlined;
use podward_policy::{Action, ByteSpan, Policies};
use podward_protocol::{Coverage, Operation, Ruling};
use podward_tools::Place;
use serde::Serialize;
use serde_json::Value;

use crate::arguments::{Check, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judged::{Judged, judge};
use crate::layers;
use crate::screen::Screen;
use crate::transcript::cause_text;
use crate::visible::{Lines, visible};

pub(super) fn run(arguments: &Check, screen: Screen) -> Result<Exit, Failure> {
    let (Some(manifest), Some(tool), Some(input)) =
        (&arguments.manifest, &arguments.tool, &arguments.input)
    else {
        return Err(Failure::Usage {
            message: "a call needs --manifest, --tool and --input".to_owned(),
            help: "or judge files of cases with --cases FILE…",
        });
    };
    let input: Value = serde_json::from_str(input).map_err(|error| Failure::Usage {
        message: format!("--input is no JSON: {error}"),
        help: "give the tool's arguments as an object: --input '{\"command\":\"git status\"}'",
    })?;
    let (policies, place) = if arguments.isolated {
        isolated(manifest, arguments, screen)?
    } else {
        layered(manifest, arguments, screen)?
    };
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

fn isolated(
    manifest: &Path,
    arguments: &Check,
    screen: Screen,
) -> Result<(Policies, Place), Failure> {
    let name: Arc<str> = manifest.display().to_string().into();
    let bytes = std::fs::read(manifest).map_err(|source| Failure::Unreadable {
        path: manifest.to_owned(),
        source,
    })?;
    let bad =
        |diagnostics: podward_manifest::Diagnostics| Failure::BadManifest(diagnostics.to_string());
    let text = podward_manifest::decode(&name, &bytes).map_err(bad)?;
    let directory = absolute(super::directory_of(manifest))?;
    let isolated = super::programs::isolated(name, &directory, text).map_err(bad)?;
    for warning in &isolated.warnings {
        screen.write_talk(&format!("{warning}\n"));
    }
    let workspace = absolute(arguments.workspace.as_deref().unwrap_or(Path::new(".")))?;
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let place = Place::new(workspace, home).with_programs(isolated.programs);
    Ok((isolated.policies, place.isolated()))
}

/// The rules and the place that `run` would have.
fn layered(
    manifest: &Path,
    arguments: &Check,
    screen: Screen,
) -> Result<(Policies, Place), Failure> {
    let places = layers::places()?;
    let workspace = arguments.workspace.as_deref();
    let loaded = layers::load_for(&places, Some(manifest), &arguments.layers, workspace)?;
    layers::warn(&loaded, screen);
    let home = places.home().map(Path::to_path_buf);
    let place = Place::new(loaded.workspace, home).with_programs(loaded.resolved.programs);
    Ok((loaded.resolved.policies, place))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|source| Failure::Unreadable {
        path: path.to_owned(),
        source,
    })
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
    let mut text = format!(
        "verdict: {}\ncause: {}\nwhy: {}\ncoverage: {}\n",
        ruling.verdict.as_str(),
        ruling.cause.as_str(),
        visible(&cause_text(&ruling), Lines::Escape),
        coverage_text(&ruling.coverage),
    );
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

fn coverage_text(coverage: &Coverage) -> String {
    match coverage {
        Coverage::Full => "full".to_owned(),
        Coverage::Partial { why } => {
            format!("partial, {}", visible(&why.join("; "), Lines::Escape))
        }
    }
}

fn span_text(operation: &Operation) -> String {
    operation
        .span
        .map(|span| format!("{}..{}", span.start, span.end))
        .unwrap_or_default()
}

fn operation_text(operation: &Operation, width: usize) -> String {
    let need = match operation.need {
        podward_protocol::Need::Full => "",
        podward_protocol::Need::Restrictive => "  (can only tighten)",
        podward_protocol::Need::Named => "  (a rule has to name it)",
        podward_protocol::Need::Free => "  (needs no rule)",
        podward_protocol::Need::Derived => "  (written on the side)",
        podward_protocol::Need::RunBy => "  (run by another command)",
    };
    let why = operation
        .why
        .as_ref()
        .map(|why| format!("unknown code: {why}"));
    let text = why.as_deref().unwrap_or(&operation.text);
    let below = match operation.subject {
        podward_protocol::SubjectKind::Tree => "  (all below it)",
        _ => "", // itself
    };
    format!(
        "{:<18} {:<width$}{}{below}{need}",
        operation.tool,
        span_text(operation),
        visible(text, Lines::Escape)
    )
}
