//! Questions: told to clients, and settled where nobody answers them.

use podward_gate::{Answer, Question, RequestId};
use podward_policy::{AskedBy, Cause, Lowered, Subject};
use podward_protocol as wire;
use podward_protocol::{Event, PermissionSettled};
use podward_worker::Decision;

use super::{Fits, Hub, Phase};
use crate::pod::Announced;
use crate::serve::Auto;
use crate::serve::outcome;
use crate::serve::pending::{Kind, Pending};
use crate::serve::presence::{Due, Fate, Moment};
use crate::serve::questions::Number;
use crate::wire::decided;

impl Hub {
    /// A question is open and on record: everybody hears of it.
    pub(super) fn ask(&mut self, announced: Announced) {
        let question = announced.question.clone();
        let id = question.id().clone();
        // A grant, or an answer to all, was faster.
        if self.gate.question(&id).is_none() {
            return;
        }
        let timeout = self.asker.timeout(question.asking());
        let expires = timeout.map(|timeout| self.now().after(timeout));
        let asked_at = self.clock.now();
        let rest = self.gate.rest(&question);
        let (number, open) = self.questions.add(announced, rest, asked_at, expires);
        let mut request = self.asker.request(open);
        let at_once = self.settles_at_once(number, &question, expires);
        request.unasked = at_once.is_some();
        let told = self.asked_hooks.is_some().then(|| request.clone());
        let answer = match self.publish(Event::PermissionRequest(request)) {
            Fits::No => Some(Answer::TooLarge),
            Fits::Yes => at_once,
        };
        if let Some(answer) = answer {
            // Somebody may have been first.
            let _ = self.gate.answer(&id, answer);
        } else if let (Some(hooks), Some(request)) = (&self.asked_hooks, told) {
            hooks.tell(&request);
        }
    }

    /// Looks whether grants cover other parts of the open questions by now: what they cover as a whole
    /// is settled, what is asked about otherwise than it was is told again.
    pub(super) fn ask_again(&mut self) {
        let n_changes = self.gate.look_at_grants();
        let has_changed = std::mem::replace(&mut self.n_grant_changes, n_changes) != n_changes;
        self.may_be_covered |= has_changed;
        self.settle_covered();
        if has_changed {
            self.tell_rests();
        }
    }

    /// Settles what grants cover that were given elsewhere.
    fn settle_covered(&mut self) {
        // One that is being saved here settles what it covers itself, or is taken back.
        let is_time = matches!(self.phase, Phase::Open) && !self.deeds.is_waited_for();
        if !is_time || !std::mem::take(&mut self.may_be_covered) {
            return;
        }
        for question in self.gate.covered() {
            // One that would do something else by now is left to a person.
            if self.does_what_was_shown(&question).is_ok() {
                self.gate.settle_by_grants(question.id());
            }
        }
    }

    /// Tells each question again that asks about other parts of its call than it did.
    fn tell_rests(&mut self) {
        for question in self.questions.of_several_parts() {
            // One that is settled, and whose decision comes to the disk, asks nothing more.
            if self.gate.question(question.id()).is_none() {
                continue;
            }
            let rest = self.gate.rest(&question);
            if let Some(open) = self.questions.regard(question.id(), rest) {
                let request = self.asker.request(open);
                self.publish(Event::PermissionRequest(request));
            }
        }
    }

    /// What settles a question of which nobody is to hear.
    fn settles_at_once(
        &mut self,
        number: Number,
        question: &Question,
        expires: Option<Moment>,
    ) -> Option<Answer> {
        if self.answers_itself(question) {
            return Some(Answer::Auto);
        }
        let now = self.now();
        let fate = self.presence.ask(number, expires, now);
        match (fate, self.auto) {
            // Said beforehand, to all but this.
            (Some(Fate::NoClient), Auto::Known) => Some(Answer::NotAuto),
            (fate, _) => fate.map(answer_of),
        }
    }

