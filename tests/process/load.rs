//! Many questions wait in one pod, and many clients see them: each is told, listed and settled.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, WAITS, asks, step};
use crate::session_files::decisions;

/// How many; `cargo xtask soak` sets more.
fn count(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |count| count.parse().unwrap())
}

/// The ids of the open questions, a page at a time.
#[track_caller]
fn listed(client: &mut Client) -> Vec<Value> {
    let mut ids: Vec<Value> = Vec::new();
    loop {
        let page = json!({"after": ids.last(), "limit": 200});
        let page = client.call("permission_list", page).unwrap();
        let requests = page["requests"].as_array().unwrap();
        ids.extend(requests.iter().map(|request| request["id"].clone()));
        if page["more"] != true {
            return ids;
        }
    }
}

/// What a client is told up to an event of that name, by the events' names.
#[track_caller]
fn told_until(client: &mut Client, last: &str, wanted: &[&str]) -> Vec<(String, Value)> {
    let mut told = Vec::new();
    loop {
        let mut event = client.next_event().expect("the pod goes on");
        let name = event["event"].as_str().unwrap().to_owned();
        if name == last {
            return told;
        }
        if wanted.contains(&name.as_str()) {
            told.push((name, event["data"].take()));
        }
    }
}

#[test]
fn many_questions_and_many_clients_are_borne() {
    let n_questions = count("PODWARD_LOAD_QUESTIONS", 1_000);
    let n_clients = count("PODWARD_LOAD_CLIENTS", 20);
    let sandbox = Sandbox::new();
    let commands: Vec<String> = (0..n_questions).map(|n| format!("touch f{n}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let limits = format!("[limits]\nmessage_calls = {n_questions}\n");
    let manifest = sandbox.pod(&step(&commands), &(asks(WAITS) + &limits));
    let pod = Pod::serve(&sandbox, &manifest);
    let mut client = Client::approver(&pod, "tester");
    client.event("snapshot_end");
    client.run("go");
    let calls = [
        "tool_call_started",
        "tool_call_arguments",
        "tool_call_verdict",
    ];
    let mut live = Vec::new();
    let mut asked: Vec<Value> = Vec::new();
    while asked.len() < n_questions {
        let mut event = client.next_event().expect("the pod goes on");
        let name = event["event"].as_str().unwrap().to_owned();
        if name == "permission_request" {
            asked.push(event["data"].take());
        } else if calls.contains(&name.as_str()) {
            live.push((name, event["data"].take()));
        }
    }
    assert_eq!(live.len(), 3 * n_questions);
    let ids: Vec<Value> = asked.iter().map(|asked| asked["id"].clone()).collect();
    let different: BTreeSet<String> = ids.iter().map(Value::to_string).collect();
    assert_eq!(different.len(), n_questions);
    assert_eq!(listed(&mut client), ids);

    // Whoever comes later is told the same, in the same order.
    let mut others = Vec::new();
    for n in 0..n_clients {
        let mut other = Client::approver(&pod, &format!("client {n}"));
        let mut wanted = calls.to_vec();
        wanted.push("permission_request");
        let told = told_until(&mut other, "snapshot_end", &wanted);
        let (of_calls, requests): (Vec<_>, Vec<_>) = told
            .into_iter()
            .partition(|(name, _)| name != "permission_request");
        assert_eq!(of_calls, live);
        let requests: Vec<Value> = requests.into_iter().map(|(_, request)| request).collect();
        assert_eq!(requests, asked);
        let settled = json!({"events": ["permission_settled"]});
        other.call("subscribe", settled).unwrap();
        others.push(other);
    }

    // One yes is to that call alone, and everybody hears of it.
    let middle = asked.get(n_questions / 2).unwrap();
    client.reply(middle, json!({"kind": "once"})).unwrap();
    for other in &mut others {
        let settled = other.event("permission_settled");
        assert_eq!(settled["id"], middle["id"]);
        assert_eq!(settled["outcome"], json!({"kind": "approved_once"}));
    }
    assert!(!listed(&mut client).contains(&middle["id"]));

    // What so many are told of all questions would only fill the memory of this test.
    others.truncate(20);
    // What is said is told for each of them, in one line: it has to fit.
    let words = "x".repeat(5 * 1024 * 1024 / n_questions);
    let words = json!({"feedback": words});
    let refused = client.call("permission_reject_all", words).unwrap_err();
    assert_eq!(refused["code"], "invalid_params");
    let words = json!({"feedback": "not so many"});
    let settled = client.call("permission_reject_all", words).unwrap();
    let settled = settled["settled"].as_array().unwrap();
    assert_eq!(settled.len(), n_questions - 1);
    let finished = told_until(&mut client, "turn_ended", &["tool_call_finished"]);
    assert_eq!(finished.len(), n_questions);
    let ran = |(_, finished): &&(String, Value)| finished["call"] == middle["call"];
    let ran = &finished.iter().find(ran).unwrap().1;
    assert_eq!(ran["outcome"], json!({"kind": "done"}), "{ran}");
    assert_eq!(listed(&mut client), Vec::<Value>::new());
    // Each was asked about, and then decided: once.
    assert_eq!(decisions(&pod.session).len(), 2 * n_questions);
    // So many are not always asked about in the order of their calls.
    let made = (0..n_questions).filter(|n| sandbox.work().join(format!("f{n}")).exists());
    let made: Vec<String> = made.map(|n| format!("touch f{n}")).collect();
    assert_eq!(made, [middle["arguments"]["command"].as_str().unwrap()]);
}
