//! Findings as commands of a GitHub workflow: annotations of the lines.

use podward_lint::Severity;

use super::json::end_column;
use super::sources::Bad;
use super::{Shown, text};

/// All of them, a line each.
pub(super) fn commands(shown: &[Shown], bad: &[Bad]) -> String {
    let mut lines: String = bad
        .iter()
        .map(|bad| {
            let (file, problem) = (property(&bad.file), data(&bad.problem));
            format!("::error file={file},title=podward lint%3A does not load::{problem}\n")
        })
        .collect();
    lines.extend(shown.iter().map(command));
    lines
}

fn command(shown: &Shown) -> String {
    let word = match shown.code.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut message = shown.message.clone();
    for witness in &shown.witnesses {
        message.push_str(&format!("\nwitness: {}", text::witness(witness)));
    }
    message.push_str(&format!("\nhelp: {}", shown.help));
    let title = property(&format!("podward lint: {}", shown.code));
    let place = shown.place.as_ref().map(|place| {
        let at = &place.location;
        format!(
            "file={},line={},endLine={},col={},endColumn={},",
            property(&at.file),
            at.line,
            at.line,
            at.column,
            end_column(place)
        )
    });
    let place = place.unwrap_or_default();
    format!("::{word} {place}title={title}::{}\n", data(&message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
