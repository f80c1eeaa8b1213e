//! What no key may do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use podward_protocol::{
    Answer, Cause, Coverage, DecidedBy, EditDenied, Event, MethodError, MethodErrorCode, Outcome,
    PermissionSettled, Place, Preview, Reply, RequestId, Ruling, SnapshotEnd, Verdict,
};
use podward_view::Question;
use podward_view::sample::push;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::Desk;
use crate::input::{Input, PodNews, Refused};

/// Any key that a keyboard has.
pub(super) fn key() -> impl Strategy<Value = KeyEvent> {
    let code = prop_oneof![
        4 => proptest::char::range(' ', '~').prop_map(KeyCode::Char),
        4 => Just(KeyCode::Char('y')),
        1 => Just(KeyCode::Char('a')),
        1 => Just(KeyCode::Enter),
        1 => Just(KeyCode::Esc),
        1 => Just(KeyCode::Tab),
        1 => Just(KeyCode::PageDown),
        1 => Just(KeyCode::End),
        1 => Just(KeyCode::Backspace),
        1 => Just(KeyCode::F(2)),
    ];
    let modifiers = prop_oneof![
        6 => Just(KeyModifiers::NONE),
        1 => Just(KeyModifiers::ALT),
        1 => Just(KeyModifiers::SHIFT),
    ];
    (code, modifiers).prop_map(|(code, modifiers)| KeyEvent::new(code, modifiers))
}

/// A question of so many lines, all of which ask.
pub(super) fn of_lines(n_lines: usize) -> Question {
    let mut question = push("a");
    let lines: Vec<String> = (0..n_lines).map(|n| format!("echo {n}")).collect();
    question.request.arguments = json!({ "command": lines.join("\n") + "\nrm -rf src" });
    question.request.operations.clear();
    question.request.asking.clear();
    question.request.ruling.operation = None;
    question
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is typed without a pause of half a second answers nothing, however long it goes on.
    #[test]
    fn no_key_counts_before_typing_pauses(
        keys in vec((key(), 0_u64..500, any::<bool>()), 0..60),
        is_drawn in any::<bool>(),
    ) {
        let mut desk = Desk::usual();
        desk.asks(0, &push("a"));
        if is_drawn {
            desk.shows();
        }
        for (key, pause, is_drawn) in keys {
            desk.wait(pause);
            desk.happens(Input::Key(key));
            if is_drawn {
                desk.shows();
            }
        }
        prop_assert_eq!(desk.answers(), []);
    }

    /// Without the letter `y` nothing is let run.
    #[test]
    fn nothing_but_y_lets_anything_run(keys in vec(key(), 0..80)) {
        let mut desk = Desk::usual();
        desk.asked(&push("a"));
        for key in keys.into_iter().filter(|key| key.code != KeyCode::Char('y')) {
            desk.happens(Input::Key(key));
            desk.shows();
            desk.wait(600);
        }
        prop_assert!(!desk.has_approved(), "{:?}", desk.answers());
    }

    /// What is longer than the screen takes no yes before its end was on the screen, whatever is pressed.
    #[test]
    fn nothing_runs_before_all_of_it_was_on_the_screen(
        keys in vec(key(), 0..40),
        n_lines in 30_usize..120,
    ) {
        let mut desk = Desk::usual();
        desk.asked(&of_lines(n_lines));
        let mut has_shown_end = false;
        for key in keys {
            desk.happens(Input::Key(key));
            prop_assert!(has_shown_end || !desk.has_approved());
            has_shown_end |= desk.shows().contains("rm -rf src");
            desk.wait(600);
        }
    }

    /// What is typed for a pod stays, whatever comes and goes.
    #[test]
    fn what_is_typed_is_never_lost(text in "[a-z ]{1,40}", at in 0_usize..40, is_settled in any::<bool>()) {
        let mut desk = Desk::usual();
        let at = at % text.len();
        for (idx, c) in text.chars().enumerate() {
            if idx == at {
                desk.asks(0, &push("a"));
                desk.shows();
            }
            desk.wait(50);
            desk.keys(&c.to_string());
        }
        desk.wait(600);
        if is_settled {
            desk.tell(0, settled("a"));
        } else {
            desk.wait(2_000);
            desk.keys("n");
        }
        let draft = desk.app.outcome().draft;
        prop_assert_eq!(draft.trim_end(), text.trim_end());
    }
}

