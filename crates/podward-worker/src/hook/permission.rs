//! The permission check, as a hook.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use podward_gate::Gate;
use podward_tools::Invocation;

use super::{Hook, HookError, PreToolAction, PreToolCall, PreToolStage, SyntheticResult};

/// The gate of a pod: shared by the permission hook, which submits calls, and by those who settle
/// what is asked.
#[derive(Clone)]
pub struct SharedGate(Arc<Mutex<Gate<Box<dyn Invocation>>>>);

impl SharedGate {
    /// Makes a gate that can be shared.
    #[must_use]
    pub fn new(gate: Gate<Box<dyn Invocation>>) -> Self {
        Self(Arc::new(Mutex::new(gate)))
    }

    /// The gate, for as long as no `await` comes between.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Gate<Box<dyn Invocation>>> {
        // INVARIANT: a gate changes only after it has judged, and what follows does not panic; so
        // it is whole even where a panic has poisoned the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
        event.submit(&mut self.gate.lock());
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
