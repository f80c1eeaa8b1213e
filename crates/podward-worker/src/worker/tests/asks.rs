//! Questions: who answers, who is first, and what becomes of the call.

mod uses;

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use podward_gate::{AnswerError, CallId, EditError, Grant, GrantId, Question, RequestId};
use podward_policy::{GrantRule, ToolName};
use serde_json::json;

use super::*;
use crate::approver::Approver;
use crate::gate::SharedGate;
use crate::hook::{Hook, HookError, Hooks, PreToolAction, PreToolCall, SyntheticResult};

/// Passes every question on, as a pod does that has clients.
#[derive(Default)]
pub(super) struct PassesOn {
    pub(super) asked: tokio::sync::Notify,
}

#[async_trait]
impl Approver for PassesOn {
    async fn answer(&self, _question: &Question) -> Option<Answer> {
        self.asked.notify_one();
        None
    }
}

pub(super) fn passes_on() -> (Arc<PassesOn>, Setup) {
    let approver = Arc::new(PassesOn::default());
    let setup = Setup {
        approver: Some(Arc::clone(&approver) as Arc<dyn Approver>),
        ..Setup::default()
    };
    (approver, setup)
}

pub(super) fn id(text: &str) -> RequestId {
    RequestId::from(CallId::new(text).unwrap())
}

/// Waits until so many questions are open.
async fn open(gate: &SharedGate, asked: &PassesOn, n_open: usize) -> Vec<Question> {
    loop {
        let open = gate.open();
        if open.len() >= n_open {
            return open;
        }
        asked.asked.notified().await;
    }
}

fn causes(kit: &Kit) -> Vec<&'static str> {
    kit.log.decisions().iter().map(|d| d.cause_word()).collect()
}

fn grant(name: &str, pattern: &str, question: &Question) -> Grant {
    let tool = question.facts().tool();
    let askers = question.asking().iter().map(|part| part.asker.clone());
    Grant {
        id: GrantId::new(name).unwrap(),
        rules: vec![GrantRule::compile(tool, pattern, askers.collect()).unwrap()],
        expires_at: None,
        uses_left: None,
        by: "ann".into(),
    }
}

/// Remembers an approval with the uses that it takes.
fn give(
    gate: &SharedGate,
    grant: Grant,
    answering: Option<&RequestId>,
) -> Result<Vec<RequestId>, AnswerError> {
    let taken = gate.take_uses_for(&grant, answering);
    gate.grant(grant, answering, taken)
}

/// Each answer, what the model reads, and the word in the log; whatever it is, the turn goes on.
#[tokio::test]
async fn whatever_is_answered_the_turn_goes_on() {
    let by = || "ann".into();
    for (answer, result, word) in [
        (Answer::Once { by: by() }, "echo ask", "once"),
        (Answer::Auto, "echo ask", "auto"),
        (
            Answer::Rejected {
                by: by(),
                feedback: None,
            },
            "! Refused: this call of `echo` was not run: `ask`. A person was asked to approve it \
             and said no. Retrying will not help: go on without it, or tell the user what you \
             cannot do.",
            "rejected",
        ),
        (
            Answer::Rejected {
                by: by(),
                feedback: Some("  use\n\u{1b}[1mthe other one ".into()),
            },
            "! Refused: this call of `echo` was not run: `ask`. A person was asked to approve it \
             and said no, with the words below. Do not make the same call again unless they say \
             so.\n  use\n\u{1b}[1mthe other one ",
            "rejected",
        ),
        (
            Answer::Expired,
            "! Refused: this call of `echo` was not run: `ask`. A person was asked to approve it, \
             and nobody answered in time. Retrying the same call can help only once somebody is \
             there to answer: go on without it, or tell the user what you cannot do.",
            "expired",
        ),
        (Answer::NoClient, NO_CLIENT, "no_client"),
        (
            Answer::ClientGone,
            "! Refused: this call of `echo` was not run: `ask`. A person was to approve it, and \
             went away before answering. Retrying the same call can help only once somebody is \
             there to answer: go on without it, or tell the user what you cannot do.",
            "client_gone",
        ),
        (
            Answer::Cancelled,
            "! Error: this call of `echo` was not run, because the turn was cancelled before it \
             started. It had no effect and can be made again if it is still wanted.",
            "cancelled",
        ),
        (
            Answer::PodStopped,
            "! Error: this call of `echo` was not run, because the agent was stopped before it \
             started. It had no effect and can be made again if it is still wanted.",
            "pod_stopped",
        ),
        (
            Answer::Interrupted,
            "! Error: this call of `echo` was not run, because the turn was interrupted before it \
             started. It had no effect and can be made again if it is still wanted.",
            "interrupted",
        ),
    ] {
        let (approver, setup) = passes_on();
        let mut kit = Kit::with(&script(&[&[("echo", "ask")]]), setup);
        let gate = kit.worker.gate();
        let answering = async {
            let open = open(&gate, &approver, 1).await;
            gate.answer(open[0].id(), answer.clone()).unwrap();
        };
        let (end, ()) = tokio::join!(kit.turn("go"), answering);
        assert_eq!((end.reason, end.n_steps), (EndReason::Done, 2), "{word}");
        assert_eq!(kit.results(), [result]);
        assert_eq!(causes(&kit), ["policy", word]);
        let is_approval = answer.is_approval();
        assert_eq!(kit.log.ran().len(), usize::from(is_approval));
        assert_eq!(gate.open(), []);
    }
}

