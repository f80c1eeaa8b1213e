//! Words for what is known of a call, the same in every command.

use podward_protocol::{Coverage, Need, Operation, SubjectKind};

use crate::visible::{Lines, visible};

/// Whether all of a call was understood.
pub(crate) fn coverage_text(coverage: &Coverage) -> String {
    match coverage {
        Coverage::Full => "full".to_owned(),
        Coverage::Partial { why } => {
            format!("partial, {}", visible(&why.join("; "), Lines::Escape))
        }
    }
}

/// How far an operation needs an allow, in brackets behind it.
pub(crate) const fn need_text(need: Need) -> &'static str {
    match need {
        Need::Full => "",
        Need::Restrictive => "  (can only tighten)",
        Need::Named => "  (a rule has to name it)",
        Need::Free => "  (needs no rule)",
        Need::Derived => "  (written on the side)",
        Need::RunBy => "  (run by another command)",
    }
}

/// What an operation is about: its text, or why nobody knows what runs.
pub(crate) fn operation_text(operation: &Operation) -> String {
    match &operation.why {
        Some(why) => format!("unknown code: {why}"),
        None => operation.text.clone(),
    }
}

/// Whether it is about all below a directory, in brackets behind it.
pub(crate) const fn below_text(subject: SubjectKind) -> &'static str {
    match subject {
        SubjectKind::Tree => "  (all below it)",
        _ => "", // itself
    }
}
