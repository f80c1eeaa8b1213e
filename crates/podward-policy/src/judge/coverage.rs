//! Whether all of a call was understood.

use crate::operation::{Operation, Operations, Subject};
use crate::rule::has_expansion;
use crate::text::Text;
use crate::verdict::Coverage;

/// What of a call was not understood, each reason once.
pub(super) fn coverage(operations: &Operations) -> Coverage {
    let mut reasons: Vec<Box<str>> = Vec::new();
    let mut add = |reason: &str| {
        if !reasons.iter().any(|known| **known == *reason) {
            reasons.push(reason.into());
        }
    };
    for operation in operations.iter() {
        for reason in &operation.partial {
            add(reason);
        }
        match &operation.subject {
            Subject::Unknown(reason) => add(reason.as_str()),
            Subject::Path(path) | Subject::Tree(path) if has_expansion(&path.lexical.short) => {
                add("a path is not known before the command runs");
            }
            Subject::Url(url) if has_expansion(&url.text) => {
                add("a URL is not known before the command runs");
            }
            Subject::Command(_)
            | Subject::Path(_)
            | Subject::Tree(_)
            | Subject::Url(_)
            | Subject::Plain(_) => {}
        }
    }
    match reasons.is_empty() {
        true => Coverage::Full,
        false => Coverage::Partial(reasons),
    }
}

/// Why a text is not known, in a word to people.
pub(super) fn why_unknown(operation: Option<&Operation>) -> Box<str> {
    let has_hole = |text: &Text| !text.holes().is_empty();
    match operation.map(|operation| &operation.subject) {
        Some(Subject::Unknown(reason)) => reason.as_str().into(),
        Some(Subject::Command(command)) if has_hole(&command.written) => {
            "a part of the command is not known before it runs".into()
        }
        Some(Subject::Command(command)) if command.located().iter().flatten().any(has_hole) => {
            "where the program or the script lies is not known before it runs".into()
        }
        Some(Subject::Path(path) | Subject::Tree(path)) if has_hole(&path.lexical.short) => {
            "a path is not known before the command runs".into()
        }
        Some(Subject::Url(url)) if has_hole(&url.text) => {
            "a URL is not known before the command runs".into()
        }
        _ => "the text is too costly to compare with this rule".into(),
    }
}
