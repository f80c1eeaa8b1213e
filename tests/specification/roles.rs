//! The roles: sample manifests with lists of what each may do and what it may not.

use podward_policy::Action;

use crate::matrix::{sample_named, verdict};
use crate::place::repository;

/// The fewest calls of a role that are allowed, and that are denied: a list that shrinks proves less.
const N_CALLS_MIN: usize = 60;

/// The calls of a role's list with what is expected of each.
fn listed(role: &str) -> Vec<(Action, String)> {
    let file = repository().join(format!("tests/cases/roles/{role}.txt"));
    let text = std::fs::read_to_string(&file).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once(' ') {
            Some(("allow", call)) => (Action::Allow, call.to_owned()),
            Some(("deny", call)) => (Action::Deny, call.to_owned()),
            _ => panic!("{}: neither `allow` nor `deny`: {line}", file.display()),
        })
        .collect()
}

fn check(role: &str) {
    let sample = sample_named(role);
    let listed = listed(role);
    for action in [Action::Allow, Action::Deny] {
        let n_calls = listed
            .iter()
            .filter(|(expected, _)| *expected == action)
            .count();
        assert!(
            n_calls >= N_CALLS_MIN,
            "{role}: {n_calls} calls are {}",
            action.as_str()
        );
    }
    let wrong: Vec<String> = listed
        .iter()
        .filter_map(|(expected, call)| {
            let (found, why) = verdict(&sample, call);
            (found != *expected)
                .then(|| format!("{} {call}: {} ({why})", expected.as_str(), found.as_str()))
        })
        .collect();
    assert!(wrong.is_empty(), "{role}:\n{}", wrong.join("\n"));
}

#[test]
fn explore_reads_and_writes_nothing() {
    check("explore");
}

#[test]
fn plan_writes_plans_only() {
    check("plan");
}

#[test]
fn build_changes_the_project_and_publishes_nothing() {
    check("build");
}
