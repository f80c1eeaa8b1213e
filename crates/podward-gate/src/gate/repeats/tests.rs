use podward_policy::{
    Action, KnownTools, Lowered, Operation, Operations, Policies, Policy, PolicySpec, ToolName,
};

use crate::answer::Answer;
use crate::call::{Call, CallFacts, CallId};
use crate::gate::{Gate, Put, Settled, Submitted};
use crate::question::RequestId;

/// A gate that numbers its calls, asks about commands that begin with `ask` and denies some.
struct Turn {
    gate: Gate<()>,
    n_calls: usize,
}

fn operation(tool: &str, text: &str) -> Operation {
    Operation::plain(&ToolName::new(tool).unwrap(), text)
}

impl Turn {
    fn new() -> Self {
        let spec = PolicySpec::new(Action::Allow)
            .rule("bash", "ask*", Action::Ask)
            .rule("bash", "deny*", Action::Deny);
        let policy = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
        let gate = Gate::new(Policies::from(policy.policy));
        Self { gate, n_calls: 0 }
    }

    /// A call of the first tool that does all of this to one thing.
    fn call(&mut self, tools: &[&str], text: &str) -> Call<()> {
        self.n_calls += 1;
        let id = CallId::new(&format!("a{}", self.n_calls)).unwrap();
        let operations = tools.iter().map(|tool| operation(tool, text)).collect();
        let lowered = match Operations::from_vec(operations) {
            Some(operations) => Lowered::Operations(operations),
            None => Lowered::NothingToRun,
        };
        let tool = ToolName::new(tools.first().unwrap_or(&"bash")).unwrap();
        Call::new(CallFacts::new(id, tool, text, lowered), ())
    }

    /// Whether it is asked about.
    fn asks(&mut self, tools: &[&str], text: &str) -> bool {
        let call = self.call(tools, text);
        matches!(self.gate.submit(call), Submitted::Ask(_))
    }

    fn question(&mut self, text: &str) -> RequestId {
        let call = self.call(&["bash"], text);
        let Submitted::Ask(question) = self.gate.submit(call) else {
            panic!("not asked about: {text}");
        };
        assert!(matches!(self.gate.put(question.id()), Ok(Put::Open)));
        question.id().clone()
    }

    /// One call was made twice.
    fn with_two_made() -> Self {
        let mut turn = Self::new();
        assert!(!turn.asks(&["bash"], "same"));
        assert!(!turn.asks(&["bash"], "same"));
        turn
    }
}

fn once() -> Answer {
    Answer::Once { by: "ann".into() }
}

#[test]
fn a_call_between_others_that_may_change_something_is_not_repeated() {
    let others: [&[&str]; 5] = [
        &["file_edit"],
        &["bash"],
        &["external_directory", "file_write"],
        &["bash", "read"],
        &["mcp__s__read"],
    ];
    for other in others {
        let mut turn = Turn::new();
        for n in 0..6 {
            assert!(!turn.asks(&["bash"], "test"), "{other:?} {n}");
            assert!(!turn.asks(&["read"], "a"), "{other:?} {n}");
            assert!(!turn.asks(other, "b"), "{other:?} {n}");
        }
    }
}

#[test]
fn a_call_between_others_that_only_read_is_repeated() {
    let others: [&[&str]; 6] = [
        &[],
        &["read"],
        &["grep"],
        &["glob"],
        &["list"],
        &["external_directory", "read"],
    ];
    for other in others {
        for same in ["bash", "read"] {
            let mut turn = Turn::new();
            let asked = [1, 2, 3, 4].map(|n| {
                turn.asks(other, &format!("other {n}"));
                turn.asks(&[same], "same")
            });
            assert_eq!(asked, [false, false, true, true], "{other:?} {same}");
        }
    }
}

#[test]
fn a_call_that_is_not_permitted_forgets_no_other() {
    let mut turn = Turn::with_two_made();
    assert!(!turn.asks(&["bash"], "deny"));
    let open = turn.question("ask a");
    assert!(turn.asks(&["bash"], "same"));
    turn.gate.withhold(&open, Answer::NoClient).unwrap();
    assert!(turn.asks(&["bash"], "same"));
    turn.gate.answer(&open, once()).unwrap_err();
    assert!(turn.asks(&["bash"], "same"));
}

/// It is the yes that counts, not when it was asked.
#[test]
fn a_call_that_was_asked_about_forgets_the_others_when_it_is_permitted() {
    let mut turn = Turn::with_two_made();
    let first = turn.question("ask a");
    assert!(turn.asks(&["bash"], "same"));
    turn.gate.answer(&first, once()).unwrap();
    assert!(!turn.asks(&["bash"], "same"));
    assert!(!turn.asks(&["bash"], "same"));
    let second = turn.question("ask b");
    assert!(turn.asks(&["bash"], "same"));
    let facts = CallFacts::new(
        CallId::new(second.as_str()).unwrap(),
        ToolName::new("bash").unwrap(),
        "other",
        operation("bash", "other").into(),
    );
    let edited = turn.gate.edit(&second, Call::new(facts, ()), "ann");
    assert!(matches!(edited, Ok(Settled::Run(_))));
    assert!(!turn.asks(&["bash"], "same"));
}

/// A yes to the third is none to the fourth.
#[test]
fn a_call_that_is_permitted_does_not_forget_itself() {
    let mut turn = Turn::with_two_made();
    for _ in 0..3 {
        let id = turn.question("same");
        turn.gate.answer(&id, once()).unwrap();
    }
}

#[test]
fn a_further_call_of_a_running_one_forgets_nothing() {
    let mut turn = Turn::with_two_made();
    let id = CallId::new("a1").unwrap();
    let facts = CallFacts::new(
        id.further("redirect"),
        ToolName::new("web_fetch").unwrap(),
        "elsewhere",
        operation("web_fetch", "elsewhere").into(),
    );
    let further = Call::new(facts.as_part_of(id, Vec::new()), ());
    let submitted = turn.gate.submit(further);
    assert!(matches!(submitted, Submitted::Settled(Settled::Run(_))));
    assert!(turn.asks(&["bash"], "same"));
}
