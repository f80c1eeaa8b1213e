//! Properties of what may be saved, over random command lines, tables and calls.

use std::collections::BTreeSet;

use podward_policy::{Action, GrantRule, Lowered, Policies, Subject, written_words};
use podward_shell::AddedPrograms;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};
use serde_json::json;

use super::{Width, check_pattern, choices};
use crate::fixture::{policies, text_place};
use crate::registry::lower;

/// `PODWARD_CASES` says how many cases stand for a million.
pub(super) fn config() -> Config {
    let n_million: u32 = std::env::var("PODWARD_CASES")
        .map_or(1_000_000, |n| n.parse().expect("PODWARD_CASES is a number"));
    Config {
        cases: (n_million / 200).max(1),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(11),
        ..Config::default()
    }
}

const WORDS: &[&str] = &[
    "git",
    "push",
    "commit",
    "-m",
    "'a b'",
    "ls",
    "-l",
    "rm",
    "-rf",
    "cat",
    "src/a",
    "../b",
    "*.rs",
    "\"$x\"",
    "$x",
    "head",
    "-n",
    "20",
    "4f2a9c1b",
    "/tmp/t.1",
    "sudo",
    "-u",
    "root",
    "env",
    "A=b",
    "bash",
    "-c",
    "python3",
    "x.py",
    "-e",
    "npx",
    "npm",
    "run",
    "build",
    "docker",
    "exec",
    "xargs",
    "find",
    ".",
    "-exec",
    "{}",
    "\\;",
    "timeout",
    "5",
    "[x]",
    "a?",
    "'it'\\''s'",
    "''",
    "mytool",
    "deploy",
    "make",
    "-j4",
    "cargo",
    "test",
    "awk",
    "sed",
    "kubectl",
    "uv",
    "command",
    "eval",
    "ssh",
];

const FIRST: &[&str] = &[
    "git",
    "git push",
    "ls",
    "rm",
    "cat",
    "head -n 20",
    "sudo",
    "sudo git",
    "env",
    "env A=b",
    "bash",
    "bash -c",
    "python3",
    "python3 x.py",
    "npx",
    "npm run",
    "docker run a",
    "docker ps",
    "xargs",
    "find .",
    "timeout 5",
    "mytool",
    "mytool deploy",
    "./x.sh",
    "make",
    "cargo test",
    "awk",
    "sed -n",
    "A=b git",
    "uv run",
    "kubectl get",
    "stat /tmp/t.1",
    "$x",
    "eval",
    "ssh h",
    "git -C d",
    "node",
];

pub(super) fn a_line() -> impl Strategy<Value = String> {
    let command = (
        select(FIRST),
        vec(select(WORDS), 0..4),
        select(&["", "", "", " > out", " < in"][..]),
    )
        .prop_map(|(first, words, redirect)| format!("{first} {}{redirect}", words.join(" ")));
    (vec(command, 1..3), select(&["; ", " && ", " | ", "\n"][..]))
        .prop_map(|(commands, between)| commands.join(between))
}

type Rule = (&'static str, &'static str, Action);

fn a_table() -> impl Strategy<Value = (Action, Vec<Rule>)> {
    let actions = [Action::Allow, Action::Ask, Action::Deny];
    let rule = (
        select(&["bash", "bash", "bash", "file_write", "read", "*"][..]),
        select(
            &[
                "git *",
                "git push*",
                "rm *",
                "ls*",
                "cat *",
                "*",
                "src/*",
                "* -m *",
                "sudo *",
                "*$*",
                "npm *",
            ][..],
        ),
        select(actions.to_vec()),
    );
    let default = select(&[Action::Ask, Action::Ask, Action::Allow][..]);
    (default, vec(rule, 0..5))
}

fn bash(command: &str) -> Option<Lowered> {
    let lowered = lower("bash", json!({ "command": command }), &text_place());
    lowered.ok().map(|(_, lowered)| lowered)
}

