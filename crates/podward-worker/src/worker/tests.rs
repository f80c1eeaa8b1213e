use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use podward_gate::{Answer, DecidedBy};

use super::*;
use crate::decision::Decision;
use crate::event::Limit;
use crate::journal::Entry;
use crate::testing::{Kit, Setup, script};

mod asks;
mod faults;
mod further;
mod futile;
mod hooks;
mod parked;
mod properties;
mod skills;
mod wire;

const DENIED: &str = "! Refused: this call of `echo` was not run: `deny`. A permission rule \
                      (`deny*`) denies it: not this. Retrying will not help: the same call is \
                      refused every time. Go on without it, or tell the user what you cannot do.";

const NO_CLIENT: &str = "! Refused: this call of `echo` was not run: `ask`. A permission rule \
                         (`ask*`) asks a person about it. Nobody is there to approve it. Retrying \
                         the same call will not help until somebody is: go on without it, or tell \
                         the user what you cannot do.";

#[tokio::test]
async fn deny_keeps_the_turn_going() {
    let mut kit = Kit::new(&script(&[&[("echo", "deny")], &[("echo", "hi")]]));
    let end = kit.turn("go").await;
    assert_eq!(end.reason, EndReason::Done);
    assert_eq!((end.n_steps, end.n_refused), (3, 1));
    assert_eq!(kit.results(), [DENIED, "echo hi"]);
}

#[tokio::test]
async fn a_mixed_batch_keeps_call_order() {
    let calls: &[_] = &[
        ("echo", "one"),
        ("echo", "deny"),
        ("nothing", "x"),
        ("echo", "ask"),
        ("fail", "two"),
        ("panic", "three"),
        ("echo", "four"),
    ];
    let mut kit = Kit::new(&script(&[calls]));
    let end = kit.turn("go").await;
    assert_eq!(end.reason, EndReason::Done);
    assert_eq!((end.n_steps, end.n_refused, end.n_bad_calls), (2, 3, 1));
    assert_eq!(
        kit.results(),
        [
            "echo one",
            DENIED,
            "! Error: there is no tool named `nothing`, so nothing was run. Retrying will not \
             help: only the tools that you were given exist.",
            NO_CLIENT,
            "! fail two",
            "! Error: the tool failed inside. It may have done all, a part, or nothing of its \
             work: look before you make this call again.",
            "echo four",
        ]
    );
    assert_eq!(kit.log.ran(), ["one", "two", "three", "four"]);
}

#[tokio::test]
async fn all_calls_are_judged_before_one_runs() {
    let mut kit = Kit::new(&script(&[&[
        ("echo", "a"),
        ("echo", "deny"),
        ("echo", "ask"),
    ]]));
    kit.turn("go").await;
    let words: Vec<_> = kit
        .log
        .entries()
        .iter()
        .map(|entry| match entry {
            Entry::Prompt { .. } => "prompt".to_owned(),
            Entry::Assistant { .. } => "assistant".to_owned(),
            Entry::Ruled { call, cause, .. } => format!("{call} {cause}"),
            Entry::Started { call, .. } => format!("{call} started"),
            Entry::Finished { call, .. } => format!("{call} finished"),
            Entry::SkillStarted { skill, .. } => format!("skill {}", skill.name),
            Entry::SkillEnded { name, why } => format!("skill {name} ended {}", why.as_str()),
            Entry::TurnEnded { reason } => format!("ended {reason}"),
        })
        .collect();
    assert_eq!(
        words,
        [
            "prompt",
            "assistant",
            "call_1_1 policy",
            "call_1_2 policy",
            "call_1_3 policy",
            "call_1_2 finished",
            "call_1_1 started",
            "call_1_3 no_client",
            "call_1_3 finished",
            "call_1_1 finished",
            "assistant",
            "ended done",
        ]
    );
}

#[tokio::test]
async fn what_happens_is_told_in_order() {
    let mut kit = Kit::new(&script(&[&[("echo", "a"), ("echo", "deny")]]));
    kit.turn("go").await;
    assert_eq!(
        kit.told(),
        [
            "turn Some(\"go\")",
            "step 1",
            "announced call_1_1 echo",
            "announced call_1_2 echo",
            "proposed call_1_1 {\"text\":\"a\"}",
            "proposed call_1_2 {\"text\":\"deny\"}",
            "decided call_1_1 policy",
            "decided call_1_2 policy",
            "finished call_1_2 error",
            "started call_1_1",
            "finished call_1_1 ok",
            "step 2",
            "ended: done",
        ]
    );
}

