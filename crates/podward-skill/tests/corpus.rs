//! The headers of `tests/skills/`: what is read of each is checked in, and a change to the reader is
//! a difference that can be reviewed.
//!
//! `PODWARD_UPDATE_SKILLS=1 cargo test -p podward-skill --test corpus` writes what is read now.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_policy::{Action, KnownTools, Lowered, Operation, Policies, ToolName};
use podward_skill::{
    Allowed, Gravity, ListKind, ListPlace, Problem, Reading, WorkflowRecord, read,
};
use serde_json::json;

/// The files, with the number of cases that each has at least.
const FILES: &[(&str, usize)] = &[("wild.txt", 45), ("forms.txt", 25), ("malformed.txt", 30)];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/skills")
}

/// One `SKILL.md` and what is expected of it.
struct Case {
    /// The line `=== …`.
    title: String,
    id: String,
    written: String,
    expected: String,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        let text = self
            .written
            .replace("<CR>", "\r")
            .replace("<BOM>", "\u{feff}");
        match text.split_once("<E9>") {
            Some((before, after)) => [before.as_bytes(), b"\xe9", after.as_bytes()].concat(),
            None => text.into_bytes(),
        }
    }
}

/// The comments at the top, and the cases.
fn cases(text: &str) -> (String, Vec<Case>) {
    let mut parts = text.split("\n=== ");
    let top = parts.next().unwrap().to_owned();
    let case = |part: &str| {
        let (title, rest) = part.split_once('\n').unwrap();
        let (written, expected) = rest
            .split_once("-->\n")
            .or_else(|| rest.strip_suffix("-->").map(|written| (written, "")))
            .unwrap_or_else(|| panic!("`{title}` has no line `-->`"));
        Case {
            title: title.to_owned(),
            id: title.split(' ').next().unwrap().to_owned(),
            written: written.to_owned(),
            expected: expected.trim_end().to_owned(),
        }
    };
    let found = parts.map(case).collect();
    (top, found)
}

fn file(name: &str) -> (PathBuf, String) {
    let path = directory().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

fn place<'a>(known: &'a KnownTools) -> ListPlace<'a> {
    ListPlace::new("SKILL.md", known)
        .in_skill("/skills/[x]")
        .in_workspace("/work")
}

/// What is read of a file, in words.
fn shown(reading: &Reading) -> String {
    let mut shown = String::new();
    let known = KnownTools::built_in();
    let mut problems = reading.problems.clone();
    match &reading.skill {
        None => shown.push_str("no skill\n"),
        Some(skill) => {
            let compiled = skill.tools.compile(&place(&known));
            match (&skill.tools.allowed, &compiled.layer) {
                (Allowed::NotRestricted, None) => shown.push_str("no restriction\n"),
                (Allowed::NotRestricted, Some(_)) => shown.push_str("allow the rest\n"),
                (Allowed::Only(_), Some(_)) => shown.push_str("deny the rest\n"),
                (Allowed::Only(_), None) => panic!("`allowed-tools` restricts"),
            }
            for entry in &compiled.entries {
                let action = match entry.list {
                    ListKind::Allowed => "allow",
                    ListKind::Disallowed => "deny",
                };
                let written = &skill.tools.entries(entry.list)[entry.place].written;
                if entry.rules.is_empty() {
                    writeln!(shown, "{action} no tool <- {written}").unwrap();
                }
                for (tool, pattern) in &entry.rules {
                    writeln!(shown, "{action} {tool} `{pattern}` <- {written}").unwrap();
                }
            }
            problems.extend(compiled.problems);
        }
    }
    for problem in &problems {
        shown.push_str(&line_of(problem, &reading.text));
    }
    shown.trim_end().to_owned()
}

fn line_of(problem: &Problem, text: &str) -> String {
    let gravity = match problem.gravity {
        Gravity::Hint => "hint",
        Gravity::Warning => "warning",
        Gravity::Fault => "fault",
        Gravity::Error => "error",
    };
    let before = &text[..problem.span.start];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap()
        .trim_start_matches('\u{feff}');
    let column = column.chars().count() + 1;
    let marked = text[problem.span.range()].escape_debug();
    let (message, help) = (
        &problem.message,
        problem.help.as_deref().unwrap_or_default(),
    );
    format!("{gravity} {line}:{column} [{marked}] {message} ({help})\n")
}

