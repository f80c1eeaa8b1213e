//! Commands that public projects wrote down: in scripts, CI files, documentation, and what agents
//! ran in public transcripts.
//!
//! `real/commands.jsonl` holds them as they stand there, with their source. Left out when the set
//! was made: what is no shell text yet (`${{ }}`, `$(VAR)` of make, `<placeholder>`), PowerShell,
//! program output, what real bash refuses to parse, and more than 400 bytes.
//!
//! **Unknown.** `real/unknown.txt` lists every command that holds unknown code, with the side it
//! stands on: `contract` (D3.3 asks for it: `curl … | sh`, `eval "$(…)"`, `$CMD args`) or `reader`
//! (we could know better). A command that does not parse is `reader` too.
//!
//! **Over-asking.** Each command is judged under its project's list in `real/allowlists.toml`,
//! whose default is ask. A command that is asked about is asked *because of the policy* if
//! something that it plainly does is not on the list:
//!
//! - a simple command of it (the inner command of a wrapper too) whose text, a plain word in each
//!   hole, matches no `bash` pattern; assignments in front are part of the text (D3.6);
//! - a redirection, written as such, to a file that no `write` pattern matches, or to a file that
//!   is not known (D2.4 makes it an ask: `>> "$GITHUB_OUTPUT"`).
//!
//! It is asked *because of where* where the list names a program or a script by a path and the command
//! runs it in another directory: it is another file there. Those commands are listed below.
//!
//! Whatever else it is asked for is *our analysis*: unknown code beside commands that are all on
//! the list, texts that match with one filling of a hole and not with another, writes derived from
//! an option or an inline script that are not on the list. What the contract asks for by name in
//! D3.3 is not excepted from that. The rate is over all commands, those outside any list included;
//! the test prints it over those that are wholly on the list as well.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod lexical;
mod real;

use std::collections::{BTreeMap, BTreeSet};

use glob::Pattern;
use podward_policy::{Action, Cause, Lowered, Need, Operation, Policies, Subject};
use sha2::{Digest, Sha256};

use real::{ALLOWLISTS, Allowlist, allowlists, commands, filled, line, operations};

/// The lists as they were written, before anything was counted.
const ALLOWLISTS_SHA256: &str = "339436262837c1fcd2b493a5119c94b227e035d48f826fe0ec73f1bef0bca2ee";

/// Commands that run by a path what lies elsewhere than the list says: `cd actionview && bin/test`.
const ELSEWHERE: [&str; 9] = [
    "r011", "r012", "r013", "r153", "r199", "r391", "r394", "r478", "r479",
];

/// In a hundred.
const MOST_UNKNOWN: usize = 3;
const MOST_OVER_ASKED: usize = 2;

#[test]
fn the_set_is_large_and_varied() {
    let commands = commands();
    let texts: BTreeSet<&str> = commands.iter().map(|c| c.command.as_str()).collect();
    let ids: BTreeSet<&str> = commands.iter().map(|c| c.id.as_str()).collect();
    let projects: BTreeSet<&str> = commands.iter().map(|c| c.project()).collect();
    assert_eq!(texts.len(), commands.len(), "a command stands twice");
    assert_eq!(ids.len(), commands.len(), "an id stands twice");
    assert!(commands.len() >= 500, "{} commands", commands.len());
    assert!(projects.len() >= 40, "{} projects", projects.len());
    let long: Vec<&str> = commands
        .iter()
        .filter(|c| c.command.len() > 400)
        .map(|c| c.id.as_str())
        .collect();
    assert_eq!(long, [""; 0]);
}