fn settled(id: &str) -> Event {
    let name = "phone".to_owned();
    let by = DecidedBy::Client {
        name,
        edited: false,
    };
    settled_by(id, by)
}

fn settled_by(id: &str, by: DecidedBy) -> Event {
    Event::PermissionSettled(PermissionSettled {
        id: RequestId::new(id),
        outcome: Outcome::ApprovedOnce,
        by,
    })
}

#[test]
fn each_answer_has_its_key_and_enter_and_space_have_none() {
    let no = Answer::Reject { feedback: None };
    for (keys, answer) in [
        ("y", Some(Answer::Once)),
        ("n", Some(no.clone())),
        ("\u{1b}", Some(no)),
        ("\n", None),
        (" ", None),
        ("Y", None),
        ("a\n", None),
        ("a\u{1b}", None),
        ("ay", None),
        ("e\u{1b}", None),
        ("r\u{1b}", None),
    ] {
        let mut desk = Desk::usual();
        desk.asked(&push("a"));
        desk.keys(keys);
        let answers: Vec<Answer> = desk
            .answers()
            .into_iter()
            .map(|(_, answer)| answer)
            .collect();
        assert_eq!(answers, answer.into_iter().collect::<Vec<_>>(), "{keys:?}");
    }
}

/// A question that asks something else by now, or comes into the place of another, takes no key that was
/// meant for what was there.
#[test]
fn a_key_is_not_for_what_has_just_come() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    let mut other = push("a");
    other.request.digest = "of something else".to_owned();
    desk.asks(0, &other);
    desk.keys("y");
    assert_eq!(desk.answers(), []);
    desk.wait(600);
    desk.asks(0, &push("b"));
    desk.tell(0, settled("a"));
    desk.shows();
    desk.keys("y");
    assert_eq!(desk.answers(), []);
    desk.wait(600);
    desk.keys("y");
    assert_eq!(desk.answers(), [(RequestId::new("b"), Answer::Once)]);
}

#[test]
fn what_was_shown_on_a_larger_screen_is_shown_again() {
    let mut desk = Desk::new(80, 50, &["demo"]);
    desk.asked(&of_lines(30));
    desk.happens(Input::Resized {
        columns: 80,
        rows: 24,
    });
    desk.screen.backend_mut().resize(80, 24);
    desk.shows();
    desk.keys("y ");
    assert_eq!(desk.answers(), []);
    desk.wait(600);
    desk.keys("y");
    assert_eq!(desk.answers(), []);
    assert!(desk.shows().contains("not on the screen yet"));
    desk.keys("  ");
    desk.wait(600);
    desk.keys("y");
    assert_eq!(desk.answers(), [(RequestId::new("a"), Answer::Once)]);
}

/// The end alone is not all of it.
#[test]
fn what_was_jumped_over_was_not_shown() {
    let mut desk = Desk::usual();
    desk.asked(&of_lines(90));
    desk.code(KeyCode::End, KeyModifiers::NONE);
    assert!(desk.shows().contains("rm -rf src"));
    desk.keys("y");
    assert_eq!(desk.answers(), []);
}

#[test]
fn nothing_can_be_answered_on_a_screen_that_is_too_small() {
    for (columns, rows) in [(1, 1), (10, 24), (80, 3), (80, 5), (19, 40)] {
        let mut desk = Desk::new(columns, rows, &["demo"]);
        desk.asked(&push("a"));
        for _ in 0..40 {
            for key in [" ", "y"] {
                desk.keys(key);
                desk.wait(600);
            }
        }
        assert!(!desk.has_approved(), "{columns}x{rows}");
    }
}

