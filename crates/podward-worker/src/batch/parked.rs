//! Calls that waited for answers when the session ended, or worked in sessions of their own: they go on, or
//! are interrupted.

use std::collections::BTreeMap;
use std::sync::Arc;

use podward_gate::{CallId, Progress, RefusalCause, edit_note};
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
    /// Asks again about calls that waited, runs those again that worked in sessions of their own, and works
    /// until all calls of their message have their results; `Some`: the turn ends.
    pub(crate) async fn go_on(
        &mut self,
        parked: Parked,
    ) -> Result<Option<EndReason>, JournalError> {
        let (content, calls, started) = parked.into_parts();
        let (batch, open) = self.reopened(calls, started);
        for (_, call, _) in &open {
            self.tell(WorkerEvent::CallProposed {
                id: call.id.clone(),
                tool: Arc::clone(&call.tool),
                arguments: call.arguments().into(),
            })
            .await;
        }
        let (checked, end) = self.check_all(open).await;
        let batch = Batch { end, ..batch };
        let mut worked = self.work_through(batch, checked).await?;
        self.count_children().await;
        let end = worked.end.take();
        if end != Some(EndReason::Kept) {
            self.push_step(content, worked).await;
        }
        Ok(end)
    }

    /// Refuses calls that could go on, because the session does with something else.
    pub(crate) async fn interrupt(&mut self, parked: Parked) -> Result<(), JournalError> {
        let (content, calls, started) = parked.into_parts();
        let (mut batch, open) = self.reopened(calls, started);
        let sessions = &batch.sessions;
        let refuse = |(idx, call, _): (usize, _, _)| {
            let progress = match sessions.contains_key(&idx) {
                true => Progress::Started,
                false => Progress::NotStarted,
            };
            let cause = RefusalCause::Interrupted(progress);
            (idx, Checked::Refuse(raw_refusal(&call, cause)))
        };
        let refused = open.into_iter().map(refuse).collect();
        self.admit(&mut batch, refused).await?;
        self.push_step(content, batch.worked()).await;
        Ok(())
    }

    /// A batch of these calls, and those of them that go on, by their places.
    fn reopened(
        &self,
        calls: Vec<ParkedCall>,
        started: Vec<Started>,
    ) -> (Batch, Vec<(usize, WrittenCall, Earlier)>) {
        let mut slots = Vec::with_capacity(calls.len());
        let mut open = Vec::new();
        let mut sessions = BTreeMap::new();
        for (idx, call) in calls.into_iter().enumerate() {
            let tool: Arc<str> = call.tool().into();
            let mut slot = Slot::new(CallId::from_model(call.id()), Arc::clone(&tool));
            match call {
                ParkedCall::Done {
                    content, is_error, ..
                } => slot.state = SlotState::Done(Arc::new(ToolOutput { content, is_error })),
                ParkedCall::Open {
                    id,
                    arguments,
                    earlier,
                    in_session,
                    ..
                } => {
                    if let Some(own) = in_session {
                        sessions.insert(idx, own.id.into());
                        let edited = own.arguments.as_ref();
                        slot.note = edited.map(|edited| edit_note(&edited.to_string()).into());
                    }
                    let call = WrittenCall {
                        id: CallId::from_model(&id),
                        tool,
                        input: ToolInput::Json(arguments),
                    };
                    open.push((idx, call, earlier));
                }
            }
            slots.push(slot);
        }
        let mut batch = Batch::new(self.parts, slots, started);
        batch.sessions = sessions;
        (batch, open)
    }
}
