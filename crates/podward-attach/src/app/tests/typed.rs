//! What is typed and pasted is not lost, answers nothing that it was not meant for, and keys can be moved.

use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use podward_protocol::{
    Answer, DecidedBy, EditDenied, Event, MethodError, MethodErrorCode, Outcome, PermissionSettled,
    RequestId, Verdict,
};
use podward_view::sample::push;
use proptest::collection::vec;
use proptest::prelude::*;

use super::Desk;
use super::safety::{key, of_lines};
use crate::input::{Effect, Input, PodNews, Refused};
use crate::keys::Settings;

fn settled_elsewhere(id: &str) -> Event {
    Event::PermissionSettled(PermissionSettled {
        id: RequestId::new(id),
        outcome: Outcome::ApprovedOnce,
        by: DecidedBy::Client {
            name: "phone".to_owned(),
            edited: false,
        },
    })
}

fn draft(desk: &Desk) -> &str {
    desk.app.pods[0].composer.text()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// A yes that is the beginning of what is pasted without brackets is none, whatever comes behind it.
    #[test]
    fn a_yes_with_anything_behind_it_approves_nothing(
        keys in vec((key(), 0_u64..150), 1..30),
    ) {
        let mut desk = Desk::usual();
        desk.asked(&push("a"));
        desk.wait(10_000);
        desk.burst("y");
        for (key, pause) in keys {
            desk.wait(pause);
            desk.happens(Input::Key(key));
            desk.shows();
        }
        desk.wait(10_000);
        prop_assert!(!desk.has_approved(), "{:?}", desk.answers());
    }

    /// Whatever the mouse does, it answers nothing, and a yes right behind it does not count.
    #[test]
    fn no_click_answers(
        events in vec((0_u16..80, 0_u16..24, 0_usize..4, any::<bool>()), 1..40),
        first in "[a]?[2]?",
    ) {
        let mut desk = Desk::usual();
        desk.asked(&push("a"));
        desk.keys(&first);
        for (column, row, kind, waits) in events {
            desk.mouse(KINDS[kind], column, row);
            desk.shows();
            if waits {
                desk.wait(600);
            }
        }
        desk.mouse(KINDS[0], 0, 3);
        desk.keys("y");
        prop_assert_eq!(desk.answers(), []);
    }
}

/// Also a key that does the same everywhere, and one that was read late.
#[test]
fn a_yes_does_not_count_with_any_key_right_behind_it() {
    for (key, held) in [
        ('c', KeyModifiers::CONTROL),
        ('l', KeyModifiers::CONTROL),
        ('z', KeyModifiers::CONTROL),
        ('j', KeyModifiers::NONE),
    ] {
        for late in [0, 1_000] {
            let mut desk = Desk::usual();
            desk.asked(&push("a"));
            desk.burst("y");
            desk.now.steady += late;
            desk.code(KeyCode::Char(key), held);
            desk.wait(1_000);
            assert_eq!(desk.answers(), [], "{key} {late}");
        }
    }
}

const KINDS: [MouseEventKind; 4] = [
    MouseEventKind::Down(MouseButton::Left),
    MouseEventKind::Down(MouseButton::Right),
    MouseEventKind::ScrollDown,
    MouseEventKind::ScrollUp,
];

impl Desk {
    fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        self.happens(Input::Mouse(MouseEvent {
            kind,
            column,
            row,
            modifiers: KeyModifiers::NONE,
        }));
    }
}

#[test]
fn a_yes_counts_when_it_has_stayed_alone() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.burst("y");
    assert_eq!(desk.answers(), []);
    assert!(desk.app.next_tick().is_some_and(|tick| tick <= 150));
    desk.wait(149);
    assert_eq!(desk.answers(), []);
    desk.wait(1);
    assert_eq!(desk.answers(), [(RequestId::new("a"), Answer::Once)]);
}

/// What it was about has changed meanwhile.
#[test]
fn a_yes_does_not_count_for_what_has_come_since() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.burst("y");
    let mut other = push("a");
    other.request.digest = "of something else".to_owned();
    desk.asks(0, &other);
    desk.shows();
    desk.wait(600);
    assert_eq!(desk.answers(), []);
    desk.burst("y");
    desk.news(0, PodNews::Lost("the pod closed it".to_owned()));
    desk.wait(600);
    assert_eq!(desk.answers(), []);
}

#[test]
fn a_reason_and_an_edit_outlive_esc() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.keys("ruse tags\u{1b}");
    desk.wait(600);
    desk.keys("e --dry-run\u{1b}");
    desk.wait(600);
    desk.keys("r");
    assert!(desk.shows().contains("> use tags"));
    desk.keys("\u{1b}");
    desk.wait(600);
    desk.keys("e");
    assert!(desk.shows().contains("origin main --dry-run"));
}

/// Somebody else answers while a reason is typed: it is in the prompt, and so is what is typed on.
#[test]
fn what_is_typed_about_a_question_that_is_settled_goes_into_the_prompt() {
    for next in [false, true] {
        let mut desk = Desk::usual();
        desk.asked(&push("a"));
        desk.keys("rno use y");
        if next {
            desk.asks(0, &push("b"));
        }
        desk.tell(0, settled_elsewhere("a"));
        desk.shows();
        desk.keys("es you y");
        let shown = desk.shows();
        assert_eq!(draft(&desk), "no use yes you y", "{shown}");
        let said = "yes, once (phone); what you typed is in the prompt";
        assert!(shown.contains(said), "{shown}");
        assert_eq!(desk.answers(), []);
    }
}

