//! Calls that would be asked about and can only fail.

use async_trait::async_trait;
use podward_gate::AnswerError;
use podward_model::Block;
use serde_json::json;

use super::asks::id;
use super::parked::resumed;
use super::*;
use crate::hook::{Hook, HookError, Hooks, PreToolAction, PreToolCall, SyntheticResult};
use crate::journal::RuledOutcome;

fn causes(kit: &Kit) -> Vec<&'static str> {
    kit.log.decisions().iter().map(|d| d.cause_word()).collect()
}

/// It fails as it would have failed, on record before anything else, and counts as no refusal.
#[tokio::test]
async fn nobody_is_asked_about_what_can_only_fail() {
    let calls = [("echo", "ask doomed"), ("echo", "b"), ("echo", "ask c")];
    let mut kit = Kit::with(
        &script(&[&calls]),
        Setup {
            answer: Answer::Auto,
            ..Setup::default()
        },
    );
    let end = kit.turn("go").await;
    assert_eq!((end.reason, end.n_refused), (EndReason::Done, 0));
    assert_eq!(
        kit.results(),
        ["! echo can only fail", "echo b", "echo ask c"]
    );
    assert_eq!(causes(&kit), ["futile", "policy", "policy", "auto"]);
    assert_eq!(kit.log.ran(), ["b", "ask c"]);
    let decisions = kit.log.decisions();
    let ruling = decisions[0].ruling().unwrap();
    assert_eq!(ruling.action, podward_policy::Action::Ask);
    let late = Answer::Once { by: "ann".into() };
    let late = kit.worker.gate().answer(&id("call_1_1"), late);
    let Err(AnswerError::AlreadySettled { by, .. }) = late else {
        panic!("{late:?}");
    };
    assert_eq!(by.as_str(), "futile");
}

/// What the rules allow or deny is not looked at, and a look that is lost says nothing.
#[tokio::test]
async fn only_an_ask_is_looked_at() {
    let calls = [
        ("echo", "doomed"),
        ("echo", "deny doomed"),
        ("hop", "a>ask doomed"),
        ("echo", "ask lost"),
    ];
    let mut kit = Kit::with(
        &script(&[&calls]),
        Setup {
            answer: Answer::Auto,
            ..Setup::default()
        },
    );
    kit.turn("go").await;
    let results = kit.results();
    assert_eq!(results[0], "echo doomed");
    assert!(results[1].starts_with("! Refused"), "{}", results[1]);
    assert_eq!(results[2..], ["a > at ask doomed", "echo ask lost"]);
}

/// The user's hooks see the call, as they see each that is asked about, and their word counts first.
#[tokio::test]
async fn a_hook_has_the_first_word() {
    struct No;

    #[async_trait]
    impl Hook<PreToolCall> for No {
        fn name(&self) -> &str {
            "no"
        }

        async fn on(&self, _: &mut PreToolCall) -> Result<PreToolAction, HookError> {
            Ok(PreToolAction::Result(SyntheticResult::refuse("not this")))
        }
    }

    let setup = Setup {
        hooks: Hooks::new().pre_tool_call(Arc::new(No)),
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[&[("echo", "ask doomed")]]), setup);
    kit.turn("go").await;
    assert_eq!(causes(&kit), ["hook"]);
}

/// A model that repeats itself is for a person to see, from the third time on.
#[tokio::test]
async fn a_repeated_call_is_asked_about_whatever_comes_of_it() {
    let call: &[(&str, &str)] = &[("echo", "ask doomed")];
    let mut kit = Kit::new(&script(&[call, call, call]));
    kit.turn("go").await;
    assert_eq!(
        causes(&kit),
        ["futile", "futile", "policy_repeated", "no_client"]
    );
}

/// What was asked about when a session was cut off may be futile when it goes on.
#[tokio::test]
async fn a_call_that_waited_is_looked_at_again() {
    let entries = [
        Entry::Prompt { text: "go".into() },
        Entry::Assistant {
            content: vec![Block::ToolUse {
                id: "call_1_1".into(),
                name: "echo".into(),
                input: json!({"text": "ask doomed"}),
            }],
        },
        Entry::Ruled {
            call: "call_1_1".into(),
            part_of: None,
            outcome: RuledOutcome::Ask,
            cause: "policy".into(),
        },
    ];
    let mut kit = resumed(&script(&[]), &entries, Setup::default());
    kit.worker.resume(kit.cancel.clone()).await.unwrap();
    kit.check();
    assert_eq!(causes(&kit), ["futile"]);
    assert_eq!(kit.results(), ["! echo can only fail"]);
}