/// Whatever makes a question new to who reads it: a key that was on its way is not for it.
#[test]
fn a_key_is_not_for_what_is_new_to_the_reader() {
    type Happens = fn(&mut Desk);
    let kinds: [(&str, Happens); 5] = [
        ("resumed", |desk| desk.happens(Input::Resumed)),
        ("reconnected", reconnects),
        ("a form closed", |desk| desk.keys("a\u{1b}")),
        ("help closed", |desk| desk.keys("??")),
        ("smaller", |desk| {
            let (columns, rows) = (79, 24);
            desk.happens(Input::Resized { columns, rows });
        }),
    ];
    for (what, happens) in kinds {
        let mut desk = Desk::usual();
        desk.asked(&push("a"));
        happens(&mut desk);
        for c in ["y", "n", "\u{1b}", "y"] {
            desk.burst(c);
            assert_eq!(desk.answers(), [], "{what}");
            desk.wait(400);
        }
        assert!(desk.shows().contains("keys do not count yet"), "{what}");
        desk.wait(200);
        desk.keys("y");
        assert_eq!(
            desk.answers(),
            [(RequestId::new("a"), Answer::Once)],
            "{what}"
        );
        assert_eq!(desk.app.outcome().draft, "", "{what}");
    }
}

fn reconnects(desk: &mut Desk) {
    desk.news(0, PodNews::Lost("the pod closed it".to_owned()));
    desk.wait(600);
    desk.connect(0);
    desk.shows();
    desk.keys("y");
    desk.tell_as(0, Event::PermissionRequest(push("a").request), true);
    desk.tell_as(0, Event::SnapshotEnd(SnapshotEnd { seq: 9 }), true);
    desk.shows();
}

#[test]
fn a_question_of_a_pod_that_is_lost_offers_no_answer() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.news(0, PodNews::Lost("the pod closed it".to_owned()));
    let no_answer = "no answer counts: the pod is not connected   o: look aside";
    let shown = desk.shows();
    assert!(shown.contains(no_answer), "{shown}");
    for key in ["y", "n", "\u{1b}", "a", "e", "r"] {
        desk.keys(key);
        let shown = desk.shows();
        assert!(shown.contains("no answer counts"), "{key:?}: {shown}");
        assert!(!shown.contains("y: yes"), "{key:?}: {shown}");
    }
    assert_eq!(desk.answers(), []);
}

/// What is typed for the model while keys do not count is not lost, and answers nothing.
#[test]
fn what_is_typed_in_a_form_goes_on_into_it() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.keys("ruse ");
    desk.happens(Input::Resumed);
    desk.keys("tags\n");
    desk.wait(600);
    assert!(desk.shows().contains("> use tags"));
    assert_eq!(desk.answers(), []);
}

/// Esc goes one step back, and not further than to the question while it is pressed on and on.
#[test]
fn esc_in_a_form_answers_nothing() {
    for keys in ["ra", "ex", "a", "ae", "aea"] {
        for saves in [false, true] {
            let mut desk = Desk::usual();
            desk.asked(&push("a"));
            desk.keys(keys);
            if saves {
                desk.control('s');
                desk.shows();
            }
            desk.keys(&"\u{1b}".repeat(8));
            assert_eq!(desk.answers(), [], "{keys}");
            desk.wait(600);
            assert!(desk.shows().contains("y: yes"), "{keys}");
        }
    }
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.keys("ex");
    desk.control('s');
    desk.judged(Verdict::Ask);
    assert!(desk.shows().contains("y: wait, run this"));
    desk.keys("\u{1b}");
    assert!(desk.shows().contains("Ctrl-S: done"));
}

/// Tells what became of the last answer.
fn refused(desk: &mut Desk) {
    let denied = EditDenied {
        operations: Vec::new(),
        ruling: Ruling {
            verdict: Verdict::Deny,
            cause: Cause::Rule {
                layer: "manifest".to_owned(),
                rule: 3,
                at: Place {
                    file: "/home/me/project/pod.toml".to_owned(),
                    line: 12,
                    column: 1,
                },
                pattern: "git push --force *".to_owned(),
                message: Some("never to a branch of somebody else".to_owned()),
            },
            operation: None,
            coverage: Coverage::Full,
        },
    };
    let why = "the request `a` stays open: the rules deny these arguments";
    let error = MethodError::new(MethodErrorCode::EditDenied(Box::new(denied)), why);
    let target = desk.target();
    desk.news(0, PodNews::Replied(target, Err(Refused::ByPod(error))));
}

