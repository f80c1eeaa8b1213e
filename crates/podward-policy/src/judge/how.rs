//! How the rules are tried on an operation, by what it is.

use crate::operation::{Need, Operation, Subject};
use crate::rule::Operand;

/// How far an operand counts that is known in part.
pub(super) const fn operand(operation: &Operation) -> Operand {
    match operation.need {
        Need::Restrictive => Operand::Certain,
        Need::Full | Need::Named | Need::Free | Need::DerivedFrom(_) | Need::RunBy { .. } => {
            Operand::Possible
        }
    }
}

/// Whether what an operation runs has to be named by where it lies.
pub(super) fn is_located(operation: &Operation) -> bool {
    match &operation.subject {
        Subject::Command(command) => !command.located().is_empty(),
        Subject::Path(_)
        | Subject::Tree(_)
        | Subject::Url(_)
        | Subject::Plain(_)
        | Subject::Unknown(_) => false,
    }
}

/// How the rules are tried on an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// A rule that allows the operation when its turn comes, whatever its pattern.
    pub(super) cover: Option<usize>,
    /// The default decides where no rule does; else nothing stands against it.
    pub(super) meets_default: bool,
    pub(super) catch_all: CatchAll,
}

impl Default for How {
    fn default() -> Self {
        Self {
            cover: None,
            meets_default: true,
            catch_all: CatchAll::Always,
        }
    }
}

/// Which rules with pattern `*` are applied (D1.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CatchAll {
    Always,
    /// Those that name the tool.
    OfItsTool,
    Never,
}
