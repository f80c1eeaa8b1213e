//! The user's hooks: they see, refuse and end; they never permit.

use std::sync::Mutex;

use async_trait::async_trait;

use super::*;
use crate::hook::{
    Hook, HookError, PostTool, PreRequest, PreToolAction, PreToolCall, PreToolStage, PromptSubmit,
    SyntheticResult, TurnAction,
};

/// A hook that notes what it sees, and does to calls what their texts say.
struct Notes {
    name: &'static str,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Notes {
    fn note(&self, what: &str) {
        self.seen
            .lock()
            .unwrap()
            .push(format!("{} {what}", self.name));
    }
}

#[async_trait]
impl Hook<PreToolCall> for Notes {
    fn name(&self) -> &str {
        self.name
    }

    async fn on(&self, event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        let stage = match event.stage() {
            PreToolStage::Proposed => "proposed",
            PreToolStage::Permitted(_) => "permitted",
            PreToolStage::Asked(_) => "asked",
            PreToolStage::Refused(_) => "refused",
        };
        let arguments = event.facts().arguments().to_owned();
        self.note(&format!("{stage} {arguments}"));
        match arguments {
            text if text.contains(&format!("{}-refuses", self.name)) => Ok(PreToolAction::Result(
                SyntheticResult::refuse("not on Sundays"),
            )),
            text if text.contains(&format!("{}-aborts", self.name)) => Ok(PreToolAction::Abort {
                reason: "enough".into(),
            }),
            text if text.contains(&format!("{}-fails", self.name)) => {
                Err(HookError::new("it fell over"))
            }
            text if text.contains(&format!("{}-panics", self.name)) => panic!("a hook that panics"),
            text if text.contains(&format!("{}-hangs", self.name)) => std::future::pending().await,
            _ => Ok(PreToolAction::Continue),
        }
    }
}

#[async_trait]
impl Hook<PromptSubmit> for Notes {
    fn name(&self) -> &str {
        self.name
    }

    async fn on(&self, event: &mut PromptSubmit) -> Result<TurnAction, HookError> {
        self.note(&format!("prompt {}", event.prompt));
        match event.prompt.as_str() {
            "abort" => Ok(TurnAction::Abort {
                reason: "no".into(),
            }),
            "panic" => panic!("a hook that panics"),
            _ => {
                event.prompt += "!";
                Ok(TurnAction::Continue)
            }
        }
    }
}

#[async_trait]
impl Hook<PreRequest> for Notes {
    fn name(&self) -> &str {
        self.name
    }

    async fn on(&self, event: &mut PreRequest) -> Result<TurnAction, HookError> {
        self.note(&format!("request of {} messages", event.messages().len()));
        event.set_system(format!("{}+", event.system()));
        event.retain_tools(|tool| tool.name == "echo");
        assert_eq!(event.tools().len(), 1);
        if event.messages().len() > 3 {
            return Err(HookError::new("too long"));
        }
        Ok(TurnAction::Continue)
    }
}

#[async_trait]
impl Hook<PostTool> for Notes {
    fn name(&self) -> &str {
        self.name
    }

    async fn on(&self, event: &mut PostTool) -> Result<(), HookError> {
        self.note(&format!("{}: {}", event.facts.id(), event.output.content));
        panic!("a hook that panics")
    }
}

#[async_trait]
impl Hook<TurnEnd> for Notes {
    fn name(&self) -> &str {
        self.name
    }

    async fn on(&self, event: &mut TurnEnd) -> Result<(), HookError> {
        self.note(&format!("end {}", event.reason));
        Ok(())
    }
}

fn notes() -> (Hooks, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let hook = |name| {
        Arc::new(Notes {
            name,
            seen: Arc::clone(&seen),
        })
    };
    let hooks = Hooks::new()
        .pre_tool_call(hook("a"))
        .pre_tool_call(hook("b"));
    (hooks, seen)
}

/// Runs one batch of calls with the hooks `a` and `b`.
async fn run(calls: &[(&str, &str)], answer: Answer) -> (EndReason, Vec<String>, Vec<String>, Kit) {
    let (hooks, seen) = notes();
    let mut kit = Kit::with(
        &script(&[calls]),
        Setup {
            hooks,
            answer,
            ..Setup::default()
        },
    );
    let end = kit.turn("go").await;
    let seen = seen.lock().unwrap().clone();
    (end.reason, kit.results(), seen, kit)
}

