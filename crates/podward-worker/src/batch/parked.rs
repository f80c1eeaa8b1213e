//! Calls that waited for answers when the session ended: asked about again, or interrupted.

use std::sync::Arc;

use podward_gate::{CallId, Progress, RefusalCause};
use podward_model::ToolInput;
use podward_tools::ToolOutput;

use super::judge::raw_refusal;
use super::{Batch, Slot, SlotState};
use crate::collect::WrittenCall;
use crate::event::{EndReason, WorkerEvent};
use crate::gate::Earlier;
use crate::history::{Parked, ParkedCall, Started};
use crate::hook::chain::Checked;
use crate::journal::JournalError;
use crate::turn::Turn;

impl Turn<'_> {
    /// Asks again about calls that waited, and works until all calls of their message have their
    /// results; `Some`: the turn ends.
    pub(crate) async fn go_on(
        &mut self,
        parked: Parked,
    ) -> Result<Option<EndReason>, JournalError> {
        let (content, calls, started) = parked.into_parts();
        let (batch, waiting) = self.reopened(calls, started);
        for (_, call) in &waiting {
            self.tell(WorkerEvent::CallProposed {
                id: call.id.clone(),
                tool: Arc::clone(&call.tool),
                arguments: call.arguments().into(),
            })
            .await;
        }
        let (checked, end) = self.check_all(waiting, Earlier::Asked).await;
        let batch = Batch { end, ..batch };
        let mut worked = self.work_through(batch, checked).await?;
        let end = worked.end.take();
        if end != Some(EndReason::Kept) {
            self.push_step(content, worked).await;
        }
        Ok(end)
    }

    /// Refuses calls that waited, because the session goes on with something else.
    pub(crate) async fn interrupt(&mut self, parked: Parked) -> Result<(), JournalError> {
        let (content, calls, started) = parked.into_parts();
        let (mut batch, waiting) = self.reopened(calls, started);
        let cause = RefusalCause::Interrupted(Progress::NotStarted);
        let refuse = |(idx, call)| (idx, Checked::Refuse(raw_refusal(&call, cause.clone())));
        let refused = waiting.into_iter().map(refuse).collect();
        self.admit(&mut batch, refused).await?;
        self.push_step(content, batch.worked()).await;
        Ok(())
    }

    /// A batch of these calls, and those of them that wait, by their places.
    fn reopened(
        &self,
        calls: Vec<ParkedCall>,
        started: Vec<Started>,
    ) -> (Batch, Vec<(usize, WrittenCall)>) {
        let mut slots = Vec::with_capacity(calls.len());
        let mut waiting = Vec::new();
        for (idx, call) in calls.into_iter().enumerate() {
            let tool: Arc<str> = call.tool().into();
            let mut slot = Slot::new(CallId::from_model(call.id()), Arc::clone(&tool));
            match call {
                ParkedCall::Done {
                    content, is_error, ..
                } => slot.state = SlotState::Done(Arc::new(ToolOutput { content, is_error })),
                ParkedCall::Asked { id, arguments, .. } => waiting.push((
                    idx,
                    WrittenCall {
                        id: CallId::from_model(&id),
                        tool,
                        input: ToolInput::Json(arguments),
                    },
                )),
            }
            slots.push(slot);
        }
        (Batch::new(self.parts, slots, started), waiting)
    }
}
