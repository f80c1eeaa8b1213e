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

fn syntax_error(source: &Source<'_>, span: ByteSpan, error: &Error) -> Diagnostic {
    let place = source.place(span);
    let found = source.slice(span);
    if error.message().starts_with("duplicate key") && !found.is_empty() {
        let message = format!("duplicate key {}", quoted(found));
        return Diagnostic::error(message, place)
            .with_help("it is already set above: keep one of the two");
    }
    // The parser names no place for this one.
    if error.message() == "recursion limit" {
        return Diagnostic::error("a key has too many parts", place);
    }
    if error.message().starts_with("cannot recurse further") {
        return Diagnostic::error("arrays and tables are nested too deep", place);
    }
    Diagnostic::error(format!("not valid TOML: {}", error.message()), place)
}
