//! What the clients of a pod are told of the work of its children, and what they can ask about it.

use serde_json::{Value, json};

use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::serving::{Client, Pod};
use crate::trees::{ASKS, child, pipe, spawns, tree};

/// The next thing of this kind that the innermost pod does.
fn did(client: &mut Client, what: &str) -> Value {
    loop {
        let worked = client.event("child_worked");
        if worked["pod"] == "inner" && worked["did"]["event"] == what {
            assert_eq!(worked["path"], json!(["test", "worker"]), "{worked:#}");
            return worked;
        }
    }
}

#[test]
fn what_a_child_does_is_told_to_the_clients_of_every_pod_above_while_it_works() {
    let sandbox = Sandbox::new();
    pipe(&sandbox, "held");
    let long = "x".repeat(100_000);
    std::fs::write(sandbox.work().join("long.txt"), &long).unwrap();
    let held = ("bash", "{ command = \"cat held\" }");
    let read = ("read", "{ path = \"long.txt\" }");
    let pod = Pod::serve(&sandbox, &tree(&sandbox, &[held, read], ALLOW_ALL));
    let mut client = Client::onlooker(&pod, "onlooker");
    client.run("go");
    assert_eq!(
        did(&mut client, "text_delta")["did"]["data"]["text"],
        "I begin."
    );
    let called = did(&mut client, "tool_call_arguments");
    let data = &called["did"]["data"];
    assert_eq!(data["arguments"]["command"], "cat held", "{called:#}");
    // Each call is named by those that started its pod.
    let id = data["call"].as_str().unwrap().to_owned();
    assert_eq!(id.split('/').count(), 3, "{called:#}");
    let started_by = called["call"].as_str().unwrap();
    assert_eq!(id.rsplit_once('/').unwrap().0, started_by, "{called:#}");
    let judged = did(&mut client, "tool_call_verdict");
    assert_eq!(
        judged["did"]["data"]["ruling"]["verdict"], "allow",
        "{judged:#}"
    );
    // All of that was told while the call still runs.
    std::fs::write(sandbox.work().join("held"), "go").unwrap();
    let finished = [
        did(&mut client, "tool_call_finished"),
        did(&mut client, "tool_call_finished"),
    ];
    let of_tool = |tool: &str| {
        let all = finished.iter().map(|finished| &finished["did"]["data"]);
        let mut of_tool = all.filter(|data| data["tool"] == tool);
        of_tool.next().unwrap()["content"].as_str().unwrap()
    };
    assert!(of_tool("bash").contains("go"), "{finished:#?}");
    assert!(of_tool("read").len() <= 4096, "a long result is cut");
    client.event("turn_ended");
}

/// The calls of which a client has heard, in the order in which it did, when this one is judged.
fn heard_of(client: &mut Client, last: &str) -> Vec<Value> {
    let mut calls = Vec::new();
    loop {
        let event = client.next_event().unwrap();
        let (name, data) = match event["event"].as_str().unwrap() {
            "child_worked" => (
                &event["data"]["did"]["event"],
                &event["data"]["did"]["data"],
            ),
            _ => (&event["event"], &event["data"]),
        };
        if name == "tool_call_arguments" {
            calls.push(data["call"].clone());
        }
        if name == "tool_call_verdict" && data["call"] == last {
            return calls;
        }
    }
}

/// So both give the calls the same numbers.
#[test]
fn who_comes_late_hears_of_the_calls_of_children_in_the_same_order() {
    let sandbox = Sandbox::new();
    pipe(&sandbox, "held");
    let tries = [("list", "{}"), ("bash", "{ command = \"cat held\" }")];
    let pod = Pod::serve(&sandbox, &tree(&sandbox, &tries, ALLOW_ALL));
    let mut client = Client::onlooker(&pod, "onlooker");
    client.run("go");
    let held = "call_1_1/call_1_1/call_1_2";
    let calls = heard_of(&mut client, held);
    assert_eq!(calls.len(), 4, "{calls:#?}");
    let mut late = Client::onlooker(&pod, "late");
    let listed = late.call("permission_list", json!({})).unwrap();
    assert_eq!(listed["requests"], json!([]));
    std::fs::write(sandbox.work().join("held"), "go").unwrap();
    assert_eq!(heard_of(&mut late, held), calls);
    client.event("turn_ended");
}

#[test]
fn a_person_sees_of_which_pod_a_line_is() {
    let sandbox = Sandbox::new();
    let pod = tree(&sandbox, &[("list", "{}")], ALLOW_ALL);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(0);
    for line in [
        "test > worker > inner | I begin.\n",
        "test > worker > inner  list",
        "test > worker > inner | All is tried.\n",
        "test > worker | All is tried.\n",
    ] {
        assert!(ran.stderr.contains(line), "{line} {ran:#?}");
    }
    assert!(!ran.stdout.contains('|'), "data is the pod's own: {ran:#?}");
}

#[test]
fn what_nobody_answered_in_a_child_is_listed_with_the_rule_that_would_allow_it() {
    let sandbox = Sandbox::new();
    let touch = ("bash", "{ command = \"touch made\" }");
    let pod = tree(&sandbox, &[touch], ASKS);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(10);
    let (_, list) = ran
        .stderr
        .split_once("asked about, and nobody answered")
        .unwrap();
    for part in [
        "test > worker > inner  bash  touch made",
        "inner.toml",
        "pattern = \"touch made\"",
    ] {
        assert!(list.contains(part), "{part}: {list}");
    }
}

