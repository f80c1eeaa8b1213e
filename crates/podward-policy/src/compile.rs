//! From a table as written to a compiled one: all errors at once, and what loads with a warning.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::action::Action;
use crate::pattern::{Problem, Quoting, Token};
use crate::rule::path::Anchor;
use crate::rule::tools::{ToolPattern, is_glob};
use crate::rule::{Origin, Rule, RuleSource};
use crate::source::ByteSpan;
use crate::spec::{Finding, PolicySpec, RuleField, RuleSpec};
use crate::tool::{KnownTools, ToolName, ToolOrigin};
use crate::tool_glob::ToolProblem;
use crate::verdict::RuleIdx;

mod covered;

pub(crate) use covered::covered_rules;

/// Compiles all rules, or says of every one that does not compile why.
pub(crate) fn compile_rules(
    spec: &PolicySpec,
    tools: &KnownTools,
) -> Result<Vec<Rule>, Vec<Finding>> {
    let mut rules = Vec::with_capacity(spec.rules.len());
    let mut errors = Vec::new();
    let mut origins = Origins::default();
    for (idx, rule) in spec.rules.iter().enumerate() {
        match compile_rule(rule, tools, &mut origins, RuleIdx(idx)) {
            Ok(rule) => rules.push(rule),
            Err(findings) => errors.extend(findings),
        }
    }
    if errors.is_empty() {
        Ok(rules)
    } else {
        Err(errors)
    }
}

/// What the rules so far have in common, by the tools as written.
#[derive(Default)]
struct Origins<'s>(BTreeMap<&'s str, Vec<Arc<Origin>>>);

impl<'s> Origins<'s> {
    fn of(
        &mut self,
        spec: &'s RuleSpec,
        tools: &KnownTools,
    ) -> Result<Arc<Origin>, Vec<ToolProblem>> {
        let known = self.0.entry(&spec.tool).or_default();
        let file = &spec.location.file;
        let is_same = |origin: &&Arc<Origin>| Arc::ptr_eq(&origin.file, file);
        if let Some(origin) = known.iter().find(is_same) {
            return Ok(Arc::clone(origin));
        }
        let tool = tool_pattern(&spec.tool, tools)?;
        let origin = Arc::new(Origin::new(tool, &spec.tool, Arc::clone(file)));
        known.push(Arc::clone(&origin));
        Ok(origin)
    }
}

fn compile_rule<'s>(
    spec: &'s RuleSpec,
    tools: &KnownTools,
    origins: &mut Origins<'s>,
    idx: RuleIdx,
) -> Result<Rule, Vec<Finding>> {
    let mut errors = Vec::new();
    let origin = origins.of(spec, tools).map_err(|problems| {
        let finding = |problem: ToolProblem| Finding {
            rule: idx,
            field: RuleField::Tool,
            part: problem.part,
            message: problem.message,
            help: problem.help,
        };
        problems.into_iter().map(finding).collect::<Vec<_>>()
    });
    // Where the tools are wrong, the pattern is read for its errors only.
    let placeholder = || Origin::new(ToolPattern::Every, "*", "".into());
    let (origin, tool_findings) = match origin {
        Ok(origin) => (origin, Vec::new()),
        Err(findings) => (Arc::new(placeholder()), findings),
    };
    errors.extend(tool_findings);
    let rule = Rule::new(RuleSource {
        origin,
        action: spec.action,
        pattern: &spec.pattern,
        message: spec.message.as_deref(),
        grantable: spec.grantable,
        ask_timeout: spec.ask_timeout,
        location: &spec.location,
    });
    match rule {
        Ok(rule) if errors.is_empty() => return Ok(rule),
        Ok(_) => {}
        Err(problems) => errors.extend(problems.into_iter().map(|problem| Finding {
            rule: idx,
            field: RuleField::Pattern,
            part: Some(problem.part),
            message: problem.message,
            help: Some(problem.help),
        })),
    }
    Err(errors)
}

/// Reads a tool's name or a glob over names.
pub(crate) fn tool_pattern(
    tool: &str,
    tools: &KnownTools,
) -> Result<ToolPattern, Vec<ToolProblem>> {
    if is_glob(tool) {
        let told = |problem: Problem| ToolProblem {
            part: Some(problem.part),
            message: problem.message,
            help: Some(problem.help),
        };
        return ToolPattern::glob(tool)
            .map_err(|problems| problems.into_iter().map(told).collect());
    }
    let finding = |message: String, help: Option<String>| {
        vec![ToolProblem {
            part: None,
            message,
            help,
        }]
    };
    if tool.is_empty() {
        return Err(finding(
            "an empty name is no tool".to_owned(),
            Some("write a tool's name, or `*` for every tool".to_owned()),
        ));
    }
    match ToolName::new(tool) {
        Ok(name) if tools.knows(&name) => Ok(ToolPattern::Exact(name)),
        Ok(_) => Err(finding(
            format!("unknown tool `{tool}`"),
            Some(help_for_unknown(tool, tools)),
        )),
        Err(error) => {
            let help = match tool.strip_prefix("mcp__") {
                Some(server) if !server.is_empty() => {
                    format!("for all tools of a server write `mcp__{server}__*`")
                }
                _ => help_for_unknown(tool, tools),
            };
            Err(finding(error.to_string(), Some(help)))
        }
    }
}

