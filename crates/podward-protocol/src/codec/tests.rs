use proptest::prelude::*;

use super::strategies::events;
use super::*;
use crate::{Event, SessionId, TextDelta, Time, events_schema};

const SESSION: &str = "01JDXW8Z4M9V7Q3T5R6S8N0PAB";

fn envelope(event: Event) -> Envelope {
    Envelope {
        time: Time::from_unix_milliseconds(1_767_323_045_678).unwrap(),
        session: SessionId::new(SESSION).unwrap(),
        seq: 7,
        snapshot: false,
        event,
    }
}

#[test]
fn an_event_is_one_line_with_its_name_and_data() {
    let line = encode(&envelope(Event::TextDelta(TextDelta {
        text: "a\nb".into(),
    })));
    assert_eq!(
        line.unwrap(),
        r#"{"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":7,"event":"text_delta","data":{"text":"a\nb"}}"#
    );
}

#[test]
fn what_a_terminal_obeys_or_a_reader_takes_for_a_line_end_is_escaped() {
    let event = Event::TextDelta(TextDelta {
        text: "\u{1b}[\u{9b}\u{85}\u{2028}\u{202e}\u{200b}\u{e0041}\u{e9}\u{1f600}\"\\".into(),
    });
    let line = encode(&envelope(event.clone())).unwrap();
    let text = r#"{"text":"\u001b[\u009b\u0085\u2028\u202e\u200b\udb40\udc41é😀\"\\"}"#;
    assert!(line.contains(text), "{line}");
    assert_eq!(decode(&line).unwrap(), envelope(event));
}

#[test]
fn fields_that_a_reader_does_not_know_are_passed_over() {
    let line = r#"{"new":1,"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":7,"event":"text_delta","data":{"text":"hi","mood":[]}}"#;
    let event = Event::TextDelta(TextDelta { text: "hi".into() });
    assert_eq!(decode(line).unwrap(), envelope(event));
}

#[test]
fn an_event_of_a_later_version_is_told_from_a_broken_line() {
    let line = r#"{"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":9,"event":"dance","data":{}}"#;
    match decode(line).unwrap_err() {
        DecodeError::UnknownEvent { name, seq } => assert_eq!((&*name, seq), ("dance", 9)),
        other => panic!("{other}"),
    }
    for line in [
        "",
        "{",
        "null",
        "[]",
        r#"{"event":"text_delta","data":{"text":"x"}}"#,
        r#"{"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":9,"event":"text_delta"}"#,
        r#"{"time":"x","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":9,"event":"text_delta","data":{"text":""}}"#,
        r#"{"time":"2026-01-02T03:04:05.678Z","session":"x","seq":9,"event":"text_delta","data":{"text":""}}"#,
        r#"{"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":9,"event":"text_delta","data":{"text":""}} x"#,
    ] {
        assert!(
            matches!(decode(line), Err(DecodeError::Malformed(_))),
            "{line}"
        );
    }
}

#[test]
fn a_line_over_the_limit_is_neither_written_nor_read() {
    let text = "x".repeat(MAX_LINE_BYTES);
    let event = envelope(Event::TextDelta(TextDelta { text }));
    assert!(matches!(
        encode(&event),
        Err(EncodeError::LineTooLong { .. })
    ));
    let line = " ".repeat(MAX_LINE_BYTES + 1);
    assert!(matches!(
        decode(&line),
        Err(DecodeError::LineTooLong { .. })
    ));
}

#[test]
fn the_schema_names_every_event() {
    let schema = events_schema();
    assert!(schema.ends_with("}\n"));
    for name in Event::NAMES {
        assert!(schema.contains(&format!("\"{name}\"")), "{name}");
    }
}

proptest! {
    #[test]
    fn every_event_reads_back_as_written(
        event in events(),
        seq: u64,
        snapshot: bool,
        milliseconds in 0_i64..4_000_000_000_000,
    ) {
        let envelope = Envelope {
            time: Time::from_unix_milliseconds(milliseconds).unwrap(),
            session: SessionId::new(SESSION).unwrap(),
            seq,
            snapshot,
            event,
        };
        let line = encode(&envelope).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert!(Event::NAMES.contains(&envelope.event.name()));
        let named = format!("\"event\":\"{}\"", envelope.event.name());
        prop_assert!(line.contains(&named));
        prop_assert_eq!(decode(&line).unwrap(), envelope);
    }

    #[test]
    fn no_line_makes_the_reader_panic(line in any::<String>()) {
        let _ = decode(&line);
    }

    #[test]
    fn no_cut_line_reads_as_an_event(event in events(), at in 0_usize..10_000) {
        let line = encode(&envelope(event)).unwrap();
        let end = line.floor_char_boundary(at.min(line.len() - 1));
        prop_assert!(decode(line.split_at(end).0).is_err());
    }
}