#[test]
fn calls_refused_in_children_count_and_are_told_apart() {
    let sandbox = Sandbox::new();
    let tries = [("bash", "{ command = \"touch made\" }"), ("list", "{}")];
    let pod = tree(&sandbox, &tries, ASKS);
    let pod = pod.to_str().unwrap();
    let ran = sandbox.run(&["run", pod, "go"]).exits(10);
    let says = "done · 1 call, 0 refused · children: 3 calls, 1 refused\n";
    assert!(ran.stderr.contains(says), "{ran:#?}");
    let ran = sandbox
        .run(&["run", pod, "go", "--format", "json"])
        .exits(10);
    let lines = ran.json_lines();
    let end = lines.iter().find(|line| line["event"] == "turn_ended");
    let end = &end.unwrap()["data"];
    assert_eq!(end["n_calls"], 1, "{end:#}");
    assert_eq!(end["n_refused"], 0, "{end:#}");
    assert_eq!(end["children"], json!({ "n_calls": 3, "n_refused": 1 }));
}

#[test]
fn a_no_to_all_settles_and_lists_what_children_ask() {
    let sandbox = Sandbox::new();
    let touches = [
        ("bash", "{ command = \"touch made\" }"),
        ("bash", "{ command = \"touch other\" }"),
    ];
    let pod = Pod::serve(&sandbox, &tree(&sandbox, &touches, ASKS));
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let asked = [client.request(), client.request()];
    // While it waits, the pod above says what was decided about it.
    let call = asked[0]["call"].clone();
    let explained = client
        .call("explain_call", json!({ "call": call }))
        .unwrap();
    assert_eq!(explained["pod"], "inner", "{explained:#}");
    assert_eq!(
        explained["arguments"]["command"], "touch made",
        "{explained:#}"
    );
    assert!(
        explained.to_string().contains("inner.toml"),
        "{explained:#}"
    );
    let settled = client.call("permission_reject_all", json!({})).unwrap();
    let mut settled: Vec<Value> = (settled["settled"].as_array().unwrap().iter())
        .map(|one| one["id"].clone())
        .collect();
    let mut ids: Vec<Value> = asked.iter().map(|one| one["id"].clone()).collect();
    settled.sort_by_key(ToString::to_string);
    ids.sort_by_key(ToString::to_string);
    assert_eq!(settled, ids);
    client.event("turn_ended");
    assert!(!sandbox.work().join("made").exists());
}

/// Who goes on with the session of a child is where the child was.
#[test]
fn the_session_of_a_child_goes_on_under_the_pods_above_it_or_not_at_all() {
    for mode in ["ceiling", "independent"] {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.work().join("vault")).unwrap();
        std::fs::write(sandbox.work().join("vault/in"), "secret line\n").unwrap();
        std::fs::write(sandbox.work().join("own.txt"), "own line\n").unwrap();
        let tries = "[[step]]\nlabel = \"a\"\n\
            [[step.call]]\ntool = \"read\"\ninput = { path = \"own.txt\" }\n\
            [[step.call]]\ntool = \"bash\"\ninput = { command = \"cat vault/in\" }\n\
            [[step]]\ntext = \"End.\"\n[[step.next]]\nprompt_contains = \"again\"\ngoto = \"a\"\n";
        sandbox.child("worker", tries, ALLOW_ALL);
        let worker = child("worker", &format!("mode = \"{mode}\""));
        let above = "[scope]\ndeny = [{ path = \"vault\", access = \"read\" }]\n\
            [permissions]\ndefault_action = \"allow\"\nrule = [\n\
            { tool = \"read\", pattern = \"own.txt\", action = \"deny\" }]\n";
        let pod = sandbox.pod(&spawns(&["worker"]), &format!("{worker}{above}"));
        sandbox
            .run(&["run", pod.to_str().unwrap(), "go"])
            .exits(if mode == "ceiling" { 10 } else { 0 });
        let session = sandbox.sessions().pop().unwrap();
        let id = session.file_name().unwrap().to_str().unwrap();
        let manifest = sandbox.path("worker.toml");
        let go_on = || sandbox.run(&["run", manifest.to_str().unwrap(), "again", "--resume", id]);
        go_on();
        let results =
            crate::session_files::exchanges(&session, crate::session_files::Ending::Written);
        let refused: Vec<bool> = results.iter().map(|call| call.is_error).collect();
        // By the rules of the pod above in one mode, by its scope in both.
        let once = [mode == "ceiling", true];
        assert_eq!(refused, [once, once].concat(), "{results:#?}");
        let kept = session.join("child.json");
        assert!(!std::fs::read_to_string(&kept).unwrap().contains("\"key\""));
        std::fs::write(&kept, "{}").unwrap();
        let ran = go_on();
        assert_ne!(ran.code, Some(0), "{ran:#?}");
        assert!(ran.stderr.contains("that of a child"), "{ran:#?}");
    }
}
