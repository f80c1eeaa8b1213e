//! `[[hook]]`, as it is written.

use std::time::Duration;

use podward_policy::{ByteSpan, KnownTools, ToolGlob};

use super::PathBase;
use crate::diagnostic::Diagnostic;
use crate::hook::{HookArgument, HookEvent, HookName, HookProgram};
use crate::reader::{Reader, Sited, Table};
use crate::schema::HOOK;
use crate::string_offsets;

/// One `[[hook]]`.
#[derive(Debug)]
pub(crate) struct RawHook {
    pub(crate) header: ByteSpan,
    pub(crate) name: Option<Sited<HookName>>,
    pub(crate) event: Option<Sited<HookEvent>>,
    pub(crate) tool: Option<Sited<ToolGlob>>,
    pub(crate) command: Option<Sited<RawCommand>>,
    pub(crate) timeout: Option<Sited<Duration>>,
}

/// `command`: what is started, without a shell.
#[derive(Debug, Clone)]
pub(crate) struct RawCommand {
    pub(crate) program: HookProgram,
    pub(crate) arguments: Vec<HookArgument>,
}

/// All hooks of a layer.
pub(super) fn hooks(
    root: &Table<'_>,
    reader: &mut Reader<'_>,
    base: PathBase<'_>,
    known: &KnownTools,
) -> Vec<RawHook> {
    let hooks = reader.tables(root, "hook", &HOOK);
    let tables = hooks.map(|hooks| hooks.value).unwrap_or_default();
    tables
        .iter()
        .map(|table| hook(table, reader, base, known))
        .collect()
}

fn hook(
    table: &Table<'_>,
    reader: &mut Reader<'_>,
    base: PathBase<'_>,
    known: &KnownTools,
) -> RawHook {
    reader.missing_key(
        table,
        "event",
        "write `event = \"pre_tool_call\"`, `\"prompt_submit\"`, `\"post_tool\"`, `\"turn_end\"` or `\"permission_asked\"`",
    );
    reader.missing_key(
        table,
        "command",
        "write the program and its arguments: `command = [\"./check.sh\", \"--strict\"]`",
    );
    let events: Vec<_> = HookEvent::ALL
        .iter()
        .map(|event| (event.as_str(), *event))
        .collect();
    let event = reader.word(table, "event", &events);
    RawHook {
        header: table.header,
        name: reader.parsed(table, "name", |name| {
            HookName::new(name).map_err(|error| error.to_string())
        }),
        tool: tool(table, reader, known, event.as_ref()),
        event,
        command: command(table, reader, base),
        timeout: reader.duration(table, "timeout"),
    }
}

fn tool(
    table: &Table<'_>,
    reader: &mut Reader<'_>,
    known: &KnownTools,
    event: Option<&Sited<HookEvent>>,
) -> Option<Sited<ToolGlob>> {
    let text = reader.text(table, "tool")?;
    if let Some(event) = event
        && !event.value.is_of_a_tool()
    {
        let message = format!("`tool` says nothing for the event `{}`", event.value);
        let help = "leave it out: only `pre_tool_call`, `post_tool` and `permission_asked` are about a tool";
        reader.error(text.key, message, help);
        return None;
    }
    match ToolGlob::new(&text.value, known) {
        Ok(tools) => {
            if !tools.fits_some(known) {
                let message = format!("`{tools}` fits no known tool");
                let warning = Diagnostic::warning(message, reader.place(text.span));
                reader.report(warning.with_help("the hook never runs"));
            }
            Some(text.map(|_| tools))
        }
        Err(problems) => {
            for problem in problems {
                let span = string_offsets::span_of_part(&text, problem.part, reader);
                let diagnostic = Diagnostic::error(problem.message, reader.place(span));
                reader.report(match problem.help {
                    Some(help) => diagnostic.with_help(help),
                    None => diagnostic,
                });
            }
            None
        }
    }
}

fn command(
    table: &Table<'_>,
    reader: &mut Reader<'_>,
    base: PathBase<'_>,
) -> Option<Sited<RawCommand>> {
    let words = reader.words(table, "command")?;
    let fault = |why: &str| (why.to_owned(), "write a program and its arguments");
    let read = match words.value.split_first() {
        None => Err(fault("`command` is empty")),
        Some((program, _)) if program.trim().is_empty() => {
            Err(fault("the program of `command` is empty"))
        }
        Some((program, arguments)) => program_of(program, base)
            .and_then(|program| {
                let arguments = arguments.iter().map(|word| argument_of(word, base));
                Ok(RawCommand {
                    program,
                    arguments: arguments.collect::<Result<_, _>>()?,
                })
            })
            .map_err(|why| {
                (
                    format!("`command` cannot be used: {why}"),
                    "write another path",
                )
            }),
    };
    match read {
        Ok(command) => Some(words.map(|_| command)),
        Err((message, help)) => {
            reader.error(words.span, message, help);
            None
        }
    }
}

fn program_of(word: &str, base: PathBase<'_>) -> Result<HookProgram, String> {
    if word.contains('/') {
        let path = base.absolute(word)?;
        return Ok(HookProgram::At(path.components().collect()));
    }
    Ok(HookProgram::Named(word.to_owned()))
}

/// What is written as a path that starts somewhere is one: the hook runs in the workspace, where
/// its author did not mean it to start.
fn argument_of(word: &str, base: PathBase<'_>) -> Result<HookArgument, String> {
    let is_path = ["./", "../", "~/"].iter().any(|way| word.starts_with(way));
    if is_path {
        let path = base.absolute(word)?;
        return Ok(HookArgument::Path(path.components().collect()));
    }
    Ok(HookArgument::Text(word.to_owned()))
}
