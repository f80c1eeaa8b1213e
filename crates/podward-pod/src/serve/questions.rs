//! The open questions of a pod, and what clients see of them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use podward_gate::{AskReason, CallFacts, Question, RequestId};
use podward_policy::{Asking, shortest_ask_timeout};
use podward_protocol as wire;
use podward_protocol::{DecidedBy, Outcome, PermissionRequest, Time};
use podward_shell::AddedPrograms;
use serde_json::Value;

use super::always::{self, Offer};
use super::clients::Frame;
use super::outbox::Lazy;
use crate::digest::digest;
use crate::grants::wire_asker;
use crate::wire::{asked_ruling, operations};

/// Settled questions that are remembered, so that a late answer hears who was first.
const SETTLED_KEPT: usize = 16 * 1024;

/// What is the same for all questions of a pod.
#[derive(Debug)]
pub(super) struct Asker {
    pub(super) pod: String,
    /// Where relative paths start from.
    pub(super) cwd: String,
    pub(super) policy_digest: String,
    /// Models of programs that the manifest adds.
    pub(super) programs: AddedPrograms,
    /// How long a question stays open, unless a rule says less.
    pub(super) timeout: Option<Duration>,
}

/// A question that is open.
///
/// What clients see is made of it anew each time, so that a question costs little while it waits.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) question: Question,
    pub(super) asked_at: Time,
    pub(super) expires_at: Option<Time>,
    /// Its place among all questions.
    number: u64,
}

/// All questions of a run: those that are open, and the last that were settled.
#[derive(Debug, Default)]
pub(super) struct Questions {
    open: BTreeMap<RequestId, Open>,
    order: BTreeMap<u64, RequestId>,
    n_asked: u64,
    settled: BTreeMap<RequestId, (Outcome, DecidedBy)>,
    settled_order: VecDeque<RequestId>,
}

impl Asker {
    /// How long a question is open.
    pub(super) fn timeout(&self, asking: &[Asking]) -> Option<Duration> {
        let by_rule = shortest_ask_timeout(asking);
        let by_rule = by_rule.map(|seconds| Duration::from_secs(seconds.into()));
        match (self.timeout, by_rule) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// What a client sees of a question.
    pub(super) fn request(&self, open: &Open) -> PermissionRequest {
        let question = &open.question;
        let facts = question.facts();
        let Offer { choices, no_always } = always::offer(question, &self.programs);
        PermissionRequest {
            id: wire::RequestId::new(question.id().as_str()),
            pod: self.pod.clone(),
            path: Vec::new(),
            call: wire::CallId::new(facts.id().as_str()),
            part_of: facts.part_of().map(|id| wire::CallId::new(id.as_str())),
            tool: facts.tool().to_string(),
            arguments: serde_json::from_str(facts.arguments()).unwrap_or(Value::Null),
            cwd: self.cwd.clone(),
            operations: operations(facts.lowered()),
            ruling: asked_ruling(question.ruling(), Some(question.reason())),
            reason: match question.reason() {
                AskReason::Policy => wire::AskReason::Policy,
                AskReason::Repeated => wire::AskReason::Repeated,
                AskReason::Resumed => wire::AskReason::Resumed,
            },
            asking: question.asking().iter().map(asking).collect(),
            choices,
            no_always,
            digest: self.digest(facts),
            asked_at: open.asked_at,
            expires_at: open.expires_at,
        }
    }

    /// The digest that an answer repeats: of what is asked about, where, and by which rules. The
    /// only place that makes one.
    pub(super) fn digest(&self, facts: &CallFacts) -> String {
        let text = |text: &str| Value::from(text).to_string();
        // INVARIANT: the arguments are canonical JSON (RFC 8785) and the keys are in its order.
        digest(
            format!(
                r#"{{"arguments":{},"cwd":{},"policy_digest":{},"tool":{}}}"#,
                facts.arguments(),
                text(&self.cwd),
                text(&self.policy_digest),
                text(facts.tool().as_str()),
            )
            .as_bytes(),
        )
    }
}

fn asking(asking: &Asking) -> wire::Asking {
    wire::Asking {
        operation: asking.operation.0,
        asker: wire_asker(&asking.asker),
        grantable: asking.grantable,
    }
}

impl Questions {
    /// A question is open from now on.
    pub(super) fn add(
        &mut self,
        question: Question,
        asked_at: Time,
        expires_at: Option<Time>,
    ) -> &Open {
        self.n_asked += 1;
        let id = question.id().clone();
        self.order.insert(self.n_asked, id.clone());
        self.open.entry(id).or_insert(Open {
            question,
            asked_at,
            expires_at,
            number: self.n_asked,
        })
    }

    pub(super) fn get(&self, id: &RequestId) -> Option<&Open> {
        self.open.get(id)
    }

    /// What became of a question that is open no longer.
    pub(super) fn settled(&self, id: &RequestId) -> Option<&(Outcome, DecidedBy)> {
        self.settled.get(id)
    }

    /// A question is open no longer; whether it was.
    pub(super) fn settle(&mut self, id: &RequestId, outcome: Outcome, by: DecidedBy) -> bool {
        let open = self.open.remove(id);
        if let Some(open) = &open {
            self.order.remove(&open.number);
        }
        if self.settled.insert(id.clone(), (outcome, by)).is_none() {
            self.settled_order.push_back(id.clone());
        }
        if self.settled_order.len() > SETTLED_KEPT
            && let Some(oldest) = self.settled_order.pop_front()
        {
            self.settled.remove(&oldest);
        }
        open.is_some()
    }

    /// The open questions, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Open> {
        self.order.values().filter_map(|id| self.open.get(id))
    }

    /// Those after one of them; all if it is not open.
    pub(super) fn after(&self, id: Option<&RequestId>) -> impl Iterator<Item = &Open> {
        let from = id
            .and_then(|id| self.open.get(id))
            .map_or(0, |open| open.number);
        self.order
            .range(from.saturating_add(1)..)
            .filter_map(|(_, id)| self.open.get(id))
    }
}

/// A question in a snapshot.
pub(super) struct OpenPart {
    pub(super) frame: Arc<Frame>,
    pub(super) asker: Arc<Asker>,
    pub(super) open: Open,
}

impl Lazy for OpenPart {
    fn line(&self) -> Option<Arc<str>> {
        let request = self.asker.request(&self.open);
        let event = wire::Event::PermissionRequest(request);
        self.frame.snapshot_line(&event)
    }
}

#[cfg(test)]
mod tests;
