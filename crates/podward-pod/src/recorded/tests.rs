use std::fs;

use podward_protocol::{Cause, Verdict};
use serde_json::json;

use super::*;

const OLD: &str = "01JDXW8Z4M9V7Q3T5R6S8N0PAB";
const NEW: &str = "01JDXW8Z4M9V7Q3T5R6S8N0PAC";

fn line(session: &str, number: u64, call: &str, outcome: &str) -> String {
    json!({
        "format": 1, "number": number, "time": "2026-01-02T03:04:05.678Z", "pod": "demo",
        "session": session, "call": call, "workspace": "/w", "cwd": "/w", "tool": "bash",
        "arguments": {"command": "ls"}, "replayable": true, "operations": [], "outcome": outcome,
        "verdict": {"verdict": "ask", "cause": {"kind": "no_policy"}, "coverage": {"kind": "full"}},
        "by": {"kind": "policy"}, "policy_digest": "sha256:00", "previous": "",
    })
    .to_string()
}

fn state() -> (tempfile::TempDir, Places) {
    let temp = tempfile::tempdir().unwrap();
    let places = Places::below(temp.path());
    for (session, lines) in [
        (
            OLD,
            vec![
                line(OLD, 0, "call-1", "ask"),
                line(OLD, 1, "call-12", "run"),
                String::new(),
            ],
        ),
        (
            NEW,
            vec![
                line(NEW, 0, "call-1", "ask"),
                line(NEW, 1, "toolu_a1", "run"),
                line(NEW, 2, "toolu_a2", "run"),
                line(NEW, 3, "call-1", "run"),
                "{\"call\":\"call-1\",\"torn".to_owned(),
            ],
        ),
    ] {
        let directory = places.sessions_dir().join(session);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(DECISIONS_FILE), lines.join("\n")).unwrap();
    }
    (temp, places)
}

#[test]
fn the_newest_session_that_has_the_call_is_meant() {
    let (_temp, places) = state();
    let found = recorded_call(&places, None, "call-1").unwrap();
    assert_eq!(found.session.as_str(), NEW);
    assert_eq!(found.n_other_sessions, 1);
    assert_eq!(found.call.as_str(), "call-1");
    let outcomes: Vec<&str> = found.decisions.iter().map(|one| &*one.outcome).collect();
    assert_eq!(outcomes, ["ask", "run"]);
    assert_eq!(found.ruling.verdict, Verdict::Ask);
    assert_eq!(found.ruling.cause, Cause::NoPolicy);
    // No line follows the one before it.
    assert!(found.broken.is_some());
}

#[test]
fn an_id_may_be_shortened_as_long_as_one_call_is_meant() {
    let (_temp, places) = state();
    assert_eq!(
        recorded_call(&places, None, "call-12")
            .unwrap()
            .session
            .as_str(),
        OLD
    );
    assert_eq!(
        recorded_call(&places, Some(OLD), "call-1")
            .unwrap()
            .call
            .as_str(),
        "call-1"
    );
    let error = recorded_call(&places, None, "toolu").unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "2 calls of the session {NEW} have an id that begins with `toolu`: toolu_a1, toolu_a2"
        )
    );
    let error = recorded_call(&places, Some(OLD), "toolu").unwrap_err();
    assert!(matches!(error, CallNotFound::None { .. }), "{error}");
}
