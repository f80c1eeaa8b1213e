//! Nobody is asked about a call that can only fail, and it tells no more than the rules let be known.

use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, WAITS, says};
use crate::session_files::{Ending, decisions, exchanges};

const NOTES: &str = "one\ntwo\ntwo\n";

/// Each edit and write is asked about; `more` are further rules, in front of these.
fn asks(more: &str) -> String {
    format!(
        "[permissions]\ndefault_action = \"allow\"\n{WAITS}rule = [\n{more}\
         {{ tool = \"file_edit\", pattern = \"*\", action = \"ask\" }},\n\
         {{ tool = \"file_write\", pattern = \"*\", action = \"ask\" }},\n]\n"
    )
}

const READ_ASKS: &str = "{ tool = \"read\", pattern = \"*\", action = \"ask\" },\n";

fn step(calls: &[(&str, &str)]) -> String {
    let calls = calls
        .iter()
        .map(|(tool, input)| format!("[[step.call]]\ntool = \"{tool}\"\ninput = {{ {input} }}\n"));
    format!("[[step]]\n{}", calls.collect::<String>())
}

fn edit(path: &str, old: &str) -> String {
    format!("path = '{path}', old_string = '{old}', new_string = 'new'")
}

fn write(path: &str) -> String {
    format!("path = '{path}', content = 'new'")
}

