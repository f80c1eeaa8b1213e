use podward_protocol::{CallId, ToolCallStarted, TurnStarted, Usage};

use super::*;
use crate::serve::questions::tests::question;

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
        n_steps: 1,
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
        Kept::Json(json) => {
            let event: Event = serde_json::from_str(&json.text).unwrap();
            assert_eq!(event.name(), json.name);
            event
        }
        Kept::Asked(question, of_call) => of_call.event(&question),
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

/// What a question says is kept once, with it; what is told is the same, in the same order.
#[test]
fn the_events_of_a_call_that_is_asked_about_are_told_of_its_question() {
    let question = question(None);
    let event = |of_call: OfCall| of_call.event(&question);
    let Event::ToolCallArguments(mut other) = event(OfCall::Arguments) else {
        panic!("the arguments");
    };
    other.arguments = "{".into();
    // What the model wrote otherwise stays as it was written.
    for (arguments, n_made) in [
        (event(OfCall::Arguments), 3),
        (Event::ToolCallArguments(other), 2),
    ] {
        let mut snapshot = Snapshot::with_bounds(1_000, 5);
        let started = event(OfCall::Started);
        let before = [turn(1), call("gone"), started, text("a"), arguments];
        fold(&mut snapshot, before.clone());
        fold(&mut snapshot, [call("other")]);
        snapshot.keep_asked(question.clone(), 10);
        let is_made = |kept: &&(Kept, usize)| matches!(kept.0, Kept::Asked(..));
        assert_eq!(snapshot.events.iter().filter(is_made).count(), n_made);
        let told = told(&mut snapshot);
        // The first event of the turn is left out, which is said.
        assert_eq!(told[2..5], before[2..]);
        assert_eq!(told[5..7], [call("other"), event(OfCall::Verdict)]);
    }
}