/// What was typed stays after a refusal, which can be read to its end.
#[test]
fn a_refused_answer_keeps_its_form_open_with_its_text() {
    for (keys, text) in [
        (
            "e --force\u{13}y",
            "> git fetch && git push origin main --force",
        ),
        ("rnot \u{2026} today\n", "> not \u{2026} today"),
        ("aex\n\u{10}ay", "pattern for bash  git push origin mainx"),
    ] {
        let mut desk = Desk::usual();
        desk.asked(&push("a"));
        for c in keys.chars() {
            match c {
                '\u{13}' => {
                    desk.control('s');
                    desk.judged(Verdict::Ask);
                }
                '\u{10}' => {
                    let (target, preview) = (desk.target(), previewed());
                    desk.news(0, PodNews::Replied(target, Ok(preview)));
                }
                c => {
                    desk.wait(600);
                    desk.keys(&c.to_string());
                }
            }
            desk.shows();
        }
        assert_eq!(desk.answers().len(), 1, "{keys:?}");
        refused(&mut desk);
        desk.shows();
        desk.wait(600);
        let shown = desk.shows();
        assert!(shown.contains(text), "{shown}");
        let read = shown.replace("\n  : ", " ");
        let why = "the rules deny these arguments: rule 3 of manifest, `git push --force *` \
                   (/home/me/project/pod.toml:12:1): never to a branch of somebody else";
        assert!(read.contains(why), "{shown}");
    }
}

fn previewed() -> Reply {
    Reply::PermissionPreview(Preview { parts: Vec::new() })
}

/// What cannot be saved is not asked back, and what is asked back is not saved once it cannot be.
#[test]
fn a_pattern_that_cannot_be_saved_is_not_offered() {
    let error = || {
        let code = MethodErrorCode::PatternRefused { operation: 1 };
        Err(Refused::ByPod(MethodError::new(code, "it does not match")))
    };
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.keys("aay");
    assert!(!desk.shows().contains("save this?"), "not known yet");
    let target = desk.target();
    desk.news(0, PodNews::Replied(target, error()));
    assert!(!desk.shows().contains("a: go on"));
    desk.keys("ay");
    assert!(!desk.shows().contains("save this?"));
    desk.keys("1");
    let target = desk.target();
    desk.news(0, PodNews::Replied(target.clone(), Ok(previewed())));
    desk.shows();
    desk.keys("a");
    assert!(desk.shows().contains("y: wait, save it"));
    desk.wait(600);
    assert!(desk.shows().contains("y: save it"));
    desk.news(0, PodNews::Replied(target, error()));
    desk.shows();
    desk.keys("y");
    let shown = desk.shows();
    assert!(shown.contains("it cannot be saved like this"), "{shown}");
    assert_eq!(desk.answers(), []);
}

/// What became of an answer from here is not said beside the next question, as if it were its answer.
#[test]
fn an_answer_from_here_is_not_said_beside_the_next_question() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.asks(0, &push("b"));
    desk.keys("y");
    let by = DecidedBy::Client {
        name: "podward attach".to_owned(),
        edited: false,
    };
    desk.tell(0, settled_by("a", by.clone()));
    let shown = desk.shows();
    assert!(shown.contains("may #2 bash run?"), "{shown}");
    assert!(!shown.contains("#1 bash"), "{shown}");
    desk.asks(0, &push("c"));
    desk.tell(0, settled("b"));
    assert!(desk.shows().contains("phone"));
    desk.wait(600);
    desk.keys("j");
    assert!(!desk.shows().contains("phone"));
    desk.keys("n");
    desk.tell(0, settled_by("c", by));
    let shown = desk.shows();
    assert!(
        shown.contains("bash: yes"),
        "not as it was answered: {shown}"
    );
}

/// A letter with anything held is another key, and a screen that shows no question takes no answer to one.
#[test]
fn only_the_plain_letter_on_a_screen_that_shows_the_question_answers() {
    for held in [
        KeyModifiers::ALT,
        KeyModifiers::CONTROL,
        KeyModifiers::SUPER,
    ] {
        let mut desk = Desk::usual();
        desk.asked(&push("a"));
        for c in ['y', 'n', 'a', 'y'] {
            desk.code(KeyCode::Char(c), held);
            desk.shows();
        }
        assert_eq!(desk.answers(), [], "{held:?}");
    }
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    let (columns, rows) = (20, 5);
    desk.happens(Input::Resized { columns, rows });
    for key in ["n", "\u{1b}", "r", "x", "\n", "y"] {
        desk.wait(600);
        desk.keys(key);
    }
    assert_eq!(desk.answers(), []);
}
