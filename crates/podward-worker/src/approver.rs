//! Who answers a question.

use async_trait::async_trait;
use podward_gate::{Answer, Question};

/// Answers the questions of a worker's calls.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Waits for the answer to a question, which is already on record.
    ///
    /// Several questions may be open at the same time. The future is dropped when the turn is
    /// cancelled; the question is settled then.
    async fn answer(&self, question: &Question) -> Answer;
}

/// Nobody is there: every question is answered at once with [`Answer::NoClient`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Unattended;

#[async_trait]
impl Approver for Unattended {
    async fn answer(&self, _question: &Question) -> Answer {
        Answer::NoClient
    }
}
