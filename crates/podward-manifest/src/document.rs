//! A layer's text as a TOML document.

#[cfg(test)]
mod tests;

use podward_policy::ByteSpan;
use toml::de::{DeTable, Error};

use crate::diagnostic::Diagnostic;
use crate::source::{MOST_BYTES, Source};
use crate::suggestion::quoted;

/// The document, as far as it can be read, and what is wrong with its syntax.
pub(crate) fn parse<'t>(source: &Source<'t>) -> (DeTable<'t>, Vec<Diagnostic>) {
    if source.text().len() > MOST_BYTES {
        let place = source.place(ByteSpan::new(0..0));
        let message = format!("the text is larger than {} MiB", MOST_BYTES / (1024 * 1024));
        return (DeTable::new(), vec![Diagnostic::error(message, place)]);
    }
    let (table, errors) = DeTable::parse_recoverable(source.text());
    let mut diagnostics: Vec<_> = errors
        .iter()
        .map(|error| (error_span(source, error), error))
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

fn error_span(source: &Source<'_>, error: &Error) -> ByteSpan {
    let span = error.span().unwrap_or(0..0);
    let end = source.text().len();
    let start = span.start.min(end);
    ByteSpan::new(start..span.end.clamp(start, end))
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
        let help = "it is already set above: keep one of the two".to_owned();
        (message, Some(help))
    } else if message.starts_with("string values must be quoted") {
        if place.source_line.trim_start().starts_with("key_env") {
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
