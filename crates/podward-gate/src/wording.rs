//! The words in which a model reads that its call did not run.

use crate::refusal::Refusal;

/// Words a refusal for the model.
#[must_use]
pub fn refusal_text(refusal: &Refusal) -> String {
    refusal.cause().as_str().to_owned()
}