/// A pod in a turn with these calls, in a workspace with `notes.txt`.
fn turn(sandbox: &Sandbox, more: &str, calls: &[(&str, &str)]) -> (Pod, Client) {
    let manifest = sandbox.pod(&(step(calls) + &says("well")), &asks(more));
    sandbox.write("work/notes.txt", NOTES);
    let pod = Pod::serve(sandbox, &manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    (pod, client)
}

/// How many questions there were in the rest of a turn, each answered with no.
fn questions(client: &mut Client) -> Vec<String> {
    let mut asked = Vec::new();
    loop {
        let event = client.next_event().unwrap();
        let data = &event["data"];
        match event["event"].as_str() {
            Some("permission_request") => {
                asked.push(data["tool"].as_str().unwrap().to_owned());
                let answer = serde_json::json!({"kind": "reject"});
                client.send_reply(data, answer);
            }
            Some("turn_ended") => return asked,
            _ => {}
        }
    }
}

/// What the model reads of the calls of a turn in which nobody is asked.
#[track_caller]
fn unasked(more: &str, calls: &[(&str, &str)]) -> Vec<String> {
    let sandbox = Sandbox::new();
    let (pod, mut client) = turn(&sandbox, more, calls);
    let asked = questions(&mut client);
    assert!(asked.is_empty(), "asked about {asked:?}");
    let exchanges = exchanges(&pod.session, Ending::Written);
    assert!(exchanges.iter().all(|exchange| exchange.is_error));
    let notes = std::fs::read_to_string(sandbox.work().join("notes.txt")).unwrap();
    assert_eq!(notes, NOTES);
    let contents = exchanges.into_iter().map(|exchange| exchange.content);
    contents.collect()
}

/// What is asked about in a turn.
#[track_caller]
fn asked(more: &str, calls: &[(&str, &str)]) -> Vec<String> {
    let sandbox = Sandbox::new();
    let (_pod, mut client) = turn(&sandbox, more, calls);
    questions(&mut client)
}

#[test]
fn a_write_outside_the_scope_fails_without_a_question() {
    let path = "/var/podward-test/new.txt";
    let results = unasked(
        READ_ASKS,
        &[
            ("file_write", &write(path)),
            ("file_edit", &edit(path, "a")),
        ],
    );
    for result in results {
        let expected =
            format!("`{path}` lies outside the roots that may be written; may be written: ");
        assert!(result.starts_with(&expected), "{result}");
    }
}

#[test]
fn an_edit_that_does_not_fit_its_file_fails_without_a_question() {
    let results = unasked(
        "",
        &[
            ("file_edit", &edit("notes.txt", "three")),
            ("file_edit", &edit("gone.txt", "one")),
        ],
    );
    assert_eq!(
        results[0],
        "`old_string` does not occur in `notes.txt`; nothing was changed"
    );
    assert!(results[1].ends_with("does not exist"), "{}", results[1]);
    let results = unasked("", &[("file_edit", &edit("notes.txt", "two"))]);
    assert!(results[0].contains("occurs 2 times"), "{}", results[0]);
}

/// Each of these would tell what is in a file, or whether it is there, and a person has to approve that.
#[test]
fn what_the_rules_do_not_let_be_read_is_not_told_either() {
    for (tool, input) in [
        ("file_edit", edit("notes.txt", "three")),
        ("file_edit", edit("notes.txt", "two")),
        ("file_edit", edit("gone.txt", "one")),
        ("read", "path = 'gone.txt'".to_owned()),
    ] {
        assert_eq!(asked(READ_ASKS, &[(tool, &input)]), [tool], "{input}");
    }
    let read_denied = "{ tool = \"read\", pattern = \"*\", action = \"deny\" },\n";
    let calls = [("file_edit", &*edit("notes.txt", "three"))];
    assert_eq!(asked(read_denied, &calls), ["file_edit"]);
}

#[test]
fn what_another_call_may_change_first_is_asked_about() {
    let missing = edit("made.txt", "one");
    let make = "command = 'sh make.sh'";
    let calls = [("bash", make), ("file_edit", &*missing)];
    assert_eq!(asked("", &calls), ["file_edit"]);
    let calls = [
        ("file_write", &*write("made.txt")),
        ("file_edit", &*missing),
    ];
    assert_eq!(asked("", &calls), ["file_write", "file_edit"]);
    // Another file, and a command that changes nothing.
    let calls = [
        ("bash", "command = 'cat notes.txt'"),
        ("file_write", &*write("other.txt")),
        ("file_edit", &*missing),
    ];
    assert_eq!(asked("", &calls), ["file_write"]);
}

#[test]
fn a_deny_stays_a_deny_and_what_can_succeed_is_asked_about() {
    let deny = "{ tool = \"file_edit\", pattern = \"notes.txt\", action = \"deny\" },\n";
    let results = unasked(deny, &[("file_edit", &edit("notes.txt", "three"))]);
    assert!(results[0].starts_with("Refused: "), "{}", results[0]);
    let calls = [
        ("file_edit", &*edit("notes.txt", "one")),
        ("file_write", &*write("new/dir/new.txt")),
    ];
    assert_eq!(asked("", &calls), ["file_edit", "file_write"]);
}

/// The model is stuck: that is for a person to see.
#[test]
fn the_third_time_in_a_turn_is_asked_about_all_the_same() {
    let sandbox = Sandbox::new();
    let call = edit("notes.txt", "three");
    let script = step(&[("file_edit", &call)]).repeat(3) + &says("well");
    let manifest = sandbox.pod(&script, &asks(""));
    sandbox.write("work/notes.txt", NOTES);
    let pod = Pod::serve(&sandbox, &manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    assert_eq!(questions(&mut client), ["file_edit"]);
}

#[test]
fn the_record_says_that_the_rules_ask_and_that_nobody_was_asked() {
    let sandbox = Sandbox::new();
    let (pod, mut client) = turn(&sandbox, "", &[("file_edit", &edit("notes.txt", "three"))]);
    let error = "`old_string` does not occur in `notes.txt`; nothing was changed";
    let verdict = client.event("tool_call_verdict");
    assert_eq!(verdict["ruling"]["verdict"], "ask");
    assert_eq!(
        verdict["refusal"],
        serde_json::json!({"kind": "futile", "error": error})
    );
    assert_eq!(verdict["by"]["kind"], "pod");
    let finished = client.event("tool_call_finished");
    assert_eq!(finished["outcome"]["cause"]["kind"], "futile");
    assert_eq!(finished["content"], error);
    let ended = client.event("turn_ended");
    assert_eq!(ended["n_refused"], 0, "{ended}");
    let log = decisions(&pod.session);
    let [line] = &log[..] else {
        panic!("{log:?}");
    };
    assert_eq!(line["outcome"], "refuse", "{line}");
    assert_eq!(line["verdict"]["verdict"], "ask", "{line}");
    assert_eq!(line["refusal"]["error"], error, "{line}");
    let call = line["call"].as_str().unwrap();
    let late = serde_json::json!({"id": call, "digest": "none"});
    let late = client.reply(&late, serde_json::json!({"kind": "once"}));
    assert_eq!(late.unwrap_err()["data"]["outcome"]["kind"], "futile");
    let explained = sandbox.run(&["explain", call]).exits(0).stdout;
    let said = format!("refuse, by the pod (futile: {error})");
    assert!(explained.contains(&said), "{explained}");
}

/// What nobody can help with needs nobody: it is no refusal, as it is none where the rules allow the call.
#[test]
fn a_run_without_anybody_reads_the_error_and_goes_on() {
    let sandbox = Sandbox::new();
    let script = step(&[("file_edit", &edit("notes.txt", "three"))]) + &says("well");
    let rules = asks("").replace(WAITS, "");
    let manifest = sandbox.pod(&script, &rules);
    sandbox.write("work/notes.txt", NOTES);
    let ran = sandbox
        .run(&["run", manifest.to_str().unwrap(), "go"])
        .exits(0);
    let said = "failed (nobody was asked, for it could only fail)";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(!ran.stderr.contains("refused #"), "{}", ran.stderr);
}
