use std::collections::BTreeMap;

use podward_policy::{
    Coverage, KnownTools, LayerKind, LayerName, Location, Lowered, Need, Operation, Operations,
    Policy, PolicySpec, RuleSpec, Subject, Text,
};
use proptest::prelude::*;

use super::questions::SETTLED_KEPT;
use super::*;
use crate::call::CallId;

const TOOLS: [&str; 2] = ["bash", "read"];

fn call(id: &str, tool: &str, arguments: &str, payload: usize) -> Call<usize> {
    Call::new(
        CallFacts::new(
            CallId::new(id).unwrap(),
            ToolName::new(tool).unwrap(),
            arguments,
            Lowered::NothingToRun,
        ),
        payload,
    )
}

fn ruling(action: Action) -> Ruling {
    Ruling {
        action,
        cause: Cause::Default {
            layer: LayerName {
                kind: LayerKind::Manifest,
            },
            location: Location {
                file: "pod.toml".into(),
                line: 1,
                column: 1,
            },
        },
        operation: None,
        coverage: Coverage::Full,
    }
}

impl Gate<usize> {
    /// Decides about a call over which this is the verdict.
    fn admit_now(&mut self, call: Call<usize>, ruling: Ruling) -> Submitted<usize> {
        self.admit(call, ruling, &mut |_| true)
    }

    /// Asks about a call, and puts the question.
    fn ask_now(&mut self, id: &str) -> Question {
        let Submitted::Ask(question) = self.admit_now(call(id, "bash", id, 7), ruling(Action::Ask))
        else {
            panic!("not asked");
        };
        assert!(matches!(self.put(question.id()), Ok(Put::Open)));
        question
    }
}

fn gate() -> Gate<usize> {
    Gate::new(Policies::default())
}

/// What became of a call, in a word or two.
fn outcome(submitted: Submitted<usize>) -> String {
    match submitted {
        Submitted::Settled(Settled::Run(permitted)) => format!("run {}", permitted.release().1),
        Submitted::Settled(Settled::Refuse(refusal)) => format!("refuse {}", refusal.cause()),
        Submitted::Ask(question) => format!("ask {}", question.reason().as_str()),
    }
}

#[test]
fn a_verdict_decides_what_becomes_of_a_call() {
    for (action, expected) in [
        (Action::Allow, "run 7"),
        (Action::Deny, "refuse policy"),
        (Action::Ask, "ask policy"),
    ] {
        let submitted = gate().admit_now(call("a", "read", "{}", 7), ruling(action));
        assert_eq!(outcome(submitted), expected);
    }
}

#[test]
fn the_third_same_call_of_a_turn_is_asked_about() {
    let mut gate = gate();
    let submit = |gate: &mut Gate<usize>, id: &str, arguments: &str, action| {
        outcome(gate.admit_now(call(id, "bash", arguments, 0), ruling(action)))
    };
    // Whatever became of the first two.
    assert_eq!(
        submit(&mut gate, "a1", "[1]", Action::Deny),
        "refuse policy"
    );
    assert_eq!(submit(&mut gate, "a2", "[1]", Action::Ask), "ask policy");
    assert_eq!(submit(&mut gate, "b1", "[2]", Action::Allow), "run 0");
    assert_eq!(
        submit(&mut gate, "a3", "[1]", Action::Allow),
        "ask repeated"
    );
    assert_eq!(submit(&mut gate, "b2", "[2]", Action::Allow), "run 0");
    assert_eq!(
        submit(&mut gate, "a4", "[1]", Action::Allow),
        "ask repeated"
    );
    // A deny stays a deny.
    assert_eq!(
        submit(&mut gate, "a5", "[1]", Action::Deny),
        "refuse policy"
    );
    gate.begin_turn();
    assert_eq!(submit(&mut gate, "a6", "[1]", Action::Allow), "run 0");
}

/// D1.1: without a `[permissions]` table the layer is off.
#[test]
fn without_rules_nothing_is_asked_however_often_it_is_repeated() {
    let mut gate = gate();
    for n in 0..10 {
        let ruling = Ruling {
            cause: Cause::NoPolicy,
            ..ruling(Action::Allow)
        };
        let submitted = gate.admit_now(call(&format!("a{n}"), "bash", "[1]", n), ruling);
        assert_eq!(outcome(submitted), format!("run {n}"));
    }
}

/// Submits a call whose operation is `text` to a gate with real policies.
fn submit_text(text: &str, n_times: usize, policies: Policies) -> Vec<String> {
    let mut gate = Gate::new(policies);
    (0..n_times)
        .map(|n| {
            let facts = CallFacts::new(
                CallId::new(&format!("a{n}")).unwrap(),
                ToolName::new("mcp__s__t").unwrap(),
                text,
                Lowered::Operations(Operations::new(
                    Operation {
                        tool: ToolName::new("mcp__s__t").unwrap(),
                        subject: Subject::Plain(Text::known(text)),
                        need: Need::Full,
                        span: None,
                        partial: Vec::new(),
                    },
                    Vec::new(),
                )),
            );
            outcome(gate.submit(Call::new(facts, n)))
        })
        .collect()
}

