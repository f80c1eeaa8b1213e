//! What is asked is answered exactly once, and the answer does what it says: each way over the real
//! socket of a real pod.

mod previewed;
mod remembered;

use podward_model::ScriptedModel;
use podward_test_provider::{Format, Setup, TestProvider};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, WAITS, asks, says, step};
use crate::session_files::{Ending, decisions, exchanges};

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

/// While a question is open, other calls run, and so do other programs.
#[test]
fn a_yes_to_what_has_become_another_deed_does_not_count() {
    let sandbox = Sandbox::new();
    let rules = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
        { tool = \"read\", pattern = \"*.env\", action = \"deny\" },\n\
        { tool = \"bash\", pattern = \"cat *\", action = \"ask\" },\n]\n";
    let (plain, link) = (sandbox.work().join("n.txt"), sandbox.work().join("link"));
    std::fs::write(&plain, "plain\n").unwrap();
    std::fs::write(sandbox.work().join(".env"), "secret\n").unwrap();
    std::os::unix::fs::symlink(".env", &link).unwrap();
    let pod = Pod::serve(&sandbox, &sandbox.pod(&step(&["cat n.txt"]), rules));
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let request = client.request();
    let kept = sandbox.work().join("kept");
    std::fs::rename(&plain, &kept).unwrap();
    std::fs::rename(&link, &plain).unwrap();
    let always = json!({"kind": "always", "width": 0, "for": {"kind": "session"}});
    for yes in [once(), always] {
        let error = client.reply(&request, yes).unwrap_err();
        assert_eq!(error["code"], "digest_mismatch", "{error}");
        assert_eq!(client.open(), [request["id"].clone()]);
    }
    std::fs::rename(&kept, &plain).unwrap();
    client.reply(&request, once()).unwrap();
    let finished = client.event("tool_call_finished");
    assert_eq!(finished["content"], "plain\n", "{finished}");
    client.event("turn_ended");
}

/// The time of the rule that asks, which is shorter than that of all.
#[test]
fn a_rule_says_how_long_its_questions_are_open() {
    let sandbox = Sandbox::new();
    let rules = asks(WAITS).replace(
        "pattern = \"touch *\", action = \"ask\"",
        "pattern = \"touch *\", action = \"ask\", ask_timeout = \"1s\"",
    );
    let script = step(&["touch a", "mkdir b"]);
    let pod = Pod::serve(&sandbox, &sandbox.pod(&script, &rules));
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let (first, second) = (client.request(), client.request());
    let settled = client.event("permission_settled");
    assert_eq!(settled["id"], first["id"]);
    assert_eq!(settled["outcome"]["kind"], "expired");
    // The other has the hour of all.
    assert_eq!(client.open(), [second["id"].clone()]);
    client.reply(&second, once()).unwrap();
    client.event("turn_ended");
    assert!(!has(&sandbox, "a") && has(&sandbox, "b"));
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

    let (pod, mut client) = turn(&sandbox, &step(&["touch a"]), "");
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
        let (pod, mut client) = turn(&sandbox, &step(&["touch a"]), "");
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

/// The session has it on disk, whichever process has it in memory.
#[test]
fn who_was_faster_is_known_after_a_restart() {
    let sandbox = Sandbox::new();
    let commands = ["echo a", "touch a", "touch b", "touch c", "touch d"];
    let manifest = sandbox.pod(&(step(&commands) + &says("well")), &asks(WAITS));
    let pod = Pod::serve(&sandbox, &manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let requests: Vec<Value> = (0..4).map(|_| client.request()).collect();
    let always = json!({"kind": "always", "width": 0, "for": {"kind": "session"}});
    let reject = json!({"kind": "reject", "feedback": "not c"});
    let edit = json!({"kind": "edit", "arguments": {"command": "true"}});
    for (request, answer) in requests.iter().zip([once(), always, reject, edit]) {
        client.reply(request, answer).unwrap();
    }
    client.event("turn_ended");
    let calls: Vec<Value> = decisions(&pod.session)
        .iter()
        .map(|line| line["call"].clone())
        .collect();
    let session = pod.session.clone();
    pod.kill();
    let pod = Pod::go_on(&sandbox, &manifest, &session);
    let mut client = Client::approver(&pod, "late");
    let outcomes = requests.iter().map(|request| {
        let late = client.reply(request, once()).unwrap_err();
        assert_eq!(late["code"], "already_settled", "{late}");
        assert_eq!(late["data"]["by"]["name"], "tester", "{late}");
        late["data"]["outcome"].clone()
    });
    let expected = [
        json!({"kind": "approved_once"}),
        json!({"kind": "approved_always", "grants": []}),
        json!({"kind": "rejected_with_feedback", "feedback": "not c"}),
        json!({"kind": "approved_edited"}),
    ];
    assert_eq!(outcomes.collect::<Vec<_>>(), expected);
    // The first call was never asked about.
    let mut never = requests[0].clone();
    never["id"] = calls[0].clone();
    let error = client.reply(&never, once()).unwrap_err();
    assert_eq!(error["code"], "unknown_request");
}