const YES: Answer = Answer::NoClient;

#[tokio::test]
async fn hooks_run_in_order_after_the_permission_check() {
    let (_, results, seen, _) = run(&[("echo", "x"), ("echo", "ask"), ("echo", "deny")], YES).await;
    assert_eq!(
        seen,
        [
            "a permitted {\"text\":\"x\"}",
            "b permitted {\"text\":\"x\"}",
            "a asked {\"text\":\"ask\"}",
            "b asked {\"text\":\"ask\"}",
        ]
    );
    assert_eq!(results[0], "echo x");
}

#[tokio::test]
async fn a_hook_refuses_what_the_rules_allow() {
    let (reason, results, seen, kit) = run(&[("echo", "a-refuses"), ("echo", "x")], YES).await;
    assert_eq!(reason, EndReason::Done);
    assert_eq!(
        results,
        [
            "! Refused: this call of `echo` was not run. The check `a` refuses it: not on Sundays. \
             Retrying will not help unless these words say so.",
            "echo x"
        ]
    );
    assert_eq!(seen.len(), 3, "the chain ends with the refusal: {seen:?}");
    assert_eq!(kit.log.ran(), ["x"]);
}

/// A call that a hook refuses is not asked about, so no person's yes can reach it.
#[tokio::test]
async fn a_hook_refuses_what_would_be_asked() {
    let yes = Answer::Once { by: "ann".into() };
    let (_, results, _, kit) = run(&[("echo", "ask b-refuses"), ("echo", "ask")], yes).await;
    assert!(results[0].contains("not on Sundays"), "{results:?}");
    assert_eq!(results[1], "echo ask");
    let causes: Vec<_> = kit.log.decisions().iter().map(|d| d.cause_word()).collect();
    assert_eq!(causes, ["hook", "policy", "once"]);
    assert_eq!(kit.worker.parts.gate.n_waiting(), 0);
}

#[tokio::test]
async fn a_hook_that_fails_refuses() {
    for text in ["a-fails", "b-fails", "a-panics", "ask b-panics"] {
        let yes = Answer::Once { by: "ann".into() };
        let (reason, results, _, kit) = run(&[("echo", text), ("echo", "x")], yes).await;
        assert_eq!(reason, EndReason::Done);
        assert!(
            results[0].contains("which has to pass before it, failed: it "),
            "{results:?}"
        );
        assert_eq!(results[1], "echo x");
        assert_eq!(kit.log.ran(), ["x"]);
        assert_eq!(kit.worker.parts.gate.n_waiting(), 0);
    }
}