#[test]
fn real_commands_are_understood() {
    let listed: BTreeMap<&str, &str> = include_str!("real/unknown.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?))
        })
        .collect();
    let commands = commands();
    let mut failures = Vec::new();
    let mut n_reader = 0;
    let mut n_unknown = 0;
    for command in &commands {
        let lowered = command.lowered();
        let reasons: BTreeSet<&str> = operations(&lowered)
            .into_iter()
            .filter_map(|operation| match &operation.subject {
                Subject::Unknown(reason) => Some(reason.as_str()),
                _ => None,
            })
            .collect();
        let side = listed.get(command.id.as_str()).copied();
        n_unknown += usize::from(!reasons.is_empty());
        n_reader += usize::from(side == Some("reader") && !reasons.is_empty());
        match (side, reasons.is_empty()) {
            (None, true) | (Some("contract" | "reader"), false) => {}
            _ => failures.push(format!(
                "{} listed as {side:?}: {reasons:?}\n    {}",
                command.id, command.command
            )),
        }
    }
    println!(
        "{n_unknown} of {} commands hold unknown code, {n_reader} of them because of the reader",
        commands.len()
    );
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert!(n_reader * 100 <= MOST_UNKNOWN * commands.len());
}

#[test]
fn reviewed_commands_have_the_operations_expected() {
    let mut expected: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut id = "";
    for line in include_str!("real/expected.txt").lines() {
        match line.strip_prefix("    ") {
            _ if line.starts_with('#') => {}
            Some(operation) => expected.entry(id).or_default().push(operation),
            None => id = line,
        }
    }
    expected.remove("");
    assert!(expected.len() >= 150, "{} reviewed", expected.len());
    let mut failures = Vec::new();
    for command in commands() {
        let Some(expected) = expected.remove(command.id.as_str()) else {
            continue;
        };
        let lowered = command.lowered();
        let found: Vec<String> = operations(&lowered).into_iter().map(line).collect();
        if found != expected {
            failures.push(format!(
                "{}: {}\n  expected\n    {}\n  found\n    {}",
                command.id,
                command.command,
                expected.join("\n    "),
                found.join("\n    ")
            ));
        }
    }
    assert_eq!(expected.keys().collect::<Vec<_>>(), [&""; 0], "no such id");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn the_lists_are_those_that_were_frozen() {
    let digest: String = Sha256::digest(ALLOWLISTS)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(digest, ALLOWLISTS_SHA256);
    let lists = allowlists();
    for command in commands() {
        assert!(lists.contains_key(command.project()), "{}", command.source);
    }
    let interpreters = [
        "bash", "sh", "dash", "zsh", "ksh", "python", "python3", "node", "deno", "bun", "ruby",
        "perl", "php", "sudo", "eval", "source", ".", "env", "npx", "uvx",
    ];
    for pattern in lists.values().flat_map(|list| &list.bash) {
        assert_ne!(pattern, "*");
        for name in interpreters {
            assert_ne!(*pattern, format!("{name} *"));
        }
    }
}

#[test]
fn what_a_project_allows_is_not_asked_about() {
    let lists: BTreeMap<String, (Allowlist, Policies)> = allowlists()
        .into_iter()
        .map(|(project, list)| (project, (list.clone(), list.policies())))
        .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut ours, mut elsewhere) = (Vec::new(), Vec::new());
    let commands = commands();
    for command in &commands {
        let (list, policies) = &lists[command.project()];
        let lowered = command.lowered();
        let ruling = policies.judge(&lowered);
        let listed = not_listed(list, &command.command, &lowered).is_none();
        let outcome = match (ruling.action, listed) {
            (Action::Allow, true) => "on the list, allowed",
            (Action::Allow, false) => "allowed though not all of it is on the list",
            (_, false) => "asked because of the policy",
            (_, true) if !is_listed_there(list, &lowered) => {
                elsewhere.push(command.id.as_str());
                "asked because the list does not say where what runs lies"
            }
            (_, true) => {
                ours.push(format!(
                    "{}: {}\n    {}",
                    command.id,
                    cause(&ruling.cause),
                    command.command
                ));
                "asked because of our analysis"
            }
        };
        *counts.entry(outcome).or_default() += 1;
    }
    let n_listed = counts
        .get("on the list, allowed")
        .copied()
        .unwrap_or_default()
        + ours.len();
    println!("{counts:?} of {}", commands.len());
    println!(
        "asked because of our analysis: {:.1} % of all, {:.1} % of those on the lists",
        per_cent(ours.len(), commands.len()),
        per_cent(ours.len(), n_listed)
    );
    for asked in &ours {
        eprintln!("{asked}");
    }
    assert!(
        ours.len() * 100 <= MOST_OVER_ASKED * commands.len(),
        "{} of {} commands are asked about because of our analysis",
        ours.len(),
        commands.len()
    );
    assert_eq!(elsewhere, ELSEWHERE);
    assert!(
        n_listed * 2 >= commands.len(),
        "the lists cover {n_listed} commands"
    );
}

