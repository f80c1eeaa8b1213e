use podward_protocol::{Envelope, Event, SessionId, Status, Time};
use tokio::sync::mpsc;

use super::LocalEvents;

fn envelope() -> Envelope {
    Envelope {
        time: Time::UNIX_EPOCH,
        session: SessionId::from_bits(1),
        seq: 0,
        snapshot: false,
        event: Event::Status(Status::Idle),
    }
}

/// A terminal that was stopped takes nothing, though the process is there.
#[tokio::test]
async fn only_who_takes_events_is_there() {
    let (sender, mut events) = mpsc::channel(4);
    let mut local = LocalEvents::new(sender);
    assert!(local.is_taken(), "there is nothing to take");
    for _ in 0..2 {
        local.push(envelope);
    }
    assert!(!local.is_taken(), "two events wait");
    local.flush().await;
    assert!(!local.is_taken(), "nobody took them");
    events.recv().await.unwrap();
    assert!(local.is_taken(), "one was taken");
    assert!(!local.is_taken(), "and no other since");
    events.recv().await.unwrap();
    assert!(local.is_taken() && local.is_taken());
}
