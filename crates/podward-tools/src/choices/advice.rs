//! The rules that would allow a call which nobody could be asked about.

use std::fmt;

use podward_policy::{
    AskedBy, Asker, Asking, LayerKind, Location, Lowered, OperationIdx, Operations, Policies,
    ToolName,
};
use podward_shell::AddedPrograms;

use super::pattern::escaped;
use super::{Choice, of_operation, why_nothing};
use crate::lower::names;

/// A rule that would allow a call, or a part of it, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowingRule {
    /// The layer into which it would have to be written: an outer layer binds every inner one.
    pub layer: LayerKind,
    /// Its `tool`.
    pub tool: ToolName,
    /// Its `pattern`.
    pub pattern: Box<str>,
    /// Where among the rules of the layer.
    pub stands: Stands,
}

/// Where a rule has to stand to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// Anywhere: no rule of the layer asks, its default does.
    Anywhere,
    /// In front of the rule at this place, which asks.
    Before(Location),
    /// In front of all other rules: one of them may deny it.
    First,
}

/// The most that a pattern may be long; a longer text can have no rule of its own.
const MOST_BYTES: usize = 4096;

/// The rules that would allow a call which is asked about, and nothing beside it.
///
/// For a command line of several parts, or with parts that are not known before it runs, that is one
/// rule for the line as it is written (D3.3); else one for each operation and layer that asks.
///
/// # Errors
/// There is no such rule, and why: for people, lower case, no full stop.
pub fn allowing_rules(
    call: &Lowered,
    asking: &[Asking],
    policies: &Policies,
    programs: &AddedPrograms,
) -> Result<Vec<AllowingRule>, Box<str>> {
    let Lowered::Operations(operations) = call else {
        return Err("nothing would run".into());
    };
    let mut asked: Vec<OperationIdx> = asking.iter().map(|asking| asking.operation).collect();
    asked.sort_unstable();
    asked.dedup();
    let mut rules = Vec::new();
    if let Some(line) = whole_line(operations, &asked, programs) {
        let pattern = line?;
        for (layer, stands) in places(asking.iter(), policies) {
            rules.push(AllowingRule {
                layer,
                tool: names::built_in(names::BASH),
                pattern: pattern.clone(),
                stands,
            });
        }
        return Ok(rules);
    }
    for idx in asked {
        let Some(operation) = operations.get(idx) else {
            continue;
        };
        let Some(narrowest) = narrowest(operations, idx, programs) else {
            return Err(why_nothing(operation));
        };
        let of_it = asking.iter().filter(|asking| asking.operation == idx);
        for (layer, stands) in places(of_it, policies) {
            rules.push(AllowingRule {
                layer,
                tool: narrowest.tool.clone(),
                pattern: narrowest.pattern.clone(),
                stands,
            });
        }
    }
    match rules.is_empty() {
        true => Err("it is not the rules that ask".into()),
        false => Ok(rules),
    }
}

/// The pattern for a command line as a whole, if it needs one: more than one part of it asks, or the
/// one that does has no text of its own.
fn whole_line(
    operations: &Operations,
    asked: &[OperationIdx],
    programs: &AddedPrograms,
) -> Option<Result<Box<str>, Box<str>>> {
    let whole = operations.whole()?;
    let [only] = asked else {
        return (!asked.is_empty()).then(|| line_pattern(&whole.exact));
    };
    let is_one_text = narrowest(operations, *only, programs)
        .and_then(|choice| choice.rule().ok())
        .is_some_and(|rule| rule.is_literal());
    (!is_one_text).then(|| line_pattern(&whole.exact))
}

fn line_pattern(line: &str) -> Result<Box<str>, Box<str>> {
    let pattern = escaped(line);
    match pattern.len() <= MOST_BYTES {
        true => Ok(pattern.into()),
        false => Err("the command line is too long for a pattern".into()),
    }
}

fn narrowest(
    operations: &Operations,
    idx: OperationIdx,
    programs: &AddedPrograms,
) -> Option<Choice> {
    let operation = operations.get(idx)?;
    of_operation(operation, idx, &[], programs)
        .into_iter()
        .next()
}

/// Where a rule would have to stand in each layer that asks.
fn places<'a>(
    asking: impl Iterator<Item = &'a Asking>,
    policies: &Policies,
) -> Vec<(LayerKind, Stands)> {
    let mut places: Vec<(LayerKind, Stands)> = Vec::new();
    for asking in asking {
        let stands = place_of(&asking.asker, policies);
        let layer = asking.asker.layer;
        match places.iter_mut().find(|(known, _)| *known == layer) {
            Some((_, known)) => *known = known.clone().and(stands),
            None => places.push((layer, stands)),
        }
    }
    places
}

fn place_of(asker: &Asker, policies: &Policies) -> Stands {
    match (&asker.by, policies.location(asker)) {
        (AskedBy::Default | AskedBy::Unnamed, _) => Stands::Anywhere,
        (AskedBy::Rule { .. }, Some(location)) => Stands::Before(location.clone()),
        (AskedBy::Rule { .. }, None) | (AskedBy::Unresolved, _) => Stands::First,
    }
}

impl Stands {
    /// A place that is right for both.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::First, _) | (_, Self::First) => Self::First,
            (Self::Anywhere, place) | (place, Self::Anywhere) => place,
            (Self::Before(one), Self::Before(two)) => {
                let at = |location: &Location| (location.line, location.column);
                Self::Before(if at(&one) <= at(&two) { one } else { two })
            }
        }
    }
}

/// The rule as TOML, below a comment that says where it belongs.
impl fmt::Display for AllowingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.stands {
            Stands::Anywhere => {
                writeln!(f, "# among the rules of the {} layer", self.layer.as_str())
            }
            Stands::Before(location) => writeln!(
                f,
                "# in the {} layer, in front of the rule at {location}, which asks",
                self.layer.as_str()
            ),
            Stands::First => writeln!(
                f,
                "# in the {} layer, in front of all other rules",
                self.layer.as_str()
            ),
        }?;
        writeln!(f, "[[permissions.rule]]")?;
        writeln!(f, "tool = {}", toml_string(self.tool.as_str()))?;
        writeln!(f, "pattern = {}", toml_string(&self.pattern))?;
        write!(f, "action = \"allow\"")
    }
}

/// A text as a basic string of TOML, in ASCII and marks that can be seen.
fn toml_string(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 2);
    shown.push('"');
    for c in text.chars() {
        match c {
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\'' => shown.push('\''),
            // What Rust would escape in a string cannot be seen.
            c if c.escape_debug().len() > 1 => {
                shown.push_str(&format!("\\U{:08X}", u32::from(c)));
            }
            c => shown.push(c),
        }
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests;