#[tokio::test]
async fn a_hook_that_aborts_ends_the_turn_and_nothing_of_the_message_runs() {
    let calls = [
        ("echo", "x"),
        ("echo", "ask"),
        ("echo", "b-aborts"),
        ("echo", "y"),
    ];
    let (reason, results, _, kit) = run(&calls, YES).await;
    assert_eq!(
        reason,
        EndReason::Aborted {
            hook: "b".into(),
            reason: "enough".into()
        }
    );
    let not_run = "! Error: this call of `echo` was not run, because the turn was interrupted \
                   before it started. It had no effect and can be made again if it is still \
                   wanted.";
    assert_eq!(
        results,
        [
            not_run,
            not_run,
            "! Refused: this call of `echo` was not run. The check `b` refuses it: enough. \
             Retrying will not help unless these words say so.",
            not_run,
        ]
    );
    assert_eq!(kit.log.ran(), [""; 0]);
    assert_eq!(kit.worker.parts.gate.n_waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_can_be_cancelled() {
    let (hooks, _) = notes();
    let mut kit = Kit::with(
        &script(&[&[("echo", "x"), ("echo", "ask"), ("echo", "ask b-hangs")]]),
        Setup {
            hooks,
            ..Setup::default()
        },
    );
    let cancel = kit.cancel.clone();
    let cancelled = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(kit.turn("go"), cancelled);
    assert_eq!(end.reason, EndReason::Cancelled);
    assert_eq!(kit.log.ran(), [""; 0]);
    assert!(
        kit.results()
            .iter()
            .all(|result| result.contains("was cancelled before it started"))
    );
    assert_eq!(kit.worker.parts.gate.n_waiting(), 0);
}

#[tokio::test]
async fn every_event_has_its_hooks() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::new(Notes {
        name: "h",
        seen: Arc::clone(&seen),
    });
    let hooks = Hooks::new()
        .prompt_submit(hook.clone())
        .pre_request(hook.clone())
        .post_tool(hook.clone())
        .turn_end(hook);
    let mut kit = Kit::with(
        &script(&[&[("echo", "x"), ("echo", "deny")]]),
        Setup {
            hooks,
            ..Setup::default()
        },
    );
    assert_eq!(kit.turn("go").await.reason, EndReason::Done);
    let too_long = kit.turn("more").await;
    assert_eq!(
        too_long.reason.to_string(),
        "the hook `h` ended it: it failed: too long"
    );
    assert_eq!(
        kit.turn("abort").await.reason.to_string(),
        "the hook `h` ended it: no"
    );
    assert_eq!(
        kit.turn("panic").await.reason.to_string(),
        "the hook `h` ended it: it failed: it panicked"
    );
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "h prompt go",
            "h request of 1 messages",
            "h call_1_1: echo x",
            "h request of 3 messages",
            "h end done",
            "h prompt more",
            "h request of 5 messages",
            "h end the hook `h` ended it: it failed: too long",
            "h prompt abort",
            "h end the hook `h` ended it: no",
            "h prompt panic",
            "h end the hook `h` ended it: it failed: it panicked",
        ]
    );
    let prompts: Vec<_> = kit
        .log
        .entries()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Prompt { text } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(prompts, ["go!", "more!"]);
}

/// Looks on in the way its name says.
struct LooksOn(&'static str);

#[async_trait]
impl Hook<TurnEnd> for LooksOn {
    fn name(&self) -> &str {
        self.0
    }

    async fn on(&self, _event: &mut TurnEnd) -> Result<(), HookError> {
        match self.0 {
            "hangs" => std::future::pending().await,
            "fails" => Err(HookError::new("it fell over")),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Hook<PostTool> for LooksOn {
    fn name(&self) -> &str {
        self.0
    }

    async fn on(&self, _event: &mut PostTool) -> Result<(), HookError> {
        Err(HookError::new("it fell over"))
    }
}

fn failures(kit: &mut Kit) -> Vec<String> {
    let mut told = kit.told();
    told.retain(|event| event.starts_with("hook "));
    told
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_looks_on_and_fails_is_told() {
    let hooks = Hooks::new()
        .post_tool(Arc::new(LooksOn("after")))
        .turn_end(Arc::new(LooksOn("fails")))
        .turn_end(Arc::new(LooksOn("agrees")))
        .turn_end(Arc::new(LooksOn("hangs")))
        .turn_end(Arc::new(LooksOn("last")));
    let setup = Setup {
        hooks,
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[&[("echo", "x")]]), setup);
    assert_eq!(kit.turn("go").await.reason, EndReason::Done);
    assert_eq!(
        failures(&mut kit),
        [
            "hook after failed: it fell over",
            "hook fails failed: it fell over",
            "hook hangs failed: it did not end in time",
            "hook last failed: it did not end in time",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_hook_at_the_end_can_be_cancelled() {
    let setup = Setup {
        hooks: Hooks::new().turn_end(Arc::new(LooksOn("hangs"))),
        ..Setup::default()
    };
    let mut kit = Kit::with(&script(&[]), setup);
    let cancel = kit.cancel.clone();
    let cancelled = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(kit.turn("go"), cancelled);
    assert_eq!(end.reason, EndReason::Done);
    assert_eq!(failures(&mut kit), ["hook hangs failed: it was cancelled"]);
    // A turn that was cancelled before has its hooks all the same.
    assert_eq!(kit.turn("go").await.reason, EndReason::Cancelled);
    assert_eq!(
        failures(&mut kit),
        ["hook hangs failed: it did not end in time"]
    );
}
