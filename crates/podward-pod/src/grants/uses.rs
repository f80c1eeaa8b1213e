//! The uses of grants that have limited ones: each is taken on disk, for one call.

use std::collections::VecDeque;

use podward_protocol::GrantId;

use super::file::Change;
use super::record::Record;
use super::{GrantError, GrantStore, MAX_GRANTS};

/// The grants whose last use was taken here, the latest ones: nobody can take them back any more.
#[derive(Debug, Default)]
pub(super) struct UsedUp(VecDeque<GrantId>);

/// What came of taking uses.
struct Taken {
    /// The grants that count no more; if there are any, nothing was taken.
    over: Vec<GrantId>,
    /// Those whose last use it was.
    used_up: Vec<GrantId>,
}

impl UsedUp {
    fn note(&mut self, ids: &[GrantId]) {
        self.0.extend(ids.iter().cloned());
        let n_old = self.0.len().saturating_sub(MAX_GRANTS);
        self.0.drain(..n_old);
    }
}

impl GrantStore {
    /// Takes one use of each of these grants in one go; that is on disk when this returns. Where it
    /// says that some count no more, no use of any is taken.
    ///
    /// # Errors
    /// It cannot be written: then no use is taken. Where nobody knows whether it was written, uses may
    /// be lost; no call runs by them, and no grant counts until the file was read again.
    pub fn take_uses(&self, ids: &[GrantId]) -> Result<Vec<GrantId>, GrantError> {
        let latest = self.now(&mut self.lock());
        let counts = |record: &Record| {
            ids.contains(&record.grant.id)
                && record.is_for(&self.session)
                && !record.is_over(latest)
                && !record.is_early(latest)
        };
        let taken = self.change_noting(
            |content| {
                let is_over = |id: &&GrantId| {
                    let mut grants = content.grants();
                    !grants.any(|record| counts(record) && record.grant.id == **id)
                };
                let over: Vec<GrantId> = ids.iter().filter(is_over).cloned().collect();
                let mut used_up = Vec::new();
                if !over.is_empty() {
                    return Ok(Change::Keep(Taken { over, used_up }));
                }
                let mut is_changed = false;
                content.retain(|record| {
                    if !counts(record) {
                        return true;
                    }
                    if let Some(left) = &mut record.grant.uses_left {
                        *left = left.saturating_sub(1);
                        is_changed = true;
                    }
                    let is_used_up = record.grant.uses_left == Some(0);
                    if is_used_up {
                        used_up.push(record.grant.id.clone());
                    }
                    !is_used_up
                });
                let taken = Taken { over, used_up };
                Ok(match is_changed {
                    true => Change::Write(taken),
                    false => Change::Keep(taken),
                })
            },
            |state, taken| state.used_up.note(&taken.used_up),
        )?;
        Ok(taken.over)
    }

    /// Whether a use that was taken of a grant may still let its call run: the grant was not taken
    /// back since, as far as is known without a look at the disk.
    pub(crate) fn still_counts(&self, id: &GrantId) -> bool {
        let state = self.lock();
        let mut live = state.live.iter();
        live.any(|record| record.grant.id == *id) || state.used_up.0.contains(id)
    }
}
