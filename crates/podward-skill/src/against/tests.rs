use podward_policy::{Action, KnownTools, Policies, Policy, PolicySpec, ToolName};

use super::{ManifestSays, refused_anyway};
use crate::compile::ListPlace;
use crate::read::read;

#[track_caller]
fn check(rules: PolicySpec, offered: &[&str], allowed: &str, expected: &[&str]) {
    check_with(&KnownTools::built_in(), rules, offered, allowed, expected);
}

#[track_caller]
fn check_with(
    known: &KnownTools,
    rules: PolicySpec,
    offered: &[&str],
    allowed: &str,
    expected: &[&str],
) {
    let text = format!("---\nname: x\ndescription: x\nallowed-tools: {allowed}\n---\n");
    let tools = read("x", text.as_bytes()).skill.unwrap().tools;
    let policies = Policies::from(Policy::compile(&rules, known).unwrap().policy);
    let offered: std::collections::BTreeSet<ToolName> = offered
        .iter()
        .map(|name| ToolName::new(name).unwrap())
        .collect();
    let says = ManifestSays {
        policies: &policies,
        offered: &offered,
    };
    let found: Vec<String> = refused_anyway(&tools, &ListPlace::new("x", known), &says)
        .into_iter()
        .map(|problem| problem.message)
        .collect();
    assert_eq!(found, expected, "{allowed}");
}

#[test]
fn what_the_manifest_refuses_anyway_is_told() {
    let rules = || {
        PolicySpec::new(Action::Deny)
            .rule("bash", "git push *", Action::Deny)
            .rule("bash", "git *", Action::Allow)
            .rule("read", "*", Action::Allow)
            .rule("file_write", "out/*", Action::Ask)
            .rule("mcp__a__b", "*", Action::Allow)
    };
    let all = &["bash", "read", "file_write", "file_edit"][..];
    check(
        rules(),
        all,
        "Read Write Bash(git:*) Bash(git log:*) Bash",
        &[],
    );
    check(
        rules(),
        all,
        "Bash(git push:*) Bash(npm:*) Bash(git status) Bash(make test) Edit mcp__a__b mcp__a__c mcp__a__*",
        &[
            "the manifest refuses `Bash(git push:*)` anyway",
            "the manifest refuses `Bash(npm:*)` anyway",
            "the manifest refuses `Bash(make test)` anyway",
            "the manifest refuses `Edit` anyway: no rule lets `file_edit` run",
            "the manifest refuses `mcp__a__c` anyway: no rule lets `mcp__a__c` run",
        ],
    );
    check(
        rules(),
        &["bash"],
        "Read Bash(git:*) Skill(other)",
        &[
            "the manifest refuses `Read` anyway: it does not offer `read`",
            "the manifest refuses `Skill(other)` anyway: it does not offer `skill`",
        ],
    );
}

#[test]
fn tools_of_an_embedder_are_known_and_judged_by_its_rules() {
    let names = ["deploy", "rollback"].map(|name| ToolName::new(name).unwrap());
    let known = KnownTools::with(names);
    let rules = PolicySpec::new(Action::Deny).rule("deploy", "*", Action::Allow);
    check_with(
        &known,
        rules,
        &[],
        "deploy rollback absent",
        &["the manifest refuses `rollback` anyway: no rule lets `rollback` run"],
    );
}
