//! What does not fit a line: pages that end before it, and questions that nobody can be asked.

use podward_pod::{Auto, Socket};
use podward_protocol::{DecidedBy, Event, MAX_LINE_BYTES, Outcome, RefusalCause};
use serde_json::{Value, json};

use crate::bench::{Bench, call, script, text};
use crate::serve::{ASKS, Client, run, serve};

fn write(path: &str, content: &str) -> Value {
    call("file_write", json!({ "path": path, "content": content }))
}

/// Text that takes nearly so many bytes of a line: a character that is not shown takes six there.
fn long(n_bytes: usize) -> String {
    "\u{ad}".repeat(n_bytes / 6)
}

/// A script whose arguments come in few pieces.
fn whole(script: &str) -> String {
    script.replacen("{ \"call\"", "{ \"chunk\" = 1000000, \"call\"", 1)
}

/// Ten small questions and one that takes nearly a line.
pub(crate) fn a_page_of_questions_fits_a_line() {
    let bench = Bench::new(ASKS);
    let mut calls: Vec<_> = (0..10).map(|n| write(&format!("small-{n}"), "x")).collect();
    calls.push(write("big", &long(MAX_LINE_BYTES - 4_000)));
    calls.push(write("last", "x"));
    let script = whole(&script(&[&calls, &[text("done")]]));
    serve(
        &bench,
        &script,
        |_| {},
        async |talk| {
            let mut client = talk.client("test").await;
            client.call("run", json!({ "prompt": "go" })).await.unwrap();
            for _ in &calls {
                client.event("permission_request").await;
            }
            let mut pages = Vec::new();
            let mut after = Value::Null;
            loop {
                let page = json!({ "after": after });
                let page = client.call("permission_list", page).await.unwrap();
                let requests = page["requests"].as_array().unwrap().clone();
                after = requests.last().unwrap()["id"].clone();
                pages.push(requests.len());
                if page["more"] == json!(false) {
                    break;
                }
            }
            assert_eq!(pages, [10, 1, 1]);
            client
                .call("permission_reject_all", json!({}))
                .await
                .unwrap();
            client.event("turn_ended").await;
        },
    );
}

pub(crate) fn a_question_that_fits_no_line_is_refused_by_the_pod() {
    let bench = Bench::new(ASKS);
    let calls = [write("huge", &long(MAX_LINE_BYTES)), write("small", "x")];
    let script = whole(&script(&[&calls, &[text("done")]]));
    let events = serve(
        &bench,
        &script,
        |_| {},
        async |talk| {
            for name in ["podward", " Podward "] {
                let mut poser = Client::connect(&talk.socket).await;
                let hello = json!({ "protocol": 2, "client": name });
                let error = poser.call("hello", hello).await.unwrap_err();
                assert_eq!(error["code"], "invalid_params", "{error}");
            }
            let mut client = talk.client("test").await;
            client.call("run", json!({ "prompt": "go" })).await.unwrap();
            let request = client.event("permission_request").await;
            assert_eq!(request["arguments"]["path"], "small");
            client
                .reply(&request, json!({ "kind": "once" }))
                .await
                .unwrap();
            client.event("turn_ended").await;
        },
    );
    let settled: Vec<_> = events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::PermissionSettled(settled) => Some((&settled.outcome, &settled.by)),
            _ => None,
        })
        .collect();
    assert_eq!(settled[0], (&Outcome::TooLarge, &DecidedBy::Pod));
    assert_eq!(settled[1].0, &Outcome::ApprovedOnce);
    assert!(bench.read("project/huge").is_none());
}

/// Nobody is there, and the run was started with `--auto`: what it leaves is not for want of somebody.
pub(crate) fn what_auto_does_not_answer_says_so() {
    let bench = Bench::new("[permissions]\ndefault_action = \"ask\"\n");
    let calls = [call("bash", json!({ "command": "eval \"$x\"" }))];
    let script = script(&[&calls, &[text("done")]]);
    let refusals = |auto| {
        let events = serve(
            &bench,
            &script,
            |request| {
                request.auto = auto;
                request.socket = Socket::Required;
            },
            async |served| {
                served.caller.call(run("go")).await.unwrap();
                let mut watcher = Client::hello(&served.socket, "watcher", false).await;
                watcher.event("turn_ended").await;
            },
        );
        let refusals = events
            .into_iter()
            .filter_map(|envelope| match envelope.event {
                Event::ToolCallVerdict(verdict) => verdict.refusal,
                _ => None,
            });
        refusals.collect::<Vec<_>>()
    };
    assert_eq!(refusals(Auto::Known), [RefusalCause::NotAuto]);
    assert_eq!(refusals(Auto::Off), [RefusalCause::NoClient]);
    assert_eq!(refusals(Auto::All), []);
}
