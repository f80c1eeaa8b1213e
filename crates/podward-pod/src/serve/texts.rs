//! What snapshots say of questions, made once for the clients that ask for one at about the same time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use podward_gate::RequestId;

use super::snapshot::OfCall;

/// Bytes that are kept; what is beyond them is made anew each time.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Which text it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    OfCall(RequestId, OfCall),
    /// With how often what is asked about has changed.
    Request(RequestId, u32),
}

/// Texts that are kept for a while.
///
/// A question costs little while it waits, so what is told of it is not kept with it; but many clients
/// may want it, one after the other.
#[derive(Debug, Default)]
pub(super) struct Texts(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    texts: BTreeMap<Key, Arc<str>>,
    n_bytes: usize,
    /// Whether one was wanted since that was last asked.
    is_wanted: bool,
}

impl Texts {
    /// A text that is kept, or else is made now; `None`: it cannot be made.
    pub(super) fn get(
        &self,
        key: &Key,
        make: impl FnOnce() -> Option<Arc<str>>,
    ) -> Option<Arc<str>> {
        {
            let mut kept = self.lock();
            kept.is_wanted = true;
            if let Some(text) = kept.texts.get(key) {
                return Some(Arc::clone(text));
            }
        }
        // Made without the lock: nobody waits for that.
        let text = make()?;
        let mut kept = self.lock();
        if kept.n_bytes.saturating_add(text.len()) <= MAX_BYTES
            && kept.texts.insert(key.clone(), Arc::clone(&text)).is_none()
        {
            kept.n_bytes += text.len();
        }
        Some(text)
    }

    /// Drops them all, unless one was wanted since this was called before.
    pub(super) fn tidy(&self) {
        let mut kept = self.lock();
        if !std::mem::take(&mut kept.is_wanted) {
            *kept = Kept::default();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // INVARIANT: each change is whole before anything can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
