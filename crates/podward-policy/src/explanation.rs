//! A verdict with every rule that was tried on the way to it.

use crate::action::Action;
use crate::pattern::Hit;
use crate::policy::RuleForm;
use crate::source::Location;
use crate::verdict::{Cause, LayerName, RuleIdx, Ruling};

/// A verdict, and what led to it ([`Policies::explain`](crate::Policies::explain)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The verdict: the very one that judging gives.
    pub ruling: Ruling,
    /// What each layer says, outermost first.
    pub layers: Vec<LayerExplanation>,
}

/// What one layer says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerExplanation {
    /// The layer.
    pub layer: LayerName,
    /// How many rules it has.
    pub n_rules: usize,
    /// Its default.
    pub default_action: Action,
    /// Where the default is written.
    pub default_location: Location,
    /// What it says where the ways to fill the holes do not agree.
    pub unresolved: Action,
    /// How its rules are written.
    pub rule_form: RuleForm,
    /// One for each operation of the call, in order.
    pub operations: Vec<Said>,
}

/// What one layer says of one operation, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What it says.
    pub action: Action,
    /// Why.
    pub cause: Cause,
    /// The rules that were tried, in order; the search ends with the first that decides.
    pub tried: Vec<TriedRule>,
    /// Rules behind those that match, or may: they come too late.
    pub later: Vec<TriedRule>,
    /// Unless the layer allows the operation: the allow that is least far from deciding.
    pub nearest: Option<TriedRule>,
}

/// A rule, and what it was to an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedRule {
    /// Its place in the list.
    pub rule: RuleIdx,
    /// Its `tool`, as written.
    pub tool: Box<str>,
    /// Its `pattern`, as written.
    pub pattern: Box<str>,
    /// What it says.
    pub action: Action,
    /// Where it is written.
    pub location: Location,
    /// What it was to the operation.
    pub tried: Tried,
    /// Whether its pattern, which has a shell operator, matches the text of the whole call:
    /// [`Tried::Matches`] or [`Tried::MayMatch`]. That only tightens what is said of the operation.
    pub whole: Option<Tried>,
}

impl TriedRule {
    /// Whether it has, or may have, a say.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.tried.hit() != Hit::No || self.whole.is_some()
    }
}

/// What a rule was to an operation, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tried {
    /// It is about other tools.
    OtherTool,
    /// Its pattern is `*`, which says what a default says, and is not applied here (D1.6).
    NotApplied,
    /// An allow that does not name the address ([`Need::Named`](crate::Need::Named)).
    NamesNoAddress,
    /// Its pattern does not match.
    Differs,
    /// An allow whose pattern matches another form of the text only; it has to match the command as
    /// it is written, and every form of a path (D3.4).
    OtherForm,
    /// An allow, and the URL was written with user info (D4.4).
    HidesUser,
    /// Its pattern might match, but the operand is known in part only, and can only tighten (D2.4).
    KnownInPart,
    /// Some ways to fill the holes match, or nobody could tell in time: an allow does not count, a
    /// deny or an ask does.
    MayMatch,
    /// It is about another tool, and unknown code may do what that tool does (D3.3).
    ReachedByCode,
    /// It matches.
    Matches,
    /// An allow without wildcards that is the text of the whole call (D3.3).
    EqualsCall,
    /// An allow of the wrapper that reaches past the name of what it runs (D3.5).
    CoversWhatItRuns,
}

impl Tried {
    /// What the verdict is made of.
    pub(crate) const fn hit(self) -> Hit {
        match self {
            Self::OtherTool
            | Self::NotApplied
            | Self::NamesNoAddress
            | Self::Differs
            | Self::OtherForm
            | Self::HidesUser
            | Self::KnownInPart => Hit::No,
            Self::MayMatch | Self::ReachedByCode => Hit::May,
            Self::Matches | Self::EqualsCall | Self::CoversWhatItRuns => Hit::Must,
        }
    }
}
