//! A layer's text as a TOML document.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use podward_policy::ByteSpan;
use toml::de::{DeTable, Error};

use crate::diagnostic::Diagnostic;
use crate::schema;
use crate::source::{MOST_BYTES, Source};
use crate::suggestion::quoted;

/// A larger text is not read again after a repair.
const MOST_BYTES_TO_REPAIR: usize = 1 << 20;

/// A text with more errors is no slip of the pen.
const MOST_ERRORS_TO_REPAIR: usize = 1000;

/// How many lines of a text are repaired.
const MOST_REPAIRS: usize = 16;

/// A text in which the lines that would hide what follows them are repaired: after a header that
/// is not closed, or a key without a value, the parser skips the rest of the table or the text.
#[derive(Debug)]
pub(crate) struct Repaired<'l> {
    text: Cow<'l, str>,
    /// Where a byte was inserted, ascending.
    pub(crate) insertions: Vec<usize>,
    /// What was wrong with the repaired lines.
    errors: Vec<Error>,
}

/// Repairs a layer's text.
pub(crate) fn repair(text: &str) -> Repaired<'_> {
    let mut repaired = Repaired {
        text: Cow::Borrowed(text),
        insertions: Vec::new(),
        errors: Vec::new(),
    };
    if text.len() > MOST_BYTES_TO_REPAIR {
        return repaired;
    }
    let mut done = 0;
    for _ in 0..MOST_REPAIRS {
        let (_, mut errors) = DeTable::parse_recoverable(&repaired.text);
        if errors.len() > MOST_ERRORS_TO_REPAIR {
            break;
        }
        errors.sort_by_key(|error| error.span().map(|span| span.start));
        let hiding = errors.into_iter().find_map(|error| {
            let at = error.span()?.start;
            let repair = Repair::of(&repaired.text, at, error.message())?;
            (at >= done).then_some((at, repair, error))
        });
        let Some((at, repair, error)) = hiding else {
            break;
        };
        let text = repaired.text.to_mut();
        match repair {
            Repair::Close(brackets) => {
                text.insert_str(at, brackets);
                repaired.insertions.extend(at..at + brackets.len());
                done = at + brackets.len() + 1;
            }
            Repair::Blank(line) => {
                done = line.end;
                let blanks = " ".repeat(line.len());
                text.replace_range(line, &blanks);
            }
        }
        repaired.errors.push(error);
    }
    repaired
}

/// What to do about a line.
enum Repair {
    /// Insert these.
    Close(&'static str),
    /// Leave these bytes out.
    Blank(Range<usize>),
}

impl Repair {
    fn of(text: &str, at: usize, message: &str) -> Option<Self> {
        let (before, after) = text.split_at_checked(at)?;
        if message.starts_with("unclosed table") || message.starts_with("unclosed array table") {
            let rest = after.lines().next().unwrap_or_default().trim_start();
            let is_end = rest.is_empty() || rest.starts_with('#');
            let brackets = if message.ends_with("`]]`") { "]]" } else { "]" };
            return is_end.then_some(Self::Close(brackets));
        }
        if message.starts_with("key with no value") {
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let end = after.find('\n').map_or(text.len(), |newline| at + newline);
            return Some(Self::Blank(start..end));
        }
        None
    }
}

/// The document, as far as it can be read, and what is wrong with its syntax. The source is the
/// text before it was repaired.
pub(crate) fn parse<'t>(
    source: &Source<'_>,
    repaired: &'t Repaired<'_>,
) -> (DeTable<'t>, Vec<Diagnostic>) {
    if repaired.text.len() > MOST_BYTES {
        let place = source.place(ByteSpan::new(0..0));
        let message = format!("the text is larger than {} MiB", MOST_BYTES / (1024 * 1024));
        return (DeTable::new(), vec![Diagnostic::error(message, place)]);
    }
    let (table, errors) = DeTable::parse_recoverable(&repaired.text);
    let mut diagnostics: Vec<_> = repaired
        .errors
        .iter()
        .chain(&errors)
        .map(|error| (ByteSpan::new(error.span().unwrap_or(0..0)), error))
        .collect();
    diagnostics.sort_by_key(|(span, _)| *span);
    // One mistake can leave the parser several complaints at one place: the first says it.
    diagnostics.dedup_by_key(|(span, _)| span.start);
    let diagnostics = diagnostics
        .into_iter()
        .map(|(span, error)| syntax_error(source, span, error))
        .collect();
    (table.into_inner(), diagnostics)
}

/// The parser's complaint in our words, with what to write instead where that is known.
fn syntax_error(source: &Source<'_>, span: ByteSpan, error: &Error) -> Diagnostic {
    let place = source.place(span);
    let found = source.slice(span);
    let message = error.message();
    let (message, help) = if message.starts_with("duplicate key") {
        let message = match found {
            "" => "duplicate key".to_owned(),
            found => format!("duplicate key {}", quoted(found)),
        };
        let is_rule = found == "rule" && place.source_line.trim_start().starts_with("[[");
        let help = match is_rule {
            true => {
                "the rules of this file stand in `rule = [ … ]`: write it there, as \
                 `{ tool = \"…\", pattern = \"…\", action = \"…\" },`"
            }
            false => "it is already set above: keep one of the two",
        };
        (message, Some(help.to_owned()))
    } else if message.starts_with("string values must be quoted") && found.is_empty() {
        ("the value is missing".to_owned(), None)
    } else if message.starts_with("string values must be quoted")
        || message.starts_with("invalid float") && found.starts_with(char::is_alphabetic)
    {
        let line = place.source_line.trim_start();
        let name_len = line
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            .count();
        let name = line.get(..name_len).unwrap_or_default();
        if schema::may_be_secret(name) {
            // It may be the key itself: no message repeats it.
            return Diagnostic::error("a text must be in quotes", place.masked());
        }
        let help = format!("write {}", quoted(&format!("\"{found}\"")));
        ("a text must be in quotes".to_owned(), Some(help))
    } else if message.starts_with("missing escaped value") {
        let help = "write `\\\\` for a backslash, or the text in single quotes: no escapes there";
        let message = "there is no such escape in a text in double quotes";
        (message.to_owned(), Some(help.to_owned()))
    } else if message.starts_with("invalid basic string") && found.is_empty() {
        ("a text in double quotes is not closed".to_owned(), None)
    } else if message.starts_with("invalid literal string") && found.is_empty() {
        ("a text in single quotes is not closed".to_owned(), None)
    } else if found.starts_with(|char: char| char.is_control() && char != '\n') {
        let help = "write `\\u` and its four digits, in double quotes";
        let message = "a control character cannot stand in a text as it is";
        (message.to_owned(), Some(help.to_owned()))
    } else if message == "recursion limit" {
        // The parser names no place for this one.
        ("a key has too many parts".to_owned(), None)
    } else if message.starts_with("cannot recurse further") {
        ("lists and tables are nested too deep".to_owned(), None)
    } else {
        (format!("not valid TOML: {message}"), None)
    };
    let diagnostic = Diagnostic::error(message, place);
    match help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}
