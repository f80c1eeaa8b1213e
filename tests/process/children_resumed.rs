//! A tree whose outermost pod was killed goes on with the session of that: its children do, they ask again, and
//! nothing is done twice.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};
use crate::serving::{Client, Pod, WAITS};
use crate::session_files::{Ending, exchanges};
use crate::trees::{ASKS, Holding, calls, child, spawns, tree};

/// Goes on with the session of the outermost pod, with nobody there.
fn go_on(sandbox: &Sandbox) -> Ran {
    let pod = sandbox.path("pod.toml");
    let id = id_of(&sandbox.sessions()[0]);
    let arguments = ["run", pod.to_str().unwrap(), "--resume", &id];
    sandbox.run(&arguments)
}

fn id_of(session: &Path) -> String {
    session.file_name().unwrap().to_str().unwrap().to_owned()
}

fn n_lines(path: PathBuf) -> usize {
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .lines()
        .count()
}

/// A pod whose grandchild asks about a command, and where every pod waits for an answer.
fn waiting(sandbox: &Sandbox) -> PathBuf {
    let asks = ("bash", "{ command = \"touch made && echo x >> ran\" }");
    let free = "[[step]]\n[[step.call]]\ntool = \"bash\"\n\
        input = { command = \"echo x >> free\" }\n";
    let script = format!("{free}{}", calls(&[asks]));
    sandbox.child("inner", &script, &format!("{ASKS}{WAITS}"));
    let rest = |below: &str| format!("{}{ALLOW_ALL}{WAITS}", child(below, ""));
    sandbox.child("worker", &spawns(&["inner"]), &rest("inner"));
    sandbox.pod(&spawns(&["worker"]), &rest("worker"))
}

#[test]
fn what_a_tree_asked_when_it_was_killed_is_asked_again_under_the_same_id() {
    for answer in ["once", "reject"] {
        let sandbox = Sandbox::new();
        let manifest = waiting(&sandbox);
        let mut pod = Pod::serve(&sandbox, &manifest);
        let mut client = Client::approver(&pod, "tester");
        client.run("go");
        let asked = client.request();
        for _ in 0..2 {
            let session = pod.session.clone();
            pod.kill();
            pod = Pod::go_on(&sandbox, &manifest, &session);
            client = Client::approver(&pod, "tester");
            let again = client.request();
            for key in ["id", "call", "digest", "pod", "path"] {
                assert_eq!(again[key], asked[key], "{again:#}");
            }
        }
        client.reply(&asked, json!({ "kind": answer })).unwrap();
        client.event("turn_ended");
        let is_made = answer == "once";
        assert_eq!(sandbox.work().join("made").exists(), is_made);
        assert_eq!(n_lines(sandbox.work().join("ran")), usize::from(is_made));
        // What had its result has it, and does not run again.
        assert_eq!(n_lines(sandbox.work().join("free")), 1);
        let sessions = sandbox.sessions();
        assert_eq!(sessions.len(), 3, "no child is started a second time");
        for session in &sessions[..2] {
            let calls = exchanges(session, Ending::Written);
            let [spawn] = &calls[..] else {
                panic!("{calls:#?}");
            };
            assert!(!spawn.is_error, "{spawn:#?}");
            assert!(spawn.content.starts_with("All is tried."), "{spawn:#?}");
        }
    }
}

#[test]
fn a_tree_that_was_killed_while_a_command_ran_goes_on() {
    let mut holding = Holding::start();
    holding.kill(0);
    holding.let_go();
    holding.running.wait().unwrap();
    let sandbox = holding.sandbox;
    let ran = go_on(&sandbox).exits(0);
    assert!(ran.stdout.starts_with("All is tried."), "{ran:#?}");
    let sessions = sandbox.sessions();
    assert_eq!(sessions.len(), 3, "{ran:#?}");
    // The command is not run a second time.
    let inner = exchanges(&sessions[2], Ending::Written);
    assert!(inner[0].content.contains("interrupted"), "{inner:#?}");
}

/// The session of a pod, cut off behind so many lines.
fn cut(session: &Path, lines: &[String], n: usize) {
    let text: String = lines
        .iter()
        .take(n)
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(session.join("session.jsonl"), text).unwrap();
}

