//! The verdict matrix: calls × sample manifests, checked in, so that a change of policy is a change
//! of `tests/verdicts.txt` that a reviewer sees.
//!
//! `PODWARD_UPDATE_VERDICTS=1 cargo test --test specification` writes the file anew.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use podward_policy::{
    Action, Cause, KnownTools, Lowered, Need, Operation, Operations, Policies, Policy, PolicySpec,
    Ruling, SkillLayer, SkillLists,
};
use podward_tools::lower;
use serde_json::{Value, json};

use crate::place::{nowhere, repository};

const FILE: &str = "tests/verdicts.txt";

const HEADER: &str = "\
; Calls × sample manifests. A allow, Q ask, D deny; then what decided: the rule's number, `default`,
; `unresolved`, `free` (no rule is against it), `unnamed` (no rule names the address), `skill`, `no policy`,
; `nothing`, `bad call`. `(no rules)` is a manifest without `[permissions]`.
; A call is a tool and its main argument, or its arguments as JSON; `web_fetch led to URL` is what a fetch
; that runs proposes when the name of its URL leads to an address. `under a skill for read, ` stands before
; a call while a skill is active that lists this tool.
; Written by: PODWARD_UPDATE_VERDICTS=1 cargo test -p podward --test specification
";

/// A sample manifest: its file's name without `.toml`, its policies, and the numbers of the rules that can decide.
pub(crate) struct Sample {
    name: String,
    policies: Policies,
    deciding: Vec<usize>,
}

