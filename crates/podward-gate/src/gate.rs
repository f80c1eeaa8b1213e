//! The state machine: what is submitted runs, is refused, or waits for an answer.

mod covering;
mod granting;
mod questions;
mod repeats;

use std::sync::Arc;

use podward_policy::{Action, Asking, Cause, Judged, Policies, Ruling, SkillLayer};

use crate::answer::{Answer, AnswerError, DecidedBy, EditError};
use crate::call::{Call, CallFacts};
use crate::grant::{Covered, Grant, GrantId, Grants, Used, Uses};
use crate::permit::Permitted;
use crate::question::{AskReason, LastAsked, Question, RequestId};
use crate::refusal::{Progress, Refusal, RefusalCause};
use questions::{IdTaken, Questions, Waiting};
use repeats::Repeats;

/// The submission of the same call in one turn that is at least an ask, and every one after it, while no
/// call is permitted that does more than read.
pub const REPEATS_ASKED: u32 = 3;

/// What became of a call that was submitted.
#[derive(Debug)]
pub enum Submitted<P> {
    /// It is decided.
    Settled(Settled<P>),
    /// It is to be asked about: it waits for [`Gate::put`], and then for an answer.
    Ask(Question),
}

/// What became of a question that was put.
#[derive(Debug)]
pub enum Put<P> {
    /// Anybody may answer it now.
    Open,
    /// Grants that were given since it was submitted cover it.
    Settled(Settled<P>),
}

/// What became of a call in the end: this happens to each call once.
#[derive(Debug)]
pub enum Settled<P> {
    /// It may run.
    Run(Permitted<P>),
    /// It does not run.
    Refuse(Refusal),
}

/// The calls of one pod. `P` is what runs when a call is permitted.
#[derive(Debug)]
pub struct Gate<P> {
    policies: Policies,
    repeats: Repeats,
    questions: Questions<P>,
    grants: Grants,
    last_asked: LastAsked,
}

impl<P> Gate<P> {
    /// A gate that judges by these policies.
    #[must_use]
    pub fn new(policies: Policies) -> Self {
        Self {
            policies,
            repeats: Repeats::default(),
            questions: Questions::new(),
            grants: Grants::default(),
            last_asked: LastAsked::default(),
        }
    }

    /// Forgets how often calls were repeated: a new turn begins.
    pub fn begin_turn(&mut self) {
        self.repeats = Repeats::default();
    }

    /// Puts these skills in the place of all that were active, the one that began first at the front:
    /// from now on what they do not list is refused.
    ///
    /// Open questions stay open, but no answer lets a call run that one of these skills denies: it is
    /// refused then.
    pub fn set_skills(&mut self, skills: Vec<Arc<SkillLayer>>) {
        self.policies = self.policies.under(skills);
    }

    /// What calls are judged by, active skills included.
    #[must_use]
    pub const fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Judges a call.
    ///
    /// What the rules ask about runs where grants cover every part that is asked about; a use is
    /// taken of those with limited ones.
    ///
    /// The third time that a call with the same tool and the same arguments is submitted in one
    /// turn, whatever became of it before, and every time after that, it is at least asked about,
    /// and no grant of earlier covers it. It is counted anew when another call of the turn was
    /// permitted that does more than read. Where no layer has a `[permissions]` table nothing is asked, this
    /// neither. A further call of a running one is not the model's and does not count.
    pub fn submit(&mut self, call: Call<P>) -> Submitted<P> {
        self.submit_with(call, Uses::Counted)
    }

    /// The same, by uses that may be counted elsewhere.
    pub fn submit_with(&mut self, call: Call<P>, uses: Uses<'_>) -> Submitted<P> {
        let judged = self.judge(&call.facts);
        self.admit(call, judged, uses)
    }

    /// Judges a call again that was asked about before, and whose question is gone with the process
    /// that had put it: it is asked about again, unless the rules deny it by now. It does not count
    /// as repeated.
    pub fn submit_again(&mut self, call: Call<P>) -> Submitted<P> {
        let Judged { ruling, asking } = self.judge(&call.facts);
        let reason = match ruling.action {
            Action::Deny => return denied(call, ruling),
            Action::Ask => AskReason::Policy,
            Action::Allow => AskReason::Resumed,
        };
        // Grants that were given in the meantime are looked at when it is put.
        self.ask(call, ruling, reason, asking)
    }

