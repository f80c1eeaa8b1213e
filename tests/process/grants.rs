//! What was approved for more than one call is shown and taken back, without a pod.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use podward_pod::{GrantStore, NewGrant, Places, SystemClock};
use podward_policy::{AskedBy, Asker, GrantRule, LayerKind, ToolName};
use podward_protocol::{Grant, GrantFor, SessionId};

use crate::sandbox::Sandbox;
use crate::serving::step;

fn store(sandbox: &Sandbox, workspace: &str) -> GrantStore {
    let places = Places::below(&sandbox.path(""));
    let session = SessionId::from_bits(7);
    let workspace = sandbox.path(workspace);
    let opened = GrantStore::open(&places, &workspace, &session, Arc::new(SystemClock));
    opened.unwrap().0
}

fn give(store: &GrantStore, pattern: &str, lasts: GrantFor) -> Grant {
    let asker = Asker {
        layer: LayerKind::Manifest,
        by: AskedBy::Default,
    };
    let bash = ToolName::new("bash").unwrap();
    let new = NewGrant {
        rules: vec![GrantRule::compile(&bash, pattern, vec![asker]).unwrap()],
        lasts,
        by: "tests".to_owned(),
        why: "git push".to_owned(),
    };
    store.add(new).unwrap()
}

#[test]
fn grants_are_listed_explained_and_taken_back() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(&["grants", "list"]).exits(0);
    assert_eq!(said.stdout, "");
    assert!(
        said.stderr.contains("nothing is approved"),
        "{}",
        said.stderr
    );
    fs::create_dir(sandbox.path("other")).unwrap();
    let here = store(&sandbox, "work");
    let there = store(&sandbox, "other");
    let push = give(&here, "git push *", GrantFor::Project);
    let pull = give(&there, "git pull", GrantFor::Uses { n: 3 });

    let listed = sandbox.run(&["grants", "list"]).exits(0).stdout;
    for grant in [&push, &pull] {
        assert!(listed.contains(grant.id.as_str()), "{listed}");
    }
    let lines = sandbox
        .run(&["grants", "list", "--workspace", ".", "--format", "json"])
        .exits(0)
        .json_lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["id"], push.id.as_str());
    let work = sandbox.work().canonicalize().unwrap();
    assert_eq!(lines[0]["workspace"], work.to_str().unwrap());
    assert_eq!(lines[0]["rules"][0]["pattern"], "git push *");

    let explained = sandbox
        .run(&["grants", "explain", pull.id.as_str()])
        .exits(0);
    assert!(
        explained.stdout.contains("for 3 more of 3 calls"),
        "{}",
        explained.stdout
    );
    let front = push.id.as_str().get(..6).unwrap();
    let several = sandbox.run(&["grants", "explain", front]).exits(64);
    assert!(
        several.stderr.contains(pull.id.as_str()),
        "{}",
        several.stderr
    );

    let revoked = sandbox
        .run(&["grants", "revoke", pull.id.as_str()])
        .exits(0);
    assert_eq!(revoked.stdout, format!("revoked {}\n", pull.id));
    // Whoever has the store open hears of it.
    assert_eq!(there.list(), []);
    sandbox
        .run(&["grants", "revoke", pull.id.as_str()])
        .exits(64);
    sandbox
        .run(&["grants", "revoke", "--all", "--workspace", "../other"])
        .exits(0);
    assert_eq!(here.list(), std::slice::from_ref(&push));
    let all = sandbox.run(&["grants", "revoke", "--all"]).exits(0);
    assert_eq!(all.stdout, format!("revoked {}\n", push.id));
    assert_eq!(here.list(), []);
    sandbox.run(&["grants", "revoke"]).exits(64);
}

/// Nobody is asked: who looks at the run reads what to take back.
#[test]
fn a_workspace_that_is_not_there_is_no_empty_one() {
    let sandbox = Sandbox::new();
    for command in [&["list"][..], &["revoke", "--all"]] {
        let arguments = [&["grants"], command, &["--workspace", "typo"]].concat();
        let said = sandbox.run(&arguments).exits(64);
        assert!(
            said.stderr.contains("no directory `typo`"),
            "{}",
            said.stderr
        );
    }
    let said = sandbox
        .run(&["grants", "revoke", "--workspace", "."])
        .exits(64);
    assert!(said.stderr.contains("--all"), "{}", said.stderr);
}

#[test]
fn a_call_that_a_grant_lets_run_says_so() {
    let sandbox = Sandbox::new();
    let grant = give(&store(&sandbox, "work"), "touch a", GrantFor::Project);
    let script = step(&["touch a"]) + &step(&["touch b"]);
    let pod = sandbox.pod(&script, "[permissions]\ndefault_action = \"ask\"\n");
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(10);
    let line = format!("#1   yes, by grant {}, given by tests\n", grant.id);
    assert!(ran.stderr.contains(&line), "{ran:#?}");
    assert_eq!(ran.stderr.matches("by grant").count(), 1, "{ran:#?}");
}

#[test]
fn what_does_not_count_is_named_with_its_line() {
    let sandbox = Sandbox::new();
    let here = store(&sandbox, "work");
    let push = give(&here, "git push", GrantFor::Session);
    let grants = sandbox.path("state/podward/grants");
    let files = fs::read_dir(&grants).unwrap();
    let mut files = files.map(|entry| entry.unwrap().path());
    let file = files
        .find(|path| path.extension().is_some_and(|found| found == "jsonl"))
        .unwrap();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("half a li\n{text}")).unwrap();
    let said = sandbox.run(&["grants", "list"]).exits(0);
    assert!(said.stdout.contains(push.id.as_str()), "{}", said.stdout);
    let expected = format!("{}:1: this grant does not count", file.display());
    assert!(said.stderr.contains(&expected), "{}", said.stderr);

    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let said = sandbox.run(&["grants", "list"]).exits(0);
    assert_eq!(said.stdout, "");
    assert!(
        said.stderr.contains("is open to others (mode 0644)"),
        "{}",
        said.stderr
    );
    let said = sandbox.run(&["grants", "revoke", "--all"]).exits(1);
    assert!(said.stderr.contains("chmod 600"), "{}", said.stderr);

    fs::set_permissions(&grants, fs::Permissions::from_mode(0o755)).unwrap();
    let said = sandbox.run(&["grants", "list"]).exits(1);
    assert!(said.stderr.contains("chmod 700"), "{}", said.stderr);
}
