//! What children ask: it is put to the clients of every pod above, one answer settles it, and nobody below
//! a pod of the tree gives one.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::serving::{Client, Pod};
use crate::session_files::decisions;
use crate::trees::{ASKS, calls, child, pipe, tree};

/// A pod whose grandchild asks whether it may make a file.
pub(crate) fn asking(sandbox: &Sandbox) -> PathBuf {
    tree(sandbox, &[("bash", "{ command = \"touch made\" }")], ASKS)
}

/// The sockets of the pods that a pod has started, in the order in which they began.
fn below(sandbox: &Sandbox) -> Vec<PathBuf> {
    let sessions = sandbox.sessions();
    let id = |session: &PathBuf| session.file_name().unwrap().to_str().unwrap().to_owned();
    sessions
        .iter()
        .skip(1)
        .map(|session| sandbox.path(&format!("state/podward/run/{}.sock", id(session))))
        .collect()
}

fn approver(socket: &Path, name: &str) -> Client {
    Client::hello(socket, json!({ "client": name, "can_approve": true }))
}

#[test]
fn a_question_reaches_every_pod_above_and_one_answer_settles_it() {
    for answered_at in 0..3 {
        let sandbox = Sandbox::new();
        let pod = Pod::serve(&sandbox, &asking(&sandbox));
        let mut top = Client::approver(&pod, "top");
        top.run("go");
        let at_top = top.request();
        assert_eq!(at_top["pod"], "inner", "{at_top:#}");
        assert_eq!(at_top["path"], json!(["test", "worker"]), "{at_top:#}");
        let sockets = below(&sandbox);
        let mut worker = approver(&sockets[0], "worker");
        let mut inner = approver(&sockets[1], "inner");
        let at_worker = worker.request();
        let at_inner = inner.request();
        assert_eq!(at_worker["digest"], at_top["digest"]);
        assert_eq!(at_inner["digest"], at_top["digest"]);
        // Who comes later is told of it too.
        let mut late = Client::approver(&pod, "late");
        assert_eq!(late.request()["id"], at_top["id"]);
        assert_eq!(late.open(), [at_top["id"].clone()]);
        let (client, request) = match answered_at {
            0 => (&mut top, &at_top),
            1 => (&mut worker, &at_worker),
            _ => (&mut inner, &at_inner),
        };
        let settled = client.reply(request, json!({"kind": "once"})).unwrap();
        assert_eq!(settled[0]["id"], request["id"], "{settled}");
        let names = ["top", "worker", "inner"];
        for settled in [
            top.event("permission_settled"),
            worker.event("permission_settled"),
            inner.event("permission_settled"),
            late.event("permission_settled"),
        ] {
            assert_eq!(settled["outcome"]["kind"], "approved_once", "{settled}");
            assert_eq!(settled["by"]["name"], names[answered_at], "{settled}");
        }
        // Nobody settles it a second time.
        let again = late.reply(&at_top, json!({"kind": "once"})).unwrap_err();
        let code = again["code"].as_str().unwrap();
        assert!(
            ["already_settled", "unknown_request"].contains(&code),
            "{again}"
        );
        top.event("turn_ended");
        assert!(sandbox.work().join("made").exists());
    }
}

#[test]
fn a_no_is_a_result_for_the_child_and_an_edit_is_judged_there() {
    for (answer, is_made) in [
        (json!({"kind": "reject", "feedback": "not now"}), false),
        (
            json!({"kind": "edit", "arguments": {"command": "touch made"}}),
            true,
        ),
        (
            json!({"kind": "always", "width": 0, "for": {"kind": "session"}}),
            true,
        ),
    ] {
        let sandbox = Sandbox::new();
        let pod = Pod::serve(&sandbox, &asking(&sandbox));
        let mut client = Client::approver(&pod, "tester");
        client.run("go");
        let request = client.request();
        client.reply(&request, answer.clone()).unwrap();
        client.event("turn_ended");
        assert_eq!(sandbox.work().join("made").exists(), is_made, "{answer}");
        // Who said it stands in the log of the child.
        let log = decisions(&sandbox.sessions()[2]);
        assert!(
            log.iter().any(|line| line.to_string().contains("tester")),
            "{log:#?}"
        );
    }
}

#[test]
fn nobody_there_is_nobody_for_a_child_either() {
    let sandbox = Sandbox::new();
    let pod = Pod::serve(&sandbox, &asking(&sandbox));
    let mut onlooker = Client::onlooker(&pod, "onlooker");
    // An approver that is gone again counts no more.
    let mut other = Client::approver(&pod, "other");
    other.call("attend", json!({"can_approve": false})).unwrap();
    let by_file = sandbox.path("pod.toml");
    assert!(by_file.exists());
    other.run("go");
    onlooker.event("turn_ended");
    assert!(!sandbox.work().join("made").exists());
    let log = decisions(&sandbox.sessions()[2]);
    let text = log.last().unwrap().to_string();
    assert!(
        text.contains("no_client") || text.contains("client_gone"),
        "{text}"
    );
}

