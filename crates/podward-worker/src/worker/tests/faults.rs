//! Models that stream garbage, journals that fail, observers that do not listen.

use podward_model::{Block, Role};

use super::*;

/// What a model of one broken step, then one that only talks, leads to.
async fn run(step: &str) -> (EndReason, Vec<String>, Kit) {
    let mut kit = Kit::new(&format!("[[step]]\n{step}\n[[step]]\ntext = \"Done.\""));
    let end = kit.turn("go").await;
    let results = kit.results();
    (end.reason, results, kit)
}

const CALL: &str = "[[step.call]]\ntool = \"echo\"\n";

#[tokio::test]
async fn arguments_that_do_not_fit_are_an_error_result() {
    let broken = "[[step.call]]\ntool = \"broken\"\n";
    for (call, expected) in [
        (
            format!("{CALL}raw = '{{\"text\": '"),
            "the arguments are no valid JSON: EOF while parsing a value at line 1 column 9.",
        ),
        (
            format!("{CALL}raw = '[1]'"),
            "bad arguments for `echo`: they are no JSON object.",
        ),
        (
            format!("{CALL}raw = ''"),
            "bad arguments for `echo`: `text` is missing.",
        ),
        (
            broken.to_owned(),
            "bad arguments for `broken`: the tool failed to read them.",
        ),
    ] {
        let (reason, results, kit) = run(&call).await;
        let tool = if call == broken { "broken" } else { "echo" };
        assert_eq!(reason, EndReason::Done);
        assert_eq!(
            results,
            [format!(
                "! Error: this call of `{tool}` was not run: {expected} Correct the arguments and \
                 call it again."
            )]
        );
        assert_eq!(kit.log.decisions()[0].cause_word(), "bad_call");
    }
}