#[test]
fn the_policies_judge_what_is_submitted() {
    let location = Location {
        file: "pod.toml".into(),
        line: 1,
        column: 1,
    };
    let rule = |pattern: &str, action| RuleSpec {
        tool: "mcp__s__*".to_owned(),
        pattern: pattern.to_owned(),
        action,
        message: None,
        grantable: true,
        ask_timeout: None,
        location: location.clone(),
    };
    let spec = PolicySpec {
        default_action: Action::Allow,
        default_location: location.clone(),
        unresolved: None,
        rules: vec![rule("no*", Action::Deny), rule("maybe*", Action::Ask)],
    };
    let policies = || {
        let compiled = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
        let name = LayerName {
            kind: LayerKind::Manifest,
        };
        Policies::new(vec![(name, compiled.policy)])
    };
    for (text, expected) in [
        ("yes", ["run 0", "run 1", "ask repeated"]),
        ("no", ["refuse policy"; 3]),
        ("maybe", ["ask policy"; 3]),
    ] {
        assert_eq!(submit_text(text, 3, policies()), expected);
    }
    assert_eq!(
        submit_text("no", 3, Policies::default()),
        ["run 0", "run 1", "run 2"]
    );
}

#[test]
fn a_late_answer_is_told_who_was_first() {
    let mut gate = gate();
    let question = gate.ask_now("a");
    assert_eq!(gate.open(), [question.clone()]);
    let first = Answer::Once { by: "ann".into() };
    let Ok(Settled::Run(permitted)) = gate.answer(question.id(), first.clone()) else {
        panic!("not run");
    };
    assert_eq!(permitted.release().1, 7);
    assert_eq!(gate.open(), []);
    let late = gate.answer(question.id(), Answer::NoClient).unwrap_err();
    assert_eq!(
        late,
        AnswerError::AlreadySettled {
            id: question.id().clone(),
            by: first
        }
    );
    assert_eq!(late.to_string(), "the request `a` is already settled: once");
    let never = RequestId::from(CallId::new("b").unwrap());
    assert_eq!(
        gate.answer(&never, Answer::NoClient)
            .unwrap_err()
            .to_string(),
        "there is no request `b`"
    );
}

