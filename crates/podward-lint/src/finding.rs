//! One finding.

use podward_policy::RuleIdx;

use crate::code::Code;
use crate::engine::Witness;

/// Something about one rule that its author should hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which kind.
    pub code: Code,
    /// The layer, counted from 0, outermost first.
    pub layer_idx: usize,
    /// The part of the table that is meant.
    pub part: Part,
    /// What is wrong: lower case, no full stop, user text in backticks.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Calls that show it, as the judge decides them. Empty only where there is no such call: no
    /// tool has the name, or the question is open.
    pub witnesses: Vec<Witness>,
    /// Other rules of the layer that belong to it.
    pub related: Vec<RuleIdx>,
}

/// A part of a `[permissions]` table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The `tool` of a rule.
    Tool(RuleIdx),
    /// The `pattern` of a rule.
    Pattern(RuleIdx),
    /// The `action` of a rule.
    Action(RuleIdx),
    /// `default_action`.
    DefaultAction,
}

impl Part {
    /// The rule, if it is one's.
    #[must_use]
    pub const fn rule(self) -> Option<RuleIdx> {
        match self {
            Self::Tool(rule) | Self::Pattern(rule) | Self::Action(rule) => Some(rule),
            Self::DefaultAction => None,
        }
    }
}
