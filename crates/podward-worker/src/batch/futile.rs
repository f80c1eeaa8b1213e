//! Calls that would be asked about and can only fail: they fail at once, and nobody is asked.

use podward_gate::{Answer, AskReason, CallFacts, Question, Refusal, RefusalCause};
use podward_tools::{Changes, Meanwhile};

use crate::event::EndReason;
use crate::hook::chain::Checked;
use crate::turn::Turn;

impl Turn<'_> {
    /// Settles the questions about calls that can only fail. All calls of the message are judged: what one
    /// would find may be changed by another that runs before it.
    ///
    /// The error says why the turn has to end.
    pub(super) async fn settle_futile(
        &mut self,
        checked: &mut [(usize, Checked)],
    ) -> Result<(), EndReason> {
        let calls = checked.iter().filter_map(|(_, call)| runs(call));
        let changes = Changes::of(calls, &self.parts.context);
        for (_, checked) in checked {
            let Checked::Ask(question) = checked else {
                continue;
            };
            if !is_looked_at(question) {
                continue;
            }
            let meanwhile = changes.before(question.facts(), &self.parts.context);
            if let Some(error) = self.look(question, meanwhile).await? {
                *checked = Checked::Refuse(self.refuse_futile(question, error));
            }
        }
        Ok(())
    }

    /// What a call can only fail with.
    async fn look(
        &mut self,
        question: &Question,
        meanwhile: Meanwhile,
    ) -> Result<Option<String>, EndReason> {
        let (gate, context) = (&self.parts.gate, &self.parts.context);
        let Some(look) = gate.precheck(question.id(), context, meanwhile) else {
            return Ok(None);
        };
        let looked = tokio::task::spawn_blocking(look);
        Ok(match self.stop.unless(looked).await? {
            Ok(found) => found.err(),
            Err(error) => {
                tracing::error!(%error, "a look at a call before it is asked about was lost");
                None
            }
        })
    }

    fn refuse_futile(&self, question: &Question, error: String) -> Refusal {
        let error: Box<str> = error.into();
        let answer = Answer::Futile {
            error: error.clone(),
        };
        // It is not put yet, so that nobody else can have answered it.
        (self.parts.gate.withhold(question.id(), answer))
            .unwrap_or_else(|_| Refusal::asked(question, RefusalCause::Futile { error }))
    }
}

/// A call that runs or may still run.
fn runs(checked: &Checked) -> Option<&CallFacts> {
    match checked {
        Checked::Run(permitted) => Some(permitted.facts()),
        Checked::Ask(question) => Some(question.facts()),
        Checked::Refuse(_) => None,
    }
}

/// A model that makes the same call again and again is for a person to see, whatever comes of the call.
fn is_looked_at(question: &Question) -> bool {
    match question.reason() {
        AskReason::Policy | AskReason::Resumed => true,
        AskReason::PolicyRepeated | AskReason::Repeated => false,
    }
}
