use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{ACTIONS, Action, Key, Keys, Section, Settings};

fn key(code: KeyCode, held: KeyModifiers) -> KeyEvent {
    KeyEvent::new(code, held)
}

#[test]
fn every_action_has_keys_that_can_be_said_and_read_again() {
    let keys = Keys::default();
    for (action, _, word, names) in ACTIONS {
        assert!(!names.is_empty(), "{word}");
        for name in *names {
            let read = Key::read(name).unwrap();
            assert_eq!(read.name(), *name);
            assert!(keys.keys(*action).contains(&read));
        }
    }
}

/// The built-in keys pass what a file has to pass.
#[test]
fn what_is_built_in_can_be_written_into_the_file() {
    let mut text = String::new();
    for section in [Section::Question, Section::Conversation, Section::Anywhere] {
        text.push_str(&format!("[{}]\n", section.name()));
        for (_, _, word, keys) in ACTIONS.iter().filter(|(_, there, ..)| *there == section) {
            text.push_str(&format!("{word} = {keys:?}\n"));
        }
    }
    assert_eq!(Settings::read(&text), Ok(Settings::default()));
    assert_eq!(Settings::read(""), Ok(Settings::default()));
}

/// The page for people has each action with its keys.
#[test]
fn every_action_is_on_the_page() {
    let page = include_str!("../../../../docs/attach.md");
    for (_, section, word, keys) in ACTIONS {
        let row = page
            .lines()
            .find(|row| row.starts_with(&format!("| `[{}]` |", section.name())));
        let said = format!("`{word}` {}", keys.join(", "));
        let row = row.unwrap().trim_end_matches(" |");
        assert!(
            row.split(" \u{b7} ").any(|one| one.ends_with(&said)),
            "{said}"
        );
    }
}

#[test]
fn a_file_moves_keys() {
    let settings =
        Settings::read("[question]\nyes = [\"j\"]\ndown = [\"Ctrl-e\", \"F12\"]\n").unwrap();
    let keys = settings.keys;
    let plain = |c| key(KeyCode::Char(c), KeyModifiers::NONE);
    assert_eq!(keys.in_question(&plain('j')), Some(Action::Yes));
    assert_eq!(keys.in_question(&plain('y')), None);
    let event = key(KeyCode::Char('e'), KeyModifiers::CONTROL);
    assert_eq!(keys.in_question(&event), Some(Action::Down));
    assert_eq!(keys.names(Action::Down), "Ctrl-E, F12");
}

/// A letter with anything held that nobody gave an action is none.
#[test]
fn what_is_held_makes_another_key() {
    let keys = Keys::default();
    for held in [
        KeyModifiers::ALT,
        KeyModifiers::CONTROL,
        KeyModifiers::SUPER,
    ] {
        assert_eq!(keys.in_question(&key(KeyCode::Char('y'), held)), None);
    }
    let shifted = key(KeyCode::BackTab, KeyModifiers::SHIFT);
    assert_eq!(keys.in_question(&shifted), Some(Action::Previous));
    let shifted = key(KeyCode::BackTab, KeyModifiers::NONE);
    assert_eq!(keys.in_question(&shifted), Some(Action::Previous));
    let asked = key(KeyCode::Char('?'), KeyModifiers::SHIFT);
    assert_eq!(keys.in_question(&asked), Some(Action::Keys));
}

#[track_caller]
fn is_refused(text: &str, why: &[&str]) {
    let said = Settings::read(text).unwrap_err().to_string();
    for why in why {
        assert!(said.contains(why), "{text}\n{said}");
    }
}

#[test]
fn what_is_not_known_is_refused_with_its_place() {
    is_refused("mose = true", &["line 1", "mose", "mouse"]);
    is_refused("[questions]\nyes = [\"j\"]", &["questions", "question"]);
    is_refused(
        "[question]\n\nyess = [\"j\"]\nno = [\"Hyper-x\", \"F99\"]\n",
        &[
            "line 3, column 1: `yess` is nothing that a key does in [question]; there is yes, no",
            "line 4, column 7: there is no key `Hyper-x`",
            "line 4, column 18: there is no key `F99`",
        ],
    );
    is_refused(
        "[question]\nyes = []",
        &["line 2, column 7: `yes` needs a key"],
    );
    is_refused("yes = ", &["line 1"]);
}

#[test]
fn one_key_does_one_thing() {
    is_refused(
        "[question]\nnext = [\"n\"]",
        &["`n` is for `no` in [question] and for `next` in [question]"],
    );
    is_refused(
        "[anywhere]\nredraw = [\"Ctrl-F\"]",
        &["`Ctrl-F` is for `search` in [conversation] and for `redraw` in [anywhere]"],
    );
    // The same key may do one thing about a question and another beside a prompt.
    assert!(Settings::read("[question]\nnext = [\"Ctrl-N\"]").is_ok());
}

#[test]
fn no_file_loosens_what_approves() {
    for key in [
        "Enter", "space", "Esc", "Tab", "Ctrl-Y", "Alt-y", "F5", "PageDown", "1", "?", "Shift-y",
    ] {
        let text = format!("[question]\nyes = [\"{key}\"]\ngo_on = [\"PageDown\"]");
        assert!(Settings::read(&text).is_err(), "{key}");
    }
    for (action, key) in [
        ("always", "Enter"),
        ("no", "Esc"),
        ("edit", "2"),
        ("done", "s"),
    ] {
        let text = format!("[question]\n{action} = [\"{key}\"]");
        assert!(Settings::read(&text).is_err(), "{text}");
    }
    is_refused(
        "[conversation]\nsearch = [\"f\"]",
        &["a part of what is typed"],
    );
    // What is for anywhere is for questions too, also where a prompt leaves the key free.
    for (beside, key) in [("return", "Esc"), ("send", "Enter")] {
        let text = format!("[conversation]\n{beside} = [\"F9\"]\n[anywhere]\ncancel = [\"{key}\"]");
        is_refused(&text, &["cannot be for `cancel`"]);
    }
    is_refused(
        "[anywhere]\nsuspend = [\"space\"]",
        &["a part of what is typed"],
    );
}
