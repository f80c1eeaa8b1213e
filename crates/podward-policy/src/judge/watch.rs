//! Who watches how a call is judged.

use super::Found;
use crate::explanation::Tried;
use crate::operation::Operations;
use crate::pattern::Hit;

/// Sees every rule that is tried, in order, and what each layer says of each operation. Nothing of
/// the verdict hangs on it.
pub(super) trait Watch {
    /// Whether the rules that cannot match are seen as well: then no index skips them.
    const SEES_ALL: bool;

    /// A rule was tried on the operation that is decided next.
    fn step(&mut self, step: Step);

    /// A layer has decided an operation.
    fn decided(&mut self, found: &Found<'_>, operations: &Operations);
}

/// One rule that was tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) idx: usize,
    pub(super) tried: Tried,
    /// Whether it matches the text of the whole call.
    pub(super) whole: Hit,
}

/// Nobody watches.
impl Watch for () {
    const SEES_ALL: bool = false;

    #[inline]
    fn step(&mut self, _: Step) {}

    #[inline]
    fn decided(&mut self, _: &Found<'_>, _: &Operations) {}
}
