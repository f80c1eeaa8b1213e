//! Further calls of running ones: judged, shown to hooks, asked about and written down like any.

use std::sync::Mutex;

use async_trait::async_trait;
use podward_gate::Question;

use super::*;
use crate::hook::{Hook, HookError, PreToolAction, PreToolCall, SyntheticResult};

/// The journal, without what every turn has, each entry in a few words.
fn words(kit: &Kit) -> Vec<String> {
    let entries = kit.log.entries();
    let words = entries.iter().filter_map(|entry| match entry {
        Entry::Prompt { .. } | Entry::Assistant { .. } | Entry::TurnEnded { .. } => None,
        Entry::Ruled {
            call,
            part_of,
            cause,
            ..
        } => Some(match part_of {
            Some(part_of) => format!("{call} of {part_of} {cause}"),
            None => format!("{call} {cause}"),
        }),
        Entry::Started { call, .. } => Some(format!("{call} started")),
        Entry::Finished { call, .. } => Some(format!("{call} finished")),
        Entry::SkillStarted { .. } | Entry::SkillEnded { .. } => None,
    });
    words.collect()
}

#[tokio::test]
async fn a_further_call_is_judged_and_on_record_before_it_runs() {
    let mut kit = Kit::new(&script(&[&[("hop", "a>b>c")]]));
    let end = kit.turn("go").await;
    assert_eq!(kit.results(), ["a > b > at c"]);
    assert_eq!(
        words(&kit),
        [
            "call_1_1 policy",
            "call_1_1 started",
            "call_1_1-hop of call_1_1 policy",
            "call_1_1-hop_2 of call_1_1 policy",
            "call_1_1 finished",
        ]
    );
    assert_eq!(kit.log.ran(), ["a>b>c", "b>c", "c"]);
    assert_eq!(end.n_refused, 0);
}

/// Whoever is asked about it can see what led there.
#[tokio::test]
async fn a_question_about_a_further_call_says_what_led_there() {
    struct Notes(Mutex<Vec<Box<str>>>);

    #[async_trait]
    impl Approver for Notes {
        async fn answer(&self, question: &Question) -> Option<Answer> {
            let way = question.facts().redirected_from();
            self.0.lock().unwrap().extend(way.iter().cloned());
            Some(Answer::Auto)
        }
    }

    let notes = Arc::new(Notes(Mutex::default()));
    let setup = Setup {
        approver: Some(Arc::clone(&notes) as Arc<dyn Approver>),
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[&[("hop", "a>ask b")]]), setup);
    kit.turn("go").await;
    assert_eq!(kit.results(), ["a > at ask b"]);
    assert_eq!(*notes.0.lock().unwrap(), ["a".into()]);
}

#[tokio::test]
async fn a_further_call_that_is_denied_does_not_run_and_its_call_has_a_result() {
    let mut kit = Kit::new(&script(&[&[("hop", "a>deny b>c"), ("echo", "d")]]));
    let end = kit.turn("go").await;
    let results = kit.results();
    assert!(
        results[0].starts_with("! a > Refused: this call of `hop` was not run: `deny b`."),
        "{results:?}"
    );
    assert_eq!(results[1], "echo d");
    assert_eq!(kit.log.ran(), ["a>deny b>c", "d"]);
    assert_eq!(end.n_refused, 1);
    assert!(
        kit.told()
            .contains(&"decided call_1_1-hop policy".to_owned())
    );
}

#[tokio::test]
async fn a_further_call_is_asked_about() {
    let mut kit = Kit::new(&script(&[&[("hop", "a>ask b>c")]]));
    kit.turn("go").await;
    assert!(kit.results()[0].contains("Nobody is there to approve it."));
    assert_eq!(
        words(&kit)[2..],
        [
            "call_1_1-hop of call_1_1 policy",
            "call_1_1-hop of call_1_1 no_client",
            "call_1_1 finished",
        ]
    );

    let setup = Setup {
        answer: Answer::Once { by: "ann".into() },
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[&[("hop", "a>ask b>c")]]), setup);
    kit.turn("go").await;
    assert_eq!(kit.results(), ["a > ask b > at c"]);
}

