//! What to do about text that is no YAML.

use std::ops::Range;

use granit_parser::{ErrorKind, ScanError};
use podward_policy::ByteSpan;

use crate::problem::Problem;

/// The error at its place, with what most likely has to be changed.
pub(super) fn syntax_error(
    text: &str,
    front: &Range<usize>,
    at: usize,
    error: &ScanError,
) -> Problem {
    let said = error.info();
    let mut message = "this is no valid YAML".to_owned();
    if !said.is_empty() {
        message.push_str(": ");
        message.push_str(said.trim_end_matches('.'));
    }
    let is_alias = match error.kind() {
        ErrorKind::UnknownAnchor => true,
        ErrorKind::MissingAnchorOrAliasName => {
            text.get(at..).is_some_and(|rest| rest.starts_with('*'))
        }
        _ => false,
    };
    if is_alias {
        let end = text
            .get(at..)
            .and_then(|rest| rest.find(char::is_whitespace))
            .map_or(front.end, |n_bytes| at + n_bytes);
        return super::alias(at..end);
    }
    let line = line_of(text, front, at);
    let end = text
        .get(at..line.end)
        .and_then(|rest| rest.chars().next())
        .map_or(at, |c| at + c.len_utf8());
    let shown = text.get(line).unwrap_or_default();
    Problem::error(ByteSpan::new(at..end), message, help(shown, error.kind()))
}

/// The line that holds a byte; where only blanks stand before it, or it is the end, the line before.
fn line_of(text: &str, front: &Range<usize>, at: usize) -> Range<usize> {
    let before = text.get(front.start..at).unwrap_or_default();
    let start = front.start + before.rfind('\n').map_or(0, |newline| newline + 1);
    let rest = text.get(start..front.end).unwrap_or_default();
    let end = start + rest.find('\n').unwrap_or(rest.len());
    start..end
}

fn help(line: &str, kind: &ErrorKind) -> &'static str {
    let value = line
        .split_once(": ")
        .map(|(_, value)| value.trim())
        .unwrap_or_default();
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => "indent with blanks, not with tabs",
        ErrorKind::DirectiveDisallowed => "front matter has no directives (`%…`): remove the line",
        _ if value.starts_with("- ") => {
            "write each item of a list on a line of its own below the key, as `  - item`"
        }
        _ if line.starts_with(['\t']) => "indent with blanks, not with tabs",
        _ if value.starts_with(['"', '\'']) => {
            "a value that begins with a quote ends with the same one and nothing behind it"
        }
        _ if value.contains(": ") || value.ends_with(':') => {
            "put a value that holds `: ` in quotes"
        }
        _ if value.starts_with(['[', '{']) => {
            "close the bracket, or put a value that begins with one in quotes"
        }
        _ => {
            "write one `key: value` a line, each at the line's start; put a value with special \
              characters in quotes"
        }
    }
}
