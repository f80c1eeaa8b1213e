//! How verdicts come about: told to clients, made on threads of their own, for a long list of rules and
//! a log on disk may take long.

mod preview;

use std::path::PathBuf;
use std::sync::Arc;

use podward_gate::{CallFacts, CallId};
use podward_policy::Policies;
use podward_protocol as wire;
use podward_protocol::{
    ExplainedCall, Explanation, MAX_LINE_BYTES, MethodError, MethodErrorCode, Reply, SessionId,
    json_line,
};
use podward_shell::AddedPrograms;
use podward_tools::UnknownTool;
use podward_worker::Proposer;
use serde::Serialize;
use serde_json::Value;
use tokio::task::JoinError;

use super::Hub;
use super::background::Background;
use super::methods::request_id;
use super::replies::already_settled;
use super::turns::storage;
use crate::error::shown_id;
use crate::recorded::{CallNotFound, recorded_in, settled_in};
use crate::serve::pending::ReplyTo;
use crate::wire::{bad_call_explained, explanation};

/// Explanations that are made at the same time.
const N_AT_ONCE: usize = 2;

/// Bytes of a line that are not the explanation's.
const FRAME_BYTES: usize = 64;

pub(in crate::serve) type Told = Result<Reply, MethodError>;

/// What is being explained.
pub(in crate::serve) type Explaining = Background<ToExplain, Told>;

/// What is to be explained.
pub(in crate::serve) struct ToExplain {
    rules: Rules,
    what: What,
}

enum What {
    Explain(wire::Explain),
    /// A call of this session, and what it would do if it is asked about at the moment.
    Call(wire::CallId, Option<Arc<CallFacts>>),
    /// An approval that was not given.
    Preview(Box<preview::Proposed>),
    /// What became of a question that is not known here, and that it is not.
    Settled(CallId, Box<MethodError>),
}

/// What judges.
struct Rules {
    policies: Policies,
    programs: AddedPrograms,
    digest: String,
    proposer: Proposer,
    session: SessionId,
    session_dir: PathBuf,
}

/// Nothing is explained yet.
pub(in crate::serve) fn explaining() -> Explaining {
    Background::new(N_AT_ONCE, ToExplain::run)
}

impl Hub {
    /// Explains a call that is made up.
    pub(super) fn explain(&mut self, to: ReplyTo, call: wire::Explain) {
        self.begin_explaining(to, What::Explain(call));
    }

    /// Explains a call of this session.
    pub(super) fn explain_call(&mut self, to: ReplyTo, call: wire::CallId) {
        let id = request_id(&wire::RequestId::new(call.as_str()));
        let open = id.and_then(|id| self.questions.get(&id));
        let facts = open.map(|open| Arc::clone(open.question.facts()));
        self.begin_explaining(to, What::Call(call, facts));
    }

    /// Answers what named a question that is not open here: an earlier run may have settled it.
    pub(super) fn not_asked(&mut self, to: ReplyTo, id: &wire::RequestId, error: MethodError) {
        match request_id(id) {
            Some(id) if error.code == MethodErrorCode::UnknownRequest => {
                self.begin_explaining(to, What::Settled(id.call().clone(), Box::new(error)));
            }
            Some(_) | None => self.respond(to, Err(error)),
        }
    }

    fn begin_explaining(&mut self, to: ReplyTo, what: What) {
        let rules = Rules {
            policies: self.gate.policies(),
            programs: self.asker.programs.clone(),
            digest: self.asker.policy_digest.clone(),
            proposer: self.proposer.clone(),
            session: self.session.clone(),
            session_dir: self.session_dir.clone(),
        };
        self.explaining.add(Some(to), ToExplain { rules, what });
    }

    /// Something was explained.
    pub(super) fn explained(&mut self, to: Option<ReplyTo>, told: Result<Told, JoinError>) {
        let told = told.unwrap_or_else(|error| {
            tracing::error!(%error, "a call was not explained");
            let message = "the call was not explained";
            Err(MethodError::new(MethodErrorCode::Internal, message))
        });
        if let Some(to) = to {
            self.respond(to, told);
        }
    }
}