#[tokio::test]
async fn hooks_see_a_further_call_and_can_refuse_it_or_end_the_turn() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let refuses = OfFurther {
        action: PreToolAction::Result(SyntheticResult::refuse("not on Sundays")),
        seen: Arc::clone(&seen),
    };
    let setup = Setup {
        hooks: Hooks::new().pre_tool_call(Arc::new(refuses)),
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[&[("hop", "a>b>c")]]), setup);
    kit.turn("go").await;
    assert!(kit.results()[0].contains("The check `second` refuses it: not on Sundays."));
    assert_eq!(kit.log.ran(), ["a>b>c"]);
    assert_eq!(
        *seen.lock().unwrap(),
        [r#"{"text":"a>b>c"}"#, r#"{"text":"b>c"}"#]
    );

    let aborts = OfFurther {
        action: PreToolAction::Abort {
            reason: "enough".into(),
        },
        seen,
    };
    let setup = Setup {
        hooks: Hooks::new().pre_tool_call(Arc::new(aborts)),
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[&[("hop", "a>b"), ("slow", "c")]]), setup);
    let end = kit.turn("go").await;
    assert!(
        matches!(&end.reason, EndReason::Aborted { hook, .. } if &**hook == "second"),
        "{end:?}"
    );
    let results = kit.results();
    assert!(results[0].contains("The check `second` refuses it: enough."));
    assert_eq!(results[1], "! slow was cancelled");
    assert_eq!(kit.log.ran(), ["a>b", "c"]);
}

#[tokio::test]
async fn a_further_call_is_no_repetition_of_the_models() {
    let mut kit = Kit::new(&script(&[&[
        ("hop", "a>z"),
        ("hop", "b>z"),
        ("hop", "c>z"),
        ("hop", "d>z"),
    ]]));
    kit.turn("go").await;
    assert_eq!(
        kit.results(),
        ["a > at z", "b > at z", "c > at z", "d > at z"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cancelled_settles_what_was_asked_about_further_calls() {
    let mut kit = Kit::with(
        &script(&[&[("hop", "a>ask b"), ("hop", "c>ask d")]]),
        Setup {
            approver: Some(Arc::new(Never)),
            ..Setup::default()
        },
    );
    let cancel = kit.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let end = kit.turn("go").await;
    assert_eq!(end.reason, EndReason::Cancelled);
    let results = kit.results();
    assert!(results[0].contains("the turn was cancelled"), "{results:?}");
    let words = words(&kit);
    for id in ["call_1_1", "call_1_2"] {
        assert!(words.contains(&format!("{id}-hop of {id} cancelled")));
    }
}

#[tokio::test]
async fn a_journal_that_fails_keeps_a_further_call_from_running() {
    // The prompt, the message, the ruling, the start; then the further ruling fails.
    let setup = Setup {
        n_appends: Some(4),
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[&[("hop", "a>b")]]), setup);
    let error = kit.try_turn("go").await.unwrap_err();
    assert!(matches!(error, WorkerError::Journal(_)), "{error:?}");
    assert_eq!(kit.log.ran(), ["a>b"]);
}

/// Has nothing against calls of the model, and something against the further ones.
struct OfFurther {
    action: PreToolAction,
    seen: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Hook<PreToolCall> for OfFurther {
    fn name(&self) -> &str {
        "second"
    }

    async fn on(&self, event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        let facts = event.facts();
        self.seen.lock().unwrap().push(facts.arguments().to_owned());
        Ok(match facts.part_of() {
            None => PreToolAction::Continue,
            Some(_) => self.action.clone(),
        })
    }
}

/// Does not answer.
struct Never;

#[async_trait]
impl Approver for Never {
    async fn answer(&self, _question: &Question) -> Option<Answer> {
        std::future::pending().await
    }
}
