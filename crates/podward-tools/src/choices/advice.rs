//! The rules that would allow a call which nobody could be asked about.

use podward_policy::{
    Action, AskedBy, Asker, Asking, Cause, Explanation, LayerKind, Location, Lowered, Operation,
    OperationIdx, Operations, Policies, RuleForm, Said, Subject, ToolName, TriedRule,
};
use podward_shell::AddedPrograms;

use super::pattern::escaped;
use super::{Choice, of_operation, why_nothing};
use crate::lower::names;

/// A rule that would allow a call, or a part of it, and as little else as a rule can.
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
    /// How the rules of the layer are written.
    pub form: RuleForm,
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

/// The narrowest rules that would allow a call which is asked about.
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
    let against = asking.iter().map(|asking| Against {
        operation: asking.operation,
        layer: asking.asker.layer,
        stands: match operations.get(asking.operation).is_some_and(is_whole) {
            true => place_of(&asking.asker, policies),
            // Rules in front of what asks may match some ways to fill the holes.
            false => Stands::First,
        },
    });
    let form = |layer| policies.rule_form(layer);
    match rules_against(operations, &against.collect::<Vec<_>>(), form, programs)? {
        rules if rules.is_empty() => Err("it is not the rules that ask".into()),
        rules => Ok(rules),
    }
}

/// The same for a call that some layer does not allow, be it that it denies it.
///
/// # Errors
/// There is no such rule, and why: for people, lower case, no full stop.
pub fn rules_to_allow(
    call: &Lowered,
    explanation: &Explanation,
    programs: &AddedPrograms,
) -> Result<Vec<AllowingRule>, Box<str>> {
    let Lowered::Operations(operations) = call else {
        return Err("nothing would run".into());
    };
    if let Cause::Skill { name, .. } = &explanation.ruling.cause {
        let name = super::shown(name);
        return Err(format!("the skill `{name}` is active and refuses it").into());
    }
    let mut against = Vec::new();
    for layer in &explanation.layers {
        for (idx, said) in layer.operations.iter().enumerate() {
            against.extend(stands_against(said).map(|stands| Against {
                operation: OperationIdx(idx),
                layer: layer.layer.kind,
                stands,
            }));
        }
    }
    let form = |kind| {
        let mut layers = explanation.layers.iter();
        let found = layers.find(|layer| layer.layer.kind == kind);
        found.map_or_else(RuleForm::default, |layer| layer.rule_form)
    };
    match rules_against(operations, &against, form, programs)? {
        rules if rules.is_empty() => Err("no rule is against it".into()),
        rules => Ok(rules),
    }
}

/// Where a rule would have to stand against what a layer says; `None`: it allows.
fn stands_against(said: &Said) -> Option<Stands> {
    match (said.action, &said.cause) {
        (Action::Allow, _) => None,
        // Rules in front of what decided may match some ways to fill the holes.
        (_, Cause::Default { .. } | Cause::Unnamed { .. }) => Some(match may_match(&said.tried) {
            true => Stands::First,
            false => Stands::Anywhere,
        }),
        (_, Cause::Rule { rule, location, .. }) => {
            let in_front = said.tried.get(..rule.0).unwrap_or(&said.tried);
            Some(match may_match(in_front) {
                true => Stands::First,
                false => Stands::Before(location.clone()),
            })
        }
        _ => Some(Stands::First), // whatever it is, nothing stands in front of the first
    }
}

/// Whether all of the text of an operation is known before it runs.
fn is_whole(operation: &Operation) -> bool {
    let text = match &operation.subject {
        Subject::Command(command) => &command.written,
        Subject::Path(path) | Subject::Tree(path) => &path.lexical.short,
        Subject::Url(url) => &url.text,
        Subject::Plain(text) => text,
        Subject::Unknown(_) => return false,
    };
    text.as_known().is_some()
}

/// Whether one of these rules stands against an allow behind it.
fn may_match(rules: &[TriedRule]) -> bool {
    let mut rules = rules.iter();
    rules.any(|rule| rule.counts() && rule.action != Action::Allow)
}

/// What is against one operation.
struct Against {
    operation: OperationIdx,
    layer: LayerKind,
    /// Where a rule has to stand to decide instead.
    stands: Stands,
}

/// One rule for the line as it is written, or one for each operation and layer.
fn rules_against(
    operations: &Operations,
    against: &[Against],
    form: impl Fn(LayerKind) -> RuleForm,
    programs: &AddedPrograms,
) -> Result<Vec<AllowingRule>, Box<str>> {
    let mut stopped: Vec<OperationIdx> = against.iter().map(|against| against.operation).collect();
    stopped.sort_unstable();
    stopped.dedup();
    let mut rules = Vec::new();
    if let Some(line) = whole_line(operations, &stopped, programs) {
        let pattern = line?;
        for (layer, stands) in places(against.iter()) {
            rules.push(AllowingRule {
                layer,
                tool: names::built_in(names::BASH),
                pattern: pattern.clone(),
                stands,
                form: form(layer),
            });
        }
        return Ok(rules);
    }
    for idx in stopped {
        let Some(operation) = operations.get(idx) else {
            continue;
        };
        let Some(narrowest) = narrowest(operations, idx, programs) else {
            return Err(why_nothing(operation));
        };
        let of_it = against.iter().filter(|against| against.operation == idx);
        for (layer, stands) in places(of_it) {
            rules.push(AllowingRule {
                layer,
                tool: narrowest.tool.clone(),
                pattern: narrowest.pattern.clone(),
                stands,
                form: form(layer),
            });
        }
    }
    Ok(rules)
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
    let is_one_text = operations.get(*only).is_some_and(names_what_it_runs)
        && narrowest(operations, *only, programs)
            .and_then(|choice| choice.rule().ok())
            .is_some_and(|rule| rule.is_literal());
    (!is_one_text).then(|| line_pattern(&whole.exact))
}

/// Whether the words of a command say where what it runs lies: else a rule that is these words does not
/// match it.
fn names_what_it_runs(operation: &Operation) -> bool {
    match &operation.subject {
        Subject::Command(command) => command.located().is_empty(),
        Subject::Path(_)
        | Subject::Tree(_)
        | Subject::Url(_)
        | Subject::Plain(_)
        | Subject::Unknown(_) => true,
    }
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

/// Where a rule would have to stand in each layer.
fn places<'a>(against: impl Iterator<Item = &'a Against>) -> Vec<(LayerKind, Stands)> {
    let mut places: Vec<(LayerKind, Stands)> = Vec::new();
    for Against { layer, stands, .. } in against {
        match places.iter_mut().find(|(known, _)| known == layer) {
            Some((_, known)) => *known = known.clone().and(stands.clone()),
            None => places.push((*layer, stands.clone())),
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

impl AllowingRule {
    /// The rule as TOML, as the file takes it, without a word about its place; no newline at the end.
    #[must_use]
    pub fn toml(&self) -> String {
        let tool = toml_string(self.tool.as_str());
        let pattern = toml_string(&self.pattern);
        match self.form {
            RuleForm::Tables => format!(
                "[[permissions.rule]]\ntool = {tool}\npattern = {pattern}\naction = \"allow\""
            ),
            RuleForm::List => {
                format!("{{ tool = {tool}, pattern = {pattern}, action = \"allow\" }},")
            }
        }
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
mod properties;
#[cfg(test)]
mod tests;