#[test]
fn each_refusing_answer_has_its_own_cause() {
    for (answer, cause) in [
        (Answer::NoClient, "no_client"),
        (Answer::Cancelled, "cancelled"),
        (Answer::PodStopped, "pod_stopped"),
        (Answer::Interrupted, "interrupted"),
        (
            Answer::Hook {
                name: "h".into(),
                text: "no".into(),
            },
            "hook",
        ),
        (
            Answer::HookFailed {
                name: "h".into(),
                why: "it broke".into(),
            },
            "hook_failed",
        ),
    ] {
        let mut gate = gate();
        let question = gate.ask_now("a");
        match gate.answer(question.id(), answer) {
            Ok(Settled::Refuse(refusal)) => assert_eq!(refusal.cause().as_str(), cause),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn open_questions_are_listed_in_the_order_asked() {
    let mut gate = gate();
    for id in ["z", "m", "a"] {
        gate.ask_now(id);
    }
    let ids: Vec<_> = gate
        .open()
        .iter()
        .map(|q| q.id().as_str().to_owned())
        .collect();
    assert_eq!(ids, ["z", "m", "a"]);
}

#[test]
fn a_gate_forgets_only_the_oldest_answers() {
    let mut gate = gate();
    let ids: Vec<_> = (0..=SETTLED_KEPT).map(|n| format!("q{n}")).collect();
    for id in &ids {
        gate.ask_now(id);
        let id = RequestId::from(CallId::new(id).unwrap());
        gate.answer(&id, Answer::NoClient).unwrap();
    }
    let answer = |gate: &mut Gate<usize>, id: &String| {
        let id = RequestId::from(CallId::new(id).unwrap());
        gate.answer(&id, Answer::Cancelled).unwrap_err()
    };
    assert!(matches!(
        answer(&mut gate, &ids[0]),
        AnswerError::Unknown { .. }
    ));
    assert!(matches!(
        answer(&mut gate, &ids[1]),
        AnswerError::AlreadySettled { .. }
    ));
    assert_eq!(gate.questions.n_settled(), SETTLED_KEPT);
}

#[derive(Debug, Clone)]
enum Deed {
    BeginTurn,
    Submit {
        id: u8,
        tool: usize,
        arguments: u8,
        action: Action,
    },
    Answer {
        id: u8,
        answer: Answer,
    },
}

fn arb_answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        Just(Answer::Once { by: "ann".into() }),
        Just(Answer::NoClient),
        Just(Answer::Cancelled),
        Just(Answer::PodStopped),
        Just(Answer::Interrupted),
        Just(Answer::Hook {
            name: "h".into(),
            text: "no".into()
        }),
        Just(Answer::HookFailed {
            name: "h".into(),
            why: "it broke".into(),
        }),
    ]
}

fn arb_deed() -> impl Strategy<Value = Deed> {
    let action = prop_oneof![Just(Action::Allow), Just(Action::Ask), Just(Action::Deny)];
    prop_oneof![
        1 => Just(Deed::BeginTurn),
        6 => (0..12u8, 0..TOOLS.len(), 0..2u8, action).prop_map(|(id, tool, arguments, action)| {
            Deed::Submit { id, tool, arguments, action }
        }),
        4 => (0..12u8, arb_answer()).prop_map(|(id, answer)| Deed::Answer { id, answer }),
    ]
}

/// A gate in the simplest words: what is open, what is settled by whom, what was made how often.
#[derive(Default)]
struct Model {
    n_made: BTreeMap<(usize, u8), u32>,
    open: BTreeMap<u8, usize>,
    settled: BTreeMap<u8, Answer>,
    /// For each submission: how often it was settled.
    n_settled: Vec<u32>,
}

impl Model {
    fn submit(
        &mut self,
        gate: &mut Gate<usize>,
        id: u8,
        tool: usize,
        arguments: u8,
        action: Action,
    ) {
        let number = self.n_settled.len();
        self.n_settled.push(0);
        let times = self.n_made.entry((tool, arguments)).or_default();
        *times += 1;
        let asks = action == Action::Ask || (action == Action::Allow && *times >= 3);
        let is_new = !self.open.contains_key(&id) && !self.settled.contains_key(&id);
        let call = call(&id.to_string(), TOOLS[tool], &arguments.to_string(), number);
        match gate.admit_now(call, ruling(action)) {
            Submitted::Settled(Settled::Run(permitted)) => {
                assert!(action == Action::Allow && !asks);
                self.n_settled[permitted.release().1] += 1;
            }
            Submitted::Settled(Settled::Refuse(refusal)) => {
                assert!(action == Action::Deny || (asks && !is_new));
                assert_eq!(refusal.id().as_str(), id.to_string());
                self.n_settled[number] += 1;
            }
            Submitted::Ask(question) => {
                assert!(asks && is_new);
                assert_eq!(question.ruling().action, action);
                assert!(matches!(gate.put(question.id()), Ok(Put::Open)));
                self.open.insert(id, number);
            }
        }
    }

    fn answer(&mut self, gate: &mut Gate<usize>, id: u8, answer: Answer) {
        let request = RequestId::from(CallId::new(&id.to_string()).unwrap());
        match gate.answer(&request, answer.clone()) {
            Ok(settled) => {
                let number = self
                    .open
                    .remove(&id)
                    .expect("only an open question is settled");
                match settled {
                    Settled::Run(permitted) => {
                        assert!(matches!(answer, Answer::Once { .. }));
                        assert_eq!(permitted.release().1, number, "what was asked is what runs");
                    }
                    Settled::Refuse(_) => assert!(!matches!(answer, Answer::Once { .. })),
                }
                self.n_settled[number] += 1;
                self.settled.insert(id, answer);
            }
            Err(AnswerError::AlreadySettled { by, .. }) => {
                assert_eq!(Some(&by), self.settled.get(&id));
            }
            Err(AnswerError::Unknown { .. }) => {
                assert!(!self.settled.contains_key(&id) && !self.open.contains_key(&id));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

proptest! {
    #[test]
    fn each_call_settles_exactly_once(deeds in prop::collection::vec(arb_deed(), 0..60)) {
        let mut gate = gate();
        let mut model = Model::default();
        for deed in deeds {
            match deed {
                Deed::BeginTurn => {
                    gate.begin_turn();
                    model.n_made.clear();
                }
                Deed::Submit { id, tool, arguments, action } => {
                    model.submit(&mut gate, id, tool, arguments, action);
                }
                Deed::Answer { id, answer } => model.answer(&mut gate, id, answer),
            }
            prop_assert_eq!(gate.open().len(), model.open.len());
        }
        let open: Vec<u8> = model.open.keys().copied().collect();
        for id in open {
            model.answer(&mut gate, id, Answer::Interrupted);
        }
        prop_assert_eq!(gate.open(), []);
        prop_assert!(model.n_settled.iter().all(|&n| n == 1), "{:?}", model.n_settled);
    }
}
