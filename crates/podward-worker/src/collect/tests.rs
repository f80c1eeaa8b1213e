use serde_json::json;

use super::*;

/// Adds events until one ends the answer.
fn collect(limits: &TurnLimits, events: Vec<ModelEvent>) -> (Vec<Block>, Vec<WrittenCall>, String) {
    let mut ids = CallIds::default();
    let mut answer = Answer::new(limits, &mut ids);
    let mut end = "open".to_owned();
    for event in events {
        match answer.add(event) {
            Added::Part(_) => {}
            Added::Stopped(reason) => {
                end = reason.as_str().to_owned();
                break;
            }
            Added::OverLimit(limit) => {
                end = format!("over {}", limit.as_str());
                break;
            }
        }
    }
    let (content, calls) = answer.finish();
    (content, calls, end)
}

fn text(text: &str) -> ModelEvent {
    ModelEvent::TextDelta(text.to_owned())
}

fn thinking(text: &str) -> ModelEvent {
    ModelEvent::ThinkingDelta(text.to_owned())
}

fn tool_use(idx: usize) -> ModelEvent {
    ModelEvent::ToolUse {
        idx,
        id: format!("id{idx}"),
        name: "read".to_owned(),
        input: ToolInput::Json(json!({"path": "x"})),
    }
}

fn started(idx: usize) -> ModelEvent {
    ModelEvent::ToolUseStarted {
        idx,
        id: format!("id{idx}"),
        name: "read".to_owned(),
    }
}

#[test]
fn blocks_stand_in_the_order_in_which_they_came() {
    let (content, calls, end) = collect(
        &TurnLimits::default(),
        vec![
            thinking("h"),
            thinking("m"),
            text("one "),
            text("text"),
            started(0),
            started(1),
            tool_use(1),
            text("between"),
            tool_use(0),
            text(" \n"),
            ModelEvent::Stopped(StopReason::ToolUse),
            text("too late"),
        ],
    );
    let block = |id: &str| Block::ToolUse {
        id: id.to_owned(),
        name: "read".to_owned(),
        input: json!({"path": "x"}),
    };
    assert_eq!(
        content,
        [
            Block::Thinking {
                text: "hm".into(),
                seal: None,
            },
            Block::Text {
                text: "one text".into()
            },
            block("id1"),
            Block::Text {
                text: "between".into()
            },
            block("id0"),
        ]
    );
    let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["id1", "id0"]);
    assert_eq!(end, "tool_use");
}

#[test]
fn thoughts_alone_are_no_message() {
    let (content, ..) = collect(&TurnLimits::default(), vec![thinking("hm"), text("")]);
    assert_eq!(content, []);
}

/// Whatever a model repeats without end, its answer ends.
#[test]
fn no_event_can_be_repeated_forever() {
    let limits = TurnLimits {
        message_bytes: 1_000,
        message_calls: 10,
        ..TurnLimits::default()
    };
    for event in [
        text(""),
        text("x"),
        thinking(""),
        started(0),
        tool_use(0),
        ModelEvent::ToolInputDelta {
            idx: 0,
            json: String::new(),
        },
        ModelEvent::Usage(Usage::default()),
        ModelEvent::Retry {
            attempt: 2,
            reason: String::new(),
            after: std::time::Duration::ZERO,
        },
    ] {
        let (.., end) = collect(&limits, vec![event.clone(); 2_000]);
        assert_eq!(end, "over message", "{event:?}");
    }
}

#[test]
fn arguments_count_once_however_they_are_streamed() {
    let limits = TurnLimits {
        message_bytes: 100,
        ..TurnLimits::default()
    };
    let delta = ModelEvent::ToolInputDelta {
        idx: 0,
        json: "x".repeat(60),
    };
    let (_, calls, end) = collect(&limits, vec![delta.clone(), tool_use(0), delta]);
    assert_eq!((calls.len(), end.as_str()), (1, "open"));
}

#[test]
fn a_sealed_thought_is_kept_whole_even_without_text() {
    let seal = |data: &str| ThinkingSeal::Redacted {
        model: "m".into(),
        data: data.into(),
    };
    let thought = |text: &str, data: &str| Block::Thinking {
        text: text.into(),
        seal: Some(seal(data)),
    };
    let (content, _, _) = collect(
        &TurnLimits::default(),
        vec![
            thinking("one"),
            ModelEvent::ThinkingSealed(seal("1")),
            ModelEvent::ThinkingSealed(seal("2")),
            thinking("three"),
            ModelEvent::ThinkingSealed(seal("3")),
            text("said"),
        ],
    );
    assert_eq!(
        content,
        [
            thought("one", "1"),
            thought("", "2"),
            thought("three", "3"),
            Block::Text {
                text: "said".into()
            },
        ]
    );
}