#[test]
fn an_approver_who_leaves_leaves_the_children_too() {
    let sandbox = Sandbox::new();
    let manifest = asking(&sandbox);
    let text = std::fs::read_to_string(sandbox.path("inner.toml")).unwrap();
    let text = text.replace("[permissions]\n", "[permissions]\nclient_grace = \"0s\"\n");
    sandbox.write("inner.toml", &text);
    let pod = Pod::serve(&sandbox, &manifest);
    let mut onlooker = Client::onlooker(&pod, "onlooker");
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let request = client.request();
    client
        .call("attend", json!({"can_approve": false}))
        .unwrap();
    let settled = onlooker.event("permission_settled");
    assert_eq!(settled["id"], request["id"]);
    assert_eq!(settled["outcome"]["kind"], "client_gone", "{settled}");
    onlooker.event("turn_ended");
    assert!(!sandbox.work().join("made").exists());
}

/// What the pods of a tree have started answers neither their own questions nor those above or below.
#[test]
fn nobody_in_a_tree_answers_a_question_of_it() {
    let sandbox = Sandbox::new();
    // Without a namespace, a command makes nothing beside `.podward`.
    std::fs::create_dir(sandbox.work().join("out")).unwrap();
    let podward = env!("CARGO_BIN_EXE_podward");
    // Each tries it at every socket once it is let, and says how that went; nothing confines it.
    let tries = |who: &str| {
        pipe(&sandbox, &format!("let-{who}"));
        pipe(&sandbox, &format!("of-{who}"));
        let run = sandbox.path("state/podward/run");
        format!(
            "{{ command = '''cat let-{who}; for s in '{}'/*.sock; do \
             '{podward}' reply $s all reject 2>&1; echo code $?; done > of-{who}''' }}",
            run.display()
        )
    };
    let spawn = ("spawn", "{ child = \"inner\", prompt = \"go\" }");
    let touch = ("bash", "{ command = \"touch out/made\" }");
    sandbox.child("inner", &calls(&[touch, ("bash", &tries("inner"))]), ASKS);
    let inner = child("inner", "");
    sandbox.child(
        "worker",
        &calls(&[spawn, ("bash", &tries("worker"))]),
        &format!("{inner}{ALLOW_ALL}"),
    );
    let worker = child("worker", "");
    let start = ("spawn", "{ child = \"worker\", prompt = \"go\" }");
    let manifest = sandbox.pod(
        &calls(&[start, ("bash", &tries("top"))]),
        &format!("{worker}{ALLOW_ALL}"),
    );
    let arguments = ["serve", "--format", "json", manifest.to_str().unwrap()];
    let command = sandbox.without_namespaces(&arguments);
    let command = command.unwrap_or_else(|| sandbox.podward(&arguments));
    let pod = Pod::start(&sandbox, command);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let request = client.request();
    for who in ["top", "worker", "inner"] {
        std::fs::write(sandbox.work().join(format!("let-{who}")), "go").unwrap();
        let got = std::fs::read_to_string(sandbox.work().join(format!("of-{who}"))).unwrap();
        assert_eq!(got.matches("may not call").count(), 3, "{who}: {got}");
        assert_eq!(got.matches("code 1").count(), 3, "{who}: {got}");
    }
    // It is open still.
    assert_eq!(client.open(), [request["id"].clone()]);
    client.reply(&request, json!({"kind": "once"})).unwrap();
    client.event("turn_ended");
    assert!(sandbox.work().join("out/made").exists());
    for session in sandbox.sessions() {
        let log = decisions(&session);
        let rejected = |line: &Value| line.to_string().contains("rejected");
        assert!(!log.iter().any(rejected), "{log:#?}");
    }
}

#[test]
fn the_commands_that_answer_a_childs_question_work() {
    let sandbox = Sandbox::new();
    let pod = Pod::serve(&sandbox, &asking(&sandbox));
    let mut top = Client::approver(&pod, "top");
    top.run("go");
    top.request();
    let shown = sandbox.run(&["pending", "test"]).exits(0).stdout;
    let line = |words: &[&str]| -> Vec<String> {
        let mut lines = shown.lines().map(str::trim);
        let is_it = |line: &&str| words.iter().all(|word| line.contains(word));
        let line = lines.find(is_it).unwrap_or_else(|| panic!("{shown}"));
        line.split(' ').skip(1).map(str::to_owned).collect()
    };
    let why = sandbox.run(&line(&["podward explain "])).exits(0);
    assert!(why.stdout.contains("touch made"), "{why:#?}");
    sandbox.run(&line(&["podward reply ", " once "])).exits(0);
    top.event("turn_ended");
    assert!(sandbox.work().join("made").exists());
}
