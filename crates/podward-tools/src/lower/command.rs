//! A command line, as far as it can be read without reading shell.
//!
//! [`lower_command`] is the only entry. It knows plain words: a line without a character that
//! means something to the shell, whose program runs no other program and evaluates no text, is
//! one operation. Any other line is its whole text, and one operation more that is unknown (D3.3).

use std::ops::Range;

use podward_policy::{
    ByteSpan, CommandSubject, Lowered, Operation, Operations, Subject, Text, ToolName,
    UnknownReason, WholeText,
};

use crate::lower::full;
use crate::lower::programs::{self, Program};

/// Longer text is not looked at (D3.7).
const COMMAND_MAX: usize = 64 * 1024;

/// The operations of a command line.
pub(crate) fn lower_command(tool: &ToolName, command: &str) -> Lowered {
    let Some(range) = text_range(command) else {
        return Lowered::NothingToRun;
    };
    let span = ByteSpan::new(range.clone());
    let text = command.get(range).unwrap_or(command);
    match reason_unknown(text) {
        None => {
            let words: Vec<&str> = text.split([' ', '\t']).filter(|w| !w.is_empty()).collect();
            let first = Operation {
                span: Some(span),
                ..full(tool.clone(), Subject::Command(plain_words(&words)))
            };
            Lowered::Operations(Operations::new(first, Vec::new()))
        }
        Some(reason) => {
            let whole = Operation {
                span: Some(span),
                ..full(tool.clone(), Subject::Command(whole_text(text)))
            };
            let unknown = Operation {
                span: Some(span),
                ..full(tool.clone(), Subject::Unknown(UnknownReason::new(reason)))
            };
            Lowered::Operations(Operations::new(whole, vec![unknown]).with_whole(WholeText {
                exact: text.into(),
                stripped: text.into(),
            }))
        }
    }
}

/// Where the command's text lies, without the blanks around it; `None` if it holds nothing but
/// blanks and comments.
fn text_range(command: &str) -> Option<Range<usize>> {
    let blanks = [' ', '\t', '\n'];
    let is_nothing = command
        .split('\n')
        .map(|line| line.trim_start_matches([' ', '\t']))
        .all(|line| line.is_empty() || line.starts_with('#'));
    if is_nothing {
        return None;
    }
    let start = command.len() - command.trim_start_matches(blanks).len();
    Some(start..start + command.trim_matches(blanks).len())
}

/// Why a text is not one command of plain words; `None` if it is.
fn reason_unknown(text: &str) -> Option<String> {
    if text.len() > COMMAND_MAX {
        return Some(format!("longer than {COMMAND_MAX} bytes"));
    }
    if let Some(char) = text.chars().find(|char| !is_plain(*char)) {
        return Some(format!("the shell character `{}`", char.escape_debug()));
    }
    let program = text.split([' ', '\t']).next().unwrap_or(text);
    if program.contains('=') {
        return Some("an assignment".to_owned());
    }
    if program.starts_with('%') {
        return Some("a job of the shell".to_owned());
    }
    let name = basename(program);
    let why = match programs::kind(name)? {
        Program::Syntax => "is shell syntax",
        Program::Evaluates => "evaluates text or changes what later words mean",
        Program::Wrapper => "runs another program",
        Program::Shell => "is a shell",
        Program::Interpreter => "is an interpreter",
    };
    Some(format!("`{name}` {why}"))
}

/// Whether a character means itself to the shell wherever it stands in a word.
fn is_plain(char: char) -> bool {
    match char {
        ' ' | '\t' => true,
        '-' | '_' | '.' | '/' | ':' | '@' | '%' | '+' | ',' | '=' => true,
        _ if char.is_ascii() => char.is_ascii_alphanumeric(),
        _ => !char.is_control(),
    }
}

fn plain_words(words: &[&str]) -> CommandSubject {
    let written = words.join(" ");
    let program = words.first().copied().unwrap_or_default();
    let name = basename(program);
    let further = if name.len() == program.len() {
        Vec::new()
    } else {
        let rest = words.get(1..).unwrap_or_default();
        vec![Text::known([&[name], rest].concat().join(" "))]
    };
    CommandSubject {
        written: Text::known(written),
        name_start: 0,
        name_end: program.len(),
        further,
    }
}

fn whole_text(text: &str) -> CommandSubject {
    let name_end = text.find([' ', '\t', '\n']).unwrap_or(text.len());
    CommandSubject {
        written: Text::known(text),
        name_start: 0,
        name_end,
        further: Vec::new(),
    }
}

fn basename(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests;
