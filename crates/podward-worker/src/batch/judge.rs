//! Judging the calls of one message, before any of them runs.

use podward_gate::{Call, Progress, Refusal, RefusalCause};
use podward_model::ToolInput;
use podward_tools::{BadCall, Invocation};
use tracing::Instrument;

use crate::collect::WrittenCall;
use crate::event::EndReason;
use crate::gate::Earlier;
use crate::hook::PreToolCall;
use crate::hook::chain::{self, Checked};
use crate::stop;
use crate::turn::Turn;

impl Turn<'_> {
    /// Judges all calls, in order, and settles the questions about those that can only fail. When one of them
    /// ends the turn, none of them runs.
    pub(super) async fn check_all(
        &mut self,
        calls: Vec<(usize, WrittenCall, Earlier)>,
    ) -> (Vec<(usize, Checked)>, Option<EndReason>) {
        let mut checked = Vec::with_capacity(calls.len());
        let mut end: Option<EndReason> = None;
        for (idx, call, earlier) in calls {
            if let Some(reason) = &end {
                let cause = stop::refusal_cause(reason, Progress::NotStarted);
                checked.push((idx, Checked::Refuse(raw_refusal(&call, cause))));
                continue;
            }
            let span = tracing::info_span!("call", id = %call.id, tool = %call.tool);
            let (one, reason) = match span.in_scope(|| self.propose(&call)) {
                Ok(call) => {
                    let hooks = self.parts.hooks.pre_tool_call.clone();
                    let event = PreToolCall::after(earlier, call);
                    chain::check_call(&hooks, &self.parts.gate, event, &self.stop)
                        .instrument(span)
                        .await
                }
                Err(cause) => (Checked::Refuse(raw_refusal(&call, cause)), None),
            };
            checked.push((idx, one));
            end = reason;
        }
        if end.is_none() {
            end = self.settle_futile(&mut checked).await.err();
        }
        if let Some(reason) = &end {
            let take_back =
                |(idx, checked)| (idx, Checked::Refuse(self.take_back(checked, reason)));
            checked = checked.into_iter().map(take_back).collect();
        }
        (checked, end)
    }

    /// Refuses a call that was judged, because the turn ends before it starts.
    fn take_back(&self, checked: Checked, reason: &EndReason) -> Refusal {
        let cause = stop::refusal_cause(reason, Progress::NotStarted);
        match checked {
            Checked::Run(permitted) => permitted.refuse(cause),
            // It is not put yet, so that nobody else can have answered it.
            Checked::Ask(question) => self
                .parts
                .gate
                .withhold(question.id(), stop::answer(reason))
                .unwrap_or_else(|_| Refusal::asked(&question, cause)),
            Checked::Refuse(refusal) => refusal,
        }
    }

    /// Turns what the model wrote into a call that can be judged.
    pub(super) fn propose(
        &self,
        call: &WrittenCall,
    ) -> Result<Call<Box<dyn Invocation>>, RefusalCause> {
        let bad = |why: String| RefusalCause::BadCall { why: why.into() };
        let arguments = match &call.input {
            ToolInput::Json(value) => value.clone(),
            ToolInput::Invalid { why, .. } => {
                return Err(match self.parts.proposer.knows(&call.tool) {
                    true => bad(format!("the arguments are no valid JSON: {why}")),
                    false => RefusalCause::UnknownTool,
                });
            }
        };
        let proposed = self
            .parts
            .proposer
            .propose(call.id.clone(), &call.tool, arguments);
        proposed.map_err(|error| match error {
            BadCall::UnknownTool(_) => RefusalCause::UnknownTool,
            BadCall::Arguments(arguments) => bad(arguments.to_string()),
        })
    }
}

/// A refusal of a call as the model wrote it.
pub(super) fn raw_refusal(call: &WrittenCall, cause: RefusalCause) -> Refusal {
    Refusal::raw(call.id.clone(), &*call.tool, call.arguments(), cause)
}