#[tokio::test]
async fn ids_and_names_that_nobody_takes_back_are_mended() {
    let calls: String = [
        ("echo", "a"),
        ("echo", "a"),
        ("echo", ""),
        ("rm -rf\\n/", "b c"),
    ]
    .iter()
    .map(|(tool, id)| {
        format!("[[step.call]]\ntool = \"{tool}\"\nid = \"{id}\"\ninput.text = \"x{id}\"\n")
    })
    .collect();
    let (reason, results, kit) = run(&calls).await;
    assert_eq!(reason, EndReason::Done);
    assert_eq!(results.len(), 4);
    let uses: Vec<_> = kit.worker.history().messages()[1]
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse { id, name, .. } => Some((id.as_str(), name.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        uses,
        [
            ("a", "echo"),
            ("a_2", "echo"),
            ("call", "echo"),
            ("b_c", "rm_-rf__")
        ]
    );
}

#[tokio::test]
async fn a_stream_that_breaks_leaves_every_whole_call_answered() {
    for (end, expected) in [
        (
            "cut",
            "the connection to the model failed: the answer ended in the middle (check `base_url`, the \
             network, and HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE)",
        ),
        (
            "error",
            "the model's provider reports an error: the script ends this answer with an error",
        ),
    ] {
        let calls = format!("{CALL}input.text = \"whole\"\n{CALL}input.text = \"half\"");
        let (reason, results, mut kit) =
            run(&format!("text = \"I work.\"\nend = \"{end}\"\n{calls}")).await;
        assert_eq!(reason.to_string(), expected);
        assert_eq!(
            results,
            [
                "! Error: this call of `echo` was not run, because the turn was interrupted before it \
              started. It had no effect and can be made again if it is still wanted."
            ]
        );
        assert_eq!(kit.log.ran(), [""; 0]);
        assert_eq!(kit.turn("go on").await.reason, EndReason::Done);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_before_it_says_something_is_no_message() {
    let (reason, _, kit) = run("end = \"error\"\nthinking = \"hm\"").await;
    assert!(matches!(reason, EndReason::Model(_)));
    let messages = kit.worker.history().messages();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].role, Role::User);
}

#[tokio::test]
async fn an_endless_answer_ends_at_the_limit() {
    let mut kit = Kit::with(
        "[[step]]\ntext = \"I work.\"\nend = \"endless\"",
        Setup {
            limits: TurnLimits {
                message_bytes: 10_000,
                ..TurnLimits::default()
            },
            ..Setup::default()
        },
    );
    assert_eq!(
        kit.turn("go").await.reason,
        EndReason::Limit(Limit::Message)
    );
    let bytes: usize = kit
        .worker
        .history()
        .messages()
        .iter()
        .flat_map(|message| &message.content)
        .map(|block| match block {
            Block::Text { text } => text.len(),
            _ => 0,
        })
        .sum();
    assert!((9_000..10_000).contains(&bytes), "{bytes}");
}

#[tokio::test]
async fn a_huge_delta_ends_at_the_limit() {
    let (reason, ..) = run("text = \"0123456789\"\nrepeat = 1000000\nchunk = 100000000").await;
    assert_eq!(reason, EndReason::Limit(Limit::Message));
}

#[tokio::test]
async fn too_many_calls_in_one_answer_run_none() {
    let calls = format!("{CALL}input.text = \"x\"\n").repeat(65);
    let (reason, results, kit) = run(&calls).await;
    assert_eq!(reason, EndReason::Limit(Limit::Message));
    assert_eq!(results.len(), 64);
    assert!(results.iter().all(|result| result.contains("was not run")));
    assert_eq!(kit.log.ran(), [""; 0]);
}

#[tokio::test]
async fn an_answer_cut_at_its_token_limit_ends_the_turn_or_runs_its_calls() {
    let (reason, ..) = run("text = \"I wo\"\nend = \"max_tokens\"").await;
    assert_eq!(reason, EndReason::Limit(Limit::OutputTokens));
    let (reason, results, _) =
        run(&format!("end = \"max_tokens\"\n{CALL}input.text = \"a\"")).await;
    assert_eq!(reason, EndReason::Done);
    assert_eq!(results, ["echo a"]);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_model_can_be_cancelled() {
    let mut kit = Kit::new("[[step]]\ntext = \"I work.\"\nend = \"hang\"");
    let cancel = kit.cancel.clone();
    let cancelled = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(kit.turn("go"), cancelled);
    assert_eq!(end.reason, EndReason::Cancelled);
    assert_eq!(kit.worker.history().messages().len(), 2);
}

#[tokio::test]
async fn a_huge_result_is_cut() {
    let mut kit = Kit::with(
        &script(&[&[("echo", "0123456789äöü")]]),
        Setup {
            limits: TurnLimits {
                result_bytes: 16,
                ..TurnLimits::default()
            },
            ..Setup::default()
        },
    );
    kit.turn("go").await;
    assert_eq!(kit.results(), ["echo 0123456789\n[cut: 21 bytes in all]"]);
}

/// Nothing runs unless its start is on record, wherever the journal fails.
#[tokio::test]
async fn a_journal_that_fails_ends_the_turn_before_the_deed() {
    let calls: &[_] = &[
        ("echo", "a"),
        ("echo", "deny"),
        ("slow", "b"),
        ("echo", "ask"),
    ];
    for n_appends in 0.. {
        let mut kit = Kit::with(
            &script(&[calls, &[("echo", "c")]]),
            Setup {
                n_appends: Some(n_appends),
                limits: TurnLimits {
                    // Ends `slow`.
                    wall: Some(Duration::from_millis(1)),
                    ..TurnLimits::default()
                },
                ..Setup::default()
            },
        );
        tokio::time::pause();
        let end = kit.try_turn("go").await;
        tokio::time::resume();
        let entries = kit.log.entries();
        for text in kit.log.ran() {
            let call = match text.as_str() {
                "a" => "call_1_1",
                "b" => "call_1_3",
                other => panic!("{other} ran"),
            };
            assert!(entries.contains(&Entry::Started {
                call: call.to_owned(),
                in_session: None,
            }));
        }
        History::replay(&entries).unwrap();
        match end {
            Err(WorkerError::Journal(_)) => {
                let next = kit.try_turn("go on").await;
                assert!(matches!(next, Err(WorkerError::Unfinished)), "{next:?}");
            }
            Err(error @ (WorkerError::Unfinished | WorkerError::Skill(_))) => {
                panic!("the first turn: {error}")
            }
            Ok(end) => {
                assert_eq!(end.reason, EndReason::Limit(Limit::Wall));
                assert!(n_appends > 5);
                return;
            }
        }
    }
}

#[tokio::test]
async fn an_observer_that_left_does_not_stop_a_turn() {
    let mut kit = Kit::new(&script(&[&[("echo", "a")]]));
    let (_, nobody) = mpsc::channel(1);
    kit.events = nobody;
    assert_eq!(kit.turn("go").await.reason, EndReason::Done);
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_does_not_listen_does_not_stop_a_cancelled_turn() {
    let mut kit = Kit::new(&script(&[&[("echo", "a")]]));
    let (events, _receiver) = mpsc::channel(1);
    kit.worker.parts.events = Some(events);
    let cancel = kit.cancel.clone();
    let cancelled = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(kit.turn("go"), cancelled);
    assert_eq!(end.reason, EndReason::Cancelled);
}
