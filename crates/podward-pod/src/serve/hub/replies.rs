//! Answers: checked, handed to the gate, and told when they are on disk.

use std::collections::BTreeSet;

use podward_gate::{Answer, AnswerError, EditError, Question, RequestId};
use podward_protocol as wire;
use podward_protocol::{
    AlreadySettled, EditDenied, MAX_LINE_BYTES, MethodError, MethodErrorCode, PermissionReply,
    Reply, Settled, json_line,
};
use serde_json::{Map, Value};

use super::Hub;
use super::methods::request_id;
use crate::error::shown_id;
use crate::serve::outcome;
use crate::serve::pending::{Kind, ReplyTo};
use crate::serve::questions::Open;
use crate::wire::{operations, ruling};

/// Bytes of what is said to the model about all questions at once.
const MAX_FEEDBACK: usize = 16 * 1024;

/// The same for all of them together, as JSON: it is told for each, in one line.
const MAX_FEEDBACK_TOLD: usize = MAX_LINE_BYTES / 2;

impl Hub {
    /// Takes an answer to one question.
    pub(super) fn reply(&mut self, to: ReplyTo, by: &str, reply: PermissionReply) {
        let id = request_id(&reply.id);
        let open = id.and_then(|id| self.questions.get(&id));
        if self.grants.is_some() && open.is_some_and(Open::is_partly_covered) {
            // Another process may have revoked what covers the other parts.
            return self.look_and_reply(to, by, reply);
        }
        self.reply_now(to, by, reply);
    }

    /// The same, when the grants are known as they are.
    pub(super) fn reply_now(&mut self, to: ReplyTo, by: &str, reply: PermissionReply) {
        let question = match self.question(&reply.id, &reply.digest) {
            Ok(question) => question,
            Err(error) => return self.not_asked(to, &reply.id, error),
        };
        if let wire::Answer::Once | wire::Answer::Always(_) = &reply.answer
            && let Err(error) = self.does_what_was_shown(&question)
        {
            return self.respond(to, Err(error));
        }
        let settled = match reply.answer {
            wire::Answer::Once => self.answer(&question, Answer::Once { by: by.into() }),
            wire::Answer::Reject { feedback } => {
                let feedback = feedback.filter(|feedback| !feedback.trim().is_empty());
                let answer = Answer::Rejected {
                    by: by.into(),
                    feedback: feedback.map(Into::into),
                };
                self.answer(&question, answer)
            }
            wire::Answer::Edit { arguments } => self.edit(&question, arguments, by),
            // It has to be saved first.
            wire::Answer::Always(always) => return self.always(to, question, &always, by),
        };
        match settled {
            Ok(settled) => self.pending.add(to, Kind::Reply, settled),
            Err(error) => self.respond(to, Err(error)),
        }
    }

    /// Says no to every open question.
    pub(super) fn reject_all(&mut self, to: ReplyTo, by: &str, feedback: Option<&str>) {
        let feedback = feedback.filter(|feedback| !feedback.trim().is_empty());
        let n_open = self.questions.n_open().max(1);
        let most = MAX_FEEDBACK.min(MAX_FEEDBACK_TOLD / n_open);
        let n_bytes = |feedback: &str| json_line(&feedback).map_or(usize::MAX, |json| json.len());
        if feedback.is_some_and(|feedback| n_bytes(feedback) > most) {
            let message =
                format!("words for {n_open} calls at once have at most {most} bytes as JSON");
            let error = MethodError::new(MethodErrorCode::InvalidParams, message);
            return self.respond(to, Err(error));
        }
        let settled: BTreeSet<_> = self.gate.reject_all(by, feedback).into_iter().collect();
        if settled.is_empty() {
            let settled = Vec::new();
            return self.respond(to, Ok(Reply::PermissionRejectAll(Settled { settled })));
        }
        self.pending.add(to, Kind::RejectAll, settled);
    }

