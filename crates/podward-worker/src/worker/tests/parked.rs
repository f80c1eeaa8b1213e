//! Calls that waited for an answer when their session was cut off.

use super::asks::{id, passes_on};
use super::*;

/// Runs a script until so many questions are open, and drops the turn there: its journal.
async fn cut_off(script: &str, n_open: usize) -> Vec<Entry> {
    let (_, setup) = passes_on();
    let mut kit = Kit::with(script, setup);
    let (gate, log, cancel) = (kit.worker.gate(), kit.log.clone(), kit.cancel.clone());
    let turn = kit.worker.turn("go".to_owned(), cancel);
    tokio::pin!(turn);
    loop {
        tokio::select! {
            biased;
            end = &mut turn => panic!("{end:?}"),
            () = tokio::task::yield_now() => {}
        }
        let is_settled = log
            .entries()
            .iter()
            .any(|entry| matches!(entry, Entry::Finished { .. }));
        if gate.open().len() == n_open && is_settled {
            return log.entries();
        }
    }
}

/// A kit that goes on with a journal.
pub(super) fn resumed(script: &str, entries: &[Entry], setup: Setup) -> Kit {
    let replayed = History::replay(entries).unwrap();
    let kit = Kit::with(
        script,
        Setup {
            history: replayed.history,
            parked: replayed.parked,
            ..setup
        },
    );
    kit.log
        .write(entries.iter().cloned().chain(replayed.repairs))
        .unwrap();
    kit
}

const CALLS: &[&[(&str, &str)]] = &[
    &[
        ("echo", "a"),
        ("echo", "ask b"),
        ("echo", "ask c"),
        ("slow", "d"),
    ],
    &[("echo", "e")],
];

#[tokio::test]
async fn a_session_that_was_cut_off_asks_again_under_the_same_ids() {
    let entries = cut_off(&script(CALLS), 2).await;
    let (approver, setup) = passes_on();
    let mut kit = resumed(&script(CALLS), &entries, setup);
    let gate = kit.worker.gate();
    let answering = async {
        while gate.open().len() < 2 {
            approver.asked.notified().await;
        }
        let ids: Vec<_> = gate
            .open()
            .iter()
            .map(|question| question.id().clone())
            .collect();
        assert_eq!(ids, [id("call_1_2"), id("call_1_3")]);
        gate.answer(&ids[1], Answer::Auto).unwrap();
        let no = Answer::Rejected {
            by: "ann".into(),
            feedback: None,
        };
        gate.answer(&ids[0], no).unwrap();
    };
    let cancel = kit.cancel.clone();
    let (end, ()) = tokio::join!(kit.worker.resume(cancel), answering);
    assert_eq!(end.unwrap().reason, EndReason::Done);
    kit.check();
    let results = kit.results();
    assert_eq!(results[0], "echo a");
    assert!(results[1].contains("said no"), "{results:?}");
    assert_eq!(results[2], "echo ask c");
    // It had started, and what it did nobody knows: it does not run twice.
    assert!(
        results[3].contains("has no result, because the turn was interrupted while it ran"),
        "{results:?}"
    );
    assert_eq!(results[4], "echo e");
    assert_eq!(kit.log.ran(), ["ask c", "e"]);
}

#[tokio::test]
async fn a_new_prompt_interrupts_what_waited() {
    let entries = cut_off(&script(CALLS), 2).await;
    let (_, setup) = passes_on();
    let mut kit = resumed(&script(CALLS), &entries, setup);
    kit.turn("something else").await;
    let results = kit.results();
    for result in &results[1..3] {
        assert!(
            result.contains("was interrupted before it started"),
            "{results:?}"
        );
    }
    assert_eq!(kit.log.ran(), ["e"]);
    let told = kit.told();
    assert!(
        told.contains(&"decided call_1_2 interrupted".to_owned()),
        "{told:?}"
    );
    let causes: Vec<_> = kit.log.decisions().iter().map(|d| d.cause_word()).collect();
    assert_eq!(causes, ["interrupted", "interrupted", "policy"]);
}

/// The rules of the day decide: a deny refuses, an allow is asked about all the same.
#[tokio::test]
async fn what_waited_is_judged_again() {
    let entries = cut_off(&script(CALLS), 2).await;
    for (b, expected) in [
        ("deny b", vec!["policy", "policy", "auto", "policy"]),
        ("b", vec!["resumed", "policy", "auto", "auto", "policy"]),
    ] {
        // As if the rules said of this text what they say of the other.
        let entries: Vec<Entry> = entries
            .iter()
            .map(|entry| {
                let json = serde_json::to_string(entry).unwrap().replace("ask b", b);
                serde_json::from_str(&json).unwrap()
            })
            .collect();
        let setup = Setup {
            answer: Answer::Auto,
            ..Setup::default()
        };
        let mut kit = resumed(&script(CALLS), &entries, setup);
        let cancel = kit.cancel.clone();
        assert_eq!(
            kit.worker.resume(cancel).await.unwrap().reason,
            EndReason::Done
        );
        kit.check();
        let causes: Vec<_> = kit.log.decisions().iter().map(|d| d.cause_word()).collect();
        assert_eq!(causes, expected);
        let runs = b != "deny b";
        assert_eq!(kit.log.ran().contains(&b.to_owned()), runs);
    }
}

