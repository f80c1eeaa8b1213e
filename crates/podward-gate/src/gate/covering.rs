//! What grants cover of questions, and what is left of them.

use std::collections::BTreeMap;

use podward_policy::{Action, Asking, Lowered};

use super::questions::{Questions, Waiting};
use super::{Gate, Settled};
use crate::answer::{Answer, AnswerError};
use crate::call::CallFacts;
use crate::grant::{Covered, Grant, GrantId, Grants, Used, Uses};
use crate::question::{Question, RequestId, Rest};

impl<P> Gate<P> {
    /// The grants with limited uses of which one has to be taken so that a call runs by grants if it
    /// is submitted now; nothing is taken.
    #[must_use]
    pub fn uses_for_call(&self, facts: &CallFacts) -> Vec<Grant> {
        if self.repeats.is_repeat(facts) || !self.grants.has_limited() {
            return Vec::new();
        }
        let judged = self.judge(facts);
        match judged.ruling.action {
            Action::Ask => limited(&self.grants, &judged.asking, facts.lowered()),
            Action::Allow | Action::Deny => Vec::new(),
        }
    }

    /// The same for a question, if grants cover it by now.
    #[must_use]
    pub fn uses_for_question(&self, id: &RequestId) -> Vec<Grant> {
        let waiting = self.questions.get(id);
        match waiting.filter(|waiting| waiting.question.heeds_grants()) {
            Some(waiting) if self.grants.has_limited() => {
                let parts = waiting.question.asking();
                limited(&self.grants, parts, waiting.facts().lowered())
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// The same for each question that [`Gate::grant_with`] would settle, if it takes any, in the
    /// order in which they are settled.
    #[must_use]
    pub fn uses_for_grant(
        &self,
        grant: &Grant,
        answering: Option<&RequestId>,
    ) -> Vec<(RequestId, Vec<Grant>)> {
        if !self.grants.has_limited() {
            return Vec::new();
        }
        let mut wanted = Vec::new();
        // Of each no more than it has are wanted.
        let mut grants = self.grants.clone();
        if let Some(id) = answering {
            let Ok((rest, lowered)) = rest_to_cover(&self.questions, grant, id) else {
                return Vec::new();
            };
            if !rest.is_empty() {
                let Some(limited) = grants.limited_for(rest.into_iter(), lowered) else {
                    return Vec::new();
                };
                limited.iter().for_each(|grant| grants.count(&grant.id));
                wanted.push((id.clone(), limited));
            }
        }
        for waiting in self.met_by(grant) {
            let parts = waiting.question.asking().iter();
            if answering != Some(waiting.question.id())
                && let Some(limited) = grants.limited_for(parts, waiting.facts().lowered())
            {
                limited.iter().for_each(|grant| grants.count(&grant.id));
                wanted.push((waiting.id(), limited));
            }
        }
        wanted.retain(|(_, limited)| !limited.is_empty());
        wanted
    }

    /// The open questions that a grant can cover, alone or with others, in the order in which they
    /// were put.
    pub(super) fn met_by(&self, grant: &Grant) -> impl Iterator<Item = &Waiting<P>> {
        let is_met = |waiting: &&Waiting<P>| {
            let call = waiting.facts().lowered();
            let mut parts = waiting.question.asking().iter();
            waiting.question.heeds_grants() && parts.any(|part| grant.covers(part, call))
        };
        self.questions.all_open().filter(is_met)
    }

    /// What a question asks about, as the grants are now: without the parts that they cover. `None`:
    /// all of it.
    ///
    /// It may change while the question is open; [`Gate::n_grant_changes`] tells when to look. Where
    /// grants from elsewhere cover all of an open question, all of it is asked about.
    #[must_use]
    pub fn rest(&self, question: &Question) -> Option<Rest> {
        match question.heeds_grants() {
            true => self.rest_of(question.asking(), question.facts().lowered()),
            false => None,
        }
    }

    /// What is asked about of the parts that ask, if grants cover others.
    pub(super) fn rest_of(&self, parts: &[Asking], call: &Lowered) -> Option<Rest> {
        if parts.len() < 2 || self.grants.is_empty() {
            return None;
        }
        let places = self.grants.left(parts, call);
        if places.is_empty() || places.len() == parts.len() {
            return None;
        }
        let left: Vec<Asking> = places
            .iter()
            .filter_map(|place| parts.get(*place).cloned())
            .collect();
        Some(Rest {
            ruling: self.policies.judge_rest(call, &left),
            places: places.into(),
        })
    }

    /// Whether a grant may answer a question: the grants that it takes for what it does not cover
    /// itself, and those of them of which a use is taken.
    pub(super) fn cover_rest(
        &mut self,
        grant: &Grant,
        id: &RequestId,
        uses: Uses<'_>,
    ) -> Result<(Box<[GrantId]>, Used), AnswerError> {
        let (rest, call) = rest_to_cover(&self.questions, grant, id)?;
        if rest.is_empty() {
            return Ok(Default::default());
        }
        let covered = self.grants.use_for(id, rest.into_iter(), call, uses);
        covered
            .map(|covered| (covered.grants, covered.used))
            .ok_or_else(|| AnswerError::NotCovered { id: id.clone() })
    }

    /// The open questions that grants without limited uses cover by now, all of each, in the order in
    /// which they were put. Grants that were told with [`Gate::set_grants`] settle nothing by themselves:
    /// [`Gate::settle_by_grants`] does.
    pub fn covered(&self) -> impl Iterator<Item = &Question> {
        let questions = self.questions.all_open().map(|waiting| &waiting.question);
        questions.filter(|question| {
            let (parts, call) = (question.asking(), question.facts().lowered());
            question.heeds_grants() && self.grants.cover_unlimited(parts, call)
        })
    }

    /// Settles an open question, if grants without limited uses cover all of it.
    pub fn settle_by_grants(&mut self, id: &RequestId) -> Option<Settled<P>> {
        self.questions.get_open(id).ok()?;
        self.settle_covered(id, Uses::Taken(&BTreeMap::new()))
    }

    /// Settles a question that grants cover, all of it.
    pub(super) fn settle_covered(&mut self, id: &RequestId, uses: Uses<'_>) -> Option<Settled<P>> {
        let waiting = self
            .questions
            .get(id)
            .filter(|waiting| waiting.question.heeds_grants())?;
        let (parts, call) = (waiting.question.asking(), waiting.facts().lowered());
        let Covered { grants, used, by } = self.grants.use_for(id, parts.iter(), call, uses)?;
        let answer = Answer::Granted { grants, by };
        self.settle_using(id, answer, used).ok()
    }
}

/// What other grants have to cover of an open question so that a grant answers it; nothing, if it
/// covers all of it.
fn rest_to_cover<'q, P>(
    questions: &'q Questions<P>,
    grant: &Grant,
    id: &RequestId,
) -> Result<(Vec<&'q Asking>, &'q Lowered), AnswerError> {
    let waiting = questions.get_open(id)?;
    let (parts, call) = (waiting.question.asking(), waiting.facts().lowered());
    if parts.is_empty() || parts.iter().any(|part| !part.grantable) {
        return Err(AnswerError::NotGrantable { id: id.clone() });
    }
    let rest: Vec<&Asking> = parts
        .iter()
        .filter(|part| !grant.covers(part, call))
        .collect();
    if rest.len() == parts.len() || (!rest.is_empty() && !waiting.question.heeds_grants()) {
        return Err(AnswerError::NotCovered { id: id.clone() });
    }
    Ok((rest, call))
}

/// The grants with limited uses that cover a call now, all of it, with others.
fn limited(grants: &Grants, parts: &[Asking], call: &Lowered) -> Vec<Grant> {
    grants.limited_for(parts.iter(), call).unwrap_or_default()
}