fn lines(session: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(session.join("session.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The place of the first line with an entry of this kind.
fn place(lines: &[String], entry: &str) -> usize {
    let is_it = |line: &String| line.contains(&format!("\"entry\":\"{entry}\""));
    lines.iter().position(is_it).unwrap()
}

/// A tree that has done its work; the lines of the two pods above.
fn done(sandbox: &Sandbox) -> [(PathBuf, Vec<String>); 2] {
    let works = ("bash", "{ command = \"echo x >> ran\" }");
    let pod = tree(sandbox, &[works], ALLOW_ALL);
    sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(0);
    let sessions = sandbox.sessions();
    [0, 1].map(|at: usize| (sessions[at].clone(), lines(&sessions[at])))
}

#[test]
fn a_child_that_had_ended_is_not_asked_anything_again() {
    let sandbox = Sandbox::new();
    let [(top, of_top), (worker, of_worker)] = done(&sandbox);
    for n in place(&of_worker, "started") + 1..=of_worker.len() {
        cut(&top, &of_top, place(&of_top, "started") + 1);
        cut(&worker, &of_worker, n);
        let pod = sandbox.path("pod.toml");
        let id = id_of(&top);
        let arguments = [
            "run",
            pod.to_str().unwrap(),
            "--resume",
            &id,
            "--format",
            "json",
        ];
        let ran = sandbox.run(&arguments).exits(0);
        let end = ran
            .json_lines()
            .into_iter()
            .find(|line| line["event"] == "turn_ended");
        // The last word of the pod, and that of its child where it had not said it.
        let has_spoken = of_worker[..n]
            .iter()
            .filter(|line| line.contains("\"assistant\""))
            .count();
        let n_steps = if has_spoken == 2 { 1 } else { 2 };
        assert_eq!(end.unwrap()["data"]["n_steps"], n_steps, "{n} {ran:#?}");
        let result = exchanges(&top, Ending::Written);
        assert!(
            result[0].content.starts_with("All is tried."),
            "{n} {result:#?}"
        );
        assert_eq!(n_lines(sandbox.work().join("ran")), 1, "{n}");
        assert_eq!(sandbox.sessions().len(), 3, "{n}");
    }
}

#[test]
fn a_child_that_had_not_its_prompt_gets_it() {
    let sandbox = Sandbox::new();
    let [(top, of_top), (worker, of_worker)] = done(&sandbox);
    let inner = sandbox.sessions().remove(2);
    for n in [None, Some(0), Some(1), Some(place(&of_worker, "prompt"))] {
        cut(&top, &of_top, place(&of_top, "started") + 1);
        let _ = std::fs::remove_dir_all(&inner);
        let _ = std::fs::remove_file(worker.join("decisions.jsonl"));
        match n {
            Some(n) => cut(&worker, &of_worker, n),
            None => std::fs::remove_dir_all(&worker).unwrap(),
        }
        std::fs::remove_file(sandbox.work().join("ran")).unwrap();
        let ran = go_on(&sandbox).exits(0);
        assert!(ran.stdout.starts_with("All is tried."), "{n:?} {ran:#?}");
        assert_eq!(n_lines(sandbox.work().join("ran")), 1, "{n:?}");
        let sessions = sandbox.sessions();
        assert_eq!(sessions.len(), 3, "{n:?}");
        assert_eq!(sessions[1], worker, "{n:?}");
        std::fs::remove_dir_all(&sessions[2]).unwrap();
    }
}

#[test]
fn what_a_rule_denies_by_now_does_not_go_on_and_names_its_session() {
    let mut holding = Holding::start();
    holding.kill(0);
    holding.let_go();
    holding.running.wait().unwrap();
    let sandbox = holding.sandbox;
    let denies = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
        { tool = \"spawn\", pattern = \"worker\", action = \"deny\" }]\n";
    sandbox.pod(
        &spawns(&["worker"]),
        &format!("{}{denies}", child("worker", "")),
    );
    let ran = go_on(&sandbox).exits(10);
    let sessions = sandbox.sessions();
    let above = exchanges(&sessions[0], Ending::Written);
    assert!(above[0].content.contains("Refused:"), "{ran:#?} {above:#?}");
    assert!(
        above[0].content.contains(&id_of(&sessions[1])),
        "{above:#?}"
    );
    assert_eq!(sessions.len(), 3);
}

/// The rules that hold for a child which goes on are those of the pods above as they are then, also for whoever
/// goes on with its session by hand.
#[test]
fn a_child_goes_on_under_the_rules_of_now() {
    let sandbox = Sandbox::new();
    let manifest = waiting(&sandbox);
    let pod = Pod::serve(&sandbox, &manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    client.request();
    pod.kill();
    let denies = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
        { tool = \"bash\", pattern = \"touch *\", action = \"deny\" }]\n";
    sandbox.pod(
        &spawns(&["worker"]),
        &format!("{}{denies}", child("worker", "")),
    );
    let ran = go_on(&sandbox).exits(10);
    assert!(!sandbox.work().join("made").exists(), "{ran:#?}");
    let sessions = sandbox.sessions();
    let inner = exchanges(&sessions[2], Ending::Written);
    assert!(inner[1].content.contains("Refused:"), "{inner:#?}");
    let kept = std::fs::read_to_string(sessions[2].join("child.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert!(kept.to_string().contains("deny"), "{kept:#}");
}

/// A pod that asks about its child, which asks about a command.
fn asked_twice(sandbox: &Sandbox) -> PathBuf {
    let touch = ("bash", "{ command = \"touch made\" }");
    sandbox.child("worker", &calls(&[touch]), &format!("{ASKS}{WAITS}"));
    let asks = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
        { tool = \"spawn\", pattern = \"worker\", action = \"ask\" }]\n";
    let worker = child("worker", "");
    sandbox.pod(&spawns(&["worker"]), &format!("{worker}{asks}{WAITS}"))
}

/// The session of a tree that was killed after a person had let its child run, and while that asked.
fn approved(sandbox: &Sandbox, manifest: &Path, answer: Value) -> (PathBuf, Value) {
    let pod = Pod::serve(sandbox, manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let spawn = client.request();
    assert_eq!(spawn["tool"], "spawn");
    client.reply(&spawn, answer).unwrap();
    let asked = client.request();
    assert_eq!(asked["tool"], "bash");
    let session = pod.session.clone();
    pod.kill();
    (session, asked)
}

#[test]
fn a_child_that_a_person_let_run_goes_on_without_being_asked_about_again() {
    let edited = json!({"kind": "edit", "arguments": {"child": "worker", "prompt": "go on"}});
    for answer in [json!({"kind": "once"}), edited] {
        let sandbox = Sandbox::new();
        let manifest = asked_twice(&sandbox);
        let (session, asked) = approved(&sandbox, &manifest, answer);
        for _ in 0..2 {
            let pod = Pod::go_on(&sandbox, &manifest, &session);
            let mut client = Client::approver(&pod, "tester");
            assert_eq!(client.request()["id"], asked["id"]);
            assert_eq!(client.open(), [asked["id"].clone()]);
            pod.kill();
        }
        let pod = Pod::go_on(&sandbox, &manifest, &session);
        let mut client = Client::approver(&pod, "tester");
        let again = client.request();
        client.reply(&again, json!({"kind": "once"})).unwrap();
        assert_eq!(client.event("turn_ended")["reason"]["kind"], "done");
        assert!(sandbox.work().join("made").exists());
        // Each time it ran, it is on record who had let it.
        let log = std::fs::read_to_string(session.join("decisions.jsonl")).unwrap();
        let ran = log.lines().filter(|line| line.contains("\"run\""));
        let by: Vec<Value> = ran
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["by"]["name"].take())
            .collect();
        assert_eq!(by, ["tester"; 4]);
    }
}

/// What a person approved is what they saw: other rules, or another child under the same name, are not.
#[test]
fn a_child_that_a_person_let_run_is_asked_about_again_where_it_is_another_by_now() {
    for (file, was, is) in [
        (
            "pod.toml",
            "rule = [",
            "rule = [\n{ tool = \"bash\", pattern = \"rm *\", action = \"deny\" },",
        ),
        ("worker.toml", "touch *", "rm *"),
        (
            "pod.toml",
            "\"worker.toml\"",
            "\"worker.toml\"\nmode = \"independent\"",
        ),
    ] {
        let sandbox = Sandbox::new();
        let manifest = asked_twice(&sandbox);
        let (session, _) = approved(&sandbox, &manifest, json!({"kind": "once"}));
        let text = std::fs::read_to_string(sandbox.path(file)).unwrap();
        let changed = text.replacen(was, is, 1);
        assert_ne!(changed, text);
        std::fs::write(sandbox.path(file), changed).unwrap();
        let pod = Pod::go_on(&sandbox, &manifest, &session);
        let mut client = Client::approver(&pod, "tester");
        assert_eq!(client.request()["tool"], "spawn");
    }
}

#[test]
fn a_child_that_was_killed_is_a_result_that_names_its_session() {
    let mut holding = Holding::start();
    holding.kill(1);
    holding.let_go();
    let ran = Ran::from(holding.running.wait_with_output().unwrap()).exits(0);
    let sandbox = holding.sandbox;
    let sessions = sandbox.sessions();
    let above = exchanges(&sessions[0], Ending::Written);
    assert!(
        above[0].content.contains(&id_of(&sessions[1])),
        "{ran:#?} {above:#?}"
    );
    // By hand, it goes on with what it has started.
    let manifest = sandbox.path("worker.toml");
    let id = id_of(&sessions[1]);
    let by_hand = sandbox.run(&["run", manifest.to_str().unwrap(), "--resume", &id]);
    let by_hand = by_hand.exits(0);
    assert!(by_hand.stdout.starts_with("All is tried."), "{by_hand:#?}");
    assert_eq!(sandbox.sessions().len(), 3);
}

/// What a person makes of a call that had begun is another call: the child of before does not go on as another.
#[test]
fn what_a_person_edits_when_a_tree_goes_on_is_what_runs() {
    let sandbox = Sandbox::new();
    let touch = |file: &str| calls(&[("bash", &format!("{{ command = \"touch {file}\" }}"))]);
    sandbox.child("reader", &touch("by-reader"), &format!("{ASKS}{WAITS}"));
    sandbox.child("writer", &touch("by-writer"), ALLOW_ALL);
    let asks = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
        { tool = \"spawn\", pattern = \"*\", action = \"ask\" }]\n";
    let children = format!("{}{}", child("reader", ""), child("writer", ""));
    let manifest = sandbox.pod(&spawns(&["reader"]), &format!("{children}{asks}{WAITS}"));
    let pod = Pod::serve(&sandbox, &manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let spawn = client.request();
    client.reply(&spawn, json!({"kind": "once"})).unwrap();
    client.request();
    let session = pod.session.clone();
    pod.kill();
    // Under other rules than it was answered under, it is asked about again.
    let text = std::fs::read_to_string(&manifest).unwrap();
    sandbox.write(
        "pod.toml",
        &text.replace(
            "rule = [",
            "rule = [{ tool = \"read\", pattern = \"x\", action = \"deny\" },",
        ),
    );
    let pod = Pod::go_on(&sandbox, &manifest, &session);
    let mut client = Client::approver(&pod, "tester");
    let again = client.request();
    assert_eq!(again["tool"], "spawn", "{again:#}");
    let arguments = json!({"child": "writer", "prompt": "something else"});
    let edit = json!({"kind": "edit", "arguments": arguments});
    client.reply(&again, edit).unwrap();
    client.event("turn_ended");
    assert!(sandbox.work().join("by-writer").exists());
    assert!(!sandbox.work().join("by-reader").exists());
    let sessions = sandbox.sessions();
    assert_eq!(
        sessions.len(),
        3,
        "the other child has a session of its own"
    );
    let result = &exchanges(&sessions[0], Ending::Written)[0].content;
    for said in [&id_of(&sessions[1]), "something else", "All is tried."] {
        assert!(result.contains(said), "{result}");
    }
}