impl ToExplain {
    fn run(self) -> Told {
        let Self { rules, what } = self;
        match what {
            What::Explain(call) => {
                let explained = rules.judged(&call.tool, Value::Object(call.arguments));
                let explained = fitting(explained, |explained| explained);
                Ok(Reply::Explain(Box::new(explained)))
            }
            What::Call(call, facts) => {
                let explained = rules.call(&call, facts.as_deref())?;
                let explained = fitting(explained, |explained: &mut ExplainedCall| {
                    explained.now.as_mut().unwrap_or(&mut explained.then)
                });
                Ok(Reply::ExplainCall(Box::new(explained)))
            }
            What::Preview(proposed) => Ok(Reply::PermissionPreview(rules.preview(&proposed))),
            What::Settled(call, unknown) => Err(rules.settled(&call, *unknown)),
        }
    }
}

impl Rules {
    /// A call that the pod would make of these arguments, judged with an eye on every rule.
    fn judged(&self, tool: &str, arguments: Value) -> Explanation {
        // It is never submitted: any id will do.
        let proposed = CallId::new("explain")
            .map_err(|_| UnknownTool::new(tool, None).into())
            .and_then(|id| self.proposer.propose(id, tool, arguments));
        match proposed {
            Ok(call) => self.of(call.facts()),
            Err(bad_call) => bad_call_explained(&bad_call),
        }
    }

    fn of(&self, facts: &CallFacts) -> Explanation {
        let explained = self.policies.explain_call(facts.tool(), facts.lowered());
        explanation(&explained, facts.lowered(), &self.programs)
    }

    /// Who was faster to answer a question that no run has in memory; else it is not known.
    fn settled(&self, call: &CallId, unknown: MethodError) -> MethodError {
        let id = wire::CallId::new(call.as_str());
        match settled_in(&self.session_dir, &id) {
            Ok(Some((outcome, by))) => already_settled(&call.clone().into(), outcome, by),
            Ok(None) => unknown,
            Err(error) => storage(&error),
        }
    }

    /// What the log has of a call, and what the rules say of it now.
    fn call(
        &self,
        call: &wire::CallId,
        facts: Option<&CallFacts>,
    ) -> Result<ExplainedCall, MethodError> {
        let recorded = recorded_in(&self.session_dir, self.session.clone(), call);
        let recorded = recorded.map_err(|error| match &error {
            CallNotFound::State(error) => storage(error),
            CallNotFound::None { .. } | CallNotFound::Several { .. } | CallNotFound::Session(_) => {
                let message = format!("this session has no call `{}`", shown_id(call.as_str()));
                MethodError::new(MethodErrorCode::UnknownCall, message)
            }
        })?;
        let mut explained = recorded.explained();
        explained.policy_digest_now = Some(self.digest.clone());
        if let Some(facts) = facts {
            // It is in memory as it was called, with what the log leaves out.
            explained.why_not_now = None;
            explained.now = Some(self.of(facts));
        } else if explained.why_not_now.is_none() {
            explained.now = Some(self.judged(&explained.tool, explained.arguments.clone()));
        }
        Ok(explained)
    }
}

/// The same, without rules that were tried if it would not fit a line with them.
fn fitting<T: Serialize>(mut told: T, part: impl Fn(&mut T) -> &mut Explanation) -> T {
    let is_too_long =
        |told: &T| json_line(told).is_ok_and(|line| line.len() + FRAME_BYTES > MAX_LINE_BYTES);
    for keeps_deciding in [true, false] {
        if !is_too_long(&told) {
            break;
        }
        let explanation = part(&mut told);
        explanation.shortened = true;
        let deciding = explanation.ruling.operation.filter(|_| keeps_deciding);
        for (idx, operation) in explanation.operations.iter_mut().enumerate() {
            if deciding != Some(idx) {
                for layer in &mut operation.layers {
                    layer.tried.clear();
                    layer.later.clear();
                }
            }
        }
    }
    told
}

#[cfg(test)]
mod tests;
