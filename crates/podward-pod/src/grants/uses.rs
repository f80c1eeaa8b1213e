//! The uses of grants that have limited ones: each is taken on disk, for one call.

use podward_protocol::GrantId;

use super::file::Change;
use super::record::Record;
use super::{GrantError, GrantStore};

impl GrantStore {
    /// Takes one use of each of these grants in one go; that is on disk when this returns. Where it
    /// says that some count no more, no use of any is taken.
    ///
    /// # Errors
    /// It cannot be written: then no use is taken. Where nobody knows whether it was written, uses may
    /// be lost; no call runs by them, and no grant counts until the file was read again.
    pub fn take_uses(&self, ids: &[GrantId]) -> Result<Vec<GrantId>, GrantError> {
        let latest = self.now(&mut self.lock());
        let now = self.clock.now();
        let is_meant = |record: &Record| {
            ids.contains(&record.grant.id) && record.is_for(&self.session) && record.counts(latest)
        };
        self.change(|content| {
            let is_over = |id: &&GrantId| {
                let mut grants = content.grants();
                !grants.any(|record| is_meant(record) && record.grant.id == **id)
            };
            let over: Vec<GrantId> = ids.iter().filter(is_over).cloned().collect();
            let mut is_changed = false;
            if over.is_empty() {
                for record in content.grants_mut().filter(|record| is_meant(record)) {
                    is_changed |= record.take_use(now);
                }
            }
            Ok(match is_changed {
                true => Change::Write(over),
                false => Change::Keep(over),
            })
        })
    }

    /// Gives back uses that were taken for calls that did not run: one of a grant for each time that it
    /// is named. That is on disk when this returns. One that was taken back since, or whose last use was
    /// taken an hour ago, stays so.
    ///
    /// # Errors
    /// It cannot be written: then they stay taken.
    pub fn give_back_uses(&self, ids: &[GrantId]) -> Result<(), GrantError> {
        self.change(|content| {
            let mut is_changed = false;
            for record in content.grants_mut().filter(|it| it.is_for(&self.session)) {
                let n_uses = ids.iter().filter(|id| **id == record.grant.id).count();
                is_changed |= record.give_back(n_uses);
            }
            Ok(match is_changed {
                true => Change::Write(()),
                false => Change::Keep(()),
            })
        })
    }

    /// Whether a use that was taken of a grant may still let its call run: the grant was not taken
    /// back since, as far as is known without a look at the disk.
    pub(crate) fn still_counts(&self, id: &GrantId) -> bool {
        let state = self.lock();
        let mut live = state.live.iter();
        live.any(|record| record.grant.id == *id) || state.used_up.contains(id)
    }
}
