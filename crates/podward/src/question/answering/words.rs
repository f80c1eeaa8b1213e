//! The words at a question: what a line says, and what is said to the person.

use podward_protocol::PermissionRequest;
use podward_view::{Lines, counted, visible};
use serde_json::{Map, Value};

use super::super::pages::Turn;
use super::Waiting;

pub(super) const TOO_LONG: &str = "that line is longer than a terminal hands over whole: it is \
                                   not taken; `podward reply` takes longer ones";
pub(super) const ATTENTION: &str = "you were about to answer another question: press Enter, then \
                                    answer this one: ";
pub(super) const NOTHING: &str = "Enter alone answers nothing";
pub(super) const NOT_ALL: &str = "not all of it is shown yet: ? goes on";
pub(super) const SMALLER: &str = "the screen has become smaller than what was shown on it\n";
pub(super) const ALWAYS: &str = "what shall run from now on without a question?";
pub(super) const WIDTH: &str = "its number, or Enter to go back: ";
pub(super) const LASTS: &str = "s = for this session, p = for every session in this workspace, \
                                Enter to go back: ";
pub(super) const PROMPT: &str = "prompt: ";
pub(super) const NO_QUESTION: &str = "no question is open: that line was not sent to the pod";
pub(super) const CHANGED: &str = "run this instead? y = yes, Enter to go back: ";

/// What a line says at a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No { feedback: Option<String> },
    Always,
    Edit,
    More,
    Nothing,
    Other,
}

/// Reads an answer. Only these words are a yes.
pub(super) fn answer(line: &str) -> Said {
    if let Some((word, rest)) = line.split_once(' ') {
        return match word {
            "n" | "N" => Said::No {
                feedback: Some(rest.trim().to_owned()),
            },
            _ => Said::Other,
        };
    }
    match line {
        "y" | "Y" | "yes" => Said::Yes,
        "n" | "N" | "no" => Said::No { feedback: None },
        "a" | "A" | "always" => Said::Always,
        "e" | "E" | "edit" => Said::Edit,
        "?" => Said::More,
        "" => Said::Nothing,
        _ => Said::Other,
    }
}

/// Reads a yes or a no.
pub(super) fn yes_or_no(line: &str) -> Option<bool> {
    match answer(line) {
        Said::Yes => Some(true),
        Said::No { .. } => Some(false),
        Said::Always | Said::Edit | Said::More | Said::Nothing | Said::Other => None,
    }
}

/// Reads how far to go on.
pub(super) fn turn(line: &str) -> Option<Turn> {
    match line {
        "?" => Some(Turn::Screen),
        "??" => Some(Turn::End),
        _ => None, // it is about what is shown
    }
}

/// What stands in front of the cursor where so many rows are not shown yet.
pub(super) fn prompt(first: &Waiting, name: &str, n_left: usize) -> String {
    if n_left > 0 && !first.is_seen {
        return format!("{name}: {}", more(n_left, "n = no"));
    }
    let always = if first.question.request.choices.is_empty() {
        ""
    } else {
        ", a = always"
    };
    let help = match n_left {
        0 => "help".to_owned(),
        n_left => counted(n_left, "more line"),
    };
    format!("{name}: y = yes, n = no{always}, e = edit, ? = {help}: ")
}

/// How to go on where so many rows are not shown yet, and another way out.
pub(super) fn more(n_left: usize, out: &str) -> String {
    let lines = counted(n_left, "more line");
    format!("{lines}: ? = go on, ?? = all at once, {out}: ")
}

pub(super) fn arguments_prompt(request: &PermissionRequest) -> String {
    let what = match request.tool.as_str() {
        "bash" => "the new command, in one line",
        _ => "the new arguments, a JSON object in one line",
    };
    format!("{what}, or Enter to go back: ")
}

/// What each answer does.
pub(super) fn help(request: Option<&PermissionRequest>) -> String {
    let always = match request.and_then(|request| request.no_always.as_deref()) {
        Some(why) => format!("not here: {}", visible(why, Lines::Escape)),
        None => "shows what would be saved, and asks back".to_owned(),
    };
    format!(
        "\n  y          it runs, this once\n  \
         n          it does not run; the agent goes on\n  \
         n TEXT     the same, and the agent reads TEXT word for word\n  \
         a          always: {always}\n  \
         e          it runs with other arguments, if the rules do not deny those\n  \
         Ctrl-D     no\n  \
         Ctrl-C     ends the turn of `podward run`, and nothing that waits runs; `podward send` only leaves it\n"
    )
}

/// The arguments with what the line says in them.
pub(super) fn new_arguments(
    request: &PermissionRequest,
    line: &str,
) -> Result<Map<String, Value>, String> {
    if request.tool == "bash" {
        let mut arguments = match &request.arguments {
            Value::Object(arguments) => arguments.clone(),
            _ => Map::new(), // whatever it was, a command is what bash takes
        };
        arguments.insert("command".to_owned(), Value::String(line.to_owned()));
        return Ok(arguments);
    }
    match serde_json::from_str(line) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("it takes a JSON object: {\"…\": …}".to_owned()),
        Err(error) => Err(format!("that is no JSON: {error}")),
    }
}

/// A value in one line.
pub(super) fn json(value: &Value) -> String {
    visible(&value.to_string(), Lines::Escape)
}