/// What stands in a wait is told, and its siblings do not wait with it.
#[tokio::test]
async fn siblings_of_a_parked_call_finish_first() {
    let (approver, setup) = passes_on();
    let mut kit = Kit::with(
        &script(&[&[("echo", "ask"), ("echo", "b"), ("hop", "c>ask d")]]),
        setup,
    );
    let gate = kit.worker.gate();
    let log = kit.log.clone();
    let answering = async {
        let questions = open(&gate, &approver, 2).await;
        while log.ran().len() < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(log.ran(), ["b", "c>ask d"]);
        // Nothing goes on before somebody answers.
        tokio::task::yield_now().await;
        for question in questions {
            let by = "ann".into();
            gate.answer(question.id(), Answer::Once { by }).unwrap();
        }
    };
    let (_, ()) = tokio::join!(kit.turn("go"), answering);
    assert_eq!(kit.results(), ["echo ask", "echo b", "c > at ask d"]);
    let told = kit.told();
    let place = |what: &str| told.iter().position(|told| told == what);
    assert!(place("finished call_1_2 ok") < place("waiting"), "{told:?}");
    assert!(place("waiting") < place("working"), "{told:?}");
    assert!(place("working") < place("started call_1_1"), "{told:?}");
}

/// Two threads answer each question; what the winner said is what happens.
#[test]
fn of_two_answers_exactly_one_wins() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let texts: Vec<_> = (0..40).map(|n| format!("ask {n}")).collect();
    let calls: Vec<_> = texts.iter().map(|text| ("echo", text.as_str())).collect();
    let (approver, setup) = passes_on();
    let mut kit = Kit::with(&script(&[&calls]), setup);
    let gate = kit.worker.gate();
    let both = runtime.block_on(async {
        let answering = async {
            let open = open(&gate, &approver, calls.len()).await;
            let answer = |answer: Answer| {
                let (gate, open) = (gate.clone(), open.clone());
                std::thread::spawn(move || {
                    let answer = |question: &Question| gate.answer(question.id(), answer.clone());
                    open.iter().map(answer).collect::<Vec<_>>()
                })
            };
            let yes = answer(Answer::Once { by: "ann".into() });
            let no = answer(Answer::Rejected {
                by: "bob".into(),
                feedback: None,
            });
            (yes.join().unwrap(), no.join().unwrap())
        };
        tokio::join!(kit.turn("go"), answering).1
    });
    for (n, (yes, no)) in both.0.iter().zip(&both.1).enumerate() {
        let ran = kit.log.ran().contains(&texts[n]);
        match (yes, no) {
            (Ok(()), Err(AnswerError::AlreadySettled { by, .. })) => {
                assert_eq!(by.as_str(), "once");
                assert!(ran);
            }
            (Err(AnswerError::AlreadySettled { by, .. }), Ok(())) => {
                assert_eq!(by.as_str(), "rejected");
                assert!(!ran);
            }
            both => panic!("{both:?}"),
        }
    }
}

