//! The grants as the gate has them.

use podward_gate::{Grant as GateGrant, GrantId as GateGrantId};
use podward_protocol::{Grant, GrantId};
use podward_worker::GrantLedger;

use super::{GrantStore, convert};

impl GrantLedger for GrantStore {
    fn look(&self) {
        self.reload();
    }

    fn refresh(&self) -> Option<Vec<GateGrant>> {
        let grants = self.news()?;
        // Each was checked when it was read.
        Some(
            grants
                .iter()
                .filter_map(|grant| gate_grant(grant).ok())
                .collect(),
        )
    }

    fn take(&self, grants: &[GateGrantId]) -> Result<(), Vec<GateGrantId>> {
        let ids: Vec<GrantId> = grants.iter().map(|id| GrantId::new(id.as_str())).collect();
        match self.take_uses(&ids) {
            Ok(over) if over.is_empty() => Ok(()),
            Ok(over) => {
                let is_over = |id: &&GateGrantId| over.iter().any(|o| o.as_str() == id.as_str());
                Err(grants.iter().filter(is_over).cloned().collect())
            }
            Err(error) => {
                tracing::warn!(%error, n_grants = ids.len(), "no uses of grants are taken");
                Err(Vec::new())
            }
        }
    }

    fn give_back(&self, grants: &[GateGrantId]) {
        let ids: Vec<GrantId> = grants.iter().map(|id| GrantId::new(id.as_str())).collect();
        if let Err(error) = self.give_back_uses(&ids) {
            tracing::warn!(%error, n_uses = ids.len(), "uses of grants stay taken, for nothing");
        }
    }

    fn still_counts(&self, taken: &GateGrantId) -> bool {
        Self::still_counts(self, &GrantId::new(taken.as_str()))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.now_milliseconds()).unwrap_or(0)
    }
}

/// A grant as the gate counts it.
///
/// # Errors
/// It says what no grant can say; none that comes from a [`GrantStore`] does.
pub(crate) fn gate_grant(grant: &Grant) -> Result<GateGrant, String> {
    let end = |end: podward_protocol::Time| u64::try_from(end.unix_milliseconds()).unwrap_or(0);
    Ok(GateGrant {
        id: convert::grant_id(&grant.id)?,
        rules: grant
            .rules
            .iter()
            .map(convert::rule)
            .collect::<Result<_, _>>()?,
        expires_at: grant.expires_at.map(end),
        uses_left: grant.uses_left,
        by: grant.by.as_str().into(),
    })
}
