//! Who watches how a call is judged.

use super::{Decision, Found, View};
use crate::explanation::Tried;
use crate::pattern::Hit;
use crate::rule::Rule;

/// Sees every rule that is tried, in order, and what each layer says of each operation. Nothing of
/// the verdict hangs on it.
pub(super) trait Watch {
    /// Whether the rules that cannot match are seen as well: then no index skips them.
    const SEES_ALL: bool;

    /// Whether rules are seen as well that decide nothing any more, up to the one that ends the search.
    const GOES_ON: bool;

    /// A rule was tried on the operation that is decided next.
    fn step(&mut self, step: Step, rule: &Rule);

    /// No rule has ended the search: this does.
    fn last(&mut self, decisive: Decision);

    /// A layer has decided an operation.
    fn decided(&mut self, found: &Found<'_>, view: &View<'_>);
}

/// One rule that was tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) idx: usize,
    pub(super) tried: Tried,
    /// Whether it matches the text of the whole call.
    pub(super) whole: Hit,
}

impl Step {
    /// What of the operation the rule matches: that it matches the whole call only tightens.
    pub(super) fn hit(self) -> Hit {
        let hit = self.tried.hit();
        match self.whole {
            Hit::May => hit.max(Hit::May),
            Hit::No | Hit::Must => hit,
        }
    }
}

/// Nobody watches.
impl Watch for () {
    const SEES_ALL: bool = false;
    const GOES_ON: bool = false;

    #[inline]
    fn step(&mut self, _: Step, _: &Rule) {}

    #[inline]
    fn last(&mut self, _: Decision) {}

    #[inline]
    fn decided(&mut self, _: &Found<'_>, _: &View<'_>) {}
}
