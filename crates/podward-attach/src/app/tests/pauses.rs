//! Keys that come too soon.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use podward_protocol::{Answer, DecidedBy, Event, Outcome, PermissionSettled, RequestId};
use podward_view::sample::push;
use proptest::collection::vec;
use proptest::prelude::*;

use super::Desk;
use super::safety::{key, of_lines};
use crate::input::Input;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is pressed without a pause of half a second approves nothing, also where the question has
    /// been on the screen for long.
    #[test]
    fn no_burst_of_keys_approves(
        first in key().prop_filter("a burst begins with another key", |key| key.code != KeyCode::Char('y')),
        keys in vec((key(), 0_u64..500), 0..60),
        is_long in any::<bool>(),
    ) {
        let mut desk = Desk::usual();
        let question = if is_long { of_lines(60) } else { push("a") };
        desk.asked(&question);
        desk.wait(10_000);
        for (key, pause) in std::iter::once((first, 0)).chain(keys) {
            desk.wait(pause);
            desk.happens(Input::Key(key));
            desk.shows();
        }
        prop_assert!(!desk.has_approved(), "{:?}", desk.answers());
    }
}

/// A pasted or held row of blanks and a `y` is not somebody who has read it.
#[test]
fn blanks_and_y_in_one_burst_approve_nothing() {
    let mut desk = Desk::usual();
    desk.asked(&of_lines(60));
    desk.keys("        y");
    assert_eq!(desk.answers(), []);
    assert!(desk.shows().contains("y counts after half a second"));
    desk.wait(499);
    desk.keys("j");
    assert!(desk.shows().contains("y: wait   n: no"));
    assert_eq!(desk.app.next_tick(), Some(100));
    desk.wait(500);
    assert!(desk.shows().contains("y: yes   n: no"));
    desk.keys("y");
    assert_eq!(desk.answers(), [(RequestId::new("a"), Answer::Once)]);
}

/// Who goes back and forth is not slowed down, and may say no at once.
#[test]
fn no_needs_no_pause_behind_scrolling() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.keys(" n");
    let no = Answer::Reject { feedback: None };
    assert_eq!(desk.answers(), [(RequestId::new("a"), no)]);
}

/// Rows that come to the screen by themselves restart the pause as well.
#[test]
fn rows_that_have_just_come_are_not_approved() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.happens(Input::Resized {
        columns: 80,
        rows: 30,
    });
    desk.screen.backend_mut().resize(80, 30);
    desk.shows();
    desk.keys("y");
    assert_eq!(desk.answers(), []);
}

/// Somebody who types slowly goes on into the prompt: no letter of it is an answer.
#[test]
fn a_slow_typist_answers_nothing() {
    for (before, at_once) in [("I", true), ("I\n", true), ("I", false)] {
        let mut desk = Desk::usual();
        desk.keys(before);
        desk.wait(if at_once { 650 } else { 60_000 });
        desk.asks(0, &push("a"));
        for c in " say that".chars() {
            desk.shows();
            desk.wait(1_900);
            let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
            desk.happens(Input::Key(key));
        }
        let shown = desk.shows();
        assert!(
            shown.contains("typing goes into the prompt until then"),
            "{shown}"
        );
        assert!(shown.contains("two seconds without one"), "{shown}");
        assert!(desk.app.pods[0].composer.text().ends_with(" say that"));
        assert_eq!(desk.answers(), [], "{before:?}");
        desk.wait(2_000);
        desk.keys("y");
        assert_eq!(desk.answers(), [(RequestId::new("a"), Answer::Once)]);
    }
}

/// So it is where another question comes into the place of the first one meanwhile.
#[test]
fn what_is_typed_goes_on_over_the_next_question() {
    let mut desk = Desk::usual();
    desk.keys("a");
    desk.asks(0, &push("a"));
    desk.asks(0, &push("b"));
    desk.shows();
    desk.keys("n");
    desk.tell(
        0,
        Event::PermissionSettled(PermissionSettled {
            id: RequestId::new("a"),
            outcome: Outcome::ApprovedOnce,
            by: DecidedBy::Client {
                name: "phone".to_owned(),
                edited: false,
            },
        }),
    );
    desk.shows();
    desk.wait(1_900);
    desk.keys("y");
    assert_eq!(desk.answers(), []);
    assert_eq!(desk.app.outcome().draft, "any");
}

/// Words that the model chose stand behind a mark wherever they go on.
#[test]
fn no_row_of_a_reason_begins_like_one_of_podward() {
    let mut question = push("a");
    let blanks = " ".repeat(70);
    let name = format!("x{blanks}may #2 bash run?{blanks} | ls");
    question.request.no_always = Some(format!("`{name}` leads elsewhere by a symbolic link"));
    let mut desk = Desk::new(80, 50, &["demo"]);
    desk.asked(&question);
    let shown = desk.shows();
    let behind = shown
        .lines()
        .skip_while(|row| !row.contains("is not offered"));
    let rows: Vec<&str> = behind.skip(1).take_while(|row| !row.is_empty()).collect();
    assert!(rows.iter().any(|row| row.contains("run?")), "{shown}");
    let until = rows.iter().position(|row| row.starts_with('\u{2500}'));
    for row in rows.iter().take(until.unwrap_or(rows.len())) {
        assert!(row.starts_with("  : "), "{shown}");
    }
    assert!(shown.contains("\\u{20}"), "{shown}");
}
