//! Approvals that are remembered: what a new one settles.

use std::collections::BTreeMap;

use super::questions::Waiting;
use super::{Gate, Settled};
use crate::answer::{Answer, AnswerError};
use crate::grant::{Grant, Uses};
use crate::question::RequestId;

/// Where grants are kept.
#[derive(Clone, Copy)]
enum Kept<'a> {
    Here,
    /// With the uses that were taken for each question.
    Elsewhere(&'a BTreeMap<RequestId, Vec<Grant>>),
}

impl<P> Gate<P> {
    /// Remembers an approval, settles the question that it answers, and re-judges the open ones
    /// that it can cover: what it settled, in the order in which they were put.
    ///
    /// It answers a question if it covers every part that asks, together with the grants that count
    /// at this moment. Of those with limited uses that it takes for that, a use is taken; of the new
    /// one none.
    ///
    /// # Errors
    /// As for [`Gate::answer`], and [`AnswerError::NotGrantable`], [`AnswerError::NotCovered`]:
    /// then nothing is remembered, and no use is taken.
    pub fn grant(
        &mut self,
        grant: Grant,
        answering: Option<&RequestId>,
    ) -> Result<Vec<(RequestId, Settled<P>)>, AnswerError> {
        self.grant_by(grant, answering, Kept::Here)
    }

    /// The same, where grants are kept elsewhere and their uses are counted there: of those that are
    /// named for a question, one was taken for it.
    ///
    /// Which grants count is told with [`Gate::set_grants`], of the new one too.
    ///
    /// # Errors
    /// As for [`Gate::grant`].
    pub fn grant_with(
        &mut self,
        grant: Grant,
        answering: Option<&RequestId>,
        taken: &BTreeMap<RequestId, Vec<Grant>>,
    ) -> Result<Vec<(RequestId, Settled<P>)>, AnswerError> {
        self.grant_by(grant, answering, Kept::Elsewhere(taken))
    }

    fn grant_by(
        &mut self,
        grant: Grant,
        answering: Option<&RequestId>,
        kept: Kept<'_>,
    ) -> Result<Vec<(RequestId, Settled<P>)>, AnswerError> {
        let mut settled = Vec::new();
        if let Some(id) = answering {
            let (with, used) = self.cover_rest(&grant, id, kept.uses_for(id))?;
            let answer = Answer::Always {
                by: grant.by.clone(),
                grant: grant.id.clone(),
                with,
            };
            settled.push((id.clone(), self.settle_using(id, answer, used)?));
        }
        let met: Vec<RequestId> = self.met_by(&grant).map(Waiting::id).collect();
        match kept {
            Kept::Here => self.grants.add(grant),
            // Its uses may be taken by now, or it may be taken back.
            Kept::Elsewhere(_) => {}
        }
        for id in met {
            if let Some(covered) = self.settle_covered(&id, kept.uses_for(&id)) {
                settled.push((id, covered));
            }
        }
        Ok(settled)
    }
}

impl<'a> Kept<'a> {
    fn uses_for(self, id: &RequestId) -> Uses<'a> {
        match self {
            Self::Here => Uses::Counted,
            Self::Elsewhere(taken) => Uses::Taken(taken.get(id).map_or(&[], Vec::as_slice)),
        }
    }
}
