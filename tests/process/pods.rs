//! Served pods: prompts, questions and answers from other processes.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::sandbox::{Ran, Sandbox};
use crate::serving::{Client, Pod, WAITS, asks, says, step};
use crate::session_files::{Ending, exchanges};
use crate::typist::Typist;

/// Asks about bash and waits for an answer.
const WAIT: &str = "[permissions]\ndefault_action = \"allow\"\non_ask = \"wait\"\n\
    ask_timeout = \"1h\"\nrule = [\n\
    { tool = \"bash\", pattern = \"rm *\", action = \"deny\" },\n\
    { tool = \"bash\", pattern = \"*\", action = \"ask\" },\n]\n";

/// Serves a pod with this script and these rules.
fn serve(sandbox: &Sandbox, script: &str, permissions: &str) -> Pod {
    Pod::serve(sandbox, &sandbox.pod(script, permissions))
}

/// What the only open question is called, and its digest.
#[track_caller]
fn asked(sandbox: &Sandbox) -> (String, String) {
    let ran = sandbox
        .run(&["pending", "test", "--format", "json"])
        .exits(0);
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 1, "{ran:#?}");
    let text = |key: &str| lines[0][key].as_str().unwrap().to_owned();
    (text("id"), text("digest"))
}

fn reply(sandbox: &Sandbox, id: &str, digest: &str, answer: &[&str]) -> Ran {
    let mut arguments = vec!["reply", "test", id, "--digest", digest];
    arguments.extend(answer);
    sandbox.run(&arguments)
}

fn has(sandbox: &Sandbox, name: &str) -> bool {
    sandbox.work().join(name).exists()
}

#[test]
fn a_prompt_is_sent_a_question_answered_and_the_pod_stopped() {
    let sandbox = Sandbox::new();
    let mut served = serve(&sandbox, &step(&["touch made"]), WAIT);
    sandbox.run(&["send", "test", "go"]).exits(0);
    served.tells("permission_request");
    let pods = sandbox.run(&["pods"]).exits(0);
    let row = pods.stdout.lines().nth(1).unwrap();
    assert!(
        row.starts_with("test ") && row.contains("  waiting  1 "),
        "{pods:#?}"
    );
    let (id, digest) = asked(&sandbox);
    let shown = sandbox.run(&["pending"]).exits(0);
    let ready = format!("podward reply test {id} once --digest {digest}");
    assert!(shown.stdout.contains(&ready), "{shown:#?}");
    assert!(!has(&sandbox, "made"));
    let wrong = reply(&sandbox, &id, "0000", &["once"]).exits(1);
    assert!(wrong.stderr.contains("error: "), "{wrong:#?}");
    assert!(!has(&sandbox, "made"));
    let answered = reply(&sandbox, &id, &digest, &["once"]).exits(0);
    assert!(answered.stdout.contains("yes, once"), "{answered:#?}");
    let late = reply(&sandbox, &id, &digest, &["reject"]).exits(4);
    assert!(
        late.stderr.contains("already settled: yes, once"),
        "{late:#?}"
    );
    served.tells("turn_ended");
    assert!(has(&sandbox, "made"));
    sandbox.run(&["stop", "test"]).exits(0);
    assert_eq!(served.ends(), Some(0));
    let none = sandbox.run(&["pods", "--format", "json"]).exits(0);
    assert_eq!(none.stdout, "");
}

#[test]
fn a_rejection_is_one_questions_and_its_words_are_the_models() {
    let sandbox = Sandbox::new();
    let mut served = serve(&sandbox, &step(&["touch a", "touch b"]), WAIT);
    sandbox.run(&["send", "test", "go"]).exits(0);
    let first = served.tells("permission_request");
    served.tells("permission_request");
    let text = |key: &str| first[key].as_str().unwrap();
    let why = " not  \"a\"\n";
    reply(
        &sandbox,
        text("id"),
        text("digest"),
        &["reject", "--feedback", why],
    )
    .exits(0);
    let settled = served.tells("permission_settled");
    assert_eq!(settled["outcome"]["feedback"], why);
    // The other one is still open.
    asked(&sandbox);
    sandbox.run(&["reply", "test", "all", "reject"]).exits(0);
    served.tells("turn_ended");
    assert!(!has(&sandbox, "a") && !has(&sandbox, "b"));
    let results = exchanges(&sandbox.session(), Ending::Written);
    assert!(results[0].content.contains(why), "{results:#?}");
}