fn cause(cause: &Cause) -> &str {
    match cause {
        Cause::Unresolved { why, .. } => why,
        Cause::Default { .. } => "no rule matches",
        Cause::Rule { .. }
        | Cause::NoPolicy
        | Cause::NothingToRun
        | Cause::Unrestricted
        | Cause::Skill { .. }
        | Cause::Unnamed { .. }
        | Cause::SkillFiles { .. } => "a list has allow rules only",
    }
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn per_cent(part: usize, whole: usize) -> f64 {
    part as f64 * 100.0 / whole as f64
}

/// Something that the command plainly does and the list does not allow.
fn not_listed(list: &Allowlist, command: &str, lowered: &Lowered) -> Option<String> {
    let all = operations(lowered);
    all.iter()
        .find(|operation| !is_listed(list, command, operation, &all))
        .map(|operation| line(operation))
}

/// Whether one pattern for each program and script that lies elsewhere matches the command both as it
/// is written and by where that lies.
fn is_listed_there(list: &Allowlist, lowered: &Lowered) -> bool {
    operations(lowered).iter().all(|operation| {
        let Subject::Command(command) = &operation.subject else {
            return true;
        };
        let groups = command.located();
        let written = filled(&command.written);
        operation.need == Need::Restrictive
            || list.bash.iter().any(|pattern| {
                let is_there = |text| matches(pattern, &filled(text));
                matches(pattern, &written) && groups.iter().all(|group| group.iter().any(is_there))
            })
            || groups.is_empty()
    })
}

fn is_listed(list: &Allowlist, command: &str, operation: &Operation, all: &[&Operation]) -> bool {
    match (&operation.subject, operation.need) {
        (_, Need::Restrictive | Need::Free) => true,
        (Subject::Command(subject), Need::RunBy { wrapper, reach }) => {
            let Subject::Command(outer) = &all[wrapper.0].subject else {
                return false;
            };
            let outer = filled(&outer.written);
            matches_one(&list.bash, &filled(&subject.written))
                || list.bash.iter().any(|pattern| {
                    let literal = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
                    literal >= reach && matches(pattern, &outer)
                })
        }
        (Subject::Command(subject), _) => matches_one(&list.bash, &filled(&subject.written)),
        (Subject::Path(path), Need::DerivedFrom(_)) => {
            let forms = [&path.lexical.short, &path.lexical.absolute];
            if forms
                .iter()
                .any(|form| matches_one(&list.write, &filled(form)))
            {
                return true;
            }
            !is_redirection(command, &filled(&path.lexical.short))
        }
        // Unknown code stands beside the command that holds it.
        (
            Subject::Path(_)
            | Subject::Tree(_)
            | Subject::Url(_)
            | Subject::Plain(_)
            | Subject::Unknown(_),
            _,
        ) => true,
    }
}

/// Whether the command redirects into a file of this name, or into one that is not known.
fn is_redirection(command: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap();
    command.split('>').skip(1).any(|after| {
        let target: String = after
            .trim_start_matches(['>', '|', ' ', '\t'])
            .chars()
            .take_while(|c| !c.is_whitespace() && !";&)".contains(*c))
            .filter(|c| !"\"'".contains(*c))
            .collect();
        target.contains('$') || target.rsplit('/').next() == Some(name)
    })
}

fn matches_one(patterns: &[String], text: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, text))
}

/// D4.1 and D4.2.
fn matches(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern).unwrap().matches(text)
        || pattern
            .strip_suffix(" *")
            .is_some_and(|start| Pattern::new(start).unwrap().matches(text))
}
