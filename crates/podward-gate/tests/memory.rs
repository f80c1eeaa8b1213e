//! What a question costs while it waits. The only test of its process: it looks at all its memory.

#![cfg(test)]

use podward_gate::{Call, CallFacts, CallId, Gate, Put, Submitted};
use podward_policy::{
    Action, CommandSubject, KnownTools, Need, Operation, Policies, Policy, PolicySpec, Subject,
    Text, ToolName,
};

const N_QUESTIONS: usize = 40_000;

/// What the tool made of the arguments, to run with.
type Payload = [u8; 64];

/// A call of bash, as it is lowered: one command.
fn call(number: usize) -> Call<Box<dyn Send>> {
    let text = format!("deploy service-{number:08} --to staging");
    let tool = ToolName::new("bash").unwrap();
    let operation = Operation {
        tool: tool.clone(),
        subject: Subject::Command(CommandSubject {
            written: Text::known(text.as_str()),
            name_start: 0,
            name_end: 6,
            further: Vec::new(),
            place: None,
        }),
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    };
    let id = CallId::new(&format!("call_{number:08}")).unwrap();
    let arguments = format!(r#"{{"command":"{text}"}}"#);
    let facts = CallFacts::new(id, tool, arguments, operation.into());
    let payload: Payload = [0; 64];
    Call::new(facts, Box::new(payload))
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let n_pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    n_pages * 4096
}

#[test]
fn a_question_that_waits_costs_no_more_than_a_kilobyte() {
    let spec = PolicySpec::new(Action::Deny).rule("bash", "deploy *", Action::Ask);
    let compiled = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
    let mut gate = Gate::new(Policies::from(compiled.policy));
    let before = resident();
    for number in 0..N_QUESTIONS {
        let Submitted::Ask(question) = gate.submit(call(number)) else {
            panic!("not asked");
        };
        assert!(matches!(gate.put(question.id()), Ok(Put::Open)));
    }
    let each = (resident() - before) / N_QUESTIONS;
    let questions = gate.open();
    assert_eq!(questions.len(), N_QUESTIONS);
    let arguments = questions[0].facts().arguments().len() + size_of::<Payload>();
    println!("{each} bytes for each question, {arguments} of them its arguments");
    assert!(each - arguments <= 1_024, "{each}");
}
