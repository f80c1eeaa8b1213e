//! What it asks of the allocator to ask. A program of its own: the allocator counts.

#![cfg(test)]

use podward_gate::{Answer, Call, CallFacts, CallId, Gate, Settled, Submitted};
use podward_policy::{Action, KnownTools, Lowered, Operation, Policy, PolicySpec, ToolName};

/// What asks, the question, and the answer that is remembered.
const MOST: u64 = 3;

fn call(number: usize, tool: &ToolName) -> Call<()> {
    let id = CallId::new(&format!("call_{number}")).unwrap();
    let text = format!("deploy {number}");
    let lowered = Lowered::from(Operation::plain(tool, text.as_str()));
    Call::new(CallFacts::new(id, tool.clone(), text, lowered), ())
}

#[test]
fn to_ask_takes_few_allocations() {
    let tool = ToolName::new("skill").unwrap();
    let spec = PolicySpec::new(Action::Ask).rule("skill", "other *", Action::Allow);
    let compiled = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
    let mut gate = Gate::new(compiled.policy.into());
    let mut counts: Vec<u64> = Vec::new();
    for number in 0..1_000 {
        let call = call(number, &tool);
        let by = "me".into();
        let taken = allocation_counter::measure(|| {
            let Submitted::Ask(question) = gate.submit(call) else {
                panic!("not asked");
            };
            gate.put(question.id()).unwrap();
            let settled = gate.answer(question.id(), Answer::Once { by }).unwrap();
            let Settled::Run(permitted) = settled else {
                panic!("refused");
            };
            let _ = permitted.release();
        });
        counts.push(taken.count_total);
    }
    // Now and then what is remembered of others needs more room.
    counts.sort_unstable();
    let median = counts[counts.len() / 2];
    println!("{median} allocations, at most {:?}", counts.last());
    assert!(median <= MOST, "{median}");
}
