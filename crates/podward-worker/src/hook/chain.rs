//! The chains of hooks.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use podward_gate::{
    Answer, Call, Permitted, Progress, Question, Refusal, RefusalCause, Settled, Submitted,
};
use podward_tools::Invocation;

use super::{Hook, HookError, HookEvent, PreToolAction, PreToolCall, Stage, TurnAction};
use crate::event::{EndReason, HookFailure};
use crate::gate::{Earlier, SharedGate};
use crate::stop::{self, Stop};

/// What the chain made of a call.
pub(crate) enum Checked {
    Run(Permitted<Box<dyn Invocation>>),
    Ask(Question),
    Refuse(Refusal),
}

/// Runs the chain over one call: the first hook that refuses it ends the chain.
///
/// The second value says why the turn has to end, if it has to.
pub(crate) async fn check_call(
    hooks: &[Arc<dyn Hook<PreToolCall>>],
    gate: &SharedGate,
    mut event: PreToolCall,
    stop: &Stop,
) -> (Checked, Option<EndReason>) {
    for hook in hooks {
        let action = match stop.unless(run(&**hook, &mut event)).await {
            Ok(action) => action,
            Err(reason) => {
                let cause = stop::refusal_cause(&reason, Progress::NotStarted);
                let refusal = event.refuse(cause, stop::answer(&reason), gate);
                return (Checked::Refuse(refusal), Some(reason));
            }
        };
        let name: Box<str> = hook.name().into();
        let (text, end) = match action {
            Ok(PreToolAction::Continue) => {
                if let Stage::Refused(_) = event.stage {
                    break;
                }
                continue;
            }
            Ok(PreToolAction::Result(result)) => (result.text, None),
            Ok(PreToolAction::Abort { reason }) => {
                let end = EndReason::Aborted {
                    hook: name.clone(),
                    reason: reason.clone(),
                };
                (reason, Some(end))
            }
            Err(error) => {
                tracing::warn!(hook = %name, ?error, "a hook failed, so the call is refused");
                let why: Box<str> = error.to_string().into();
                let cause = RefusalCause::HookFailed {
                    name: name.clone(),
                    why: why.clone(),
                };
                let refusal = event.refuse(cause, Answer::HookFailed { name, why }, gate);
                return (Checked::Refuse(refusal), None);
            }
        };
        let cause = RefusalCause::Hook {
            name: name.clone(),
            text: text.clone(),
        };
        let refusal = event.refuse(cause, Answer::Hook { name, text }, gate);
        return (Checked::Refuse(refusal), end);
    }
    (event.into_checked(), None)
}

/// Runs hooks that can end a turn, until one does; one that fails does.
pub(crate) async fn check_turn<E: HookEvent<Action = TurnAction>>(
    hooks: &[Arc<dyn Hook<E>>],
    event: &mut E,
    stop: &Stop,
) -> Result<(), EndReason> {
    for hook in hooks {
        let reason = match stop.unless(run(&**hook, event)).await? {
            Ok(TurnAction::Continue) => continue,
            Ok(TurnAction::Abort { reason }) => reason,
            Err(error) => format!("it failed: {error}").into(),
        };
        return Err(EndReason::Aborted {
            hook: hook.name().into(),
            reason,
        });
    }
    Ok(())
}

/// How far hooks that only look have come: it outlives a run of them that was dropped.
#[derive(Debug, Default)]
pub(crate) struct Told {
    failures: Vec<HookFailure>,
    n_ended: usize,
}

/// Runs hooks that only look; one that fails keeps no other from looking.
pub(crate) async fn tell<E: HookEvent<Action = ()>>(
    hooks: &[Arc<dyn Hook<E>>],
    event: &mut E,
    told: &mut Told,
) {
    for hook in hooks {
        if let Err(error) = run(&**hook, event).await {
            told.fail(hook.name(), &error.to_string());
        }
        told.n_ended += 1;
    }
}

