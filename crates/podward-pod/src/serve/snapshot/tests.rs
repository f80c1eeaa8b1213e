use podward_protocol::{CallId, ToolCallStarted, TurnStarted, Usage};
use podward_worker::Decision;

use super::*;
use crate::wire::verdict_told;

fn text(text: &str) -> Event {
    Event::TextDelta(TextDelta { text: text.into() })
}

fn thinking(text: &str) -> Event {
    Event::ThinkingDelta(TextDelta { text: text.into() })
}

fn call(id: &str) -> Event {
    Event::ToolCallStarted(ToolCallStarted {
        call: CallId::new(id),
        tool: "read".into(),
    })
}

fn turn(turn: u64) -> Event {
    Event::TurnStarted(TurnStarted {
        turn,
        prompt: "go on".into(),
    })
}

fn usage(input_tokens: u64) -> Event {
    Event::Usage(Usage {
        input_tokens,
        output_tokens: 0,
        total_input_tokens: input_tokens,
        total_output_tokens: 0,
    })
}

fn fold(snapshot: &mut Snapshot, events: impl IntoIterator<Item = Event>) {
    for event in events {
        snapshot.fold(&Arc::new(event), 10);
    }
}

fn told(snapshot: &mut Snapshot) -> Vec<Event> {
    let event = |kept: Kept| match kept {
        Kept::Event(event) => event.as_ref().clone(),
        Kept::Json { name, json } => {
            let event: Event = serde_json::from_str(&json).unwrap();
            assert_eq!(event.name(), name);
            event
        }
        Kept::Asked(question) => Event::ToolCallVerdict(verdict_told(&Decision::Ask(question))),
    };
    let head = snapshot.head([]).into_iter();
    let tail = snapshot.tail().into_iter().map(Kept::Event);
    head.chain(tail).map(event).collect()
}

#[test]
fn text_is_joined_and_order_is_kept() {
    let mut snapshot = Snapshot::new();
    fold(
        &mut snapshot,
        [
            Event::Status(Status::Busy),
            turn(1),
            thinking("a"),
            thinking("b"),
            text("c"),
            usage(1),
            text("d"),
            call("x"),
            text("e"),
            usage(2),
        ],
    );
    let expected = vec![
        turn(1),
        thinking("ab"),
        text("cd"),
        call("x"),
        text("e"),
        usage(2),
        Event::Status(Status::Busy),
    ];
    assert_eq!(told(&mut snapshot), expected);
    assert_eq!(told(&mut snapshot), expected, "telling changes nothing");
    fold(&mut snapshot, [text("f")]);
    assert!(told(&mut snapshot).contains(&text("ef")), "a text goes on");
}

#[test]
fn a_new_turn_forgets_the_one_before() {
    let mut snapshot = Snapshot::new();
    fold(
        &mut snapshot,
        [turn(1), text("old"), usage(1), turn(2), text("new")],
    );
    assert_eq!(
        told(&mut snapshot),
        [turn(2), text("new"), Event::Status(Status::Idle)]
    );
}

#[test]
fn memory_is_bounded_and_what_is_left_out_is_said() {
    let mut snapshot = Snapshot::with_bounds(40, 100);
    fold(&mut snapshot, [turn(1)]);
    fold(&mut snapshot, (0..10).map(|idx| call(&idx.to_string())));
    let left_out = Event::Notice(Notice {
        message: "6 earlier events of this turn are left out".into(),
        help: Some("the session on disk has all of them".into()),
    });
    let calls = (6..10).map(|idx| call(&idx.to_string()));
    let mut expected = vec![turn(1), left_out];
    expected.extend(calls);
    expected.push(Event::Status(Status::Idle));
    assert_eq!(told(&mut snapshot), expected);
}

#[test]
fn a_long_text_is_told_in_pieces_that_fit_a_line() {
    let mut snapshot = Snapshot::new();
    let piece = "x".repeat(100_000);
    fold(&mut snapshot, (0..5).map(|_| text(&piece)));
    let lengths: Vec<usize> = told(&mut snapshot)
        .iter()
        .filter_map(|event| match event {
            Event::TextDelta(delta) => Some(delta.text.len()),
            _ => None,
        })
        .collect();
    assert_eq!(lengths, [200_000, 200_000, 100_000]);
}
