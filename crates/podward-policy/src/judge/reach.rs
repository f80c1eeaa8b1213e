//! Whether a layer leaves a tool anything to do.

use crate::action::Action;
use crate::pattern::covers;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::tool::ToolName;
use crate::work::Work;

/// The tools whose rules bind a call to a tool as well (D2.2): a call has an operation of each.
const ALSO_BOUND_BY: &[(&str, &str)] = &[
    ("file_edit", "file_write"),
    ("file_write", "file_edit"),
    ("grep", "read"),
];

/// Whether a layer can say anything but deny to some text of a tool; also true where that is not
/// sure.
pub(crate) fn may_ever_run(policy: &Policy, tool: &ToolName) -> bool {
    let is_barred = ALSO_BOUND_BY
        .iter()
        .filter(|(of, _)| *of == tool.as_str())
        .filter_map(|(_, by)| ToolName::new(by).ok())
        .any(|by| bars_all(policy, &by));
    !is_barred && leaves_something(policy, tool)
}

fn leaves_something(policy: &Policy, tool: &ToolName) -> bool {
    let mut work = Work::new();
    let mut denied: Vec<&Rule> = Vec::new();
    for rule in &policy.rules {
        if !rule.tool().matches(tool, rule.action) {
            if leaves_code_open(policy, tool, rule) {
                return true;
            }
            continue;
        }
        match rule.action {
            Action::Deny if rule.is_catch_all => return false,
            Action::Deny => denied.push(rule),
            Action::Allow | Action::Ask => {
                let is_shadowed = denied.iter().any(|deny| {
                    // The same text may be one form of a call whose other forms are free, so
                    // only equal patterns are sure.
                    deny.pattern == rule.pattern && covers(&deny.plain(), &rule.plain(), &mut work)
                });
                if !is_shadowed {
                    return true;
                }
            }
        }
    }
    policy.default_action != Action::Deny
}

/// Whether a rule of another tool makes an ask of code that is not known, for it may do what the
/// rule asks about.
fn leaves_code_open(policy: &Policy, tool: &ToolName, rule: &Rule) -> bool {
    tool.as_str() == "bash"
        && policy.unresolved == Action::Ask
        && rule.action == Action::Ask
        && rule.is_reached_by_code
}

/// Whether the rules of a tool deny it whatever the text, default and rules for all tools aside.
fn bars_all(policy: &Policy, tool: &ToolName) -> bool {
    let first = rules_of(policy, tool)
        .filter(|rule| !(rule.is_catch_all && rule.tool().is_glob()))
        .find(|rule| rule.is_catch_all || rule.action != Action::Deny);
    first.is_some_and(|rule| rule.action == Action::Deny)
}

fn rules_of<'a>(policy: &'a Policy, tool: &'a ToolName) -> impl Iterator<Item = &'a Rule> {
    policy
        .rules
        .iter()
        .filter(|rule| rule.tool().matches(tool, rule.action))
}