fn samples() -> Vec<Sample> {
    let mut paths: Vec<_> = std::fs::read_dir(repository().join("manifests"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    paths.sort();
    let without_rules = Sample {
        name: "(no rules)".to_owned(),
        policies: Policies::default(),
        deciding: Vec::new(),
    };
    let samples = paths.iter().map(|path| sample(path));
    samples.chain([without_rules]).collect()
}

/// The sample of this name.
pub(crate) fn sample_named(name: &str) -> Sample {
    sample(
        &repository()
            .join("manifests")
            .join(name)
            .with_extension("toml"),
    )
}

fn sample(path: &Path) -> Sample {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let isolated = podward_manifest::isolated(&name, &text, &KnownTools::built_in())
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    assert!(
        isolated.warnings.is_empty(),
        "{name}: {:?}",
        isolated.warnings
    );
    let document: toml::Table = text.parse().unwrap();
    let rules = document
        .get("permissions")
        .and_then(|permissions| permissions.get("rule"))
        .and_then(toml::Value::as_array);
    Sample {
        name,
        policies: isolated.policies,
        deciding: rules
            .into_iter()
            .flatten()
            .zip(1..)
            .filter(|(rule, _)| can_decide(rule))
            .map(|(_, number)| number)
            .collect(),
    }
}

/// An allow of `external_directory` only takes the question away: the call's other operations decide.
fn can_decide(rule: &toml::Value) -> bool {
    let text = |key: &str| rule.get(key).and_then(toml::Value::as_str);
    (text("tool"), text("action")) != (Some("external_directory"), Some("allow"))
}

/// A row's call: `bash git status`, `list .`, `mcp__s__t {"a":1}`.
fn call(text: &str) -> (&str, Value) {
    let (tool, argument) = text.split_once(' ').unwrap_or((text, "{}"));
    // A command may begin with a brace too.
    if argument.starts_with('{')
        && let Ok(arguments) = serde_json::from_str(argument)
    {
        return (tool, arguments);
    }
    let arguments = match tool {
        "bash" => json!({ "command": argument }),
        "web_fetch" => json!({ "url": argument }),
        "file_write" => json!({ "path": argument, "content": "" }),
        "file_edit" => json!({ "path": argument, "old_string": "a", "new_string": "b" }),
        "grep" | "glob" => json!({ "pattern": "x", "path": argument }),
        _ => json!({ "path": argument }),
    };
    (tool, arguments)
}

/// The address that a name led to, as a fetch that runs proposes it: a rule has to name it.
fn led_to(lowered: &Lowered) -> Lowered {
    let Lowered::Operations(operations) = lowered else {
        panic!("a fetch is something that runs");
    };
    let mut named = operations.iter().cloned().map(|operation| Operation {
        need: match operation.need {
            Need::Full => Need::Named,
            need => need,
        },
        ..operation
    });
    let first = named.next().unwrap();
    Lowered::Operations(Operations::new(first, named.collect()))
}

/// What stands before a call that is made under a skill which lists `read`.
const UNDER_A_SKILL: &str = "under a skill for read, ";

/// The sample's policies while a skill is active that lists `read`.
fn under_a_skill(sample: &Sample) -> Policies {
    let reads = PolicySpec::new(Action::Deny).rule("read", "*", Action::Allow);
    let policy = Policy::compile_unread(&reads, &KnownTools::built_in()).unwrap();
    let lists = SkillLists {
        name: "reader".into(),
        digest: "".into(),
        allowed: Some("Read".into()),
    };
    let layer = SkillLayer::new(lists, policy);
    sample.policies.under([Arc::new(layer)])
}

/// The ruling over a row's call; `None`: it is a bad one.
fn ruling(sample: &Sample, text: &str) -> Option<(Ruling, Lowered)> {
    let (under, text) = match text.strip_prefix(UNDER_A_SKILL) {
        Some(text) => (Some(under_a_skill(sample)), text),
        None => (None, text),
    };
    let address = text.strip_prefix("web_fetch led to ");
    let (tool, arguments) = match address {
        Some(url) => ("web_fetch", json!({ "url": url })),
        None => call(text),
    };
    let (_, mut lowered) = lower(tool, arguments, &nowhere()).ok()?;
    if address.is_some() {
        lowered = led_to(&lowered);
    }
    let ruling = under.as_ref().unwrap_or(&sample.policies).judge(&lowered);
    Some((ruling, lowered))
}

/// What decided, in a word or a rule's number.
pub(crate) fn verdict(sample: &Sample, text: &str) -> (Action, String) {
    let Some((ruling, _)) = ruling(sample, text) else {
        return (Action::Deny, "bad call".to_owned());
    };
    let why = match ruling.cause {
        Cause::NoPolicy => "no policy".to_owned(),
        Cause::NothingToRun => "nothing".to_owned(),
        Cause::Rule { rule, .. } => (rule.0 + 1).to_string(),
        Cause::Default { .. } => "default".to_owned(),
        Cause::Unresolved { .. } => "unresolved".to_owned(),
        Cause::Unrestricted => "free".to_owned(),
        Cause::Unnamed { .. } => "unnamed".to_owned(),
        Cause::Skill { .. } => "skill".to_owned(),
        Cause::SkillFiles { .. } => "skill files".to_owned(),
    };
    (ruling.action, why)
}

fn cell(sample: &Sample, text: &str) -> String {
    let (action, why) = verdict(sample, text);
    let letter = match action {
        Action::Allow => 'A',
        Action::Ask => 'Q',
        Action::Deny => 'D',
    };
    format!("{letter} {why}")
}

/// The calls of the checked-in matrix: its last column, which may hold anything.
fn calls(matrix: &str) -> Vec<String> {
    let mut rows = matrix
        .lines()
        .filter(|line| !line.starts_with(';') && !line.trim().is_empty());
    let n_columns = rows.next().map_or(1, |header| header.split(" | ").count());
    rows.map(|row| row.splitn(n_columns, " | ").last().unwrap().to_owned())
        .collect()
}

fn matrix(samples: &[Sample], calls: &[String]) -> String {
    let header: Vec<String> = samples.iter().map(|sample| sample.name.clone()).collect();
    let cells = calls
        .iter()
        .map(|call| samples.iter().map(|sample| cell(sample, call)).collect());
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(cells).collect();
    let widths: Vec<usize> = (0..samples.len())
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap())
        .collect();
    let mut text = HEADER.to_owned();
    let names = std::iter::once("call").chain(calls.iter().map(String::as_str));
    for (row, call) in rows.iter().zip(names) {
        for (cell, width) in row.iter().zip(&widths) {
            text.push_str(&format!("{cell:<width$} | "));
        }
        text.push_str(call);
        text.push('\n');
    }
    text
}

#[test]
fn the_verdicts_are_those_checked_in() {
    let path = repository().join(FILE);
    let checked_in = std::fs::read_to_string(&path).unwrap();
    let found = matrix(&samples(), &calls(&checked_in));
    if std::env::var_os("PODWARD_UPDATE_VERDICTS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    for (old, new) in checked_in.lines().zip(found.lines()) {
        assert_eq!(old, new, "a verdict changed");
    }
    assert_eq!(checked_in, found);
}

#[test]
fn every_rule_of_every_sample_decides_a_call_of_the_matrix() {
    let calls = calls(&std::fs::read_to_string(repository().join(FILE)).unwrap());
    let mut idle = Vec::new();
    for sample in samples() {
        let deciding: BTreeSet<String> =
            calls.iter().map(|call| verdict(&sample, call).1).collect();
        for rule in &sample.deciding {
            if !deciding.contains(&rule.to_string()) {
                idle.push(format!("{}: rule {rule}", sample.name));
            }
        }
    }
    assert!(idle.is_empty(), "no call shows what these do: {idle:#?}");
}

#[test]
fn every_tool_and_every_cause_is_in_the_matrix() {
    let calls = calls(&std::fs::read_to_string(repository().join(FILE)).unwrap());
    let samples = samples();
    let mut tools: BTreeSet<String> = calls.iter().map(|text| call(text).0.to_owned()).collect();
    // Nobody calls `external_directory` by itself: it decides calls of others.
    tools.extend(samples.iter().flat_map(|sample| {
        let deciding = |text: &String| {
            let (ruling, Lowered::Operations(operations)) = ruling(sample, text)? else {
                return None;
            };
            Some(operations.get(ruling.operation?)?.tool.to_string())
        };
        calls.iter().filter_map(deciding).collect::<Vec<_>>()
    }));
    for tool in podward_policy::BUILT_IN_TOOLS {
        assert!(tools.contains(*tool), "no call of {tool}");
    }
    assert!(
        tools.iter().any(|tool| tool.starts_with("mcp__")),
        "no MCP tool"
    );
    let causes: BTreeSet<String> = samples
        .iter()
        .flat_map(|sample| calls.iter().map(move |text| verdict(sample, text).1))
        .collect();
    // A rule's is its number.
    let words = [
        "default",
        "unresolved",
        "nothing",
        "bad call",
        "free",
        "no policy",
        "unnamed",
        "skill",
    ];
    let is_number = |cause: &String| cause.parse::<usize>().is_ok();
    let (rules, others): (BTreeSet<String>, BTreeSet<String>) =
        causes.into_iter().partition(is_number);
    assert!(!rules.is_empty());
    assert_eq!(others, words.map(str::to_owned).into());
}

#[test]
fn every_sample_but_minimal_protects_secrets() {
    let has_rules = |sample: &&Sample| !["minimal", "(no rules)"].contains(&&*sample.name);
    for sample in samples().iter().filter(has_rules) {
        for path in [".env", "a/b.env", ".env.local", "a/.env.production"] {
            for tool in ["read", "file_write", "file_edit"] {
                let (action, _) = verdict(sample, &format!("{tool} {path}"));
                assert_eq!(action, Action::Deny, "{}: {tool} {path}", sample.name);
            }
        }
        let (action, _) = verdict(sample, "read .env.example");
        assert_eq!(action, Action::Allow, "{}", sample.name);
    }
}
