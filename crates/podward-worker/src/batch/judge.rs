//! Judging the calls of one message, before any of them runs.

use std::panic::{self, AssertUnwindSafe};

use podward_gate::{Call, CallFacts, Progress, Refusal, RefusalCause, Settled};
use podward_model::ToolInput;
use podward_tools::{BadCall, Invocation};
use tracing::Instrument;

use crate::collect::WrittenCall;
use crate::event::EndReason;
use crate::hook::chain::{self, Checked};
use crate::stop;
use crate::turn::Turn;

impl Turn<'_> {
    /// Judges all calls, in order. When one of them ends the turn, none of them runs.
    pub(super) async fn check_all(
        &mut self,
        calls: Vec<WrittenCall>,
    ) -> (Vec<Checked>, Option<EndReason>) {
        let mut checked = Vec::with_capacity(calls.len());
        let mut end: Option<EndReason> = None;
        for call in calls {
            if let Some(reason) = &end {
                let cause = stop::refusal_cause(reason, Progress::NotStarted);
                checked.push(Checked::Refuse(raw_refusal(&call, cause)));
                continue;
            }
            let span = tracing::info_span!("call", id = %call.id, tool = %call.tool);
            let (one, reason) = match span.in_scope(|| self.propose(&call)) {
                Ok(call) => {
                    let hooks = self.parts.hooks.pre_tool_call.clone();
                    chain::check_call(&hooks, &self.parts.gate, call, &self.stop)
                        .instrument(span)
                        .await
                }
                Err(cause) => (Checked::Refuse(raw_refusal(&call, cause)), None),
            };
            checked.push(one);
            end = reason;
        }
        if let Some(reason) = &end {
            checked = checked
                .into_iter()
                .map(|checked| Checked::Refuse(self.take_back(checked, reason)))
                .collect();
        }
        (checked, end)
    }

    /// Refuses a call that was judged, because the turn ends before it starts.
    fn take_back(&self, checked: Checked, reason: &EndReason) -> Refusal {
        let cause = stop::refusal_cause(reason, Progress::NotStarted);
        match checked {
            Checked::Run(permitted) => permitted.refuse(cause),
            Checked::Ask(question) => match self.settle(&question, stop::answer(reason)) {
                Settled::Run(permitted) => permitted.refuse(cause),
                Settled::Refuse(refusal) => refusal,
            },
            Checked::Refuse(refusal) => refusal,
        }
    }

    /// Turns what the model wrote into a call that can be judged.
    fn propose(&self, call: &WrittenCall) -> Result<Call<Box<dyn Invocation>>, RefusalCause> {
        let bad = |why: String| RefusalCause::BadCall { why: why.into() };
        let Some(tool) = self.parts.tools.get(&call.tool) else {
            return Err(RefusalCause::UnknownTool);
        };
        let arguments = match &call.input {
            ToolInput::Json(value) if value.is_object() => value.clone(),
            ToolInput::Json(_) => return Err(bad("the arguments are no JSON object".to_owned())),
            ToolInput::Invalid { why, .. } => {
                return Err(bad(format!("the arguments are no valid JSON: {why}")));
            }
        };
        // INVARIANT: a tool proposes without changing anything, so nothing is half done.
        let place = &self.parts.context.place;
        let proposal = panic::catch_unwind(AssertUnwindSafe(|| tool.propose(arguments, place)))
            .map_err(|_| bad("the tool failed to read the arguments".to_owned()))?
            .map_err(|error| match error {
                BadCall::UnknownTool(_) => RefusalCause::UnknownTool,
                BadCall::Arguments(arguments) => bad(arguments.to_string()),
            })?;
        Ok(Call::new(
            CallFacts::new(
                call.id.clone(),
                tool.name().clone(),
                proposal.arguments,
                proposal.lowered,
            ),
            proposal.invocation,
        ))
    }
}

/// A refusal of a call as the model wrote it.
pub(super) fn raw_refusal(call: &WrittenCall, cause: RefusalCause) -> Refusal {
    let arguments = match &call.input {
        ToolInput::Json(value) => value.to_string(),
        ToolInput::Invalid { raw, .. } => raw.clone(),
    };
    Refusal::raw(call.id.clone(), &*call.tool, arguments, cause)
}
