//! When a skill ends, and what leaves it active.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{WRITE, asks, calls, pod, refused_by};
use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, says};
use crate::session_files::{Ending, exchanges};
use crate::skills::skill;

/// Kills a pod that asks about a call of a turn under the skill `touch`.
fn killed_under_a_skill(sandbox: &Sandbox, manifest: &str) -> PathBuf {
    let pod = Pod::serve(sandbox, Path::new(manifest));
    let mut client = Client::approver(&pod, "tester");
    client.run("/touch it");
    client.request();
    let session = pod.session.clone();
    pod.kill();
    session
}

#[test]
fn a_pod_killed_under_a_skill_goes_on_under_it() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "touch", "allowed-tools: Bash(touch:*)\n");
    let script = calls(&[("bash", "command = \"touch a1\"")])
        + &calls(&[WRITE, ("bash", "command = \"touch a2\"")])
        + &says("Done.")
        + &calls(&[WRITE])
        + &says("Free.");
    let manifest = pod(&sandbox, &script, &asks());
    let session = killed_under_a_skill(&sandbox, &manifest);
    // The record counts, not what the file says by now.
    skill(&sandbox, "touch", "");

    let pod = Pod::go_on(&sandbox, Path::new(&manifest), &session);
    let mut client = Client::approver(&pod, "tester");
    let still = client.event("skill_started");
    assert_eq!(
        (&still["name"], &still["by"]["kind"]),
        (&json!("touch"), &json!("session"))
    );
    assert_eq!(still["allowed_tools"], json!(["Bash(touch:*)"]));
    for _ in 0..2 {
        let request = client.request();
        client.reply(&request, json!({"kind": "once"})).unwrap();
    }
    let ended = client.event("skill_ended");
    assert_eq!(ended["why"]["kind"], "turn");
    assert_eq!(client.event("turn_ended")["n_refused"], 1);
    client.run("free");
    client.event("turn_ended");
    client.call("stop", json!({})).unwrap();
    assert_eq!(pod.ends(), Some(0));
    let exchanged = exchanges(&session, Ending::Written);
    refused_by(&exchanged[1], "touch");
    assert!(!exchanged[3].is_error, "{exchanged:#?}");
    for name in ["a1", "a2", "new.txt"] {
        assert!(sandbox.work().join(name).exists(), "{name}");
    }
}

#[test]
fn a_turn_that_is_cut_off_leaves_its_skill_active_until_somebody_ends_it() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "touch", "allowed-tools: Bash(touch:*)\n");
    let script = calls(&[("bash", "command = \"touch a1\"")])
        + &calls(&[WRITE, ("bash", "command = \"touch a1\"")])
        + &calls(&[WRITE])
        + &says("Free.");
    let manifest = pod(&sandbox, &script, &asks());
    let pod = Pod::serve(&sandbox, Path::new(&manifest));
    let mut client = Client::approver(&pod, "tester");
    let end = |name: &str| sandbox.run(&["skills", "end", "test", name]);
    let ran = end("touch").exits(64);
    assert!(
        ran.stderr.contains("`touch` is not active"),
        "{}",
        ran.stderr
    );

    client.run("/touch it");
    client.request();
    client.call("cancel", json!({})).unwrap();
    client.event("turn_ended");
    // Whoever comes later hears of it.
    let mut later = Client::onlooker(&pod, "later");
    assert_eq!(later.event("skill_started")["name"], "touch");

    // A turn that does not name it is under it.
    client.run("go on");
    client.request();
    let ran = end("touch").exits(0);
    assert!(
        ran.stderr.contains("ends with the next model request"),
        "{}",
        ran.stderr
    );
    client.call("cancel", json!({})).unwrap();
    assert_eq!(client.event("skill_ended")["why"]["kind"], "client");
    client.event("turn_ended");
    client.run("again");
    client.event("turn_ended");
    let exchanged = exchanges(&pod.session, Ending::Written);
    refused_by(&exchanged[1], "touch");
    assert!(!exchanged[3].is_error, "{exchanged:#?}");
    client.call("stop", json!({})).unwrap();
    assert_eq!(pod.ends(), Some(0));
}

#[test]
fn a_skill_ends_at_once_where_no_turn_runs() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "touch", "allowed-tools: Bash(touch:*)\n");
    let script = calls(&[("bash", "command = \"touch a1\"")]) + &calls(&[WRITE]) + &says("Free.");
    let manifest = pod(&sandbox, &script, &asks());
    let pod = Pod::serve(&sandbox, Path::new(&manifest));
    let mut client = Client::approver(&pod, "tester");
    client.run("/touch it");
    client.request();
    client.call("cancel", json!({})).unwrap();
    client.event("turn_ended");
    let ran = sandbox.run(&["skills", "end", "test", "touch"]).exits(0);
    assert_eq!(ran.stderr, "skill: touch ended\n");
    let ended = client.event("skill_ended");
    assert_eq!(
        ended["why"],
        json!({"kind": "client", "name": "podward skills end"})
    );
    let id = client.send("run", json!({"prompt": "write"}));
    client.response(id).unwrap().unwrap();
    assert_eq!(client.event("turn_ended")["n_refused"], 0);
    client.call("stop", json!({})).unwrap();
    assert_eq!(pod.ends(), Some(0));
}
