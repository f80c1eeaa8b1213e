//! What a session left on disk, read without the program.

use std::path::Path;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A call of the model with its result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) is_error: bool,
    pub(crate) content: String,
}

fn lines_of(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The calls of a session in the order in which the model made them.
///
/// Fails the test unless every call of a message has exactly one result before the model speaks
/// again, and no result is without a call. The calls of the last message may be unanswered when
/// `ending` says that the process was killed.
#[track_caller]
pub(crate) fn exchanges(session: &Path, ending: Ending) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    // Calls of the newest message that wait for their result.
    let mut open: Vec<(String, usize)> = Vec::new();
    for (idx, line) in lines_of(&session.join("session.jsonl")).iter().enumerate() {
        assert_eq!(line["number"], idx, "a line is missing: {line}");
        let entry = &line["data"]["entry"];
        match entry["entry"].as_str() {
            Some("assistant") => {
                assert!(open.is_empty(), "calls without a result before {line}");
                for block in entry["content"].as_array().unwrap() {
                    if block["type"] == "tool_use" {
                        open.push((block["id"].as_str().unwrap().to_owned(), exchanges.len()));
                        exchanges.push(Exchange {
                            tool: block["name"].as_str().unwrap().to_owned(),
                            input: block["input"].clone(),
                            is_error: false,
                            content: String::new(),
                        });
                    }
                }
            }
            Some("finished") => {
                let call = entry["call"].as_str().unwrap();
                let place = open.iter().position(|(id, _)| id == call);
                let place = place.unwrap_or_else(|| panic!("a result without a call: {line}"));
                let exchange = &mut exchanges[open.remove(place).1];
                exchange.is_error = entry["is_error"].as_bool().unwrap();
                exchange.content = entry["content"].as_str().unwrap().to_owned();
            }
            Some("prompt") => assert!(open.is_empty(), "calls without a result before {line}"),
            Some("ruled" | "started" | "turn_ended" | "skill_started" | "skill_ended") | None => {}
            Some(other) => panic!("an entry that this test does not know: {other}"),
        }
    }
    if ending == Ending::Written {
        assert!(open.is_empty(), "calls without a result: {open:?}");
    }
    exchanges
}

/// How the process of a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself: everything is written.
    Written,
    /// By kill -9.
    Killed,
}

/// The lines of the decision log.
///
/// Fails the test unless each holds the digest of the one before.
#[track_caller]
pub(crate) fn decisions(session: &Path) -> Vec<Value> {
    let path = session.join("decisions.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for (idx, pair) in lines.windows(2).enumerate() {
        let digest: String = Sha256::digest(pair[0])
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let next: Value = serde_json::from_str(pair[1]).unwrap();
        assert_eq!(
            next["previous"],
            format!("sha256:{digest}"),
            "line {}",
            idx + 2
        );
    }
    lines_of(&path)
}

/// Tool and verdict of each decision.
#[track_caller]
pub(crate) fn verdicts(session: &Path) -> Vec<(String, String)> {
    decisions(session)
        .iter()
        .map(|line| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&line["tool"]), text(&line["verdict"]["verdict"]))
        })
        .collect()
}

/// Access rights of a file, without its kind.
pub(crate) fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}
