//! The permission check, as a hook.

use async_trait::async_trait;

use super::{Hook, HookError, PreToolAction, PreToolCall, PreToolStage, SyntheticResult};
use crate::gate::SharedGate;

/// The permission check: it hands each call to the gate.
///
/// An ordinary `Hook<PreToolCall>`, which a pod registers before all others; where it is missing,
/// no call is ever permitted and every call is refused.
pub struct PermissionHook {
    gate: SharedGate,
}

impl PermissionHook {
    /// The check by this gate.
    #[must_use]
    pub const fn new(gate: SharedGate) -> Self {
        Self { gate }
    }
}

#[async_trait]
impl Hook<PreToolCall> for PermissionHook {
    fn name(&self) -> &str {
        "permission"
    }

    async fn on(&self, event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        event.submit(&self.gate).await;
        Ok(match event.stage() {
            PreToolStage::Refused(refusal) => {
                PreToolAction::Result(SyntheticResult::refuse(podward_gate::refusal_text(refusal)))
            }
            PreToolStage::Proposed | PreToolStage::Permitted(_) | PreToolStage::Asked(_) => {
                PreToolAction::Continue
            }
        })
    }
}
