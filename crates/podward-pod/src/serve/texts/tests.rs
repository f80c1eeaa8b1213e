use std::cell::Cell;
use std::sync::Arc;

use podward_gate::RequestId;

use super::{Key, MAX_BYTES, Texts};
use crate::serve::snapshot::OfCall;

fn key(id: &str) -> Key {
    let id = podward_gate::CallId::new(id).unwrap();
    Key::Request(RequestId::from(id), 0)
}

/// How often a text is made when it is wanted this often.
fn n_made(texts: &Texts, key: &Key, text: &str, n_wanted: usize) -> usize {
    let n_made = Cell::new(0);
    for _ in 0..n_wanted {
        let got = texts.get(key, || {
            n_made.set(n_made.get() + 1);
            Some(Arc::from(text))
        });
        assert_eq!(got.as_deref(), Some(text));
    }
    n_made.get()
}

#[test]
fn a_text_is_made_once_for_all_that_want_it() {
    let texts = Texts::default();
    assert_eq!(n_made(&texts, &key("c1"), "one", 200), 1);
    assert_eq!(n_made(&texts, &key("c2"), "two", 200), 1);
    let Key::Request(id, _) = key("c1") else {
        unreachable!()
    };
    assert_eq!(n_made(&texts, &Key::Request(id.clone(), 1), "other", 2), 1);
    assert_eq!(
        n_made(&texts, &Key::OfCall(id, OfCall::Verdict), "verdict", 2),
        1
    );
    assert_eq!(n_made(&texts, &key("c1"), "one", 1), 0);
}

#[test]
fn what_nobody_wants_any_more_is_dropped() {
    let texts = Texts::default();
    n_made(&texts, &key("c1"), "one", 1);
    texts.tidy();
    assert_eq!(n_made(&texts, &key("c1"), "one", 1), 0);
    texts.tidy();
    texts.tidy();
    assert_eq!(n_made(&texts, &key("c1"), "one", 1), 1);
}

#[test]
fn what_is_kept_has_a_bound() {
    let texts = Texts::default();
    let long = "x".repeat(MAX_BYTES / 2);
    assert_eq!(n_made(&texts, &key("c1"), &long, 2), 1);
    assert_eq!(n_made(&texts, &key("c2"), &long, 2), 1);
    assert_eq!(n_made(&texts, &key("c3"), "x", 2), 2);
    texts.tidy();
    texts.tidy();
    assert_eq!(n_made(&texts, &key("c3"), "x", 2), 1);
}