/// Wherever a session is cut off, going on with it runs nothing a second time and nothing that
/// nobody allowed.
#[tokio::test]
async fn nothing_runs_twice_or_unapproved_wherever_a_session_is_cut_off() {
    let calls: &[&[_]] = &[
        &[("echo", "a"), ("echo", "ask b"), ("hop", "c>ask d")],
        &[("echo", "ask e")],
    ];
    let setup = |answer| Setup {
        answer,
        ..Setup::default()
    };
    let mut whole = Kit::with(&script(calls), setup(Answer::Auto));
    whole.turn("go").await;
    let entries = whole.log.entries();
    for n_entries in 0..=entries.len() {
        let cut = &entries[..n_entries];
        let started: Vec<_> = cut
            .iter()
            .filter(|entry| matches!(entry, Entry::Started { .. }))
            .cloned()
            .collect();
        for answer in [Answer::Auto, Answer::NoClient] {
            let mut kit = resumed(&script(calls), cut, setup(answer.clone()));
            let cancel = kit.cancel.clone();
            kit.worker.resume(cancel).await.unwrap();
            kit.check();
            let again = &kit.log.entries()[n_entries..];
            assert!(
                !started.iter().any(|entry| again.contains(entry)),
                "{n_entries}"
            );
            let is_asked = |text: &String| text.starts_with("ask");
            if !answer.is_approval() {
                assert!(
                    !kit.log.ran().iter().any(is_asked),
                    "{n_entries}: {:?}",
                    kit.log.ran()
                );
            }
        }
    }
}

/// Wherever a session is cut off, a call that has begun in a session of its own goes on in that one, and
/// no other session is begun for it.
#[tokio::test]
async fn a_call_in_a_session_of_its_own_goes_on_wherever_it_was_cut_off() {
    let calls: &[&[_]] = &[&[("far", "a"), ("echo", "b"), ("far", "ask c")]];
    let setup = || Setup {
        answer: Answer::Auto,
        ..Setup::default()
    };
    let mut whole = Kit::with(&script(calls), setup());
    whole.turn("go").await;
    let entries = whole.log.entries();
    let begun = |entries: &[Entry], call: &str| {
        let sessions = entries.iter().filter_map(|entry| match entry {
            Entry::Started {
                call: of,
                in_session: Some(own),
            } if of == call => Some(own.id.clone()),
            _ => None,
        });
        let all: std::collections::BTreeSet<_> = sessions.collect();
        assert!(all.len() < 2, "{all:?}");
        all.into_iter().next()
    };
    for n_entries in 0..=entries.len() {
        let cut = &entries[..n_entries];
        let mut kit = resumed(&script(calls), cut, setup());
        let cancel = kit.cancel.clone();
        kit.worker.resume(cancel).await.unwrap();
        kit.check();
        let after = kit.log.entries();
        for (idx, call) in [(0, "call_1_1"), (2, "call_1_3")] {
            if let Some(session) = begun(cut, call) {
                let results = kit.results();
                assert_eq!(results[idx], format!("in {session}"), "{n_entries}");
                assert_eq!(begun(&after, call), Some(session), "{n_entries}");
            }
        }
    }
}

/// What a rule denies by now goes on no more, and the result says where it has worked; so does that of a
/// call which a new prompt interrupts.
#[tokio::test]
async fn a_call_that_goes_on_no_more_names_its_session() {
    let calls: &[&[_]] = &[&[("far", "a")]];
    let mut whole = Kit::with(&script(calls), Setup::default());
    whole.turn("go").await;
    let entries = whole.log.entries();
    let is_begun = |entry: &Entry| matches!(entry, Entry::Started { .. });
    let begun = entries.iter().position(is_begun).unwrap();
    let cut = &entries[..=begun];
    let denied: Vec<Entry> = cut
        .iter()
        .map(|entry| {
            let json = serde_json::to_string(entry).unwrap();
            serde_json::from_str(&json.replace("{\"text\":\"a\"}", "{\"text\":\"deny a\"}"))
                .unwrap()
        })
        .collect();
    let note = "Note: what was done for this call is in the session `a of";
    let mut kit = resumed(&script(calls), &denied, Setup::default());
    let cancel = kit.cancel.clone();
    kit.worker.resume(cancel).await.unwrap();
    let results = kit.results();
    assert!(results[0].contains(note), "{results:?}");
    assert!(results[0].contains("not this"), "{results:?}");
    assert!(kit.log.ran().is_empty());

    let mut kit = resumed(&script(calls), cut, Setup::default());
    kit.turn("something else").await;
    let results = kit.results();
    assert!(results[0].contains(note), "{results:?}");
    assert!(
        results[0].contains("interrupted while it ran"),
        "{results:?}"
    );
    assert!(kit.log.ran().is_empty());
}