#[test]
fn what_is_read_of_each_header_is_checked_in() {
    for (name, at_least) in FILES {
        let (path, text) = file(name);
        let (mut found, cases) = cases(&text);
        assert!(cases.len() >= *at_least, "{name} has {} cases", cases.len());
        for case in &cases {
            let reading = read(&case.id, &case.bytes());
            let Case { title, written, .. } = case;
            write!(found, "\n=== {title}\n{written}-->\n{}", shown(&reading)).unwrap();
        }
        found.push('\n');
        if std::env::var_os("PODWARD_UPDATE_SKILLS").is_some() {
            std::fs::write(&path, &found).unwrap();
            continue;
        }
        for case in &cases {
            let reading = read(&case.id, &case.bytes());
            assert_eq!(case.expected, shown(&reading), "{name}: {}", case.id);
        }
        assert_eq!(text, found, "{name}");
    }
}

#[test]
fn a_file_with_errors_allows_nothing() {
    let (_, text) = file("malformed.txt");
    let known = KnownTools::built_in();
    for case in cases(&text).1 {
        let reading = read(&case.id, &case.bytes());
        let compiled = reading.tools().compile(&place(&known));
        let is_error = |problem: &Problem| problem.gravity == Gravity::Error;
        let mut problems = reading.problems.iter().chain(&compiled.problems);
        assert!(problems.any(is_error), "{}", case.id);
        if reading.skill.is_some() {
            continue;
        }
        let policies = Policies::from(compiled.layer.unwrap());
        for tool in known
            .iter()
            .filter(|tool| tool.as_str() != "external_directory")
        {
            let call = Lowered::from(Operation::plain(tool, "x"));
            assert_eq!(
                policies.judge(&call).action,
                Action::Deny,
                "{}: {tool}",
                case.id
            );
            assert!(!policies.may_ever_run(tool), "{}: {tool}", case.id);
        }
    }
}

#[test]
fn a_header_read_again_is_the_same_skill() {
    for (name, _) in FILES {
        for case in cases(&file(name).1).1 {
            let Some(mut skill) = read(&case.id, &case.bytes()).skill else {
                continue;
            };
            let again = read(&case.id, skill.header.as_bytes()).skill;
            skill.body = "".into();
            assert_eq!(again, Some(skill), "{}", case.id);
        }
    }
}

/// Commands of all kinds, and the other tools with a text each.
fn calls() -> Vec<(ToolName, Lowered)> {
    let place = podward_tools::Place::new("/work", Some("/home/me".into())).isolated();
    let lower = |tool, arguments| {
        let (_, lowered) = podward_tools::lower(tool, arguments, &place).unwrap();
        (ToolName::new(tool).unwrap(), lowered)
    };
    let commands = [
        "git status",
        "git -C x log && jq . a",
        "npm run test -- x",
        "python3 /skills/[x]/run.py",
        "rm -rf \"$x\"",
        "ls | sh > y",
        "# nothing",
    ];
    let commands = commands.map(|command| lower("bash", json!({ "command": command })));
    let others = [
        lower("read", json!({"path": "src/a"})),
        lower("read", json!({"path": ".env"})),
        lower("list", json!({"path": "src"})),
        lower("glob", json!({"pattern": "*.rs"})),
        lower("grep", json!({"pattern": "x"})),
        lower("file_write", json!({"path": "docs/a.md", "content": ""})),
        lower(
            "file_edit",
            json!({"path": "a", "old_string": "x", "new_string": "y"}),
        ),
        lower("web_fetch", json!({"url": "https://docs.example.com/a"})),
        lower("skill", json!({"name": "other"})),
        lower("mcp__github__get_issue", json!({"a": 1})),
    ];
    commands.into_iter().chain(others).collect()
}

