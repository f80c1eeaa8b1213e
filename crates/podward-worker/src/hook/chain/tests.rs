use std::collections::BTreeMap;

use async_trait::async_trait;
use podward_gate::{CallFacts, CallId, Gate, Permit, refusal_text};
use podward_policy::{Lowered, Policies, ToolName};
use podward_tools::{RunContext, ToolOutput};
use tokio_util::sync::CancellationToken;

use super::*;

struct Never;

#[async_trait]
impl Invocation for Never {
    async fn run(self: Box<Self>, _permit: Permit, _ctx: &RunContext) -> ToolOutput {
        panic!("it runs")
    }
}

/// A hook that has nothing against anything.
struct Agrees;

#[async_trait]
impl Hook<PreToolCall> for Agrees {
    fn name(&self) -> &str {
        "agrees"
    }

    async fn on(&self, _event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        Ok(PreToolAction::Continue)
    }
}

fn call() -> Call<Box<dyn Invocation>> {
    Call::new(
        CallFacts::new(
            CallId::new("a").unwrap(),
            ToolName::new("read").unwrap(),
            "{}",
            Lowered::NothingToRun,
        ),
        Box::new(Never),
    )
}

async fn check(hooks: &[Arc<dyn Hook<PreToolCall>>]) -> Checked {
    let gate = SharedGate::new(Gate::new(Policies::default()));
    let stop = Stop::new(CancellationToken::new(), None);
    check_call(hooks, &gate, PreToolCall::new(call()), &stop)
        .await
        .0
}

/// Without a permission check nothing is permitted, whatever the hooks say.
#[tokio::test]
async fn a_call_that_nobody_judged_is_refused() {
    for hooks in [vec![], vec![Arc::new(Agrees) as Arc<dyn Hook<PreToolCall>>]] {
        let Checked::Refuse(refusal) = check(&hooks).await else {
            panic!("not refused");
        };
        assert_eq!(refusal.cause(), &RefusalCause::NotJudged);
        assert_eq!(
            refusal_text(&refusal),
            "Refused: this call of `read` was not run, because no permission check decided about \
             it. Retrying will not help."
        );
    }
}

/// A call is handed to the gate once, however often it is submitted.
#[tokio::test]
async fn a_call_is_judged_once() {
    let gate = SharedGate::new(Gate::new(Policies::default()));
    let mut event = PreToolCall::new(call());
    let mut stages = BTreeMap::new();
    for n in 0..5 {
        event.submit(&gate).await;
        stages.insert(n, format!("{:?}", event.stage()));
    }
    assert!(
        stages.values().all(|stage| stage == &stages[&0]),
        "{stages:?}"
    );
}

#[tokio::test]
async fn a_stopped_chain_refuses() {
    let gate = SharedGate::new(Gate::new(Policies::default()));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let hooks: [Arc<dyn Hook<PreToolCall>>; 1] = [Arc::new(Agrees)];
    let (checked, reason) = check_call(
        &hooks,
        &gate,
        PreToolCall::new(call()),
        &Stop::new(cancel, None),
    )
    .await;
    assert_eq!(reason, Some(EndReason::Cancelled));
    let Checked::Refuse(refusal) = checked else {
        panic!("not refused");
    };
    assert_eq!(
        refusal.cause(),
        &RefusalCause::Cancelled(Progress::NotStarted)
    );
}