    /// Judges a call again that somebody had let run, and that was cut off: what the rules ask about runs by
    /// that answer. It does not count as repeated.
    ///
    /// Whoever submits it answers for it that what was approved is this call, under these rules.
    pub fn submit_approved(&mut self, call: Call<P>, answer: Answer) -> Submitted<P> {
        let Judged { ruling, asking } = self.judge(&call.facts);
        let by = match ruling.action {
            Action::Deny => return denied(call, ruling),
            Action::Ask if answer.is_approval() => DecidedBy::Answer(answer),
            Action::Ask => return self.ask(call, ruling, AskReason::Policy, asking),
            Action::Allow => DecidedBy::Policy,
        };
        Submitted::Settled(Settled::Run(self.permit(call, ruling, by)))
    }

    /// Opens a question to all answers, unless grants that were given since it was submitted cover
    /// it. Before that only [`Gate::withhold`] can settle it.
    ///
    /// # Errors
    /// As for [`Gate::answer`]; one that is put already is [`AnswerError::Unknown`].
    pub fn put(&mut self, id: &RequestId) -> Result<Put<P>, AnswerError> {
        self.put_with(id, Uses::Counted)
    }

    /// The same, by uses that may be counted elsewhere.
    ///
    /// # Errors
    /// As for [`Gate::put`].
    pub fn put_with(&mut self, id: &RequestId, uses: Uses<'_>) -> Result<Put<P>, AnswerError> {
        self.questions.check_held(id)?;
        if let Some(settled) = self.settle_covered(id, uses) {
            return Ok(Put::Settled(settled));
        }
        self.questions.open(id);
        Ok(Put::Open)
    }

    /// Settles an open question: the first answer counts.
    ///
    /// An approval that is remembered comes with [`Gate::grant`], other arguments with
    /// [`Gate::edit`].
    ///
    /// # Errors
    /// [`AnswerError::AlreadySettled`] if an earlier answer did; [`AnswerError::Unknown`] if there
    /// is no such question or it is not put yet; [`AnswerError::Incomplete`] for an approval that
    /// is remembered or of other arguments.
    pub fn answer(&mut self, id: &RequestId, answer: Answer) -> Result<Settled<P>, AnswerError> {
        self.questions.get_open(id)?;
        match answer {
            Answer::Always { .. } | Answer::Edited { .. } | Answer::Granted { .. } => {
                Err(AnswerError::Incomplete {
                    id: id.clone(),
                    word: answer.as_str(),
                })
            }
            answer => self.settle(id, answer), // complete as it is
        }
    }

    /// Settles a question, whether it is put or not, so that the call does not run: for who
    /// submitted it.
    ///
    /// # Errors
    /// [`AnswerError::AlreadySettled`] and [`AnswerError::Unknown`] as for [`Gate::answer`];
    /// [`AnswerError::Incomplete`] for an approval.
    pub fn withhold(&mut self, id: &RequestId, answer: Answer) -> Result<Refusal, AnswerError> {
        let word = answer.as_str();
        if !answer.is_approval()
            && let Settled::Refuse(refusal) = self.settle(id, answer)?
        {
            return Ok(refusal);
        }
        Err(AnswerError::Incomplete {
            id: id.clone(),
            word,
        })
    }

    /// Settles an open question with other arguments: the call with these is judged, and runs
    /// unless the rules deny it.
    ///
    /// # Errors
    /// [`EditError::Denied`]: the question stays open as it was. [`EditError::OtherCall`] if id or
    /// tool differ, [`EditError::PartOfCall`] for a part of a running call. Else as for
    /// [`Gate::answer`].
    pub fn edit(
        &mut self,
        id: &RequestId,
        call: Call<P>,
        by: impl Into<Box<str>>,
    ) -> Result<Settled<P>, EditError> {
        let (asked, edited) = (self.questions.get_open(id)?.facts(), &call.facts);
        if asked.part_of().is_some() {
            return Err(EditError::PartOfCall { id: id.clone() });
        }
        if asked.id() != edited.id() || asked.tool() != edited.tool() || edited.part_of().is_some()
        {
            return Err(EditError::OtherCall { id: id.clone() });
        }
        let ruling = self.judge(&call.facts).ruling;
        if ruling.action == Action::Deny {
            return Err(EditError::Denied {
                id: id.clone(),
                ruling: Box::new(ruling),
            });
        }
        let answer = Answer::Edited { by: by.into() };
        self.questions.settle(id, &answer)?;
        let by = DecidedBy::Answer(answer);
        Ok(Settled::Run(self.permit(call, ruling, by)))
    }

