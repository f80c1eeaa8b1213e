//! What a skill lists and the manifest refuses anyway.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use podward_policy::{
    Action, CommandSubject, HoleKind, LayerName, Need, Operation, Policies, Subject, TextBuilder,
    ToolName, ToolOrigin,
};

use crate::compile::ListPlace;
use crate::problem::{Gravity, Problem};
use crate::tool_lists::{ListKind, ToolLists};

/// What a manifest says, as far as a skill's lists hang on it.
#[derive(Debug)]
pub struct ManifestSays<'a> {
    /// The rules of all layers.
    pub policies: &'a Policies,
    /// The built-in tools that it offers to the model.
    pub offered: &'a BTreeSet<ToolName>,
}

/// The entries of `allowed-tools` of which nothing could ever run under a manifest: a list only
/// takes away, so they are written for nothing.
#[must_use]
pub fn refused_anyway(
    lists: &ToolLists,
    place: &ListPlace<'_>,
    manifest: &ManifestSays<'_>,
) -> Vec<Problem> {
    let entries = lists.entries(ListKind::Allowed);
    let mut problems = Vec::new();
    for compiled in lists.compile(place).entries {
        let entry = entries
            .get(compiled.place)
            .filter(|_| compiled.list == ListKind::Allowed);
        let (Some(entry), false) = (entry, compiled.rules.is_empty()) else {
            continue;
        };
        let whys: Vec<Why> = compiled
            .rules
            .iter()
            .map_while(|(tool, pattern)| refusal(tool, pattern, manifest))
            .collect();
        if whys.len() == compiled.rules.len()
            && let Some(why) = whys.first()
        {
            problems.push(why.problem(&entry.written, entry.span));
        }
    }
    problems
}

/// Why nothing of a rule could run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    NotOffered(ToolName),
    /// No rule could let the tool run.
    Tool(ToolName),
    /// This text and all that begin like it are denied.
    Text(LayerName, Option<String>),
}

impl Why {
    fn problem(&self, written: &str, span: podward_policy::ByteSpan) -> Problem {
        let (message, help) = match self {
            Self::NotOffered(tool) => (
                format!("the manifest refuses `{written}` anyway: it does not offer `{tool}`"),
                "a skill never grants: add the tool to `[tools] offered`, or remove the entry"
                    .to_owned(),
            ),
            Self::Tool(tool) => (
                format!("the manifest refuses `{written}` anyway: no rule lets `{tool}` run"),
                "a skill never grants: add a rule that allows it, or remove the entry".to_owned(),
            ),
            Self::Text(layer, rule) => {
                let by = match rule {
                    Some(rule) => format!("the rule at {rule}"),
                    None => "the default".to_owned(),
                };
                (
                    format!("the manifest refuses `{written}` anyway"),
                    format!(
                        "{by} ({layer}) denies all of it, and a skill never grants: change the \
                         rule, or remove the entry"
                    ),
                )
            }
        };
        Problem::new(Gravity::Warning, span, message, help)
    }
}

fn refusal(tool: &str, pattern: &str, manifest: &ManifestSays<'_>) -> Option<Why> {
    // A glob stands for many tools: one of them may run.
    let name = ToolName::new(tool).ok()?;
    let is_local = matches!(name.origin(), ToolOrigin::Local);
    let is_built_in = podward_policy::BUILT_IN_TOOLS.contains(&name.as_str());
    if is_local && is_built_in && !manifest.offered.contains(&name) {
        return Some(Why::NotOffered(name));
    }
    if !manifest.policies.may_ever_run(&name) {
        return Some(Why::Tool(name));
    }
    match name.as_str() {
        "bash" => denied_command(&name, pattern, manifest),
        _ => None,
    }
}

/// The layer that denies every command of a pattern, if it is certain that one does.
fn denied_command(tool: &ToolName, pattern: &str, manifest: &ManifestSays<'_>) -> Option<Why> {
    let (known, is_open) = match pattern.strip_suffix(" *") {
        Some(known) => (known, true),
        None => (pattern, false),
    };
    // What else has wildcards or quotes is no text that could be judged.
    if known.is_empty() || known.contains(['*', '?', '[', '\'', '"', '=', '$', '{']) {
        return None;
    }
    let text = TextBuilder::new().known(known);
    let written = match is_open {
        true => text.known(" ").hole(HoleKind::Unquoted).build(),
        false => text.build(),
    };
    let operation = Operation {
        tool: tool.clone(),
        subject: Subject::Command(CommandSubject {
            written,
            name_start: 0,
            name_end: known.find(' ').unwrap_or(known.len()),
            further: Vec::new(),
            place: None,
        }),
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    };
    let ruling = manifest.policies.judge(&operation.into());
    match (ruling.action, ruling.cause) {
        (
            Action::Deny,
            podward_policy::Cause::Rule {
                layer, location, ..
            },
        ) => Some(Why::Text(layer, Some(location.to_string()))),
        (Action::Deny, podward_policy::Cause::Default { layer, .. }) => {
            Some(Why::Text(layer, None))
        }
        _ => None,
    }
}