/// Names under which other programs know the same tools.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("cmd", "bash"),
    ("command", "bash"),
    ("edit", "file_edit"),
    ("exec", "bash"),
    ("fetch", "web_fetch"),
    ("file_read", "read"),
    ("find", "glob"),
    ("http", "web_fetch"),
    ("ls", "list"),
    ("multiedit", "file_edit"),
    ("read_file", "read"),
    ("run", "bash"),
    ("search", "grep"),
    ("sh", "bash"),
    ("shell", "bash"),
    ("terminal", "bash"),
    ("webfetch", "web_fetch"),
    ("write", "file_write"),
    ("write_file", "file_write"),
];

fn help_for_unknown(tool: &str, tools: &KnownTools) -> String {
    let lower = tool.to_lowercase();
    let other_name = OTHER_NAMES
        .iter()
        .find(|(name, _)| *name == lower)
        .map(|(_, known)| *known);
    let nearest = tools
        .iter()
        .map(|name| (strsim::osa_distance(&lower, name.as_str()), name.as_str()))
        .filter(|(distance, name)| *distance <= name.len().max(lower.len()) / 3)
        .min()
        .map(|(_, name)| name);
    match other_name.or(nearest) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let names: Vec<_> = tools.iter().map(|name| format!("`{name}`")).collect();
            format!(
                "tools are {}, and any `mcp__<server>__<tool>`",
                names.join(", ")
            )
        }
    }
}

/// What loads, but hardly says what its author means.
pub(crate) fn odd_rules(rules: &[Rule], spec: &PolicySpec, tools: &KnownTools) -> Vec<Finding> {
    let mut warnings = Vec::new();
    for (idx, (rule, spec)) in rules.iter().zip(&spec.rules).enumerate() {
        let idx = RuleIdx(idx);
        if !rule.tool().fits_some(tools, rule.action) {
            warnings.push(unfit_tool(rule, &spec.tool, idx));
        }
        let warning = |part: Option<ByteSpan>, message: &str, help: &str| Finding {
            rule: idx,
            field: RuleField::Pattern,
            part,
            message: message.to_owned(),
            help: Some(help.to_owned()),
        };
        warnings.extend(odd_escape(&spec.pattern).map(|part| {
            warning(
                Some(part),
                "`\\` is an ordinary character in a pattern",
                "write `[*]`, `[?]` or `[[]` for a literal `*`, `?` or `[`",
            )
        }));
        let odd = match domain(rule) {
            Some(Domain::Command) => odd_command(rule),
            Some(Domain::Path) => odd_path(rule, &spec.pattern),
            Some(Domain::Url) => odd_url(rule),
            Some(Domain::Plain) | None => None,
        };
        warnings.extend(odd.map(|(message, help)| warning(None, message, help)));
        warnings.extend(odd_braces(rule, &spec.pattern).map(|part| {
            warning(
                Some(part),
                "braces are ordinary characters in a pattern",
                "write one rule for each alternative",
            )
        }));
    }
    warnings
}

fn unfit_tool(rule: &Rule, tool: &str, idx: RuleIdx) -> Finding {
    let help = match (&rule.tool(), rule.action) {
        (ToolPattern::Mcp(_), _) => {
            format!("for all tools of these servers write `{tool}__*`")
        }
        (_, Action::Allow) => "an allow whose tool does not begin with `mcp__` is about built-in \
                               tools only"
            .to_owned(),
        (_, Action::Ask | Action::Deny) => "the rule never decides".to_owned(),
    };
    Finding {
        rule: idx,
        field: RuleField::Tool,
        part: None,
        message: format!("`{tool}` fits no known tool"),
        help: Some(help),
    }
}

/// What the texts of a rule's only tool are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    Command,
    Path,
    Url,
    /// Texts without a form of their own: the arguments of an MCP tool, a skill's name.
    Plain,
}

/// What a rule's pattern is compared with, if its tool tells.
pub(crate) fn domain(rule: &Rule) -> Option<Domain> {
    match rule.tool() {
        ToolPattern::Exact(name) => domain_of(name),
        ToolPattern::Every | ToolPattern::Names(_) | ToolPattern::Mcp(_) => None,
    }
}