    /// Whether the person who started the run has answered beforehand.
    fn answers_itself(&self, question: &Question) -> bool {
        match self.auto {
            Auto::Off => false,
            Auto::Known => !asks_about_the_unknown(question),
            Auto::All => true,
        }
    }

    /// A decision is on disk: if it is about a question, everybody hears what became of it.
    pub(super) fn decide(&mut self, decision: &Decision) {
        let Some(outcome) = outcome::of_decision(decision) else {
            return;
        };
        let id = RequestId::from(decision.id().clone());
        let is_open = self.questions.is_open(&id);
        if !is_open && !self.pending.waits_for(&id) {
            return;
        }
        let settled = PermissionSettled {
            id: wire::RequestId::new(id.as_str()),
            outcome: outcome.clone(),
            by: decided(decision).by,
        };
        let open = self.questions.settle(&id, outcome, settled.by.clone());
        if let Some((number, open)) = &open {
            self.presence.settle(number, open.expires);
        }
        if let Some(pending) = self.pending.decided(&id, &settled) {
            self.complete(pending);
        }
        if open.is_some() {
            self.publish(Event::PermissionSettled(settled));
        }
    }

    /// Settles what nobody can answer any more.
    pub(in crate::serve) fn close_due(&mut self) {
        let Due {
            expired,
            is_deserted,
        } = self.presence.due(self.now());
        let expired = expired
            .iter()
            .filter_map(|number| self.questions.numbered(*number));
        let expired = expired.map(|open| (open, Fate::Expired));
        let left = self.questions.iter().filter(|_| is_deserted);
        for (open, fate) in expired.chain(left.map(|open| (open, Fate::ClientGone))) {
            // Somebody may have been first.
            let _ = self.gate.answer(open.question.id(), answer_of(fate));
        }
    }

    /// Answers a request whose decisions are all on disk.
    fn complete(&mut self, pending: Pending) {
        let Pending {
            to, kind, settled, ..
        } = pending;
        let settled = wire::Settled { settled };
        let reply = match kind {
            Kind::Reply => wire::Reply::PermissionReply(settled),
            Kind::RejectAll => wire::Reply::PermissionRejectAll(settled),
        };
        self.respond(to, Ok(reply));
    }

    /// Answers the requests whose decisions will never be on disk.
    pub(super) fn fail_pending(&mut self) {
        let pending: Vec<_> = self.pending.take_all().collect();
        for pending in pending {
            let error = wire::MethodError::new(
                wire::MethodErrorCode::Storage,
                "the decision is not on record, so the call does not run",
            );
            self.respond(pending.to, Err(error));
        }
    }
}

const fn answer_of(fate: Fate) -> Answer {
    match fate {
        Fate::NoClient => Answer::NoClient,
        Fate::ClientGone => Answer::ClientGone,
        Fate::Expired => Answer::Expired,
    }
}

/// Whether something of what is asked about is not known before it runs. The names of files that a
/// pattern stands for are, unless the rules differ over them.
fn asks_about_the_unknown(question: &Question) -> bool {
    let Lowered::Operations(operations) = question.facts().lowered() else {
        return false;
    };
    // The verdict over a mix tells of one part only; a deny among what may be is always asked for.
    matches!(question.ruling().cause, Cause::Unresolved { .. })
        || question.asking().iter().any(|asking| {
            asking.asker.by == AskedBy::Unresolved
                || operations
                    .get(asking.operation)
                    .is_none_or(|operation| is_unknown(&operation.subject))
        })
}

/// Whether a text is unknown code, or has the value of an expansion in it.
fn is_unknown(subject: &Subject) -> bool {
    let text = match subject {
        Subject::Unknown(_) => return true,
        Subject::Command(command) => &command.written,
        Subject::Path(path) | Subject::Tree(path) => &path.lexical.short,
        Subject::Url(url) => &url.text,
        Subject::Plain(text) => text,
    };
    text.holes().iter().any(|hole| hole.kind.is_expansion())
}
