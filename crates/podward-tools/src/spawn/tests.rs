use std::sync::{Mutex, PoisonError};

use podward_policy::{Action, Lowered};
use serde_json::{Value, json};

use super::*;
use crate::error::BadCall;
use crate::fixture::{World, permit, policies, text_place};
use crate::registry::Registry;
use crate::tool::Proposal;

fn propose(arguments: Value) -> Result<Proposal, BadCall> {
    let mut registry = Registry::built_in();
    registry
        .register(spawn_tool("The children:\n- worker"))
        .unwrap();
    registry.propose("spawn", arguments, &text_place())
}

/// Keeps what it was asked for.
#[derive(Default)]
struct Keeps(Mutex<Vec<(String, String, String)>>);

#[async_trait]
impl RunChild for Keeps {
    fn session(&self) -> Option<String> {
        Some("a session".to_owned())
    }

    async fn run(&self, call: ChildCall<'_>, _: &CancellationToken) -> ToolOutput {
        let session = call.session.unwrap_or("none").to_owned();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((call.child.to_owned(), call.prompt, session));
        ToolOutput::success("done")
    }

    async fn is_in_turn(&self, _: &str) -> bool {
        false
    }
}

fn run(arguments: Value, children: Arc<dyn RunChild>) -> ToolOutput {
    let mut ctx = RunContext {
        children,
        ..World::new().context()
    };
    let proposal = propose(arguments).unwrap();
    ctx.session = proposal.invocation.session(&ctx).map(Arc::from);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(proposal.invocation.run(permit(), &ctx))
}

#[test]
fn a_child_is_judged_by_its_name_alone() {
    let proposal = propose(json!({"child": "worker", "prompt": "rm -rf x"})).unwrap();
    let Lowered::Operations(operations) = &proposal.lowered else {
        panic!("it does something");
    };
    let all: Vec<_> = operations.iter().collect();
    let expected = Operation::plain(&ToolName::new("spawn").unwrap(), "worker");
    assert_eq!(all, [&expected]);
    let rules = policies(Action::Deny, &[("spawn", "worker", Action::Allow)]);
    let judge = |name: &str| {
        let proposal = propose(json!({ "child": name, "prompt": "go" })).unwrap();
        rules.judge(&proposal.lowered).action
    };
    assert_eq!(judge("worker"), Action::Allow);
    assert_eq!(judge("workers"), Action::Deny);
}

#[test]
fn what_is_no_call_of_a_child_is_told() {
    for arguments in [
        json!({}),
        json!({"child": "worker"}),
        json!({"child": " ", "prompt": "go"}),
        json!({"child": "worker", "prompt": ""}),
        json!({"child": "worker", "prompt": "go", "mode": "independent"}),
    ] {
        let refused = propose(arguments.clone());
        assert!(matches!(refused, Err(BadCall::Arguments(_))), "{arguments}");
    }
}

#[test]
fn a_child_is_given_its_prompt_and_its_session() {
    let children = Arc::new(Keeps::default());
    let output = run(json!({"child": "worker", "prompt": "go"}), children.clone());
    assert_eq!(output, ToolOutput::success("done"));
    let asked = children.0.lock().unwrap().clone();
    let expected = ["worker", "go", "a session"].map(str::to_owned);
    assert_eq!(asked, [expected.into()]);
}

#[test]
fn without_a_pod_no_child_starts() {
    let output = run(
        json!({"child": "worker\u{1b}[2J", "prompt": "go"}),
        Arc::new(NoChildren),
    );
    assert!(output.is_error);
    assert_eq!(
        output.content,
        "the child `worker\\u{1b}[2J` was not started: there are no children here"
    );
}