/// What the texts of a tool are, if its name tells.
pub(crate) fn domain_of(name: &ToolName) -> Option<Domain> {
    match name.as_str() {
        "bash" => Some(Domain::Command),
        "web_fetch" => Some(Domain::Url),
        "external_directory" | "file_edit" | "file_write" | "glob" | "grep" | "list" | "read" => {
            Some(Domain::Path)
        }
        "skill" | "spawn" => Some(Domain::Plain),
        _ => match name.origin() {
            ToolOrigin::Mcp { .. } => Some(Domain::Plain),
            // A tool of the program around podward may have texts of any kind.
            ToolOrigin::Local => None,
        },
    }
}

fn odd_command(rule: &Rule) -> Option<(&'static str, &'static str)> {
    if rule.words().quoting == Quoting::Open {
        return Some((
            "a quote in this pattern is not closed",
            "commands are compared after quote removal; write the text without quotes, or close \
             the quote to match exactly one word",
        ));
    }
    // A whole line is compared as it is; only simple commands have one blank between two words.
    (rule.words().has_odd_blank && !rule.has_operator()).then_some((
        "no command is written with two blanks in a row or a blank at an end",
        "write the words with one blank between two",
    ))
}

fn odd_path(rule: &Rule, pattern: &str) -> Option<(&'static str, &'static str)> {
    let is_odd = pattern.starts_with("./")
        || pattern == "."
        || pattern.contains("//")
        || pattern.contains("/./")
        || pattern.contains("/../")
        || pattern.starts_with("../");
    if is_odd && pattern != "." {
        return Some((
            "paths are compared in their normal form, without `.`, `..` and `//`",
            "write paths inside the workspace relative to it (`src/*`), others absolute (`/etc/*`) \
             or from home (`~/.ssh/*`)",
        ));
    }
    let ends_in_slash = pattern.len() > 1 && pattern.ends_with('/');
    if ends_in_slash {
        return Some((
            "no path ends in `/`",
            "write the directory's name, or `*` after the `/` for what is below it",
        ));
    }
    let is_other_home = rule.path().anchor == Anchor::Workspace && pattern.starts_with('~');
    is_other_home.then_some((
        "`~` is the home directory only as `~` or `~/…`",
        "write the absolute path",
    ))
}

fn odd_url(rule: &Rule) -> Option<(&'static str, &'static str)> {
    if rule.url().has_foreign_host() {
        return Some((
            "hosts are compared in their ASCII form",
            "write the host as `xn--…`",
        ));
    }
    let begins_open = rule.url().any().is_floating();
    let help = "write the scheme as well, such as `https://example.com/*`";
    match (rule.url().has_scheme(), rule.is_restrictive(), begins_open) {
        (true, _, _) | (false, true, true) => None,
        _ if rule.is_catch_all => None,
        _ if is_http_without_slashes(&rule.pattern) => (!rule.is_restrictive()).then_some((
            "an allow without `://` covers no URL",
            "write the scheme in full, such as `https://*/*` for every page",
        )),
        _ if rule.pattern.contains(':') && !has_port_for_scheme(&rule.pattern) => None,
        (false, false, true) => Some(("an allow without a scheme covers no URL with a host", help)),
        (false, _, false) => Some(("no URL begins like this", help)),
    }
}

/// Whether a pattern such as `http:*` stops in the middle of what a URL begins with.
fn is_http_without_slashes(pattern: &str) -> bool {
    ["http:", "https:"]
        .iter()
        .filter_map(|scheme| pattern.strip_prefix(scheme))
        .any(|rest| !rest.starts_with("//"))
}

/// Whether what stands in front of the first `:` is a host, as in `localhost:8000/*`.
fn has_port_for_scheme(pattern: &str) -> bool {
    pattern.split_once(':').is_some_and(|(head, rest)| {
        let port = rest.split('/').next().unwrap_or_default();
        let is_port = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit() || c == '*');
        is_port && (head == "localhost" || head.contains(['.', '*']) || port != "*")
    })
}

/// A backslash before a wildcard.
fn odd_escape(pattern: &str) -> Option<ByteSpan> {
    ["\\*", "\\?", "\\["]
        .iter()
        .filter_map(|escape| pattern.find(escape))
        .min()
        .map(|at| ByteSpan::new(at..at + 2))
}

/// `{a,b}` in a pattern for commands, paths or URLs.
fn odd_braces(rule: &Rule, pattern: &str) -> Option<ByteSpan> {
    match domain(rule)? {
        Domain::Command | Domain::Path | Domain::Url => {}
        Domain::Plain => return None,
    }
    let open = pattern.find('{')?;
    let inner = pattern.get(open + 1..)?;
    let close = inner.find('}')?;
    let content = inner.get(..close)?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ',' | '.' | '_' | '-' | '*' | '/');
    (content.contains(',') && content.chars().all(is_plain))
        .then(|| ByteSpan::new(open..open + close + 2))
}

/// Whether a pattern has a wildcard.
pub(crate) fn has_wildcard(tokens: &[Token]) -> bool {
    tokens.iter().any(Token::is_wildcard)
}

#[cfg(test)]
mod tests;
