//! Commands through the reader and the judge: each table is a policy, each line a command and the
//! verdicts that are right for it.
//!
//! `tests/verdicts/*.txt`: a line `allow|ask|deny TOOL PATTERN` is a rule, `default ACTION` begins a
//! policy, `= ACTION[/ACTION]: COMMAND` is a case. In a command `\n` is a newline.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod lexical;

use podward_policy::{Action, KnownTools, Policies, Policy, PolicySpec};

const FILES: &[(&str, &str)] = &[
    ("reading", include_str!("verdicts/reading.txt")),
    ("wrappers", include_str!("verdicts/wrappers.txt")),
    ("programs", include_str!("verdicts/programs.txt")),
    ("values", include_str!("verdicts/values.txt")),
    ("places", include_str!("verdicts/places.txt")),
];

fn action(word: &str) -> Action {
    match word {
        "allow" => Action::Allow,
        "ask" => Action::Ask,
        "deny" => Action::Deny,
        word => panic!("`{word}` is no action"),
    }
}

fn check(policies: &Policies, place: &str, case: &str, wrong: &mut Vec<String>) {
    let (expected, command) = case.split_once(": ").unwrap();
    let command = command.replace("\\n", "\n").replace("\\t", "\t");
    let ruling = policies.judge(&podward_shell::lower(&command, &lexical::place()));
    if !expected
        .split('/')
        .any(|word| action(word) == ruling.action)
    {
        wrong.push(format!(
            "{place}: {command:?} is {}, not {expected}: {:?}",
            ruling.action, ruling.cause
        ));
    }
}

fn policies(spec: &PolicySpec, place: &str) -> Policies {
    let compiled = Policy::compile(spec, &KnownTools::built_in())
        .unwrap_or_else(|findings| panic!("{place}: {findings:?}"));
    Policies::from(compiled.policy)
}

#[test]
fn commands_get_the_verdicts_of_the_contract() {
    let mut wrong = Vec::new();
    for (name, text) in FILES {
        let mut current = PolicySpec::new(Action::Ask);
        for (n, line) in text.lines().enumerate() {
            let place = format!("{name}:{}", n + 1);
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(case) = line.strip_prefix("= ") {
                check(&policies(&current, &place), &place, case, &mut wrong);
                continue;
            }
            let (keyword, rest) = line.split_once(' ').unwrap();
            if keyword == "default" {
                current = PolicySpec::new(action(rest));
                continue;
            }
            let (tool, pattern) = rest.split_once(' ').unwrap();
            current = current.rule(tool, pattern, action(keyword));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
