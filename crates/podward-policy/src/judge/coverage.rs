//! Whether all of a call was understood.

use crate::operation::{Operations, Subject};
use crate::rule::has_expansion;
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