fn is_covered(policies: &Policies, rules: &[GrantRule], call: &Lowered) -> bool {
    let asking = policies.asking(call);
    !asking.is_empty()
        && asking
            .iter()
            .all(|asking| rules.iter().any(|rule| rule.covers(asking, call)))
}

/// What the operations that ask are about: programs of commands, as they are written.
fn programs(policies: &Policies, call: &Lowered) -> BTreeSet<String> {
    let Lowered::Operations(operations) = call else {
        return BTreeSet::new();
    };
    let asking = policies.asking(call);
    let asked = asking
        .iter()
        .filter_map(|asking| operations.get(asking.operation));
    asked
        .filter_map(|operation| match &operation.subject {
            Subject::Command(command) => {
                let known = command.written.known_part();
                known.get(..command.name_end).map(str::to_owned)
            }
            Subject::Unknown(_) => Some("unknown code".to_owned()),
            Subject::Path(_) | Subject::Tree(_) | Subject::Url(_) | Subject::Plain(_) => None,
        })
        .collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_saved_choice_covers_its_call_and_no_other_program(
        (default, rules) in a_table(),
        line in a_line(),
        others in vec(a_line(), 4),
    ) {
        let policies = policies(default, &rules);
        let none = AddedPrograms::default();
        let Some(call) = bash(&line) else { return Ok(()) };
        let asking = policies.asking(&call);
        let found = choices(&call, &asking, &none);
        let may_be_saved = !asking.is_empty() && asking.iter().all(|asking| asking.grantable);
        prop_assert!(may_be_saved || found.n_levels() == 0, "{line}");
        let others: Vec<Lowered> = others.iter().filter_map(|line| bash(line)).collect();
        for level in 0..found.n_levels() {
            let rules = found.rules(level).unwrap();
            prop_assert!(is_covered(&policies, &rules, &call), "{line}: {rules:?}");
            for other in &others {
                if is_covered(&policies, &rules, other) {
                    let more = programs(&policies, other);
                    prop_assert!(
                        more.is_subset(&programs(&policies, &call)),
                        "{line}: {rules:?}: {more:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_offered_may_be_saved_and_means_what_it_says(line in a_line()) {
        let policies = policies(Action::Ask, &[]);
        let none = AddedPrograms::default();
        let Some(call) = bash(&line) else { return Ok(()) };
        let Lowered::Operations(operations) = &call else { return Ok(()) };
        let found = choices(&call, &policies.asking(&call), &none);
        for part in found.parts() {
            let mut wider: Option<GrantRule> = None;
            for choice in part.choices.iter().rev() {
                let rule = choice.rule().unwrap();
                prop_assert!(check_pattern(&choice.tool, &choice.pattern, &none).is_ok());
                // A person who writes what was offered gets it.
                if let Some(wider) = &wider {
                    prop_assert!(rule.is_within(wider), "{rule:?} {wider:?}");
                }
                wider = Some(rule);
                let operation = operations.get(part.operation).unwrap();
                let (Subject::Command(command), Some(glob)) =
                    (&operation.subject, glob::Pattern::new(&choice.pattern).ok())
                else {
                    continue;
                };
                let Some(text) = command.written.as_known() else { continue };
                let matches = glob.matches(text);
                match choice.width {
                    Width::Exact => {
                        prop_assert!(matches, "{}: {text}", choice.pattern);
                        let longer = format!("{text}x");
                        prop_assert!(!glob.matches(&longer), "{}", choice.pattern);
                    }
                    // A bare command has no blank behind it (D4.2).
                    Width::Subcommand | Width::Program => {
                        let bare = choice.pattern.strip_suffix(" *").unwrap();
                        let is_bare = glob::Pattern::new(bare).unwrap().matches(text);
                        prop_assert!(matches || is_bare, "{}: {text}", choice.pattern);
                        let words = written_words(text);
                        let named = written_words(bare);
                        prop_assert!(named.len() <= words.len());
                    }
                    // An open word is written with quotes, which the text need not have.
                    _ => {}
                }
            }
        }
    }
}