/// The letters behind an answer are no keys for the question that it was for.
#[test]
fn what_is_typed_behind_an_answer_is_for_the_prompt() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.asks(0, &push("b"));
    desk.burst("nhello jo");
    desk.tell(0, settled_elsewhere("a"));
    desk.shows();
    desk.keys("hn");
    assert_eq!(draft(&desk), "hello john");
    assert_eq!(desk.answers().len(), 1);
    desk.wait(2_000);
    desk.keys("y");
    assert_eq!(
        desk.answers().last(),
        Some(&(RequestId::new("b"), Answer::Once))
    );
}

#[test]
fn what_is_pasted_over_a_question_is_in_the_prompt() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.happens(Input::Paste("y\r\nyes\r\n".to_owned()));
    let shown = desk.shows();
    assert!(
        shown.contains("what was pasted is in the prompt"),
        "{shown}"
    );
    assert_eq!(draft(&desk), "y\nyes\n");
    desk.wait(600);
    desk.keys("r");
    desk.happens(Input::Paste("why".to_owned()));
    assert!(desk.shows().contains("> why"));
    assert_eq!(desk.answers(), []);
}

/// Which rule denies an edit is said with the refusal, and one that is known to be denied is not offered.
#[test]
fn a_refusal_of_an_edit_names_the_rule() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.keys("ex");
    desk.control('s');
    desk.keys("y");
    assert!(desk.shows().contains("what the rules say of it is asked"));
    desk.judged(Verdict::Ask);
    desk.shows();
    desk.wait(600);
    desk.keys("y");
    let denied = EditDenied {
        operations: Vec::new(),
        ruling: push("a").request.ruling,
    };
    let code = MethodErrorCode::EditDenied(Box::new(denied));
    let error = MethodError::new(code, "the rules deny these arguments");
    let target = desk.target();
    desk.news(0, PodNews::Replied(target, Err(Refused::ByPod(error))));
    let shown = desk.shows();
    let read = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "deny these arguments: default of manifest : (pod.toml:8:1)";
    assert!(read.contains(why), "{shown}");
    desk.wait(600);
    desk.control('s');
    desk.judged(Verdict::Deny);
    desk.shows();
    desk.wait(600);
    let shown = desk.shows();
    assert!(shown.contains("rules   deny"), "{shown}");
    assert!(!shown.contains("y: run this"), "{shown}");
    desk.keys("y");
    assert!(desk.shows().contains("the rules deny it"));
    assert_eq!(desk.answers().len(), 1);
}

#[test]
fn the_mouse_scrolls_and_chooses() {
    let mut desk = Desk::usual();
    desk.asked(&of_lines(60));
    desk.mouse(MouseEventKind::ScrollDown, 5, 5);
    assert!(desk.shows().contains("3 rows above"));
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.keys("a");
    desk.mouse(KINDS[0], 10, 4);
    let shown = desk.shows();
    assert!(shown.contains("> 2 bash  `git push *`"), "{shown}");
    let mut desk = Desk::new(80, 24, &["one", "two"]);
    desk.mouse(KINDS[0], 14, 0);
    assert!(desk.shows().starts_with(" one idle [two idle]"));
    let mut desk = Desk::new(80, 24, &[]);
    desk.happens(Input::Listed(vec![
        super::found(0, "demo"),
        super::found(1, "other"),
    ]));
    desk.mouse(KINDS[0], 3, 3);
    assert_eq!(desk.effects, []);
    desk.mouse(KINDS[0], 3, 3);
    let connected = super::found(1, "other");
    assert_eq!(desk.effects, [Effect::Connect(Box::new(connected))]);
}

/// Of two patterns only the one that is refused says why.
#[test]
fn a_refused_pattern_says_so_where_it_stands() {
    let mut question = push("a");
    for choice in &mut question.request.choices {
        let mut other = choice.parts[0].clone();
        other.operation = 0;
        choice.parts.push(other);
    }
    let mut desk = Desk::usual();
    desk.asked(&question);
    desk.keys("a");
    let code = MethodErrorCode::PatternRefused { operation: 0 };
    let error = MethodError::new(code, "it does not match");
    let target = desk.target();
    desk.news(0, PodNews::Replied(target, Err(Refused::ByPod(error))));
    let shown = desk.shows();
    assert_eq!(
        shown.matches("cannot be saved: it does not match").count(),
        1
    );
    let other = "known when the other pattern can be saved";
    assert_eq!(shown.matches(other).count(), 1, "{shown}");
}

#[test]
fn some_keys_do_the_same_everywhere() {
    let mut desk = Desk::usual();
    for _ in 0..2 {
        desk.control('z');
        desk.control('l');
        assert_eq!(desk.effects, [Effect::Suspend, Effect::Redraw]);
        desk.asked(&push("a"));
        desk.effects.clear();
    }
}

/// Keys of a file: what they do, and what the screens say.
#[test]
fn keys_can_be_moved_and_the_screens_say_so() {
    let text = "[question]\nyes = [\"j\"]\nno = [\"x\"]\ndown = [\"n\"]\n[conversation]\nhelp = [\"F9\"]\n";
    let mut desk = Desk::usual();
    desk.app.keys = Settings::read(text).unwrap().keys.into();
    desk.asked(&push("a"));
    let shown = desk.shows();
    assert!(shown.contains("j: yes   x: no   r: no, because"), "{shown}");
    desk.keys("yn\n");
    assert_eq!(desk.answers(), []);
    assert!(desk.shows().contains("j is yes, x is no"));
    desk.wait(600);
    desk.keys("j");
    assert_eq!(desk.answers(), [(RequestId::new("a"), Answer::Once)]);
    desk.tell(0, settled_elsewhere("a"));
    desk.code(KeyCode::F(9), KeyModifiers::NONE);
    let shown = desk.shows();
    assert!(shown.contains("  j                 yes, once"), "{shown}");
    assert!(shown.contains("  x                 no;"), "{shown}");
}