#[tokio::test]
async fn an_edited_call_runs_as_edited_and_the_history_shows_both() {
    let (approver, setup) = passes_on();
    let mut kit = Kit::with(&script(&[&[("echo", "ask a")]]), setup);
    let gate = kit.worker.gate();
    let proposer = kit.worker.proposer();
    let propose = |tool: &str, text: &str| {
        let call = CallId::new("call_1_1").unwrap();
        proposer.propose(call, tool, json!({"text": text})).unwrap()
    };
    let answering = async {
        open(&gate, &approver, 1).await;
        let request = id("call_1_1");
        let denied = gate.edit(&request, propose("echo", "deny"), "ann");
        assert!(
            matches!(denied, Err(EditError::Denied { .. })),
            "{denied:?}"
        );
        let other = gate.edit(&request, propose("fail", "b"), "ann");
        assert!(
            matches!(other, Err(EditError::OtherCall { .. })),
            "{other:?}"
        );
        assert!(
            proposer
                .propose(CallId::new("call_1_1").unwrap(), "echo", json!([]))
                .is_err()
        );
        assert_eq!(gate.open().len(), 1);
        // Also what would be asked about again: the person has seen it.
        gate.edit(&request, propose("echo", "ask b"), "ann")
            .unwrap();
        let late = gate
            .edit(&request, propose("echo", "c"), "bob")
            .unwrap_err();
        assert_eq!(
            late.to_string(),
            "the request `call_1_1` is already settled: edited"
        );
    };
    let (end, ()) = tokio::join!(kit.turn("go"), answering);
    assert_eq!(end.n_refused, 0);
    assert_eq!(kit.log.ran(), ["ask b"]);
    assert_eq!(
        kit.results(),
        [
            "Note: the person who was asked changed the arguments of this call. The result below \
             is that of: {\"text\":\"ask b\"}\necho ask b"
        ]
    );
    let decisions = kit.log.decisions();
    let arguments: Vec<_> = decisions.iter().map(|d| d.arguments()).collect();
    assert_eq!(arguments, [r#"{"text":"ask a"}"#, r#"{"text":"ask b"}"#]);
    assert_eq!(causes(&kit), ["policy", "edited"]);
}

/// A hook that refuses what holds a word, and says when it is asked.
struct Refuses {
    word: &'static str,
    hangs: bool,
    seen: Arc<Mutex<Vec<String>>>,
    asked: Arc<tokio::sync::Notify>,
}

#[async_trait]
impl Hook<PreToolCall> for Refuses {
    fn name(&self) -> &str {
        "watch"
    }

    async fn on(&self, event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        let arguments = event.facts().arguments().to_owned();
        let is_meant = arguments.contains(self.word);
        self.seen.lock().unwrap().push(arguments);
        if !is_meant {
            return Ok(PreToolAction::Continue);
        }
        self.asked.notify_one();
        if self.hangs {
            std::future::pending::<()>().await;
        }
        let text = SyntheticResult::refuse("not this");
        Ok(PreToolAction::Result(text))
    }
}

/// What a test sees of a hook that watches.
struct Watched {
    asked: Arc<tokio::sync::Notify>,
    seen: Arc<Mutex<Vec<String>>>,
}

fn watched(word: &'static str, hangs: bool) -> (Arc<PassesOn>, Setup, Watched) {
    let (approver, setup) = passes_on();
    let watched = Watched {
        asked: Arc::default(),
        seen: Arc::default(),
    };
    let hook = Refuses {
        word,
        hangs,
        seen: Arc::clone(&watched.seen),
        asked: Arc::clone(&watched.asked),
    };
    let setup = Setup {
        hooks: Hooks::new().pre_tool_call(Arc::new(hook)),
        ..setup
    };
    (approver, setup, watched)
}

#[tokio::test]
async fn a_hook_can_refuse_what_a_person_edited() {
    let (approver, setup, watched) = watched("edited", false);
    let mut kit = Kit::with(&script(&[&[("echo", "ask a")]]), setup);
    let (gate, proposer) = (kit.worker.gate(), kit.worker.proposer());
    let answering = async {
        open(&gate, &approver, 1).await;
        let call = CallId::new("call_1_1").unwrap();
        let call = proposer
            .propose(call, "echo", json!({"text": "edited"}))
            .unwrap();
        gate.edit(&id("call_1_1"), call, "ann").unwrap();
    };
    let (end, ()) = tokio::join!(kit.turn("go"), answering);
    assert_eq!((end.reason, end.n_refused), (EndReason::Done, 1));
    assert_eq!(kit.log.ran(), Vec::<String>::new());
    assert!(kit.results()[0].contains("{\"text\":\"edited\"}\nRefused: this call of `echo` was not run. The check `watch` refuses it: not this."), "{:?}", kit.results());
    assert_eq!(causes(&kit), ["policy", "hook"]);
    assert_eq!(
        *watched.seen.lock().unwrap(),
        [r#"{"text":"ask a"}"#, r#"{"text":"edited"}"#]
    );
}

#[tokio::test]
async fn a_cancel_while_an_edit_is_judged_runs_nothing() {
    let (approver, setup, watched) = watched("edited", true);
    let mut kit = Kit::with(&script(&[&[("echo", "ask a"), ("echo", "ask b")]]), setup);
    let (gate, proposer, cancel) = (kit.worker.gate(), kit.worker.proposer(), kit.cancel.clone());
    let answering = async {
        open(&gate, &approver, 2).await;
        let call = CallId::new("call_1_1").unwrap();
        let call = proposer
            .propose(call, "echo", json!({"text": "edited"}))
            .unwrap();
        gate.edit(&id("call_1_1"), call, "ann").unwrap();
        watched.asked.notified().await;
        // This answer comes first, and the cancel all the same before its call starts.
        let by = "ann".into();
        gate.answer(&id("call_1_2"), Answer::Once { by }).unwrap();
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(kit.turn("go"), answering);
    assert_eq!(end.reason, EndReason::Cancelled);
    assert_eq!(kit.log.ran(), Vec::<String>::new());
    assert_eq!(causes(&kit), ["policy", "policy", "cancelled", "cancelled"]);
    assert_eq!(gate.n_waiting(), 0);
}

/// A grant that comes while a hook has not decided lets the call run only if the hook does.
#[tokio::test]
async fn a_grant_that_comes_while_a_hook_decides_loosens_nothing_of_it() {
    for (word, expected) in [("ask a", vec![]), ("no such", vec!["ask a", "ask b"])] {
        let (approver, setup, _) = watched(word, false);
        let mut kit = Kit::with(
            &script(&[&[("echo", "ask b")], &[("echo", "ask a")]]),
            setup,
        );
        let gate = kit.worker.gate();
        let answering = async {
            let open = open(&gate, &approver, 1).await;
            let grant = grant("g", "ask [ab]", &open[0]);
            assert_eq!(
                give(&gate, grant, Some(open[0].id())),
                Ok(vec![id("call_1_1")])
            );
        };
        let (end, ()) = tokio::join!(kit.turn("go"), answering);
        assert_eq!(end.reason, EndReason::Done);
        let mut ran = kit.log.ran();
        ran.sort();
        match expected.is_empty() {
            true => assert_eq!(ran, ["ask b"]),
            false => assert_eq!(ran, expected),
        }
        let word = if expected.is_empty() {
            "hook"
        } else {
            "granted"
        };
        assert_eq!(causes(&kit), ["policy", "always", word]);
    }
}

/// A hook that gives a grant for what it is asked about, before the question is put.
struct Grants {
    gate: Mutex<Option<SharedGate>>,
}

#[async_trait]
impl Hook<PreToolCall> for Grants {
    fn name(&self) -> &str {
        "grants"
    }

    async fn on(&self, event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        let crate::hook::PreToolStage::Asked(question) = event.stage() else {
            return Ok(PreToolAction::Continue);
        };
        let gate = self.gate.lock().unwrap().clone().unwrap();
        // Nobody can answer it yet.
        let answer = gate.answer(question.id(), Answer::Auto);
        assert!(
            matches!(answer, Err(AnswerError::Unknown { .. })),
            "{answer:?}"
        );
        assert_eq!(give(&gate, grant("g", "ask*", question), None), Ok(vec![]));
        Ok(PreToolAction::Continue)
    }
}

#[tokio::test]
async fn a_question_that_is_covered_by_the_time_it_is_put_is_not_put() {
    let (approver, setup) = passes_on();
    let hook = Arc::new(Grants {
        gate: Mutex::new(None),
    });
    let setup = Setup {
        hooks: Hooks::new().pre_tool_call(Arc::clone(&hook) as Arc<dyn Hook<PreToolCall>>),
        ..setup
    };
    let mut kit = Kit::with(&script(&[&[("echo", "ask")]]), setup);
    *hook.gate.lock().unwrap() = Some(kit.worker.gate());
    kit.turn("go").await;
    assert_eq!(kit.results(), ["echo ask"]);
    assert_eq!(causes(&kit), ["policy", "granted"]);
    drop(approver);
}

#[tokio::test]
async fn a_grant_settles_the_open_questions_that_it_covers_and_later_ones() {
    let calls = [
        ("echo", "ask a"),
        ("echo", "ask b"),
        ("fail", "ask c"),
        ("echo", "asking d"),
    ];
    let (approver, setup) = passes_on();
    let mut kit = Kit::with(&script(&[&calls, &[("echo", "ask e")]]), setup);
    let gate = kit.worker.gate();
    let answering = async {
        let open = open(&gate, &approver, 4).await;
        let settled = give(&gate, grant("g", "ask *", &open[1]), Some(open[1].id()));
        // The one that was answered first, then the others; not that of another tool.
        assert_eq!(settled, Ok(vec![id("call_1_2"), id("call_1_1")]));
        let no = Some("no, thanks");
        assert_eq!(gate.reject_all("ann", no), [id("call_1_3"), id("call_1_4")]);
    };
    let (_, ()) = tokio::join!(kit.turn("go"), answering);
    let mut words = causes(&kit);
    words[4..8].sort_unstable();
    assert_eq!(words[..4], ["policy"; 4]);
    assert_eq!(
        words[4..],
        ["always", "granted", "rejected", "rejected", "granted"]
    );
    assert_eq!(kit.results()[4], "echo ask e");
    assert!(kit.results()[3].ends_with("unless they say so.\nno, thanks"));
    let DecidedBy::Grants { grants, by } = by_of(&kit, "ask e") else {
        panic!("not by a grant");
    };
    assert_eq!((grants[0].as_str(), &*by), ("g", "ann"));
}

fn by_of(kit: &Kit, text: &str) -> DecidedBy {
    let decisions = kit.log.decisions();
    let by = decisions.iter().find_map(|decision| match &**decision {
        Decision::Run { facts, by, .. } if facts.arguments().contains(text) => Some(by.clone()),
        _ => None,
    });
    by.unwrap()
}

/// A call of a batch that ended with its journal is not left open.
#[tokio::test]
async fn a_journal_that_fails_leaves_no_question_open() {
    for n_appends in 0..8 {
        let (approver, setup) = passes_on();
        let setup = Setup {
            n_appends: Some(n_appends),
            ..setup
        };
        let mut kit = Kit::with(&script(&[&[("echo", "ask a"), ("echo", "ask b")]]), setup);
        let gate = kit.worker.gate();
        let answering = async {
            open(&gate, &approver, 2).await;
            gate.answer(&id("call_1_1"), Answer::Auto).unwrap();
            std::future::pending::<()>().await;
        };
        let cancel = kit.cancel.clone();
        let turn = async {
            let turn = kit.try_turn("go");
            tokio::pin!(turn);
            tokio::select! {
                end = &mut turn => return end,
                () = async { while !gate.open().len().eq(&1) { tokio::task::yield_now().await } } => {}
            }
            // The journal may hold that long.
            for _ in 0..20 {
                tokio::select! {
                    biased;
                    end = &mut turn => return end,
                    () = tokio::task::yield_now() => {}
                }
            }
            cancel.cancel();
            turn.await
        };
        let end = tokio::select! {
            end = turn => end,
            () = answering => unreachable!(),
        };
        assert_eq!(gate.n_waiting(), 0, "{n_appends}: {end:?}");
    }
}

/// An approver that does not come to its end is not waited for once somebody else answered.
#[tokio::test(start_paused = true)]
async fn an_approver_that_never_answers_holds_up_nobody() {
    struct Never;
    #[async_trait]
    impl Approver for Never {
        async fn answer(&self, _question: &Question) -> Option<Answer> {
            std::future::pending().await
        }
    }
    let setup = Setup {
        approver: Some(Arc::new(Never)),
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[&[("echo", "ask a")]]), setup);
    let gate = kit.worker.gate();
    let answering = async {
        while gate.open().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        gate.answer(&id("call_1_1"), Answer::Auto).unwrap();
    };
    let (end, ()) = tokio::join!(kit.turn("go"), answering);
    assert_eq!(end.reason, EndReason::Done);
    assert_eq!(kit.results(), ["echo ask a"]);
}
