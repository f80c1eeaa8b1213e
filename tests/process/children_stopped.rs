//! A tree whose outermost pod is told to end while somebody is asked: where the pods wait for answers, what they
//! ask stays open for whoever goes on, as deep below as it may be.

use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::serving::{Client, Pod, WAITS, asks};
use crate::session_files::{Ending, exchanges};
use crate::trees::{calls, child, spawns};

/// A pod whose child `worker` starts a child `inner` that asks, and another that only works, at the same time.
fn waiting(sandbox: &Sandbox) -> PathBuf {
    let touch = ("bash", "{ command = \"touch made\" }");
    sandbox.child("inner", &calls(&[touch]), &asks(WAITS));
    let works = "{ command = \"echo x >> begun; exec sleep 100000\" }";
    sandbox.child("busy", &calls(&[("bash", works)]), ALLOW_ALL);
    let below = format!("{}{}", child("inner", ""), child("busy", ""));
    let rules = format!("{ALLOW_ALL}{WAITS}");
    sandbox.child(
        "worker",
        &spawns(&["inner", "busy"]),
        &format!("{below}{rules}"),
    );
    let worker = child("worker", "");
    sandbox.pod(&spawns(&["worker"]), &format!("{worker}{rules}"))
}

fn begun(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.work().join("begun")).unwrap_or_default()
}

/// The processes of pods that still run in this sandbox.
fn running(sandbox: &Sandbox) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.path("state/podward/run")).unwrap();
    let sockets = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    sockets.filter(|name| name.ends_with(".sock")).collect()
}

/// How a pod is told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// A client says so to one that serves.
    Stop,
    /// SIGTERM to one that serves.
    Serving,
    /// SIGTERM to a `run`.
    Running,
}

#[test]
fn what_a_tree_asks_when_it_is_told_to_end_is_asked_again_under_the_same_id() {
    for told in [Told::Stop, Told::Serving, Told::Running] {
        let sandbox = Sandbox::new();
        let manifest = waiting(&sandbox);
        let mut command = sandbox.podward(&["serve", "--format", "json"]);
        if told == Told::Running {
            command = sandbox.podward(&["run", "--format", "json"]);
            command.arg(&manifest).arg("go");
        } else {
            command.arg(&manifest);
        }
        let pod = Pod::start(&sandbox, command);
        let mut client = Client::approver(&pod, "tester");
        if told != Told::Running {
            client.run("go");
        }
        let asked = client.request();
        while begun(&sandbox).is_empty() {
            std::thread::yield_now();
        }
        let session = pod.session.clone();
        let code = match told {
            Told::Stop => {
                client.call("stop", json!({})).unwrap();
                0
            }
            Told::Serving | Told::Running => {
                let pid = i32::try_from(pod.id()).unwrap();
                kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
                143
            }
        };
        // Nothing says that it was settled, and how it goes on is told.
        let mut notices = Vec::new();
        while let Some(event) = client.next_event() {
            assert_ne!(event["event"], "permission_settled", "{event:#}");
            if event["event"] == "notice" {
                notices.push(event["data"]["message"].clone());
            }
        }
        assert_eq!(notices.last(), Some(&json!("1 question stays open")));
        assert_eq!(pod.ends(), Some(code));
        assert_eq!(running(&sandbox), Vec::<String>::new());
        let left = sandbox.run(&["pods"]).exits(0).stderr;
        for child in ["worker", "inner"] {
            let is_told = left.contains(&format!("the child `{child}` was killed, or stopped"));
            assert!(is_told, "{left}");
        }
        let pod = Pod::go_on(&sandbox, &manifest, &session);
        let mut client = Client::approver(&pod, "tester");
        let again = client.request();
        for key in ["id", "call", "digest", "pod", "path"] {
            assert_eq!(again[key], asked[key], "{again:#}");
        }
        client.reply(&again, json!({"kind": "once"})).unwrap();
        assert_eq!(client.event("turn_ended")["reason"]["kind"], "done");
        assert!(sandbox.work().join("made").exists());
        // What only worked had its result when the tree ended, and does not run a second time.
        assert_eq!(begun(&sandbox), "x\n");
        let sessions = sandbox.sessions();
        assert_eq!(sessions.len(), 4, "no child is started a second time");
        let [inner, busy] = &exchanges(&sessions[1], Ending::Written)[..] else {
            panic!("two were started");
        };
        assert_eq!(inner.content, "All is tried.");
        assert!(
            busy.is_error && busy.content.contains("cancelled"),
            "{busy:#?}"
        );
    }
}

/// A child that does not wait itself answers for itself, and what it was to do has its result.
#[test]
fn what_a_child_asks_that_does_not_wait_is_settled_when_the_tree_is_told_to_end() {
    let sandbox = Sandbox::new();
    let touch = ("bash", "{ command = \"touch made\" }");
    sandbox.child("worker", &calls(&[touch]), &asks("on_ask = \"refuse\"\n"));
    let rules = format!("{ALLOW_ALL}{WAITS}");
    let worker = child("worker", "");
    let manifest = sandbox.pod(&spawns(&["worker"]), &format!("{worker}{rules}"));
    let pod = Pod::serve(&sandbox, &manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let asked = client.request();
    client.call("stop", json!({})).unwrap();
    let settled = client.event("permission_settled");
    assert_eq!(settled["id"], asked["id"], "{settled}");
    assert_eq!(settled["outcome"]["kind"], "pod_stopped", "{settled}");
    assert_eq!(client.event("turn_ended")["reason"]["kind"], "cancelled");
    assert_eq!(pod.ends(), Some(0));
    let results = exchanges(&sandbox.sessions()[0], Ending::Written);
    assert!(results[0].is_error, "{results:#?}");
}
