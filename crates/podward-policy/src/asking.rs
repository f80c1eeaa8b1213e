//! What asks about a call.

use crate::operation::OperationIdx;
use crate::verdict::LayerKind;

/// One reason why a ruling is ask: an operation, and what of a layer asks about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// The operation.
    pub operation: OperationIdx,
    /// What asks about it.
    pub asker: Asker,
    /// Whether a remembered approval may answer it (D5.3). It may not where a rule forbids it,
    /// where the ask stands for a possible deny, and where nobody knows what would run.
    pub grantable: bool,
    /// How long an answer is waited for, in seconds, if the rule that asks says so.
    pub ask_timeout: Option<u32>,
}

/// What asks, told by what stays the same from one run to the next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Asker {
    /// The layer.
    pub layer: LayerKind,
    /// What of it.
    pub by: AskedBy,
}

/// What of a layer asks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AskedBy {
    /// A rule, as written.
    Rule {
        /// Its `tool`.
        tool: Box<str>,
        /// Its `pattern`.
        pattern: Box<str>,
    },
    /// `default_action`.
    Default,
    /// Nothing in particular: it is not known whether the layer denies it (D3.2).
    Unresolved,
    /// No rule names the address ([`Need::Named`](crate::Need::Named)).
    Unnamed,
}

/// The shortest time, in seconds, that one of the rules that ask says an answer is waited for.
#[must_use]
pub fn shortest_ask_timeout(asking: &[Asking]) -> Option<u32> {
    asking.iter().filter_map(|asking| asking.ask_timeout).min()
}
