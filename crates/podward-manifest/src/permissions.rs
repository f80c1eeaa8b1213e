//! One layer's `[permissions]`: from what was written to a compiled policy.

#[cfg(test)]
mod tests;

use std::time::Duration;

use podward_policy::{
    Action, Finding, KnownTools, Policy, PolicySpec, RuleField, RuleForm, RuleSpec,
};

use crate::diagnostic::Diagnostic;
use crate::raw::{RawPermissions, RawRule};
use crate::reader::{Reader, Sited};
use crate::string_offsets;

/// A compiled table, and what it was compiled from.
#[derive(Debug)]
pub(crate) struct CompiledLayer {
    pub(crate) policy: Policy,
    pub(crate) spec: PolicySpec,
}

/// Compiles a layer's table and reports what does not compile. `None`: something was reported,
/// here or when the table was read.
pub(crate) fn compile(
    raw: &RawPermissions,
    reader: &mut Reader<'_>,
    known_tools: &KnownTools,
) -> Option<CompiledLayer> {
    let judged: Vec<JudgedRule<'_>> = raw.rules.iter().filter_map(judged).collect();
    let rules = judged.iter().map(|rule| RuleSpec {
        tool: rule.tool.value.clone(),
        pattern: rule.pattern.value.clone(),
        action: rule.action,
        message: rule
            .raw
            .message
            .as_ref()
            .map(|message| message.value.clone()),
        grantable: rule
            .raw
            .grantable
            .as_ref()
            .is_none_or(|grantable| grantable.value),
        ask_timeout: rule.raw.ask_timeout.as_ref().map(seconds),
        location: reader.source().location(rule.raw.header.start),
    });
    let default = raw.default_action.as_ref();
    let default_at = default.map_or(raw.header, |default| default.key).start;
    let spec = PolicySpec {
        // If it is missing, that was reported, and the rules are compiled for their errors only.
        default_action: default.map_or(Action::Deny, |default| default.value),
        default_location: reader.source().location(default_at),
        unresolved: raw.unresolved.as_ref().map(|unresolved| unresolved.value),
        rules: rules.collect(),
    };
    let has_all =
        |rule: &RawRule| rule.tool.is_some() && rule.pattern.is_some() && rule.action.is_some();
    let is_complete = default.is_some() && raw.rules.iter().all(has_all);
    match Policy::compile(&spec, known_tools) {
        Err(findings) => {
            for finding in &findings {
                let diagnostic = diagnostic(finding, &judged, raw, reader, Diagnostic::error);
                reader.report(diagnostic);
            }
            None
        }
        Ok(compiled) if is_complete => {
            let is_list = raw.rules.first().is_some_and(|rule| {
                let header = reader.source().slice(rule.header);
                header.trim_start().starts_with('{')
            });
            for finding in &compiled.warnings {
                let diagnostic = diagnostic(finding, &judged, raw, reader, Diagnostic::warning);
                reader.report(diagnostic);
            }
            Some(CompiledLayer {
                policy: match is_list {
                    true => compiled.policy.written_as(RuleForm::List),
                    false => compiled.policy,
                },
                spec,
            })
        }
        // Warnings about rules that are not all there would mislead.
        Ok(_) => None,
    }
}

/// No time that can be written has more seconds than fit.
fn seconds(timeout: &Sited<Duration>) -> u32 {
    u32::try_from(timeout.value.as_secs()).unwrap_or(u32::MAX)
}

/// A rule whose tool and pattern can be looked at.
struct JudgedRule<'r> {
    raw: &'r RawRule,
    tool: &'r Sited<String>,
    pattern: &'r Sited<String>,
    action: Action,
}

/// `None` if the rule lacks a tool or a pattern, which was reported. So was a wrong action, but
/// that is no reason not to look at the rest.
fn judged(raw: &RawRule) -> Option<JudgedRule<'_>> {
    Some(JudgedRule {
        raw,
        tool: raw.tool.as_ref()?,
        pattern: raw.pattern.as_ref()?,
        action: raw
            .action
            .as_ref()
            .map_or(Action::Deny, |action| action.value),
    })
}

fn diagnostic(
    finding: &Finding,
    rules: &[JudgedRule<'_>],
    raw: &RawPermissions,
    reader: &Reader<'_>,
    make: fn(String, crate::diagnostic::Place) -> Diagnostic,
) -> Diagnostic {
    let span = rules.get(finding.rule.0).map_or(raw.header, |rule| {
        let value = match finding.field {
            RuleField::Tool => rule.tool,
            RuleField::Pattern => rule.pattern,
        };
        string_offsets::span_of_part(value, finding.part, reader)
    });
    let diagnostic = make(finding.message.clone(), reader.place(span));
    match &finding.help {
        Some(help) => diagnostic.with_help(help.clone()),
        None => diagnostic,
    }
}