#[test]
fn an_edit_that_the_rules_deny_leaves_the_question_open() {
    let sandbox = Sandbox::new();
    let mut served = serve(&sandbox, &step(&["touch a"]), WAIT);
    sandbox.run(&["send", "test", "go"]).exits(0);
    served.tells("permission_request");
    let (id, digest) = asked(&sandbox);
    let edit = |arguments: &str| reply(&sandbox, &id, &digest, &["edit", "--arguments", arguments]);
    let denied = edit("{\"command\":\"rm -rf .\"}").exits(1);
    assert!(
        denied.stderr.contains("rule 1 of manifest, `rm *`"),
        "{denied:#?}"
    );
    edit("{\"cmd\":\"ls\"}").exits(1);
    assert_eq!(asked(&sandbox).0, id);
    edit("{\"command\":\"touch b\"}").exits(0);
    served.tells("turn_ended");
    assert!(has(&sandbox, "b") && !has(&sandbox, "a"));
}

#[test]
fn always_settles_what_is_like_it_and_a_pattern_that_covers_too_much_is_refused() {
    let sandbox = Sandbox::new();
    let mut served = serve(&sandbox, &step(&["touch a", "touch a b"]), WAIT);
    sandbox.run(&["send", "test", "go"]).exits(0);
    let first = served.tells("permission_request");
    served.tells("permission_request");
    let text = |key: &str| first[key].as_str().unwrap();
    let always = |pattern: &str| {
        reply(
            &sandbox,
            text("id"),
            text("digest"),
            &["always", "--pattern", pattern],
        )
    };
    always("*").exits(1);
    always("touch a *").exits(0);
    served.tells("turn_ended");
    assert!(has(&sandbox, "a") && has(&sandbox, "b"));
}

#[test]
fn send_waits_for_the_turn_and_asks_at_a_terminal() {
    let sandbox = Sandbox::new();
    let script = step(&["touch made"]) + "[[step]]\ntext = \"It is done.\"\n";
    let rules = WAIT.replace("on_ask = \"wait\"\n", "on_ask = \"refuse\"\n");
    let served = serve(&sandbox, &script, &rules);
    let mut typist = Typist::start(sandbox.at_terminal(&["send", "test", "go", "--wait"]), None);
    typist.sees("? = help: ");
    typist.types("y");
    typist.sees("It is done.");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(has(&sandbox, "made"));
    sandbox.run(&["stop", "test"]).exits(0);
    served.ends();
}

#[test]
fn a_turn_is_cancelled_and_the_pod_waits_for_the_next() {
    let sandbox = Sandbox::new();
    let script = step(&["touch made"]) + "[[step]]\ntext = \"next\"\n";
    let mut served = serve(&sandbox, &script, WAIT);
    sandbox.run(&["send", "test", "go"]).exits(0);
    served.tells("permission_request");
    let busy = sandbox.run(&["send", "test", "more"]).exits(1);
    assert!(busy.stderr.contains("error: "), "{busy:#?}");
    sandbox.run(&["cancel", "test"]).exits(0);
    assert_eq!(
        served.tells("permission_settled")["outcome"]["kind"],
        "cancelled"
    );
    served.tells("turn_ended");
    let idle = sandbox.run(&["cancel", "test"]).exits(0);
    assert!(idle.stderr.contains("no turn runs"), "{idle:#?}");
    let ran = sandbox.run(&["send", "test", "go on", "--wait"]).exits(0);
    assert_eq!(ran.stdout, "next\n");
    assert!(!has(&sandbox, "made"));
}

