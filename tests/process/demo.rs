//! README's first command.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{Ran, Sandbox, repository};
use crate::session_files::{Ending, decisions, exchanges, mode_of, verdicts};

/// Tool and verdict of each call of the demonstration.
pub(crate) const DEMO_VERDICTS: [(&str, &str); 10] = [
    ("grep", "allow"),
    ("bash", "allow"),
    ("read", "allow"),
    ("file_edit", "allow"),
    ("bash", "allow"),
    ("bash", "deny"),
    ("file_write", "deny"),
    ("bash", "allow"),
    ("file_edit", "allow"),
    ("bash", "allow"),
];

/// The tools whose calls were refused.
pub(crate) fn refused_tools(session: &Path) -> Vec<String> {
    exchanges(session, Ending::Written)
        .into_iter()
        .filter(|exchange| exchange.is_error && exchange.content.contains("refus"))
        .map(|exchange| exchange.tool)
        .collect()
}

fn demo(sandbox: &Sandbox, more: &[&str]) -> Ran {
    finish(sandbox.podward(&["run", "manifests/demo.toml"]).args(more))
}

fn finish(command: &mut Command) -> Ran {
    Ran::from(command.current_dir(repository()).output().unwrap()).exits(10)
}

fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_of(&path));
        } else {
            files.insert(path.display().to_string(), std::fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn the_demonstration_is_refused_twice_and_finishes_another_way() {
    let sandbox = Sandbox::new();
    let ran = demo(&sandbox, &[]);
    assert!(
        ran.stdout.contains("the tests say 2 passed, 0 failed"),
        "{ran:#?}"
    );
    for shown in [
        "bash  rm -rf cache",
        "file_write  .env",
        "`./tally --forget` drops what is kept in cache/",
        "secrets live there",
        "deny  rule",
        "allow  rule",
        "2 passed, 0 failed",
    ] {
        assert!(
            ran.stderr.contains(shown),
            "`{shown}` is not in the transcript: {ran:#?}"
        );
    }

    let session = sandbox.session();
    assert_eq!(refused_tools(&session), ["bash", "file_write"]);
    let expected = DEMO_VERDICTS.map(|(tool, verdict)| (tool.to_owned(), verdict.to_owned()));
    assert_eq!(verdicts(&session), expected);
    let denied = &decisions(&session)[5];
    assert_eq!(denied["arguments"]["command"], "rm -rf cache");
    assert_eq!(denied["verdict"]["cause"]["kind"], "rule");
    for file in ["session.jsonl", "decisions.jsonl"] {
        assert_eq!(mode_of(&session.join(file)), 0o600);
    }
    assert_eq!(mode_of(&session), 0o700);
}

#[test]
fn the_demonstration_works_where_no_mount_namespace_can_be_had() {
    let sandbox = Sandbox::new();
    let Some(mut command) = sandbox.without_namespaces(&["run", "manifests/demo.toml"]) else {
        // There are none anyway: the other tests of the demonstration show it.
        return;
    };
    let ran = finish(&mut command);
    assert!(
        ran.stdout.contains("the tests say 2 passed, 0 failed"),
        "{ran:#?}"
    );
    assert!(ran.stderr.contains("entry by entry"), "{ran:#?}");
}

#[test]
fn the_demonstration_leaves_the_project_and_the_temporary_directory_alone() {
    let sandbox = Sandbox::new();
    let project = repository().join("crates/podward/demo/project");
    let before = files_of(&project);
    demo(&sandbox, &["--format", "json"]);
    assert_eq!(files_of(&project), before);
    assert_eq!(files_of(&sandbox.path("tmp")), BTreeMap::new());
}
