//! Approvals that are remembered: what a new one settles.

use super::questions::Waiting;
use super::{Gate, Settled};
use crate::answer::{Answer, AnswerError};
use crate::grant::{Grant, Uses};
use crate::question::RequestId;

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
        self.grant_with(grant, answering, Uses::Counted)
    }

    /// The same, by uses that may be counted elsewhere: then grants are kept there, and the new one
    /// is told with [`Gate::set_grants`] too.
    ///
    /// # Errors
    /// As for [`Gate::grant`].
    pub fn grant_with(
        &mut self,
        grant: Grant,
        answering: Option<&RequestId>,
        uses: Uses<'_>,
    ) -> Result<Vec<(RequestId, Settled<P>)>, AnswerError> {
        let mut settled = Vec::new();
        if let Some(id) = answering {
            let (with, used) = self.cover_rest(&grant, id, uses)?;
            let answer = Answer::Always {
                by: grant.by.clone(),
                grant: grant.id.clone(),
                with,
            };
            settled.push((id.clone(), self.settle_using(id, answer, used)?));
        }
        let met: Vec<RequestId> = self.met_by(&grant).map(Waiting::id).collect();
        match uses {
            Uses::Counted => self.grants.add(grant),
            // Its uses may be taken by now, or it may be taken back.
            Uses::Taken(_) => {}
        }
        for id in met {
            if let Some(covered) = self.settle_covered(&id, uses) {
                settled.push((id, covered));
            }
        }
        Ok(settled)
    }
}
