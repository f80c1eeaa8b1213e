//! kill -9 of the pod and of its clients at any point: nothing is lost, nothing runs twice, and nothing
//! runs that nobody approved.

use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, WAITS, asks, says, step};
use crate::session_files::{Ending, exchanges};

/// How many pods are killed; `cargo xtask soak` sets more.
fn n_crashes() -> usize {
    std::env::var("PODWARD_ASK_CRASHES").map_or(36, |count| count.parse().unwrap())
}

/// What is done until the pod is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    /// Nothing: the questions are open.
    Asked,
    /// A yes is on its way.
    YesSent,
    /// The yes is on disk, as the pod says.
    YesHeard,
    /// The same with a no.
    NoHeard,
    /// The client was killed first.
    ClientGone,
}

const DEEDS: [Deed; 5] = [
    Deed::Asked,
    Deed::YesSent,
    Deed::YesHeard,
    Deed::NoHeard,
    Deed::ClientGone,
];

/// A call of each kind: one runs at once, two are asked about. Each writes down that it ran.
fn script() -> String {
    step(&[
        "echo free >> free",
        "touch mark && echo one >> one",
        "mkdir -p dir && echo two >> two",
    ]) + &says("end")
}

fn n_runs(sandbox: &Sandbox, name: &str) -> usize {
    let text = std::fs::read_to_string(sandbox.work().join(name)).unwrap_or_default();
    text.lines().count()
}

/// Where events, counted from the beginning of a turn, end before the questions are there.
const N_EARLY_EVENTS: usize = 12;

#[test]
fn a_pod_killed_while_it_asks_asks_again_or_says_that_it_was_interrupted() {
    let mut n_asked_again = 0;
    for number in 0..n_crashes() {
        let sandbox = Sandbox::new();
        let manifest = sandbox.pod(&script(), &asks(WAITS));
        // Every third is killed before all is asked, after one event more each time.
        let before = match number % 3 {
            0 => crash_early(&sandbox, &manifest, number / 3 % N_EARLY_EVENTS),
            _ => crash_while_asking(&sandbox, &manifest, DEEDS[number % DEEDS.len()]),
        };
        n_asked_again += goes_on(&sandbox, &manifest, &before);
    }
    assert!(n_asked_again > 0, "nothing was asked again");
}

/// What was known of a pod when it was killed.
#[derive(Debug)]
struct Before {
    session: std::path::PathBuf,
    deed: Option<Deed>,
    /// The questions that were open, and that nobody had answered.
    open: Vec<Value>,
}

/// Kills a pod as soon as a client has read so many events of a turn.
fn crash_early(sandbox: &Sandbox, manifest: &Path, n_events: usize) -> Before {
    let pod = Pod::serve(sandbox, manifest);
    let mut client = Client::approver(&pod, "tester");
    client.event("snapshot_end");
    client.send("run", json!({"prompt": "go"}));
    let mut open = Vec::new();
    for _ in 0..n_events {
        let event = client.next_event().unwrap();
        if event["event"] == "permission_request" {
            open.push(event["data"].clone());
            if open.len() == 2 {
                break;
            }
        }
    }
    let session = pod.session.clone();
    pod.kill();
    Before {
        session,
        deed: None,
        open,
    }
}