#[test]
fn a_record_from_a_session_file_restricts_as_the_skill_itself() {
    let known = KnownTools::built_in();
    let calls = calls();
    let mut n_verdicts = [0, 0];
    for (name, _) in FILES {
        for case in cases(&file(name).1).1 {
            let Some(skill) = read(&case.id, &case.bytes()).skill else {
                continue;
            };
            let record = WorkflowRecord::of_skill(&skill, "sha256:0", "SKILL.md", "/skills/[x]");
            let written = serde_json::to_string(&record).unwrap();
            let read_back: WorkflowRecord = serde_json::from_str(&written).unwrap();
            assert_eq!(read_back.lists(), skill.tools, "{}", case.id);
            let layer = read_back.layer(&known, Some("/work"));
            let of_record = Policies::default().under([Arc::new(layer)]);
            let of_skill = skill
                .tools
                .compile(&place(&known))
                .layer
                .map(Policies::from);
            for (tool, call) in &calls {
                let under = of_record.judge_call(tool, call).ruling.action;
                let may_run = of_skill.as_ref().is_none_or(|lists| {
                    lists.may_ever_run(tool) && lists.judge(call).action == Action::Allow
                });
                assert_eq!(under == Action::Allow, may_run, "{}: {call:?}", case.id);
                assert_ne!(under, Action::Ask, "{}: {call:?}", case.id);
                n_verdicts[usize::from(may_run)] += 1;
            }
        }
    }
    assert!(n_verdicts.iter().all(|n| *n > 200), "{n_verdicts:?}");
}

#[test]
fn every_problem_lies_in_the_text_and_says_what_to_do() {
    for (name, _) in FILES {
        for case in cases(&file(name).1).1 {
            let bytes = case.bytes();
            for end in 0..=bytes.len() {
                let reading = read(&case.id, &bytes[..end]);
                for problem in &reading.problems {
                    let part = reading.text.get(problem.span.range());
                    assert!(part.is_some(), "{} cut at {end}: {problem:?}", case.id);
                    assert!(problem.help.is_some(), "{}: {problem:?}", case.id);
                }
                let is_bad = reading.problems.iter().any(|p| p.gravity == Gravity::Error);
                assert_eq!(reading.skill.is_none(), is_bad, "{} cut at {end}", case.id);
            }
        }
    }
}

#[test]
fn a_tool_that_is_registered_is_known() {
    let deploy = ToolName::new("deploy").unwrap();
    let known = KnownTools::with([deploy.clone()]);
    let text = "---\nname: x\ndescription: x\nallowed-tools: deploy\n---\n";
    let skill = read("x", text.as_bytes()).skill.unwrap();
    let compiled = skill.tools.compile(&ListPlace::new("SKILL.md", &known));
    assert_eq!(compiled.problems, []);
    let policies = Policies::from(compiled.layer.unwrap());
    let call = Lowered::from(Operation::plain(&deploy, "x"));
    assert_eq!(policies.judge(&call).action, Action::Allow);
}

/// Why `skills-ref` says otherwise; docs/skills.md explains each word.
const DIFFERENCES: &[&str] = &["flow", "keys", "letters", "lists", "mark", "padding"];

#[test]
fn where_skills_ref_says_otherwise_there_is_a_reason() {
    let (_, text) = file("skills-ref.txt");
    let mut theirs: Vec<(&str, bool, Option<&str>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(';')) {
        let fields: Vec<&str> = line.split(" | ").collect();
        let is_valid = match fields[1] {
            "valid" => true,
            "invalid" => false,
            word => panic!("`{word}` is no verdict"),
        };
        theirs.push((fields[0], is_valid, fields.get(2).copied()));
    }
    let mut ours = Vec::new();
    for (name, _) in FILES {
        for case in cases(&file(name).1).1 {
            let is_valid = read(&case.id, &case.bytes()).skill.is_some();
            ours.push((case.id, is_valid));
        }
    }
    let ids: Vec<&str> = theirs.iter().map(|(id, ..)| *id).collect();
    let known: Vec<&str> = ours.iter().map(|(id, _)| &**id).collect();
    assert_eq!(ids, known, "each case has a line, in the same order");
    for ((id, is_valid), (_, is_valid_there, why)) in ours.iter().zip(&theirs) {
        assert_eq!(is_valid != is_valid_there, why.is_some(), "{id}: {why:?}");
        assert!(
            why.is_none_or(|why| DIFFERENCES.contains(&why)),
            "{id}: {why:?}"
        );
    }
    let page = std::fs::read_to_string(directory().join("../../docs/skills.md")).unwrap();
    for word in DIFFERENCES {
        assert!(
            page.contains(&format!("| {word} |")),
            "the page explains `{word}`"
        );
    }
}