#[tokio::test]
async fn allowed_calls_run_at_the_same_time() {
    let calls = [("meet", "a"), ("meet", "b"), ("meet", "c")];
    let mut kit = Kit::with(
        &script(&[&calls]),
        Setup {
            n_meeting: 3,
            ..Setup::default()
        },
    );
    kit.turn("go").await;
    assert_eq!(kit.results(), ["met a", "met b", "met c"]);
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_run_at_the_same_time_than_the_limit_says() {
    let calls = [("meet", "a"), ("meet", "b"), ("meet", "c"), ("meet", "d")];
    let mut kit = Kit::with(
        &script(&[&calls]),
        Setup {
            n_meeting: 3,
            limits: TurnLimits {
                parallel: NonZeroUsize::new(2).unwrap(),
                wall: Some(Duration::from_secs(60)),
                ..TurnLimits::default()
            },
            ..Setup::default()
        },
    );
    let end = kit.turn("go").await;
    assert_eq!(end.reason, EndReason::Limit(Limit::Wall));
    assert_eq!(kit.log.ran(), ["a", "b"]);
}

#[tokio::test]
async fn an_approved_call_runs_and_its_siblings_do_not_wait() {
    let calls = [("echo", "ask"), ("echo", "b")];
    let mut kit = Kit::with(
        &script(&[&calls]),
        Setup {
            answer: Answer::Once { by: "ann".into() },
            ..Setup::default()
        },
    );
    let end = kit.turn("go").await;
    assert_eq!(end.n_refused, 0);
    assert_eq!(kit.results(), ["echo ask", "echo b"]);
    assert_eq!(kit.log.ran(), ["b", "ask"]);
    let causes: Vec<_> = kit.log.decisions().iter().map(|d| d.cause_word()).collect();
    assert_eq!(causes, ["policy", "policy", "once"]);
}

#[tokio::test]
async fn a_call_repeated_a_third_time_in_a_turn_is_asked_about() {
    let same: &[_] = &[("echo", "same")];
    let mut kit = Kit::new(&(script(&[same, same, same]) + &script(&[same])));
    let end = kit.turn("go").await;
    assert_eq!((end.reason, end.n_refused), (EndReason::Done, 1));
    assert_eq!(kit.results()[..2], ["echo same", "echo same"]);
    assert!(kit.results()[2].starts_with(
        "! Refused: this call of `echo` was not run: `same`. The same call was already made twice"
    ));
    // The next turn counts anew.
    kit.turn("again").await;
    assert_eq!(kit.results()[3], "echo same");
    let causes: Vec<_> = kit.log.decisions().iter().map(|d| d.cause_word()).collect();
    assert_eq!(
        causes,
        ["policy", "policy", "repeated", "no_client", "policy"]
    );
}

/// What an agent does all day: try, change something, try again.
#[tokio::test]
async fn a_call_after_something_else_ran_is_not_repeated() {
    let (try_it, change): (&[_], &[_]) = (&[("echo", "try")], &[("echo", "change")]);
    let steps = [try_it, change].repeat(4);
    let mut kit = Kit::new(&script(&steps));
    let end = kit.turn("go").await;
    assert_eq!((end.reason, end.n_refused), (EndReason::Done, 0));
    assert_eq!(kit.log.ran(), ["try", "change"].repeat(4));
}

#[tokio::test]
async fn a_turn_ends_after_as_many_steps_as_the_limit_says() {
    let mut kit = Kit::with(
        &script(&[&[("echo", "a")], &[("echo", "b")], &[("echo", "c")]]),
        Setup {
            limits: TurnLimits {
                steps: NonZeroU32::new(2).unwrap(),
                ..TurnLimits::default()
            },
            ..Setup::default()
        },
    );
    let end = kit.turn("go").await;
    assert_eq!(
        (end.reason, end.n_steps),
        (EndReason::Limit(Limit::Steps), 2)
    );
    assert_eq!(kit.results(), ["echo a", "echo b"]);
    // The history can be gone on with.
    assert_eq!(kit.turn("go on").await.reason, EndReason::Done);
    assert_eq!(kit.results(), ["echo a", "echo b", "echo c"]);
}

#[tokio::test]
async fn a_turn_ends_when_the_model_has_written_too_much() {
    let mut kit = Kit::with(
        &script(&[&[("echo", "a")], &[("echo", "b")]]).replace(
            "text = \"I work.\"",
            "usage = { input_tokens = 1, output_tokens = 60 }",
        ),
        Setup {
            limits: TurnLimits {
                output_tokens: Some(100),
                ..TurnLimits::default()
            },
            ..Setup::default()
        },
    );
    let end = kit.turn("go").await;
    assert_eq!(end.reason, EndReason::Limit(Limit::OutputTokens));
    assert_eq!(end.usage.output_tokens, 120);
    assert_eq!(kit.results(), ["echo a", "echo b"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_ends_when_its_time_is_over() {
    for tool in ["slow", "stuck"] {
        let mut kit = Kit::with(
            &script(&[&[("echo", "a"), (tool, "b")]]),
            Setup {
                limits: TurnLimits {
                    wall: Some(Duration::from_secs(60)),
                    ..TurnLimits::default()
                },
                ..Setup::default()
            },
        );
        let end = kit.turn("go").await;
        assert_eq!(end.reason, EndReason::Limit(Limit::Wall));
        let results = kit.results();
        assert_eq!(results[0], "echo a");
        assert!(
            results[1] == "! slow was cancelled"
                || results[1].starts_with(
                    "! Error: this call of `stuck` has no result, because the turn was interrupted"
                ),
            "{results:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_tells_its_calls_and_answers_all() {
    let mut kit = Kit::new(&script(&[&[("slow", "a"), ("stuck", "b"), ("echo", "c")]]));
    let cancel = kit.cancel.clone();
    let cancelled = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(kit.turn("go"), cancelled);
    assert_eq!(end.reason, EndReason::Cancelled);
    assert_eq!(
        kit.results(),
        [
            "! slow was cancelled",
            "! Error: this call of `stuck` has no result, because the turn was cancelled while it \
             ran. It may have done all, a part, or nothing of its work: look before you make it \
             again.",
            "echo c",
        ]
    );
    // The worker takes the next turn.
    kit.cancel = CancellationToken::new();
    assert_eq!(kit.turn("go on").await.reason, EndReason::Done);
}

#[tokio::test]
async fn a_turn_that_is_cancelled_before_it_starts_asks_nobody() {
    let mut kit = Kit::new(&script(&[&[("echo", "a")]]));
    kit.cancel.cancel();
    let end = kit.turn("go").await;
    assert_eq!((end.reason, end.n_steps), (EndReason::Cancelled, 0));
    assert_eq!(kit.worker.history().messages().len(), 1);
}

#[tokio::test]
async fn only_offered_tools_are_told_to_the_model_but_all_are_judged() {
    let setup = || Setup {
        offered: Some("echo"),
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[&[("fail", "deny"), ("fail", "x")]]), setup());
    let names: Vec<_> = kit
        .worker
        .parts
        .specs
        .iter()
        .map(|spec| &spec.name)
        .collect();
    assert_eq!(names, ["echo"]);
    kit.turn("go").await;
    let causes: Vec<_> = kit.log.decisions().iter().map(|d| d.cause_word()).collect();
    assert_eq!(causes, ["policy", "policy"]);
    assert_eq!(kit.log.ran(), ["x"]);
}

#[tokio::test]
async fn a_history_that_ends_with_a_question_is_gone_on_with() {
    let steps = script(&[&[("echo", "a")], &[("echo", "b")]]);
    let mut first = Kit::new(&steps);
    first.turn("go").await;
    let entries = first.log.entries();
    // Killed after the first call was decided.
    let cut = entries
        .iter()
        .position(|entry| matches!(entry, Entry::Ruled { .. }))
        .unwrap();
    let replayed = History::replay(&entries[..=cut]).unwrap();
    let mut second = Kit::with(
        &steps,
        Setup {
            history: replayed.history,
            ..Setup::default()
        },
    );
    let end = second
        .worker
        .resume(CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((end.reason, end.n_steps), (EndReason::Done, 2));
    let results = second.results();
    assert!(
        results[0].contains("interrupted before it started"),
        "{results:?}"
    );
    assert_eq!(results[1..], ["echo b"]);
    // Nothing is left to go on with.
    let end = second
        .worker
        .resume(CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((end.reason, end.n_steps), (EndReason::Done, 0));
}

#[test]
fn a_turn_can_be_worked_through_in_a_task() {
    fn is_send<T: Send>(_: T) {}
    let mut kit = Kit::new(&script(&[]));
    is_send(kit.worker.turn(String::new(), CancellationToken::new()));
}
