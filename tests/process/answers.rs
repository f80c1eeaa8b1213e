//! What is asked is answered exactly once, and the answer does what it says: each way over the real
//! socket of a real pod.

use std::path::PathBuf;

use podward_model::ScriptedModel;
use podward_test_provider::{Format, Setup, TestProvider};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, WAITS, asks, says, step};
use crate::session_files::{Ending, decisions, exchanges, mode_of};

fn once() -> Value {
    json!({"kind": "once"})
}

fn reject() -> Value {
    json!({"kind": "reject"})
}

/// A pod with an approver, in a turn.
fn turn(sandbox: &Sandbox, script: &str, more: &str) -> (Pod, Client) {
    let manifest = sandbox.pod(script, &asks(more));
    let pod = Pod::serve(sandbox, &manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    (pod, client)
}

fn has(sandbox: &Sandbox, name: &str) -> bool {
    sandbox.work().join(name).exists()
}

/// The kind of each outcome.
fn kinds(settled: &Value) -> Vec<&str> {
    let settled = settled.as_array().unwrap().iter();
    settled
        .map(|one| one["outcome"]["kind"].as_str().unwrap())
        .collect()
}

/// Waits until a turn has ended; the names of all events on the way, in order.
fn until_the_end(client: &mut Client) -> Vec<String> {
    let mut names = Vec::new();
    while names.last().is_none_or(|name| name != "turn_ended") {
        let event = client.next_event().unwrap();
        names.push(event["event"].as_str().unwrap().to_owned());
    }
    names
}

#[test]
fn once_runs_the_call_once_and_the_decision_is_on_disk_before_anything_else() {
    let sandbox = Sandbox::new();
    let script = step(&["touch made; echo ran >> ran"]);
    let (pod, mut client) = turn(&sandbox, &script, "");
    let request = client.request();
    assert_eq!(request["pod"], "test");
    assert_eq!(
        request["arguments"]["command"],
        "touch made; echo ran >> ran"
    );
    assert_eq!(
        decisions(&pod.session).len(),
        1,
        "the question is on record"
    );
    assert!(!has(&sandbox, "made"));
    let settled = client.reply(&request, once()).unwrap();
    let expected = json!([{
        "id": request["id"],
        "outcome": {"kind": "approved_once"},
        "by": {"kind": "client", "name": "tester", "edited": false},
    }]);
    let without_default = |mut settled: Value| {
        if settled[0]["by"].get("edited").is_none() {
            settled[0]["by"]["edited"] = false.into();
        }
        settled
    };
    assert_eq!(without_default(settled), expected);
    let log = decisions(&pod.session);
    assert_eq!(log.len(), 2, "the answer is on record");
    assert_eq!(log[1]["by"]["kind"], "client", "{}", log[1]);
    assert_eq!(log[1]["by"]["name"], "tester", "{}", log[1]);
    let names = until_the_end(&mut client);
    let place = |name: &str| names.iter().position(|one| one == name).unwrap();
    assert!(
        place("permission_settled") < place("tool_call_finished"),
        "{names:?}"
    );
    let ran = std::fs::read_to_string(sandbox.work().join("ran")).unwrap();
    assert_eq!(ran, "ran\n");
    assert!(has(&sandbox, "made"));
    let late = client.reply(&request, reject()).unwrap_err();
    assert_eq!(late["code"], "already_settled");
    assert_eq!(late["data"]["by"]["name"], "tester");
}

/// What a grant covers is not asked about; a grant that is revoked while the question is open counts
/// no more for it.
#[test]
fn an_always_covers_a_line_together_with_that_of_an_earlier_part() {
    let always = || json!({"kind": "always", "width": 0, "for": {"kind": "project"}});
    let parts = |request: &Value| {
        let asking = request["asking"].as_array().unwrap().iter();
        let texts = asking.map(|one| {
            let place = usize::try_from(one["operation"].as_u64().unwrap()).unwrap();
            request["operations"][place]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        });
        texts.collect::<Vec<_>>()
    };
    let saved = |request: &Value| {
        let parts = request["choices"][0]["parts"].as_array().unwrap().iter();
        parts
            .map(|part| part["pattern"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    for by_the_pod in [true, false] {
        let sandbox = Sandbox::new();
        let line = "touch a.txt && touch b.txt";
        let script = step(&["touch a.txt"]) + &step(&[line]) + &step(&[line]);
        let (pod, mut client) = turn(&sandbox, &script, "");
        let first = client.request();
        let settled = client.reply(&first, always()).unwrap();
        let grant = settled[0]["outcome"]["grants"][0].clone();
        let shown = client.request();
        assert_eq!(shown["arguments"]["command"], line);
        assert_eq!(
            (parts(&shown), saved(&shown)),
            (
                vec!["touch b.txt".to_owned()],
                vec!["touch b.txt".to_owned()]
            )
        );
        assert_eq!(
            shown["ruling"]["operation"],
            shown["asking"][0]["operation"]
        );
        if by_the_pod {
            client.call("grants_revoke", json!({"id": grant})).unwrap();
        } else {
            let id = grant.as_str().unwrap();
            sandbox.run(&["grants", "revoke", id]).exits(0);
            // Nobody has told the pod; it looks before it takes an answer.
            let late = client.reply(&shown, always()).unwrap_err();
            assert_eq!(late["code"], "digest_mismatch");
        }
        let anew = client.request();
        assert_eq!(anew["id"], shown["id"]);
        assert_eq!(client.open(), [anew["id"].clone()]);
        assert_eq!(parts(&anew), ["touch a.txt", "touch b.txt"]);
        for answer in [always(), once()] {
            let late = client.reply(&shown, answer).unwrap_err();
            assert_eq!(late["code"], "digest_mismatch");
        }
        assert!(!has(&sandbox, "b.txt"), "nothing was approved");
        assert_eq!(decisions(&pod.session).len(), 3);
        client.reply(&anew, always()).unwrap();
        client.event("turn_ended");
        assert!(has(&sandbox, "b.txt"));
        let log = decisions(&pod.session);
        assert_eq!(
            log.last().unwrap()["by"]["kind"],
            "grants",
            "the third time by the grant"
        );
    }
}

#[test]
fn always_is_not_asked_again_in_this_session_nor_in_the_next() {
    let sandbox = Sandbox::new();
    let script = step(&["touch a"]) + &step(&["touch b"]) + &step(&["mkdir c"]);
    let (pod, mut client) = turn(&sandbox, &script, "");
    let request = client.request();
    let offered: Vec<&str> = request["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| choice["parts"][0]["pattern"].as_str().unwrap())
        .collect();
    let width = offered.iter().position(|pattern| *pattern == "touch *");
    let width = width.unwrap_or_else(|| panic!("{offered:?}"));
    let always = json!({"kind": "always", "width": width, "for": {"kind": "project"}});
    let settled = client.reply(&request, always).unwrap();
    assert_eq!(kinds(&settled), ["approved_always"]);
    let grant = client.event("grant_added")["grant"].clone();
    assert_eq!(grant["id"], settled[0]["outcome"]["grants"][0]);
    // The next question is about something else.
    let other = client.request();
    assert_eq!(other["arguments"]["command"], "mkdir c");
    assert!(has(&sandbox, "a") && has(&sandbox, "b"));
    client.reply(&other, reject()).unwrap();
    client.event("turn_ended");
    assert!(!has(&sandbox, "c"));
    let by: Vec<Value> = decisions(&pod.session)
        .iter()
        .map(|line| line["by"]["kind"].clone())
        .collect();
    assert!(by.contains(&"grants".into()), "{by:?}");

    let folder = sandbox.path("state/podward/grants");
    assert_eq!(mode_of(&folder), 0o700);
    let files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(mode_of(&files[0]), 0o600);
    let text = std::fs::read_to_string(&files[0]).unwrap();
    let entry: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&entry["id"], &entry["by"], &entry["rules"][0]["pattern"]),
        (&grant["id"], &"tester".into(), &"touch *".into())
    );

    client.call("stop", json!({})).unwrap();
    assert_eq!(pod.ends(), Some(0));
    let (_pod, mut next) = turn(&sandbox, &step(&["touch d"]), "");
    let names = until_the_end(&mut next);
    assert!(
        !names.contains(&"permission_request".to_owned()),
        "{names:?}"
    );
    assert!(has(&sandbox, "d"));
}

#[test]
fn an_always_settles_what_waits_and_says_so_for_each() {
    let sandbox = Sandbox::new();
    let script = step(&["touch a", "mkdir b", "touch c"]);
    let (_pod, mut client) = turn(&sandbox, &script, "");
    let requests = [client.request(), client.request(), client.request()];
    let always = json!({
        "kind": "always",
        "patterns": [{"operation": 0, "pattern": "touch *"}],
        "for": {"kind": "session"},
    });
    let settled = client.reply(&requests[0], always).unwrap();
    let ids: Vec<&Value> = settled
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, [&requests[0]["id"], &requests[2]["id"]], "{settled}");
    assert_eq!(kinds(&settled), ["approved_always"; 2]);
    assert_eq!(client.open(), [requests[1]["id"].clone()]);
    client.reply(&requests[1], once()).unwrap();
    client.event("turn_ended");
    assert!(["a", "b", "c"].iter().all(|name| has(&sandbox, name)));
}

/// Quotes, spaces, several lines, other scripts, and what a template or a terminal would obey.
const FEEDBACK: &str =
    "  use \"--dry-run\" \\n first;\n\tthen  ask again: ünïcode ☃ {{result.1}} <b>&amp;</b> 'q'\n";

#[test]
fn feedback_reaches_the_model_word_for_word_on_every_wire() {
    for format in Format::ALL {
        let sandbox = Sandbox::new();
        let script = step(&["touch made"]) + &says("well");
        let script = ScriptedModel::parse("test", &script).unwrap();
        let provider = TestProvider::start(Setup::new(format, script)).unwrap();
        let manifest = sandbox.write(
            "pod.toml",
            &format!(
                "[pod]\nname = \"test\"\nworkspace = \"work\"\n\
                 [model]\nprovider = \"{0}\"\nmodel = \"m\"\nbase_url = \"{1}\"\n{2}",
                format.name(),
                provider.base_url(),
                asks("")
            ),
        );
        let pod = Pod::serve(&sandbox, &manifest);
        let mut client = Client::approver(&pod, "tester");
        client.run("go");
        let request = client.request();
        let answer = json!({"kind": "reject", "feedback": FEEDBACK});
        let settled = client.reply(&request, answer).unwrap();
        assert_eq!(kinds(&settled), ["rejected_with_feedback"]);
        assert_eq!(settled[0]["outcome"]["feedback"], FEEDBACK);
        client.event("turn_ended");
        assert!(!has(&sandbox, "made"));
        let sent = provider.requests().pop().unwrap();
        assert_eq!(sent.problem, None);
        assert!(
            texts(&sent.body).iter().any(|text| text.contains(FEEDBACK)),
            "{}: {:#}",
            format.name(),
            sent.body
        );
        let results = exchanges(&pod.session, Ending::Written);
        assert!(results[0].content.contains(FEEDBACK), "{results:#?}");
    }
}

/// Every text in a JSON value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().flat_map(texts).collect(),
        Value::Object(parts) => parts.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[test]
fn an_edit_is_judged_again_and_the_history_shows_both() {
    let sandbox = Sandbox::new();
    let script = step(&["touch made"]) + &says("{{result.1}}");
    let (pod, mut client) = turn(&sandbox, &script, "");
    let request = client.request();
    let edit = |command: &str| json!({"kind": "edit", "arguments": {"command": command}});
    let denied = client
        .reply(&request, edit("touch x && rm -rf x"))
        .unwrap_err();
    assert_eq!(denied["code"], "edit_denied", "{denied}");
    assert_eq!(denied["data"]["ruling"]["verdict"], "deny", "{denied}");
    let wrong = json!({"kind": "edit", "arguments": {"cmd": "ls"}});
    let invalid = client.reply(&request, wrong).unwrap_err();
    assert_eq!(invalid["code"], "edit_invalid", "{invalid}");
    assert_eq!(client.open(), [request["id"].clone()]);
    // An edit that the rules ask about is answered by whoever makes it.
    let settled = client.reply(&request, edit("touch other")).unwrap();
    assert_eq!(kinds(&settled), ["approved_edited"]);
    client.event("turn_ended");
    assert!(has(&sandbox, "other") && !has(&sandbox, "made") && !has(&sandbox, "x"));
    let results = exchanges(&pod.session, Ending::Written);
    assert_eq!(results[0].input["command"], "touch made");
    let first_line = results[0].content.lines().next().unwrap();
    assert!(first_line.contains("touch other"), "{results:#?}");
    let log = decisions(&pod.session);
    let commands: Vec<&Value> = log
        .iter()
        .map(|line| &line["arguments"]["command"])
        .collect();
    assert_eq!(commands, ["touch made", "touch other"]);
    assert_eq!(log[1]["by"]["edited"], true, "{}", log[1]);
}

#[test]
fn a_rejection_settles_one_and_reject_all_the_rest() {
    let sandbox = Sandbox::new();
    let script = step(&["touch a", "touch b", "mkdir c"]) + &says("{{result.3}}");
    let (pod, mut client) = turn(&sandbox, &script, "");
    let requests = [client.request(), client.request(), client.request()];
    let settled = client.reply(&requests[1], reject()).unwrap();
    assert_eq!(kinds(&settled), ["rejected"]);
    let open = [requests[0]["id"].clone(), requests[2]["id"].clone()];
    assert_eq!(client.open(), open);
    let all = client
        .call("permission_reject_all", json!({"feedback": "not today"}))
        .unwrap();
    assert_eq!(kinds(&all["settled"]), ["rejected_with_feedback"; 2]);
    client.event("turn_ended");
    let results = exchanges(&pod.session, Ending::Written);
    assert!(results.iter().all(|result| result.is_error), "{results:#?}");
    assert!(!results[1].content.contains("not today"), "{results:#?}");
    assert!(results[2].content.contains("not today"), "{results:#?}");
    assert!(!["a", "b", "c"].iter().any(|name| has(&sandbox, name)));
    let none = client.call("permission_reject_all", json!({})).unwrap();
    assert_eq!(none["settled"], json!([]));
}

#[test]
fn an_answer_to_something_else_is_refused_and_the_question_stays() {
    let sandbox = Sandbox::new();
    let (_pod, mut client) = turn(&sandbox, &step(&["touch a", "touch b"]), "");
    let (first, second) = (client.request(), client.request());
    let mixed = json!({"id": first["id"], "digest": second["digest"]});
    let error = client.reply(&mixed, once()).unwrap_err();
    assert_eq!(error["code"], "digest_mismatch");
    let unknown = json!({"id": "nobody", "digest": second["digest"]});
    let error = client.reply(&unknown, once()).unwrap_err();
    assert_eq!(error["code"], "unknown_request");
    assert_eq!(client.open().len(), 2);
    let whatever = json!({
        "kind": "always",
        "patterns": [{"operation": 0, "pattern": "*"}],
        "for": {"kind": "session"},
    });
    let error = client.reply(&first, whatever).unwrap_err();
    assert_eq!(error["code"], "pattern_refused");
    let mut onlooker = Client::onlooker(&_pod, "onlooker");
    let error = onlooker.reply(&first, once()).unwrap_err();
    assert_eq!(error["code"], "not_allowed");
    client.call("permission_reject_all", json!({})).unwrap();
    client.event("turn_ended");
    assert!(!has(&sandbox, "a") && !has(&sandbox, "b"));
}

/// What became of the only question of a turn, and the one result.
fn outcome(client: &mut Client, pod: &Pod) -> String {
    let settled = client.event("permission_settled");
    client.event("turn_ended");
    let results = exchanges(&pod.session, Ending::Written);
    assert_eq!(results.len(), 1, "{results:#?}");
    assert!(results[0].is_error, "{results:#?}");
    settled["outcome"]["kind"].as_str().unwrap().to_owned()
}

#[test]
fn a_question_that_nobody_answers_expires() {
    let sandbox = Sandbox::new();
    for more in [
        "ask_timeout = \"1s\"\n",
        "on_ask = \"wait\"\nask_timeout = \"1s\"\n",
    ] {
        let (pod, mut client) = turn(&sandbox, &step(&["touch a"]), more);
        let request = client.request();
        assert!(request["expires_at"].is_string(), "{request}");
        assert_eq!(outcome(&mut client, &pod), "expired");
        let late = client.reply(&request, once()).unwrap_err();
        assert_eq!(late["code"], "already_settled");
        assert_eq!(late["data"]["outcome"]["kind"], "expired");
    }
    assert!(!has(&sandbox, "a"));
}

#[test]
fn nobody_to_answer_is_a_refusal_at_once() {
    let sandbox = Sandbox::new();
    let manifest = sandbox.pod(&step(&["touch a"]), &asks(""));
    let pod = Pod::serve(&sandbox, &manifest);
    let mut client = Client::onlooker(&pod, "onlooker");
    client.run("go");
    assert_eq!(outcome(&mut client, &pod), "no_client");
    assert!(!has(&sandbox, "a"));
}

#[test]
fn questions_go_with_the_last_who_could_answer_after_the_grace() {
    for grace in ["0s", "1s"] {
        let sandbox = Sandbox::new();
        let more = format!("client_grace = \"{grace}\"\n");
        let (pod, mut client) = turn(&sandbox, &step(&["touch a"]), &more);
        client.request();
        let mut onlooker = Client::onlooker(&pod, "onlooker");
        let mut other = Client::approver(&pod, "other");
        drop(client);
        assert_eq!(onlooker.event("client_left")["name"], "tester");
        // Somebody is there who could answer.
        assert_eq!(other.open().len(), 1);
        drop(other);
        assert_eq!(outcome(&mut onlooker, &pod), "client_gone");
        assert!(!has(&sandbox, "a"));
    }
}

#[test]
fn who_comes_back_within_the_grace_can_still_answer() {
    let sandbox = Sandbox::new();
    let (pod, mut client) = turn(&sandbox, &step(&["touch a"]), "client_grace = \"1h\"\n");
    client.request();
    let mut onlooker = Client::onlooker(&pod, "onlooker");
    drop(client);
    onlooker.event("client_left");
    let mut again = Client::approver(&pod, "tester");
    let request = again.request();
    let settled = again.reply(&request, once()).unwrap();
    assert_eq!(kinds(&settled), ["approved_once"]);
    again.event("turn_ended");
    assert!(has(&sandbox, "a"));
}

#[test]
fn cancelling_and_stopping_settle_what_is_asked() {
    let sandbox = Sandbox::new();
    let (pod, mut client) = turn(&sandbox, &step(&["touch a"]), WAITS);
    let request = client.request();
    client.call("cancel", json!({})).unwrap();
    assert_eq!(outcome(&mut client, &pod), "cancelled");
    let late = client.reply(&request, once()).unwrap_err();
    assert_eq!(late["data"]["outcome"]["kind"], "cancelled");
    drop((client, pod));

    let (pod, mut client) = turn(&sandbox, &step(&["touch a"]), WAITS);
    client.request();
    client.call("stop", json!({})).unwrap();
    let settled = client.event("permission_settled");
    assert_eq!(settled["outcome"]["kind"], "pod_stopped");
    client.event("closing");
    let session = pod.session.clone();
    assert_eq!(pod.ends(), Some(0));
    assert_eq!(exchanges(&session, Ending::Written).len(), 1);
    assert!(!has(&sandbox, "a"));
}

#[test]
fn the_siblings_of_a_call_that_waits_finish_first() {
    let sandbox = Sandbox::new();
    let script = step(&["echo one > one", "touch parked", "echo three > three"]) + &says("end");
    let (pod, mut client) = turn(&sandbox, &script, WAITS);
    let request = client.request();
    let finished = [
        client.event("tool_call_finished"),
        client.event("tool_call_finished"),
    ];
    assert!(
        finished.iter().all(|one| one["call"] != request["call"]),
        "{finished:?}"
    );
    assert!(has(&sandbox, "one") && has(&sandbox, "three") && !has(&sandbox, "parked"));
    client.reply(&request, once()).unwrap();
    let last = client.event("tool_call_finished");
    assert_eq!(last["call"], request["call"]);
    client.event("turn_ended");
    let commands: Vec<Value> = exchanges(&pod.session, Ending::Written)
        .iter()
        .map(|exchange| exchange.input["command"].clone())
        .collect();
    assert_eq!(
        commands,
        ["echo one > one", "touch parked", "echo three > three"]
    );
}

#[test]
fn a_signal_settles_what_is_asked_and_writes_its_result() {
    use rustix::process::{Pid, Signal, kill_process};
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let sandbox = Sandbox::new();
        let (pod, mut client) = turn(&sandbox, &step(&["touch a"]), WAITS);
        client.request();
        let id = Pid::from_raw(i32::try_from(pod.id()).unwrap()).unwrap();
        kill_process(id, signal).unwrap();
        let settled = client.event("permission_settled");
        assert_eq!(settled["outcome"]["kind"], "pod_stopped");
        let session = pod.session.clone();
        assert_eq!(pod.ends(), Some(code));
        let results = exchanges(&session, Ending::Written);
        assert!(results[0].is_error, "{results:#?}");
        assert!(!has(&sandbox, "a"));
    }
}

/// Another process that holds the lock of the file of grants, until this is dropped.
struct Lock(std::process::Child);

impl Lock {
    fn take(sandbox: &Sandbox) -> Self {
        let grants = std::fs::read_dir(sandbox.path("state/podward/grants")).unwrap();
        let mut paths = grants.map(|entry| entry.unwrap().path());
        let path = paths.find(|path| path.extension().is_some_and(|it| it == "lock"));
        let mut child = std::process::Command::new("flock")
            .arg(path.unwrap())
            .args(["sh", "-c", "echo held; exec cat"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut held = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut held).unwrap();
        assert_eq!(&held, b"held\n");
        Self(child)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// A pod that asks about `touch b` and `mkdir c`, has a grant for `touch a`, and cannot write another:
/// the approval of `touch b` waits for the lock.
fn waits_for_the_lock(sandbox: &Sandbox) -> (Pod, Client, [Value; 2], Lock, u64) {
    let (pod, mut client) = turn(sandbox, &step(&["touch a", "touch b", "mkdir c"]), "");
    let always = json!({"kind": "always", "width": 0, "for": {"kind": "project"}});
    let first = client.request();
    let asked = [client.request(), client.request()];
    client.reply(&first, always.clone()).unwrap();
    let lock = Lock::take(sandbox);
    let waiting = client.send_reply(&asked[0], always);
    // It was heard when what comes after it is answered.
    assert_eq!(
        client.open(),
        [asked[0]["id"].clone(), asked[1]["id"].clone()]
    );
    (pod, client, asked, lock, waiting)
}

#[test]
fn an_approval_that_waits_to_be_saved_holds_up_nobody() {
    let sandbox = Sandbox::new();
    let (pod, mut client, asked, lock, waiting) = waits_for_the_lock(&sandbox);
    let mut other = Client::approver(&pod, "other");
    let settled = other.reply(&asked[1], once()).unwrap();
    assert_eq!(kinds(&settled), ["approved_once"]);
    assert_eq!(client.open(), [asked[0]["id"].clone()]);
    drop(lock);
    let mut settled = client.response(waiting).unwrap().unwrap();
    assert_eq!(kinds(&settled["settled"].take()), ["approved_always"]);
    until_the_end(&mut client);
    assert!(has(&sandbox, "b") && has(&sandbox, "c"));
}

/// Nothing is remembered that the person is told has failed.
#[test]
fn an_approval_that_came_too_late_is_not_saved() {
    let sandbox = Sandbox::new();
    let (pod, mut client, asked, lock, waiting) = waits_for_the_lock(&sandbox);
    let mut other = Client::approver(&pod, "other");
    let settled = other.reply(&asked[0], reject()).unwrap();
    assert_eq!(kinds(&settled), ["rejected"]);
    drop(lock);
    let late = client.response(waiting).unwrap().unwrap_err();
    assert_eq!(late["code"], "already_settled", "{late}");
    assert_eq!(late["data"]["by"]["name"], "other", "{late}");
    let grants = client.call("grants_list", json!({})).unwrap();
    let patterns: Vec<_> = grants["grants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|grant| &grant["rules"][0]["pattern"])
        .collect();
    assert_eq!(patterns, ["touch a"]);
    other.reply(&asked[1], once()).unwrap();
    until_the_end(&mut client);
    assert!(!has(&sandbox, "b"));
}