/// Kills a pod that asks about two calls, after this was done with the first.
fn crash_while_asking(sandbox: &Sandbox, manifest: &Path, deed: Deed) -> Before {
    let pod = Pod::serve(sandbox, manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let mut open = vec![client.request(), client.request()];
    let once = json!({"kind": "once"});
    match deed {
        Deed::Asked => {}
        Deed::YesSent => {
            client.send_reply(&open[0], once);
        }
        Deed::YesHeard => {
            client.reply(&open.remove(0), once).unwrap();
        }
        Deed::NoHeard => {
            let no = json!({"kind": "reject"});
            client.reply(&open.remove(0), no).unwrap();
        }
        Deed::ClientGone => drop(client),
    }
    let session = pod.session.clone();
    pod.kill();
    Before {
        session,
        deed: Some(deed),
        open,
    }
}

/// Goes on with a session, says yes to all that is asked; how many questions were asked again.
fn goes_on(sandbox: &Sandbox, manifest: &Path, before: &Before) -> usize {
    let names = ["one", "two"];
    let ran_before = names.map(|name| n_runs(sandbox, name));
    if !matches!(before.deed, Some(Deed::YesSent | Deed::YesHeard)) {
        assert_eq!(ran_before, [0, 0], "run without a yes: {before:#?}");
    }
    let pod = Pod::go_on(sandbox, manifest, &before.session);
    let mut client = Client::approver(&pod, "tester");
    let mut asked = Vec::new();
    let must_be_asked = match before.deed {
        // The answer may have been read, or not.
        Some(Deed::YesSent) => &before.open[1..],
        _ => &before.open[..],
    };
    for _ in must_be_asked {
        asked.push(client.request());
    }
    for request in must_be_asked {
        let is_it = |one: &&Value| one["id"] == request["id"];
        if !asked.iter().any(|one| is_it(&one)) {
            // The one whose answer was on its way may have come in its place.
            asked.push(client.request());
        }
        let again = asked.iter().find(is_it);
        let again = again.unwrap_or_else(|| panic!("{request} is lost: {asked:#?}"));
        assert_eq!(again["digest"], request["digest"], "{before:#?}");
    }
    // Nothing runs that nobody has said yes to by now. What a yes let run may have outlived its pod by
    // a moment.
    let mut yet = names.map(|name| n_runs(sandbox, name));
    if matches!(before.deed, Some(Deed::YesSent | Deed::YesHeard)) {
        yet[0] = ran_before[0];
    }
    assert_eq!(yet, ran_before, "{before:#?}");
    for request in &asked {
        client.reply(request, json!({"kind": "once"})).unwrap();
    }
    // Whatever else is open, or was cut off, a new prompt ends.
    finish(&mut client);
    client.call("stop", json!({})).unwrap();
    assert_eq!(pod.ends(), Some(0));
    let ran = names.map(|name| n_runs(sandbox, name));
    assert!(
        ran.iter().all(|n| *n <= 1) && n_runs(sandbox, "free") <= 1,
        "run twice: {ran:?} {before:#?}"
    );
    if before.deed == Some(Deed::NoHeard) {
        assert_eq!(ran, [0, 1], "{before:#?}");
    }
    if before.deed == Some(Deed::Asked) || before.deed == Some(Deed::ClientGone) {
        assert_eq!(ran, [1, 1], "lost: {before:#?}");
    }
    for exchange in exchanges(&before.session, Ending::Written) {
        let is_known =
            exchange.content.contains("interrupted") || exchange.content.contains("said no");
        assert!(!exchange.is_error || is_known, "{exchange:#?}");
    }
    asked.len()
}

/// Says no to what is still asked, and has a further turn run to its end.
fn finish(client: &mut Client) {
    let again = || json!({"prompt": "again"});
    let begun = client.call("run", again()).or_else(|error| {
        // The turn that was cut off goes on, for something of it is still asked.
        assert_eq!(error["code"], "busy", "{error}");
        no_until(client, |_| true);
        client.call("run", again())
    });
    let begun = begun.unwrap();
    no_until(client, |ended| ended["turn"] == begun["turn"]);
}

/// Says no to all that is asked until a turn ends.
fn no_until(client: &mut Client, is_it: impl Fn(&Value) -> bool) {
    loop {
        let event = client.next_event().unwrap();
        if event["event"] == "permission_request" {
            // It may be one that was answered before.
            let _ = client.reply(&event["data"], json!({"kind": "reject"}));
        } else if event["event"] == "turn_ended"
            && event["snapshot"] != true
            && is_it(&event["data"])
        {
            return;
        }
    }
}

#[test]
fn a_session_that_is_not_gone_on_with_settles_what_it_asked() {
    let sandbox = Sandbox::new();
    let manifest = sandbox.pod(&script(), &asks(WAITS));
    let before = crash_while_asking(&sandbox, &manifest, Deed::Asked);
    let pod = Pod::serve(&sandbox, &manifest);
    assert_ne!(pod.session, before.session);
    let mut client = Client::approver(&pod, "tester");
    assert_eq!(client.open(), Vec::<Value>::new());
    let results = exchanges(&before.session, Ending::Written);
    let is_interrupted = |result: &&crate::session_files::Exchange| {
        result.is_error && result.content.contains("interrupted")
    };
    assert!(
        results.iter().filter(is_interrupted).count() >= 2,
        "{results:#?}"
    );
    assert_eq!([n_runs(&sandbox, "one"), n_runs(&sandbox, "two")], [0, 0]);
}
