//! Where the values of a layer's `[permissions]` stand, for what is said of rules that load.

#[cfg(test)]
mod tests;

use crate::approvals::OnAsk;
use crate::diagnostic::Place;
use crate::layer::{LayerSource, Surroundings};
use crate::read;
use crate::reader::Sited;

/// The places of a `[permissions]` table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenPermissions {
    /// The value of `default_action`.
    pub default_action: Option<Place>,
    /// `on_ask`, if the layer says it.
    pub on_ask: Option<OnAsk>,
    /// The rules in the order written.
    pub rules: Vec<WrittenRule>,
}

/// The places of a rule's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenRule {
    /// The value of `tool`.
    pub tool: Place,
    /// The value of `pattern`.
    pub pattern: Place,
    /// The value of `action`.
    pub action: Place,
}

/// Finds the places in a layer's text; `None` if it has no `[permissions]`, or a rule that is not
/// all there.
#[must_use]
pub fn written(layer: &LayerSource, surroundings: &Surroundings) -> Option<WrittenPermissions> {
    let read = read::layer(layer, surroundings);
    let raw = read.raw.permissions.as_ref()?;
    fn of<T>(read: &read::ReadLayer<'_>, value: Option<&Sited<T>>) -> Option<Place> {
        value.map(|value| read.source.place(value.span))
    }
    let rules = raw.rules.iter().map(|rule| {
        Some(WrittenRule {
            tool: of(&read, rule.tool.as_ref())?,
            pattern: of(&read, rule.pattern.as_ref())?,
            action: of(&read, rule.action.as_ref())?,
        })
    });
    Some(WrittenPermissions {
        default_action: of(&read, raw.default_action.as_ref()),
        on_ask: raw.on_ask.as_ref().map(|on_ask| on_ask.value),
        rules: rules.collect::<Option<_>>()?,
    })
}
