//! The conversation, several pods, and connections that are lost.

use crossterm::event::{KeyCode, KeyModifiers};
use podward_protocol::{
    Answer, Event, Method, MethodError, MethodErrorCode, Reply, RequestId, Run, RunStarted,
    SnapshotEnd, SnapshotStarted, Status, TextDelta, TurnStarted,
};
use podward_view::sample::push;

use super::Desk;
use crate::input::{Effect, Input, PodNews, Refused, Target};

fn text(text: &str) -> Event {
    Event::TextDelta(TextDelta {
        text: text.to_owned(),
    })
}

fn turn(turn: u64, prompt: &str) -> Event {
    Event::TurnStarted(TurnStarted {
        turn,
        prompt: prompt.to_owned(),
    })
}

#[test]
fn a_prompt_that_is_not_taken_comes_back() {
    let mut desk = Desk::usual();
    desk.keys("make it so\n");
    let run = Run {
        prompt: Some("make it so".to_owned()),
        skill: None,
    };
    let target = Target::Prompt("make it so".to_owned());
    assert_eq!(
        desk.effects,
        [Effect::Ask {
            pod: 0,
            target: target.clone(),
            method: Box::new(Method::Run(run)),
        }]
    );
    desk.keys("and");
    let busy = MethodError::new(MethodErrorCode::Busy, "a turn runs");
    desk.news(0, PodNews::Replied(target, Err(Refused::ByPod(busy))));
    assert!(desk.shows().contains("not sent: a turn runs"));
    assert_eq!(desk.app.outcome().draft, "make it so\nand");
}

#[test]
fn what_is_typed_while_a_pod_is_busy_or_gone_stays() {
    let mut desk = Desk::usual();
    desk.tell(0, Event::Status(Status::Busy));
    desk.keys("later\n");
    assert!(desk.shows().contains("busy"));
    desk.news(0, PodNews::Lost("the pod closed it".to_owned()));
    desk.keys("\n");
    assert_eq!(desk.effects, []);
    assert_eq!(desk.app.outcome().draft, "later");
}

#[test]
fn a_snapshot_tells_a_turn_again_and_it_stands_there_once() {
    let mut desk = Desk::usual();
    desk.tell(0, turn(1, "first"));
    desk.tell(0, text("one"));
    desk.tell(0, turn(2, "second"));
    desk.tell(0, text("two"));
    desk.news(0, PodNews::Lost("the pod closed it".to_owned()));
    assert!(desk.shows().contains("lost for 0 s, trying again"));
    desk.connect(0);
    desk.tell_as(0, Event::SnapshotStarted(SnapshotStarted {}), true);
    desk.tell_as(0, turn(2, "second"), true);
    desk.tell_as(0, text("two and more"), true);
    desk.tell_as(0, Event::SnapshotEnd(SnapshotEnd { seq: 9 }), true);
    let shown = desk.shows();
    assert_eq!(shown.matches("second").count(), 1, "{shown}");
    assert_eq!(shown.matches("first").count(), 1, "{shown}");
    assert!(shown.contains("two and more"), "{shown}");
}

/// A question of a pod that was lost can be answered when the pod has told of it again, and not before.
#[test]
fn a_question_outlives_its_connection_and_is_answered_only_over_one() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.news(0, PodNews::Lost("the pod closed it".to_owned()));
    desk.keys("y");
    assert_eq!(desk.answers(), []);
    assert!(desk.shows().contains("the pod is not connected"));
    desk.connect(0);
    desk.tell_as(0, Event::PermissionRequest(push("a").request), true);
    desk.tell_as(0, Event::SnapshotEnd(SnapshotEnd { seq: 9 }), true);
    desk.shows();
    desk.wait(600);
    desk.keys("y");
    assert_eq!(desk.answers(), [(RequestId::new("a"), Answer::Once)]);
}

#[test]
fn a_question_that_a_snapshot_does_not_tell_of_is_gone() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.news(0, PodNews::Lost("the pod closed it".to_owned()));
    desk.connect(0);
    desk.tell_as(0, Event::SnapshotEnd(SnapshotEnd { seq: 9 }), true);
    assert!(!desk.shows().contains("may #1 bash run?"));
    desk.keys("y");
    assert_eq!(desk.answers(), []);
}

#[test]
fn questions_of_all_pods_are_one_queue_oldest_first() {
    let mut desk = Desk::new(80, 24, &["one", "two"]);
    desk.asks(1, &push("b"));
    desk.asks(0, &push("a"));
    assert!(desk.shows().contains("two asks, 1 of 2"));
    desk.wait(600);
    desk.keys("\t");
    assert!(desk.shows().contains("one asks, 2 of 2"));
    desk.wait(600);
    desk.keys("y");
    desk.news(
        0,
        PodNews::Replied(Target::Answer(RequestId::new("a")), Ok(settled())),
    );
    assert!(desk.shows().contains("two asks"));
    assert!(!desk.shows().contains("1 of 2"));
}

fn settled() -> Reply {
    Reply::PermissionReply(podward_protocol::Settled {
        settled: Vec::new(),
    })
}

#[test]
fn the_turn_is_cancelled_by_the_same_key_twice() {
    let mut desk = Desk::usual();
    desk.tell(0, Event::Status(Status::Busy));
    desk.control('c');
    assert_eq!(desk.effects, []);
    desk.wait(3_000);
    desk.control('c');
    desk.control('c');
    assert_eq!(desk.target(), Target::Cancel);
    desk.tell(0, Event::Status(Status::Idle));
    desk.control('c');
    desk.control('c');
    assert_eq!(desk.effects.last(), Some(&Effect::Quit));
}

#[test]
fn who_looks_back_stays_where_they_look() {
    let mut desk = Desk::usual();
    let lines: String = (0..200).map(|n| format!("line {n}\n")).collect();
    desk.tell(0, text(&lines));
    desk.shows();
    desk.code(KeyCode::PageUp, KeyModifiers::NONE);
    let body = |shown: String| {
        shown
            .lines()
            .take(18)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let before = body(desk.shows());
    desk.tell(0, text("more\nand more\n"));
    assert_eq!(body(desk.shows()), before);
    desk.control('f');
    desk.keys("line 17\n");
    assert!(desk.shows().contains("line 17"));
}

/// What is kept of a long conversation has a bound.
#[test]
fn a_long_conversation_is_forgotten_from_its_beginning() {
    let mut desk = Desk::usual();
    for n in 0..6_000 {
        desk.tell(0, turn(n, "go"));
        desk.tell(0, text("said"));
    }
    desk.shows();
    desk.code(KeyCode::Home, KeyModifiers::CONTROL);
    assert!(
        desk.shows()
            .contains("what was before is in the session on disk")
    );
    let started = Reply::Run(RunStarted { turn: 1 });
    desk.news(
        0,
        PodNews::Replied(Target::Prompt("x".to_owned()), Ok(started)),
    );
    desk.happens(Input::Focused(false));
}
