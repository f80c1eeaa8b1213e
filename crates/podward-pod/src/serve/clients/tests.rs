use podward_protocol::{Event, MAX_LINE_BYTES, SessionId, TextDelta, Time};

use super::{Clients, Frame, HELLO_PINGS, SNAPSHOT_BYTES, Wanted, Welcomed, json_line};
use crate::serve::outbox::Outbox;

/// An event that was told fits the snapshots that come later, however long its line is.
#[test]
fn what_is_told_once_can_be_told_again() {
    let frame = |seq| Frame {
        time: Time::from_unix_milliseconds(1).unwrap(),
        session: SessionId::from_bits(1),
        seq,
    };
    let event = |n_bytes| {
        let text = "x".repeat(n_bytes);
        Event::TextDelta(TextDelta { text })
    };
    let beside_text = frame(0).line(&event(0)).unwrap().len();
    let longest = MAX_LINE_BYTES - beside_text - SNAPSHOT_BYTES;
    assert!(frame(0).line(&event(longest + 1)).is_none());
    assert!(frame(0).line(&event(longest)).is_some());
    assert!(frame(u64::MAX).snapshot_line(&event(longest)).is_some());
}

/// Who never says hello makes room for others; who said it late is not counted by what was before.
#[test]
fn a_connection_without_a_hello_ends() {
    let mut clients = Clients::default();
    let silent = clients.add(Outbox::new(1, 1)).unwrap();
    let late = clients.add(Outbox::new(1, 1)).unwrap();
    for _ in 0..HELLO_PINGS {
        assert!(clients.strangers().is_empty());
    }
    clients.get_mut(late).unwrap().welcome(Welcomed {
        name: "late".into(),
        can_approve: false,
        wants: Wanted::All,
    });
    assert_eq!(clients.get(late).unwrap().n_pings, 0);
    assert_eq!(clients.strangers(), [silent]);
}

#[test]
fn what_is_kept_as_json_is_told_as_the_event_is() {
    let frame = Frame {
        time: Time::from_unix_milliseconds(0).unwrap(),
        session: SessionId::from_bits(1),
        seq: 7,
    };
    let event = Event::TextDelta(TextDelta {
        text: "a\u{202e}b\n{\"}".to_owned(),
    });
    let json = json_line(&event).unwrap();
    assert_eq!(frame.snapshot_line_of(&json), frame.snapshot_line(&event));
    assert!(frame.snapshot_line(&event).is_some());
}