    /// The open question that an answer names, if it is an answer to what is asked.
    pub(super) fn question(
        &mut self,
        id: &wire::RequestId,
        digest: &str,
    ) -> Result<Question, MethodError> {
        let unknown = || {
            let message = format!("there is no permission request `{}`", shown_id(id.as_str()));
            MethodError::new(MethodErrorCode::UnknownRequest, message)
        };
        let id = request_id(id).ok_or_else(unknown)?;
        if let Some((outcome, by)) = self.questions.settled(&id) {
            return Err(already_settled(&id, outcome.clone(), by.clone()));
        }
        // A grant that covered a part of it may be revoked, or over.
        self.ask_again();
        let open = self.questions.get(&id).ok_or_else(unknown)?;
        if self.asker.digest(open) != digest {
            let message = format!("the answer is to something else than what `{id}` asks");
            let error = MethodError::new(MethodErrorCode::DigestMismatch, message);
            return Err(error.with_help("look at the request again and repeat its digest"));
        }
        Ok(open.question.clone())
    }

    /// Whether a call would still do what was shown: a name in it may be a link to another file by now.
    pub(super) fn does_what_was_shown(&self, question: &Question) -> Result<(), MethodError> {
        let facts = question.facts();
        if facts.part_of().is_some() {
            // A running call made it of what it found, and looks again before it goes on.
            return Ok(());
        }
        let arguments = serde_json::from_str(facts.arguments()).unwrap_or_default();
        let tool = facts.tool().as_str();
        let now = self.proposer.propose(facts.id().clone(), tool, arguments);
        if now.is_ok_and(|call| call.facts().lowered() == facts.lowered()) {
            return Ok(());
        }
        let message = format!(
            "`{}` would do something else by now than what was shown",
            question.id()
        );
        let error = MethodError::new(MethodErrorCode::DigestMismatch, message);
        Err(error
            .with_help("a name in it leads to another file: reject it, so that it is made anew"))
    }

    fn answer(
        &self,
        question: &Question,
        answer: Answer,
    ) -> Result<BTreeSet<RequestId>, MethodError> {
        let id = question.id();
        self.gate.answer(id, answer).map_err(refused)?;
        Ok(BTreeSet::from([id.clone()]))
    }

    fn edit(
        &self,
        question: &Question,
        arguments: Map<String, Value>,
        by: &str,
    ) -> Result<BTreeSet<RequestId>, MethodError> {
        let facts = question.facts();
        let (id, tool) = (facts.id().clone(), facts.tool().as_str());
        let call = self
            .proposer
            .propose(id, tool, Value::Object(arguments))
            .map_err(|bad| {
                let message = format!("the new arguments do not fit: {bad}");
                MethodError::new(MethodErrorCode::EditInvalid, message)
            })?;
        let what = operations(call.facts().lowered());
        self.gate.edit(question.id(), call, by).map_err(|error| {
            let message = error.to_string();
            match error {
                EditError::Denied { ruling: denied, .. } => {
                    let denied = EditDenied {
                        operations: what,
                        ruling: ruling(&denied),
                    };
                    MethodError::new(MethodErrorCode::EditDenied(Box::new(denied)), message)
                }
                EditError::Answer(error) => refused(error),
                // Another call is none that fits the question.
                _ => MethodError::new(MethodErrorCode::EditInvalid, message),
            }
        })?;
        Ok(BTreeSet::from([question.id().clone()]))
    }

    /// What a question is answered with that somebody else was first to answer.
    pub(super) fn lost(&self, question: &Question) -> MethodError {
        let answer = Answer::Interrupted;
        match self.gate.answer(question.id(), answer) {
            Err(error) => refused(error),
            Ok(()) => MethodError::new(MethodErrorCode::Internal, "the question is gone"),
        }
    }
}

/// Why the gate took no answer.
pub(super) fn refused(error: AnswerError) -> MethodError {
    let message = error.to_string();
    let code = match error {
        AnswerError::AlreadySettled { id, by } => {
            return already_settled(&id, outcome::of_answer(&by), outcome::by(&by));
        }
        AnswerError::Unknown { .. } => MethodErrorCode::UnknownRequest,
        AnswerError::NotGrantable { .. } | AnswerError::NotCovered { .. } => {
            MethodErrorCode::NotGrantable
        }
        // Every way to answer says all that it must.
        _ => MethodErrorCode::Internal,
    };
    MethodError::new(code, message)
}

pub(super) fn already_settled(
    id: &RequestId,
    outcome: wire::Outcome,
    by: wire::DecidedBy,
) -> MethodError {
    let message = format!(
        "the permission request `{id}` is already settled: {}",
        outcome.as_str()
    );
    let settled = AlreadySettled { outcome, by };
    MethodError::new(MethodErrorCode::AlreadySettled(Box::new(settled)), message)
}