    /// Puts other grants in the place of all that count: those kept elsewhere were changed. Open
    /// questions stay open.
    pub fn set_grants(&mut self, grants: Vec<Grant>) {
        self.grants.replace(grants);
    }

    /// Forgets a grant: from now on it covers nothing. Whether there was one.
    pub fn revoke(&mut self, id: &GrantId) -> bool {
        self.grants.remove(id).is_some()
    }

    /// Gives back uses that were taken, by the gate's own count, for calls that did not run: those
    /// that [`Refusal::unused`] names. A grant that ended meanwhile, or was taken back, stays so.
    pub fn give_back(&mut self, unused: &[GrantId]) {
        unused.iter().for_each(|id| self.grants.give_back(id));
    }

    /// The grants that count, by their ids.
    pub fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.grants.iter()
    }

    /// Tells the time, in milliseconds of Unix time: a gate has no clock. It never goes back, and
    /// what expired is forgotten.
    pub fn advance(&mut self, now_ms: u64) {
        self.grants.advance(now_ms);
    }

    /// Rejects every open question: what was settled, in the order in which they were put.
    pub fn reject_all(&mut self, by: &str, feedback: Option<&str>) -> Vec<(RequestId, Settled<P>)> {
        let ids: Vec<RequestId> = self.questions.all_open().map(Waiting::id).collect();
        let settle = |id: RequestId| {
            let answer = Answer::Rejected {
                by: by.into(),
                feedback: feedback.map(Into::into),
            };
            let settled = self.settle(&id, answer).ok()?;
            Some((id, settled))
        };
        ids.into_iter().filter_map(settle).collect()
    }

    /// The open questions, in the order in which they were put.
    #[must_use]
    pub fn open(&self) -> Vec<Question> {
        let questions = self.questions.all_open();
        questions.map(|open| open.question.clone()).collect()
    }

    /// An open question.
    #[must_use]
    pub fn question(&self, id: &RequestId) -> Option<&Question> {
        let open = self.questions.get_open(id).ok()?;
        Some(&open.question)
    }

    /// What would run if a question were answered with yes, to be looked at: whether it is put or not.
    #[must_use]
    pub fn payload(&self, id: &RequestId) -> Option<&P> {
        self.questions.get(id).map(|waiting| &waiting.payload)
    }

    /// How often something was added to the grants or taken away from them.
    #[must_use]
    pub const fn n_grant_changes(&self) -> u64 {
        self.grants.n_changes
    }

    /// How many questions wait, those that are not put yet as well.
    #[must_use]
    pub fn n_waiting(&self) -> usize {
        self.questions.n_waiting()
    }

    fn judge(&self, facts: &CallFacts) -> Judged {
        self.policies.judge_call(facts.tool(), facts.lowered())
    }

    /// Why a call that was asked about cannot run any more, whoever says yes: a skill that was not
    /// active when it was judged denies it.
    fn denied_by_skill(&self, facts: &CallFacts) -> Option<Ruling> {
        if self.policies.skills().len() == 0 {
            return None;
        }
        let ruling = self.judge(facts).ruling;
        matches!(ruling.cause, Cause::Skill { .. }).then_some(ruling)
    }

    /// Decides about a judged call.
    fn admit(&mut self, call: Call<P>, judged: Judged, uses: Uses<'_>) -> Submitted<P> {
        let Judged { ruling, asking } = judged;
        let is_repeated = self.repeats.count(&call.facts) && ruling.cause != Cause::NoPolicy;
        match (ruling.action, is_repeated) {
            (Action::Deny, _) => denied(call, ruling),
            (Action::Ask, true) => self.ask(call, ruling, AskReason::PolicyRepeated, asking),
            (Action::Ask, false) => self.ask_uncovered(call, ruling, asking, uses),
            (Action::Allow, true) => self.ask(call, ruling, AskReason::Repeated, asking),
            (Action::Allow, false) => {
                let permitted = self.permit(call, ruling, DecidedBy::Policy);
                Submitted::Settled(Settled::Run(permitted))
            }
        }
    }

    /// Lets a call run: every call that runs comes by here.
    fn permit(&mut self, call: Call<P>, ruling: Ruling, by: DecidedBy) -> Permitted<P> {
        self.repeats.permitted(&call.facts);
        Permitted::new(call, ruling, by)
    }

    /// Asks about a call that the rules ask about, unless grants cover it.
    fn ask_uncovered(
        &mut self,
        call: Call<P>,
        ruling: Ruling,
        asking: Vec<Asking>,
        uses: Uses<'_>,
    ) -> Submitted<P> {
        let (id, lowered) = (call.facts.request(), call.facts.lowered());
        if let Some(covered) = self.grants.use_for(id, asking.iter(), lowered, uses) {
            let Covered { grants, used, by } = covered;
            let by = DecidedBy::Grants { grants, by };
            let permitted = self.permit(call, ruling, by).using(used);
            return Submitted::Settled(Settled::Run(permitted));
        }
        let rest = self.rest_of(&asking, lowered);
        let ruling = rest.map_or(ruling, |rest| rest.ruling);
        self.ask(call, ruling, AskReason::Policy, asking)
    }

    fn ask(
        &mut self,
        call: Call<P>,
        ruling: Ruling,
        reason: AskReason,
        asking: Vec<Asking>,
    ) -> Submitted<P> {
        let question = self
            .last_asked
            .question(&call.facts, ruling, reason, asking);
        match self.questions.hold(question.clone(), call) {
            Ok(()) => Submitted::Ask(question),
            // Two calls under one id: an answer could not say which one it means.
            Err(IdTaken) => {
                let refusal = Refusal::asked(&question, RefusalCause::NotJudged);
                Submitted::Settled(Settled::Refuse(refusal))
            }
        }
    }

    fn settle(&mut self, id: &RequestId, answer: Answer) -> Result<Settled<P>, AnswerError> {
        self.settle_using(id, answer, Used::NONE)
    }

    /// The same, with the grants of which a use was taken for it.
    fn settle_using(
        &mut self,
        id: &RequestId,
        answer: Answer,
        used: Used,
    ) -> Result<Settled<P>, AnswerError> {
        let (question, call) = self.questions.settle(id, &answer)?.into_parts();
        let cause = match answer {
            Answer::Once { .. }
            | Answer::Always { .. }
            | Answer::Edited { .. }
            | Answer::Auto
            | Answer::Granted { .. } => {
                if let Some(ruling) = self.denied_by_skill(&call.facts) {
                    let refusal = Refusal::judged(call.facts, ruling, RefusalCause::Policy);
                    return Ok(Settled::Refuse(refusal.not_using(used)));
                }
                let by = DecidedBy::Answer(answer);
                let permitted = self.permit(call, question.ruling().clone(), by);
                return Ok(Settled::Run(permitted.using(used)));
            }
            Answer::Rejected { by, feedback } => RefusalCause::Rejected { by, feedback },
            Answer::Expired => RefusalCause::Expired,
            Answer::NoClient => RefusalCause::NoClient {
                asked: question.reason(),
            },
            Answer::NotAuto => RefusalCause::NotAuto,
            Answer::TooLarge => RefusalCause::TooLarge,
            Answer::Futile { error } => RefusalCause::Futile { error },
            Answer::ClientGone => RefusalCause::ClientGone,
            Answer::Cancelled => RefusalCause::Cancelled(Progress::NotStarted),
            Answer::PodStopped => RefusalCause::PodStopped(Progress::NotStarted),
            Answer::Interrupted => RefusalCause::Interrupted(Progress::NotStarted),
            Answer::Hook { name, text } => RefusalCause::Hook { name, text },
            Answer::HookFailed { name, why } => RefusalCause::HookFailed { name, why },
        };
        Ok(Settled::Refuse(Refusal::asked(&question, cause)))
    }
}

fn denied<P>(call: Call<P>, ruling: Ruling) -> Submitted<P> {
    Submitted::Settled(Settled::Refuse(Refusal::judged(
        call.facts,
        ruling,
        RefusalCause::Policy,
    )))
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests;
