//! Hooks that are told of a question: to ring a bell, to send a message. They have no say in it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use podward_policy::ToolName;
use podward_protocol::hook::{HookEvent, PermissionAsked};
use podward_protocol::{Notice, PermissionRequest};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::CommandHook;

/// Questions that may wait for their hooks; of those beyond them no hook is told.
const N_WAITING: usize = 64;

/// The hooks of a pod that are told of questions.
pub(crate) struct AskedHooks(pub(super) Vec<Arc<CommandHook>>);

/// Tells the hooks, one question after the other, while the pod goes on.
pub(crate) struct Asked {
    questions: mpsc::Sender<PermissionRequest>,
    notices: mpsc::Sender<Notice>,
    task: JoinHandle<()>,
    stopped: CancellationToken,
}

impl AskedHooks {
    /// Starts what tells them; `None`: there are no such hooks. What fails is told as a notice.
    pub(crate) fn start(self, notices: mpsc::Sender<Notice>) -> Option<Asked> {
        if self.0.is_empty() {
            return None;
        }
        let (questions, waiting) = mpsc::channel(N_WAITING);
        let stopped = CancellationToken::new();
        let work = tell_all(self.0, waiting, notices.clone());
        let until = stopped.clone();
        let task = tokio::spawn(async move {
            // Stopped or not, there is nothing to hand back.
            let _ = until.run_until_cancelled(work).await;
        });
        Some(Asked {
            questions,
            notices,
            task,
            stopped,
        })
    }
}

impl Asked {
    /// Lets the hooks be told of a question that is open now; it waits for nothing.
    pub(crate) fn tell(&self, request: &PermissionRequest) {
        if self.questions.try_send(request.clone()).is_err() {
            let message = format!(
                "no hook is told of the request `{}`: too many wait",
                request.id
            );
            tell(&self.notices, message);
        }
    }

    /// Ends it: a hook that runs is killed, those that wait are not started.
    pub(crate) async fn stop(self) {
        self.stopped.cancel();
        // It has no result, and a panic in it is not to be spread.
        let _ = self.task.await;
    }
}

async fn tell_all(
    hooks: Vec<Arc<CommandHook>>,
    mut questions: mpsc::Receiver<PermissionRequest>,
    notices: mpsc::Sender<Notice>,
) {
    while let Some(request) = questions.recv().await {
        let tool = ToolName::new(&request.tool).ok();
        for hook in &hooks {
            if !tool.as_ref().is_none_or(|tool| hook.is_about(tool)) {
                continue;
            }
            let event = HookEvent::PermissionAsked(Box::new(PermissionAsked {
                request: request.clone(),
            }));
            // Whatever it writes and however it ends: it is no answer.
            if let Err(error) = hook.start(event).await {
                tell(
                    &notices,
                    format!("the hook `{}` failed: {error}", hook.name),
                );
            }
        }
    }
}

/// Tells people; where too much is waiting for them the log has it.
fn tell(notices: &mpsc::Sender<Notice>, message: String) {
    tracing::warn!(message, "hook");
    let help = None;
    let _ = notices.try_send(Notice { message, help });
}