/// The next pod asks again under the same ids; what ran has its result, and what was approved ran.
#[test]
fn what_waits_outlives_a_stop_and_a_signal() {
    type End = fn(&Sandbox, &Pod);
    let stop = |sandbox: &Sandbox, _: &Pod| drop(sandbox.run(&["stop", "test"]).exits(0));
    let signal = |_: &Sandbox, served: &Pod| {
        let pid = Pid::from_raw(i32::try_from(served.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
    };
    for (end, code) in [(stop as End, 0), (signal as End, 143)] {
        let sandbox = Sandbox::new();
        let runs = "echo b > b; until [ -e never ]; do :; done";
        let script = step(&["touch a", runs, "touch c"]) + &says("done");
        let rules = asks(WAITS);
        let mut served = serve(&sandbox, &script, &rules);
        let session = served.session.clone();
        sandbox.run(&["send", "test", "go"]).exits(0);
        let ids = [(); 2].map(|()| served.tells("permission_request")["id"].take());
        while !has(&sandbox, "b") {
            std::thread::yield_now();
        }
        end(&sandbox, &served);
        assert_eq!(served.ends(), Some(code));
        let talk = std::fs::read_to_string(sandbox.path("serve.stderr")).unwrap_or_default();
        let left = sandbox.run(&["pods"]).exits(0);
        assert!(
            left.stderr.contains("or stopped while it asked"),
            "{left:#?}{talk}"
        );
        let results = exchanges(&session, Ending::Killed);
        let results: Vec<_> = results.iter().map(|result| &*result.content).collect();
        assert_eq!((results[0], results[2]), ("", ""), "{results:?}");
        assert!(results[1].contains("cancelled"), "{results:?}");

        let pod = sandbox.pod(&script, &rules);
        let mut served = Pod::go_on(&sandbox, &pod, &session);
        for id in &ids {
            assert_eq!(served.tells("permission_request")["id"], *id);
        }
        assert!(!has(&sandbox, "a") && !has(&sandbox, "c"));
        let mut client = Client::approver(&served, "tester");
        for _ in &ids {
            let request = client.request();
            client.reply(&request, json!({"kind": "once"})).unwrap();
        }
        assert_eq!(client.event("turn_ended")["reason"]["kind"], "done");
        assert!(has(&sandbox, "a") && has(&sandbox, "c"));
    }
}

#[test]
fn a_question_says_where_a_link_leads() {
    let sandbox = Sandbox::new();
    let work = sandbox.work();
    std::fs::create_dir(work.join("real")).unwrap();
    std::os::unix::fs::symlink("real", work.join("docs")).unwrap();
    std::os::unix::fs::symlink("real/ci.yml", work.join("notes.txt")).unwrap();
    let script = step(&["touch docs/y", "touch plain"])
        + "[[step.call]]\ntool = \"file_write\"\ninput = { path = \"notes.txt\", content = \"a\" }\n";
    let rules = WAIT.replace(
        "tool = \"bash\", pattern = \"*\"",
        "tool = \"*\", pattern = \"*\"",
    );
    let mut served = serve(&sandbox, &script, &rules);
    sandbox.run(&["send", "test", "go"]).exits(0);
    let leads = [(); 3].map(|()| {
        let mut request = served.tells("permission_request");
        let operations = request["operations"].as_array_mut().unwrap();
        let mut to = operations.iter_mut().map(|one| one["leads_to"].take());
        to.find(|to| !to.is_null()).unwrap_or_default()
    });
    assert_eq!(leads, [json!("real/y"), json!(null), json!("real/ci.yml")]);
    let shown = sandbox.run(&["pending"]).exits(0).stdout;
    for line in ["docs/y -> real/y", "file_write  notes.txt -> real/ci.yml"] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(!shown.contains("plain ->"), "{shown}");
}

#[test]
fn of_two_pods_with_one_name_each_is_named_by_its_session() {
    let sandbox = Sandbox::new();
    let pods = ["touch a", "touch b"].map(|command| {
        let mut served = serve(&sandbox, &step(&[command]), WAIT);
        let session = served.session.file_name().unwrap().to_owned();
        let session = session.to_str().unwrap().to_owned();
        sandbox.run(&["send", &session, "go"]).exits(0);
        served.tells("permission_request");
        (served, session)
    });
    let pending = sandbox.run(&["pending"]).exits(0).stdout;
    for ((mut served, session), made) in pods.into_iter().zip(["a", "b"]) {
        let front = format!("  podward reply {session} call_1_1 once");
        let line = pending.lines().find(|line| line.starts_with(&front));
        let line = line.unwrap_or_else(|| panic!("{pending}"));
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        sandbox.run(&words).exits(0);
        served.tells("turn_ended");
        assert!(has(&sandbox, made));
    }
    let json = sandbox.run(&["pending", "--format", "json"]).exits(0);
    assert_eq!(json.stdout, "");
}

#[test]
fn a_question_outlives_its_pod_and_is_put_again_by_the_next() {
    let sandbox = Sandbox::new();
    let script = step(&["touch made"]) + "[[step]]\ntext = \"done\"\n";
    let mut served = serve(&sandbox, &script, WAIT);
    sandbox.run(&["send", "test", "go"]).exits(0);
    let id = served.tells("permission_request")["id"].take();
    served.kill();
    let killed = sandbox.run(&["pods"]).exits(0);
    assert!(killed.stderr.contains("`test` was killed"), "{killed:#?}");
    let gone = sandbox
        .run(&["reply", "test", "x", "once", "--digest", "0"])
        .exits(64);
    assert!(gone.stderr.contains("no pod `test` runs"), "{gone:#?}");
    let mut served = Pod::serve_with(&sandbox, &sandbox.pod(&script, WAIT), &["--resume"]);
    assert_eq!(served.tells("permission_request")["id"], id);
    assert!(!has(&sandbox, "made"));
    let (id, digest) = asked(&sandbox);
    reply(&sandbox, &id, &digest, &["once"]).exits(0);
    served.tells("turn_ended");
    assert!(has(&sandbox, "made"));
    // Without a session there is nothing to go on with.
    let pod = sandbox.write(
        "other.toml",
        "[pod]\nname = \"other\"\n[model]\nprovider = \"scripted\"\nscript = \"demo\"\n",
    );
    let none = sandbox
        .run(&["serve", pod.to_str().unwrap(), "--resume"])
        .exits(64);
    assert!(
        none.stderr.contains("pod `other` has no session"),
        "{none:#?}"
    );
}

#[test]
fn a_name_means_one_pod() {
    let sandbox = Sandbox::new();
    let none = sandbox.run(&["send", "test", "go"]).exits(64);
    assert!(none.stderr.contains("no pod `test` runs"), "{none:#?}");
    let script = "[[step]]\ntext = \"here\"\n";
    let _first = serve(&sandbox, script, WAIT);
    let _second = serve(&sandbox, script, WAIT);
    let several = sandbox.run(&["send", "test", "go"]).exits(64);
    assert!(
        several.stderr.contains("2 pods are called `test`"),
        "{several:#?}"
    );
    let pods = sandbox
        .run(&["pods", "--format", "json"])
        .exits(0)
        .json_lines();
    assert_eq!(pods.len(), 2, "{pods:?}");
    for pod in pods {
        let session = pod["session"].as_str().unwrap();
        sandbox.run(&["send", session, "go", "--wait"]).exits(0);
        let socket = pod["socket"].as_str().unwrap();
        sandbox.run(&["stop", socket]).exits(0);
    }
    let socket = sandbox.path("no.sock");
    let gone = sandbox.run(&["stop", socket.to_str().unwrap()]).exits(1);
    assert!(
        gone.stderr.contains("the pod cannot be reached"),
        "{gone:#?}"
    );
}
