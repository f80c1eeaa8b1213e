//! Who answers a question.

use async_trait::async_trait;
use podward_gate::{Answer, Question};

/// Answers the questions of a worker's calls, or passes them on to who does.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Waits for the answer to a question, which is on record and open.
    ///
    /// Others may answer at the [`SharedGate`](crate::SharedGate) as well, and the first answer
    /// counts. `None` leaves it to them: the question was passed on, and stays open until somebody
    /// answers there.
    ///
    /// Several questions may be open at the same time. The future is dropped when the question is
    /// settled elsewhere, or the turn ends.
    async fn answer(&self, question: &Question) -> Option<Answer>;
}

/// Nobody is there: every question is answered at once with [`Answer::NoClient`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Unattended;

#[async_trait]
impl Approver for Unattended {
    async fn answer(&self, _question: &Question) -> Option<Answer> {
        Some(Answer::NoClient)
    }
}
