//! What is known of well-known programs, shown by cases: each of them under a policy of one rule.
//!
//! The files of `tests/programs/` hold the cases, a line at a time; `#` begins a comment.
//!
//! ```text
//! program NAME…            the cases below are for all names of the models of these programs
//! allow COMMAND            `PROGRAM *` allows it, nothing in it is unknown code
//! partial COMMAND          the same, and the coverage says that not all of it is known
//! ask COMMAND              the same rule does not allow it
//! code COMMAND             nor is it known what it runs
//! writes PATH :: COMMAND   a deny rule for writing PATH refuses it
//! reads PATH :: COMMAND    a deny rule for reading PATH refuses it
//! lists PATH :: COMMAND    a deny rule for listing PATH refuses it, one for reading does not
//! fetches URL :: COMMAND   a deny rule for the URL refuses it
//! leaves PATH :: COMMAND   a deny rule of `external_directory` refuses it
//! denies GLOB :: COMMAND   a deny rule of bash refuses it
//! ```
//!
//! In a command and a pattern the word `%`, or the last part of a path, stands for the program's
//! name.

#![expect(clippy::expect_used, clippy::panic, reason = "a test")]

mod lexical;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use podward_policy::{
    Action, Coverage, KnownTools, Lowered, Policies, Policy, PolicySpec, Subject,
};

/// At least this many programs have a model.
const PROGRAMS: usize = 150;

/// Every program has at least this many cases.
const CASES: usize = 3;

struct Case {
    place: String,
    kind: String,
    pattern: String,
    command: String,
    program: String,
}

#[test]
fn programs_do_what_their_models_say() {
    let failures: Vec<String> = cases().iter().filter_map(check).collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn every_program_has_its_cases() {
    let mut counts: BTreeMap<String, usize> =
        models().into_iter().flatten().map(|n| (n, 0)).collect();
    for case in cases() {
        *counts.entry(case.program).or_default() += 1;
    }
    assert!(counts.len() >= PROGRAMS, "{} programs", counts.len());
    let without: Vec<&str> = counts
        .iter()
        .filter(|(_, n)| **n < CASES)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(without, Vec::<&str>::new(), "fewer than {CASES} cases");
}

/// What is wrong with a case.
fn check(case: &Case) -> Option<String> {
    let call = podward_shell::lower(&case.command, &lexical::place());
    let allowlist = |call| {
        let rule = (
            "bash",
            format!("{} *", literal(&case.program)),
            Action::Allow,
        );
        judge(Action::Ask, rule, call)
    };
    let refused = |tool, pattern: &str| {
        judge(
            Action::Allow,
            (tool, pattern.to_owned(), Action::Deny),
            &call,
        )
        .0 == Action::Deny
    };
    let (action, coverage) = allowlist(&call);
    let unknown = unknown(&call);
    let is_right = match case.kind.as_str() {
        "allow" => action == Action::Allow && unknown.is_empty(),
        "partial" => action == Action::Allow && coverage != Coverage::Full,
        "ask" => action == Action::Ask,
        "code" => action == Action::Ask && !unknown.is_empty(),
        "writes" => refused("file_write", &case.pattern),
        "reads" => refused("read", &case.pattern),
        "lists" => refused("list", &case.pattern) && !refused("read", &case.pattern),
        "fetches" => refused("web_fetch", &case.pattern),
        "leaves" => refused("external_directory", &case.pattern),
        "denies" => refused("bash", &case.pattern),
        other => panic!("{}: `{other}` is no kind of case", case.place),
    };
    (!is_right).then(|| {
        format!(
            "{}: {} {} `{}`: {action:?} under the allowlist, {coverage:?}",
            case.place, case.kind, case.pattern, case.command
        )
    })
}

fn unknown(call: &Lowered) -> Vec<String> {
    match call {
        Lowered::NothingToRun => Vec::new(),
        Lowered::Operations(operations) => operations
            .iter()
            .filter_map(|operation| match &operation.subject {
                Subject::Unknown(reason) => Some(reason.as_str().to_owned()),
                _ => None,
            })
            .collect(),
    }
}

fn judge(
    default_action: Action,
    (tool, pattern, action): (&str, String, Action),
    call: &Lowered,
) -> (Action, Coverage) {
    let spec = PolicySpec::new(default_action).rule(tool, pattern, action);
    let compiled = Policy::compile(&spec, &KnownTools::built_in()).expect("the rule of a case");
    let ruling = Policies::from(compiled.policy).judge(call);
    (ruling.action, ruling.coverage)
}

/// The names of each model, as they can be typed.
fn models() -> Vec<BTreeSet<String>> {
    texts("programs")
        .iter()
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| line.strip_prefix("program "))
        .map(|names| {
            let names = names.split('#').next().unwrap_or_default();
            names
                .split_ascii_whitespace()
                .map(|name| name.replace('*', "9"))
                .collect()
        })
        .collect()
}

/// The files of a folder, with their names.
fn texts(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut texts: Vec<(String, String)> = fs::read_dir(&folder)
        .expect("a folder of data")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into();
            (name, fs::read_to_string(&path).expect("a text"))
        })
        .collect();
    texts.sort();
    texts
}

fn cases() -> Vec<Case> {
    let models = models();
    let mut cases = Vec::new();
    for (file, text) in texts("tests/programs") {
        let mut names: BTreeSet<&String> = BTreeSet::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{file}:{}", n + 1);
            let (kind, rest) = line.split_once(' ').expect("a kind and a command");
            if kind == "program" {
                let listed: BTreeSet<&str> = rest.split_ascii_whitespace().collect();
                for name in &listed {
                    let is_known = models.iter().any(|model| model.contains(*name));
                    assert!(is_known, "{place}: `{name}` has no model");
                }
                names = models
                    .iter()
                    .filter(|model| model.iter().any(|name| listed.contains(name.as_str())))
                    .flatten()
                    .collect();
                continue;
            }
            let (pattern, command) = match rest.split_once(" :: ") {
                Some((pattern, command)) => (pattern, command),
                None => ("", rest),
            };
            for name in &names {
                cases.push(Case {
                    place: place.clone(),
                    kind: kind.to_owned(),
                    pattern: named(pattern.trim(), &literal(name)),
                    command: named(command, name),
                    program: (*name).clone(),
                });
            }
        }
    }
    cases
}

/// A pattern that means this text.
fn literal(name: &str) -> String {
    name.replace('[', "[[]")
}

/// The text with the program's name in place of the word `%`.
fn named(text: &str, name: &str) -> String {
    let words: Vec<String> = text
        .split(' ')
        .map(|word| match word.strip_suffix('%') {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => format!("{folder}{name}"),
            _ => word.to_owned(),
        })
        .collect();
    words.join(" ")
}