impl Told {
    /// What failed; `why` those failed that did not come to their end.
    pub(crate) fn failures<E: HookEvent>(
        mut self,
        hooks: &[Arc<dyn Hook<E>>],
        why: &str,
    ) -> Vec<HookFailure> {
        for hook in hooks.iter().skip(self.n_ended) {
            self.fail(hook.name(), why);
        }
        self.failures
    }

    fn fail(&mut self, hook: &str, why: &str) {
        tracing::warn!(hook, why, "a hook failed");
        self.failures.push(HookFailure {
            hook: hook.into(),
            why: why.into(),
        });
    }
}

/// Runs one hook; a panic in it is an error.
async fn run<E: HookEvent>(hook: &dyn Hook<E>, event: &mut E) -> Result<E::Action, HookError> {
    // INVARIANT: after a panic an event is only refused, or not looked at again.
    AssertUnwindSafe(async { hook.on(event).await })
        .catch_unwind()
        .await
        .unwrap_or_else(|_| Err(HookError::new("it panicked")))
}

impl PreToolCall {
    /// A call that nobody has seen.
    pub(crate) fn new(call: Call<Box<dyn Invocation>>) -> Self {
        Self::after(Earlier::Nothing, call)
    }

    /// A call about which this was decided in an earlier run.
    pub(crate) fn after(earlier: Earlier, call: Call<Box<dyn Invocation>>) -> Self {
        Self {
            facts: Arc::clone(call.facts()),
            stage: Stage::Proposed(call, earlier),
        }
    }

    /// A call that runs with other arguments than the chain saw.
    pub(crate) fn of_edited(permitted: Permitted<Box<dyn Invocation>>) -> Self {
        Self {
            facts: Arc::clone(permitted.facts()),
            stage: Stage::Permitted(permitted),
        }
    }

    /// Hands a proposed call to the gate.
    pub(super) async fn submit(&mut self, gate: &SharedGate) {
        let Stage::Proposed(_, earlier) = &self.stage else {
            return;
        };
        let uses = gate.take_for_call(&self.facts, earlier).await;
        // Should the gate panic, the call is gone and can only be refused.
        let taken = Stage::Refused(self.unjudged());
        self.stage = match std::mem::replace(&mut self.stage, taken) {
            Stage::Proposed(call, earlier) => match gate.submit(call, earlier, uses) {
                Submitted::Settled(Settled::Run(permitted)) => Stage::Permitted(permitted),
                Submitted::Settled(Settled::Refuse(refusal)) => Stage::Refused(refusal),
                Submitted::Ask(question) => Stage::Asked(question),
            },
            judged @ (Stage::Permitted(_) | Stage::Asked(_) | Stage::Refused(_)) => judged,
        };
    }

    /// Ends the event: the call is refused, unless it already is.
    fn refuse(self, cause: RefusalCause, answer: Answer, gate: &SharedGate) -> Refusal {
        match self.stage {
            Stage::Proposed(call, _) => Refusal::proposed(Arc::clone(call.facts()), cause),
            Stage::Permitted(permitted) => permitted.refuse(cause),
            // Nobody else could have answered it: it is not put yet.
            Stage::Asked(question) => gate
                .withhold(question.id(), answer)
                .unwrap_or_else(|_| Refusal::asked(&question, cause)),
            Stage::Refused(refusal) => refusal,
        }
    }

    /// Ends the event: a call that nobody judged is refused.
    fn into_checked(self) -> Checked {
        match self.stage {
            Stage::Permitted(permitted) => Checked::Run(permitted),
            Stage::Asked(question) => Checked::Ask(question),
            Stage::Refused(refusal) => Checked::Refuse(refusal),
            Stage::Proposed(..) => Checked::Refuse(self.unjudged()),
        }
    }

    fn unjudged(&self) -> Refusal {
        Refusal::proposed(Arc::clone(&self.facts), RefusalCause::NotJudged)
    }
}

#[cfg(test)]
mod tests;
