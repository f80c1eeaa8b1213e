//! Properties of what may be saved, over random command lines, tables and calls.

use std::collections::BTreeSet;

use podward_policy::{
    Action, CommandSubject, GrantRule, Lowered, Policies, Subject, written_words,
};
use podward_shell::AddedPrograms;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};
use serde_json::json;

use super::{Choice, Width, check_pattern, choices};
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

/// Words that a narrow approval must not let pass, and some that it may.
const OTHERS: &[&str] = &[
    "--force",
    "+main:main",
    "-x",
    "-5x",
    "secret",
    "/etc/passwd",
    "/tmp/../etc/passwd",
    "/tmp/other",
    "5",
    "20",
    "2024/../x",
    "4f2a9c1c",
    "delete",
    "force-it",
    "-n5",
    "-j8",
    "\"$y\"",
    "$y",
    "'c d'",
    "'5 -f'",
    "git",
    "push",
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
    "cd src && ./x.sh",
    "cd src; python3 x.py",
    "src/../x.sh",
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

/// The words of a command that are known, up to the first that is not; and whether that is all of it.
fn known_words(command: &CommandSubject) -> (Vec<String>, bool) {
    let text = &command.written;
    let end = text.holes().first().map(|hole| hole.at);
    let words = written_words(text.known_part()).into_iter();
    let known = words.take_while(|word| end.is_none_or(|end| word.span.end < end));
    (known.map(|word| word.word).collect(), end.is_none())
}

/// What a person reads of a width (`width_text` of podward-view): whether another command is within it.
fn is_said(width: Width, offered: &CommandSubject, other: &CommandSubject) -> bool {
    let (offered, is_known) = known_words(offered);
    let (other, other_is_known) = known_words(other);
    let begins_alike = |n_words: usize| {
        let front = offered.get(..n_words);
        front.is_some() && front == other.get(..n_words)
    };
    match width {
        // "only this"
        Width::Exact => is_known && other_is_known && offered == other,
        // "the same, with any number (or word that begins like one) and any path below /tmp where there is
        // one now"
        Width::Similar => {
            is_known
                && other_is_known
                && offered.len() == other.len()
                && offered.iter().zip(&other).all(|(a, b)| is_alike(a, b))
        }
        // "this subcommand, whatever follows", "this program, whatever follows"
        Width::Subcommand => begins_alike(2),
        Width::Program => begins_alike(1),
        Width::File
        | Width::Directory
        | Width::Url
        | Width::Host
        | Width::SameArguments
        | Width::Tool => false,
    }
}

/// Whether a word is the same, or both are numbers or paths below `/tmp`.
fn is_alike(offered: &str, other: &str) -> bool {
    let is_temporary = |word: &str| word.starts_with("/tmp/") && !word.contains("..");
    let front = offered.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let letter = offered
        .strip_prefix('-')
        .and_then(|rest| rest.chars().next())
        .filter(char::is_ascii_alphabetic);
    let begins_like_it = |word: &str, front: &str| {
        let rest = word.strip_prefix(front);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let fronts = [
        Some(front.to_owned()),
        letter.map(|letter| format!("-{letter}")),
    ];
    offered == other
        || (is_temporary(offered) && is_temporary(other))
        || fronts
            .iter()
            .flatten()
            .any(|front| begins_like_it(offered, front) && begins_like_it(other, front))
}

/// Lines that differ from one in a word or two.
fn neighbours(line: &str, changes: &[(usize, &str)]) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let replaced = changes.iter().map(|(at, word)| {
        let mut words = words.clone();
        let at = at % words.len();
        words[at] = word;
        words.join(" ")
    });
    let longer = changes.iter().map(|(_, word)| format!("{line} {word}"));
    replaced.chain(longer).collect()
}

proptest! {
    #![proptest_config(Config { cases: (config().cases / 5).max(1), ..config() })]

    /// A width never covers more than a person reads of it.
    #[test]
    fn a_saved_choice_covers_no_more_than_it_says(
        line in a_line(),
        changes in vec((0_usize..12, select(OTHERS)), 8),
    ) {
        let policies = policies(Action::Ask, &[]);
        let Some(call) = bash(&line) else { return Ok(()) };
        let Lowered::Operations(operations) = &call else { return Ok(()) };
        let others: Vec<Lowered> =
            neighbours(&line, &changes).iter().filter_map(|line| bash(line)).collect();
        let found = choices(&call, &policies.asking(&call), &AddedPrograms::default());
        for choice in found.parts().iter().flat_map(|part| &part.choices) {
            let Subject::Command(offered) = &operations.get(choice.operation).unwrap().subject else {
                continue;
            };
            let rule = choice.rule().unwrap();
            for other in &others {
                let Lowered::Operations(operations) = other else { continue };
                for operation in operations.iter().filter(|operation| rule.matches(operation)) {
                    let Subject::Command(other) = &operation.subject else { continue };
                    prop_assert!(
                        is_said(choice.width, offered, other),
                        "{line}: {} `{}` covers {:?}",
                        choice.width, choice.pattern, other.written
                    );
                }
            }
        }
    }
}

/// A word that the shell expands, in pieces that hold no quote.
fn an_expanded_word() -> impl Strategy<Value = String> {
    let pieces = select(&["a", "b.c", "1", "*", "?", "[ab]", "-", "/", "."][..]);
    let front = select(&["", "", "~", "~/", "*"][..]);
    (front, vec(pieces, 0..4))
        .prop_map(|(front, pieces)| format!("{front}{}", pieces.concat()))
        .prop_filter("the shell expands none of it", |word| {
            word.contains(['*', '?', '[']) || word.starts_with('~')
        })
}

proptest! {
    #![proptest_config(Config { cases: (config().cases / 5).max(1), ..config() })]

    /// What is saved of a literal word never covers the same characters without quotes, nor the other way.
    #[test]
    fn a_literal_word_and_what_the_shell_expands_are_saved_apart(
        word in an_expanded_word(),
        front in select(&["rm", "head -n 5", "cat /tmp/x", "cd src && rm", "sudo rm", "A=1 ls"][..]),
        end in select(&["", " 7", " *.x", " '*.x'"][..]),
    ) {
        let policies = policies(Action::Ask, &[]);
        let line = |word: &str| bash(&format!("{front} {word}{end}")).unwrap();
        let (literal, expanded) = (line(&format!("'{word}'")), line(&word));
        for (call, other) in [(&literal, &expanded), (&expanded, &literal)] {
            let found = choices(call, &policies.asking(call), &AddedPrograms::default());
            for level in 0..found.n_levels() {
                let is_narrow =
                    |choice: &&Choice| matches!(choice.width, Width::Exact | Width::Similar);
                let rules = found.rules(level).unwrap();
                prop_assert!(is_covered(&policies, &rules, call));
                if found.at(level).iter().all(is_narrow) {
                    prop_assert!(!is_covered(&policies, &rules, other), "{word}: {rules:?}");
                }
            }
        }
    }
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
