use podward_model::Message;
use serde_json::json;

use super::*;
use crate::journal::RuledOutcome;

fn prompt() -> Entry {
    Entry::Prompt { text: "go".into() }
}

fn assistant(calls: &[&str]) -> Entry {
    let uses = calls.iter().map(|id| Block::ToolUse {
        id: (*id).to_owned(),
        name: "read".into(),
        input: json!({}),
    });
    Entry::Assistant {
        content: std::iter::once(Block::Text { text: "t".into() })
            .chain(uses)
            .collect(),
    }
}

fn ruled(call: &str) -> Entry {
    Entry::Ruled {
        part_of: None,
        call: call.into(),
        outcome: RuledOutcome::Run,
        cause: "policy".into(),
    }
}

fn started(call: &str) -> Entry {
    Entry::Started {
        call: call.into(),
        in_session: None,
    }
}

fn started_in(call: &str, session: &str, arguments: Option<Value>) -> Entry {
    let id = session.into();
    Entry::Started {
        call: call.into(),
        in_session: Some(OwnSession { id, arguments }),
    }
}

fn finished(call: &str, content: &str, is_error: bool) -> Entry {
    Entry::Finished {
        call: call.into(),
        content: content.into(),
        is_error,
    }
}

fn result(id: &str, content: &str, is_error: bool) -> Block {
    Block::ToolResult {
        tool_use_id: id.into(),
        content: content.into(),
        is_error,
    }
}

const NOT_STARTED: &str = "Error: this call of `read` was not run, because the turn was \
                           interrupted before it started. It had no effect and can be made again \
                           if it is still wanted.";

const STARTED: &str = "Error: this call of `read` has no result, because the turn was interrupted \
                       while it ran. It may have done all, a part, or nothing of its work: look \
                       before you make it again.";

#[test]
fn results_stand_in_call_order_whenever_they_came() {
    let entries = [
        prompt(),
        assistant(&["a", "b"]),
        ruled("a"),
        ruled("b"),
        started("a"),
        finished("b", "two", true),
        finished("a", "one", false),
        assistant(&[]),
        Entry::TurnEnded {
            reason: "done".into(),
        },
    ];
    let replayed = History::replay(&entries).unwrap();
    assert_eq!(replayed.repairs, []);
    assert_eq!(
        replayed.history.messages()[2].content,
        [result("a", "one", false), result("b", "two", true)]
    );
    assert_eq!(replayed.history.messages().len(), 4);
}

#[test]
fn a_call_without_a_result_was_interrupted() {
    let entries = [
        prompt(),
        assistant(&["a", "b", "c"]),
        ruled("a"),
        ruled("b"),
        started("a"),
        finished("c", "three", false),
    ];
    let replayed = History::replay(&entries).unwrap();
    assert_eq!(
        replayed.repairs,
        [
            finished("a", STARTED, true),
            finished("b", NOT_STARTED, true)
        ]
    );
    assert_eq!(
        replayed.history.messages()[2].content,
        [
            result("a", STARTED, true),
            result("b", NOT_STARTED, true),
            result("c", "three", false)
        ]
    );
}

fn refused(call: &str) -> Entry {
    Entry::Ruled {
        part_of: None,
        call: call.into(),
        outcome: RuledOutcome::Refuse,
        cause: "policy".into(),
    }
}

/// It goes on with what it ran with, until it is refused or has its result.
#[test]
fn a_call_that_works_in_a_session_of_its_own_goes_on() {
    let begun = started_in("a", "S", Some(json!({"x": 1})));
    let entries = [
        prompt(),
        assistant(&["a", "b"]),
        ruled("a"),
        begun,
        ruled("a"),
    ];
    let replayed = History::replay(&entries).unwrap();
    let [b] = &replayed.repairs[..] else {
        panic!("{replayed:?}");
    };
    assert_eq!(*b, finished("b", NOT_STARTED, true));
    let (_, calls, _) = replayed.parked.clone().unwrap().into_parts();
    let ParkedCall::Open {
        arguments, earlier, ..
    } = &calls[0]
    else {
        panic!("{calls:?}");
    };
    assert_eq!((arguments, earlier), (&json!({"x": 1}), &Earlier::Nothing));
    let note =
        "Note: what was done for this call is in the session `S`, which people can go on with.";
    let interrupted = finished("a", &format!("{note}\n{STARTED}"), true);
    assert_eq!(replayed.interrupted().repairs[1], interrupted);
    let refused: Vec<_> = entries.into_iter().chain([refused("a")]).collect();
    let replayed = History::replay(&refused).unwrap();
    assert_eq!(replayed.parked, None);
    assert_eq!(replayed.repairs[0], interrupted);
}

/// A resumed session whose repairs were never written reads back the same.
#[test]
fn a_gap_in_the_middle_is_filled() {
    let entries = [prompt(), assistant(&["a"]), prompt(), assistant(&[])];
    let replayed = History::replay(&entries).unwrap();
    assert_eq!(replayed.repairs, []);
    assert_eq!(
        replayed.history.messages()[2..4],
        [
            Message {
                role: podward_model::Role::User,
                content: vec![result("a", NOT_STARTED, true)]
            },
            Message::user("go"),
        ]
    );
}

#[track_caller]
fn check_error(entries: &[Entry], expected: &str) {
    assert_eq!(History::replay(entries).unwrap_err().to_string(), expected);
}

#[test]
fn entries_that_no_worker_writes_are_refused() {
    check_error(
        &[prompt(), started("a")],
        "entry 1 is about the call `a`, which is not open there",
    );
    check_error(
        &[
            prompt(),
            assistant(&["a"]),
            finished("a", "", false),
            finished("a", "", false),
        ],
        "entry 3 is about the call `a`, which is not open there",
    );
    check_error(
        &[prompt(), assistant(&["a"]), assistant(&[]), ruled("a")],
        "entry 3 is about the call `a`, which is not open there",
    );
    check_error(
        &[prompt(), assistant(&["a"]), assistant(&["a"])],
        "the messages do not fit together",
    );
}

#[test]
fn an_entry_reads_back_from_its_stable_json() {
    for (entry, json) in [
        (prompt(), json!({"entry": "prompt", "text": "go"})),
        (
            Entry::Assistant {
                content: vec![Block::Text { text: "t".into() }],
            },
            json!({"entry": "assistant", "content": [{"type": "text", "text": "t"}]}),
        ),
        (
            ruled("a"),
            json!({"entry": "ruled", "call": "a", "outcome": "run", "cause": "policy"}),
        ),
        (started("a"), json!({"entry": "started", "call": "a"})),
        (
            started_in("a", "S", None),
            json!({"entry": "started", "call": "a", "in_session": {"id": "S"}}),
        ),
        (
            started_in("a", "S", Some(json!({"x": 1}))),
            json!({"entry": "started", "call": "a",
                "in_session": {"id": "S", "arguments": {"x": 1}}}),
        ),
        (
            finished("a", "x", true),
            json!({"entry": "finished", "call": "a", "content": "x", "is_error": true}),
        ),
        (
            Entry::TurnEnded {
                reason: "done".into(),
            },
            json!({"entry": "turn_ended", "reason": "done"}),
        ),
    ] {
        assert_eq!(serde_json::to_value(&entry).unwrap(), json);
        assert_eq!(serde_json::from_value::<Entry>(json).unwrap(), entry);
    }
}
