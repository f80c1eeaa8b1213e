//! What grants cover of questions, and what is left of them.

use podward_policy::{Action, Asking, Lowered};

use super::questions::{Questions, Waiting};
use super::{Gate, Settled};
use crate::answer::{Answer, AnswerError};
use crate::call::CallFacts;
use crate::grant::{Covered, Grant, GrantId, Grants, TakeUses};
use crate::question::{Question, RequestId, Rest};

impl<P> Gate<P> {
    /// The grants with limited uses of which a use would be taken if a call were submitted now;
    /// nothing is taken.
    #[must_use]
    pub fn uses_for_call(&self, facts: &CallFacts) -> Vec<GrantId> {
        if self.is_repeated(facts) || !self.grants.has_limited() {
            return Vec::new();
        }
        let lowered = facts.lowered();
        match self.judge(facts).action {
            Action::Ask => uses(&self.grants, &self.policies.asking(lowered), lowered),
            Action::Allow | Action::Deny => Vec::new(),
        }
    }

    /// The same for a question, if grants cover it by now.
    #[must_use]
    pub fn uses_for_question(&self, id: &RequestId) -> Vec<GrantId> {
        let waiting = self.questions.get(id);
        match waiting.filter(|waiting| waiting.question.heeds_grants()) {
            Some(Waiting { question, call, .. }) if self.grants.has_limited() => {
                uses(&self.grants, question.asking(), call.facts.lowered())
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// The same for all that [`Gate::grant`] would settle: a grant stands there once for each use.
    #[must_use]
    pub fn uses_for_grant(&self, grant: &Grant, answering: Option<&RequestId>) -> Vec<GrantId> {
        let mut wanted = Vec::new();
        let mut grants = self.grants.clone();
        let mut take = |ids: &[GrantId]| {
            wanted.extend_from_slice(ids);
            Ok(())
        };
        if let Some(id) = answering {
            let Ok((rest, lowered)) = rest_to_cover(&self.questions, grant, id) else {
                return Vec::new();
            };
            let is_covered = rest.is_empty()
                || grants
                    .use_for(rest.into_iter(), lowered, &mut take)
                    .is_some();
            if !is_covered {
                return Vec::new();
            }
        }
        grants.add(grant.clone());
        for Waiting { question, call, .. } in self.met_by(grant) {
            if answering != Some(question.id()) {
                let lowered = call.facts.lowered();
                grants.use_for(question.asking().iter(), lowered, &mut take);
            }
        }
        wanted
    }

    /// The open questions that a grant can cover, alone or with others, in the order in which they
    /// were put.
    pub(super) fn met_by(&self, grant: &Grant) -> impl Iterator<Item = &Waiting<P>> {
        let is_met = |waiting: &&Waiting<P>| {
            let call = waiting.call.facts.lowered();
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
    /// itself, of which a use is taken.
    pub(super) fn cover_rest(
        &mut self,
        grant: &Grant,
        id: &RequestId,
        take: &mut TakeUses<'_>,
    ) -> Result<Box<[GrantId]>, AnswerError> {
        let (rest, call) = rest_to_cover(&self.questions, grant, id)?;
        if rest.is_empty() {
            return Ok([].into());
        }
        let covered = self.grants.use_for(rest.into_iter(), call, take);
        covered
            .map(|covered| covered.grants)
            .ok_or_else(|| AnswerError::NotCovered { id: id.clone() })
    }

    /// Settles a question that grants cover, all of it.
    pub(super) fn settle_covered(
        &mut self,
        id: &RequestId,
        take: &mut TakeUses<'_>,
    ) -> Option<Settled<P>> {
        let waiting = self
            .questions
            .get(id)
            .filter(|waiting| waiting.question.heeds_grants())?;
        let (parts, call) = (waiting.question.asking(), waiting.call.facts.lowered());
        let Covered { grants, by } = self.grants.use_for(parts.iter(), call, take)?;
        let answer = Answer::Granted { grants, by };
        self.settle(id, answer).ok()
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
    let (parts, call) = (waiting.question.asking(), waiting.call.facts.lowered());
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

/// The grants with limited uses that cover a call now.
fn uses(grants: &Grants, parts: &[Asking], call: &Lowered) -> Vec<GrantId> {
    let mut wanted = Vec::new();
    grants.clone().use_for(parts.iter(), call, &mut |ids| {
        wanted.extend_from_slice(ids);
        Ok(())
    });
    wanted
}
