//! What people and clients are told of grants.

use std::collections::BTreeMap;

use podward_protocol::{Grant, GrantEnd, GrantId, Time};

use super::file::GrantProblem;
use super::record::Record;

/// Tells of problems that are new.
pub(super) fn note(known: &mut Vec<GrantProblem>, found: Vec<GrantProblem>) {
    for problem in found.iter().filter(|problem| !known.contains(problem)) {
        tracing::warn!(%problem, "grant");
    }
    *known = found;
}

pub(super) fn wire_by_id(records: &[Record]) -> BTreeMap<GrantId, Grant> {
    let grants = records.iter().map(|record| &record.grant);
    grants
        .map(|grant| (grant.id.clone(), grant.clone()))
        .collect()
}

/// Why a grant counts no longer, as far as can be told from what it was.
pub(super) fn reason(grant: &Grant, now: i64) -> GrantEnd {
    let is_over = |end: Time| end.unix_milliseconds() <= now;
    match (grant.expires_at, grant.uses_left) {
        (Some(end), _) if is_over(end) => GrantEnd::Expired,
        (_, Some(0 | 1)) => GrantEnd::UsedUp,
        (Some(_) | None, _) => GrantEnd::Revoked,
    }
}
