//! The open questions of a pod, and what clients see of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use podward_gate::{AskReason, Question, RequestId, Rest};
use podward_policy::{Asking, Ruling, shortest_ask_timeout};
use podward_protocol as wire;
use podward_protocol::{
    AskedSkill, DecidedBy, Outcome, PermissionRequest, SessionId, Time, json_line,
};
use podward_shell::AddedPrograms;
use serde_json::Value;

use super::always::{self, Offer};
use super::clients::Frame;
use super::outbox::Lazy;
use super::presence::Moment;
use super::texts::{Key, Texts};
use crate::digest::digest;
use crate::grants::wire_asker;
use crate::pod::Announced;
use crate::wire::{asked_ruling, operations};

/// Settled questions that are remembered, so that a late answer hears who was first.
const SETTLED_KEPT: usize = 16 * 1024;

/// When a question was asked whose digest is taken: it is the same whenever it is asked.
const UNTIMED: Time = Time::UNIX_EPOCH;

/// What is the same for all questions of a pod.
#[derive(Debug)]
pub(super) struct Asker {
    pub(super) session: SessionId,
    pub(super) pod: String,
    /// The pods above it, outermost first.
    pub(super) path: Vec<String>,
    /// Where relative paths start from.
    pub(super) cwd: String,
    /// The workspace, where `cwd` is in a copy of it.
    pub(super) copy_of: Option<String>,
    pub(super) policy_digest: String,
    /// Models of programs that the manifest adds.
    pub(super) programs: AddedPrograms,
    /// How long a question stays open, unless a rule says less.
    pub(super) timeout: Option<Duration>,
}

/// The place of a question among all that were asked, from 1.
pub(super) type Number = u64;

/// A question that is open.
///
/// What clients see is made of it anew each time, so that a question costs little while it waits.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) question: Question,
    /// What a call of `skill` would start.
    pub(super) skill: Option<Arc<AskedSkill>>,
    /// What is asked about of it beside what grants cover; `None`: all of it.
    pub(super) rest: Option<Arc<Rest>>,
    pub(super) asked_at: Time,
    pub(super) expires: Option<Moment>,
    /// How often what is asked about has changed.
    n_changes: u32,
}

/// All questions of a run: those that are open, and the last that were settled.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// In the order in which they were asked.
    open: BTreeMap<Number, Open>,
    numbers: BTreeMap<RequestId, Number>,
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
        let asked = open.asking();
        let Offer { choices, no_always } = always::offer(question, &asked, &self.programs);
        let mut request = PermissionRequest {
            id: wire::RequestId::new(question.id().as_str()),
            pod: self.pod.clone(),
            path: self.path.clone(),
            call: wire::CallId::new(facts.id().as_str()),
            part_of: facts.part_of().map(|id| wire::CallId::new(id.as_str())),
            redirected_from: facts
                .redirected_from()
                .iter()
                .map(ToString::to_string)
                .collect(),
            tool: facts.tool().to_string(),
            arguments: serde_json::from_str(facts.arguments()).unwrap_or(Value::Null),
            skill: open.skill.as_deref().cloned().map(Box::new),
            cwd: self.cwd.clone(),
            operations: operations(facts.lowered()),
            ruling: asked_ruling(open.ruling(), Some(question.reason())),
            reason: match question.reason() {
                AskReason::Policy => wire::AskReason::Policy,
                AskReason::PolicyRepeated => wire::AskReason::PolicyRepeated,
                AskReason::Repeated => wire::AskReason::Repeated,
                AskReason::Resumed => wire::AskReason::Resumed,
            },
            asking: asked.iter().map(asking).collect(),
            unasked: false,
            always_in: self.copy_of.clone().filter(|_| !choices.is_empty()),
            choices,
            no_always,
            digest: String::new(),
            asked_at: UNTIMED,
            expires_at: None,
        };
        request.digest = self.digest_of(&request);
        request.asked_at = open.asked_at;
        let expires_at = |expires: Moment| Time::from_unix_milliseconds(expires.wall).ok();
        request.expires_at = open.expires.and_then(expires_at);
        request
    }

    /// The digest that an answer repeats.
    pub(super) fn digest(&self, open: &Open) -> String {
        self.request(open).digest
    }

    /// The digest of all that a client sees of a question but the times, with the session and the rules
    /// by which it was judged. The only place that makes one.
    fn digest_of(&self, shown: &PermissionRequest) -> String {
        let Self {
            session,
            policy_digest,
            ..
        } = self;
        let all = (session, policy_digest, shown);
        // What cannot be written is told to nobody, and so answered by nobody.
        digest(&serde_json::to_vec(&all).unwrap_or_default())
    }
}

impl Open {
    /// The parts that are asked about.
    pub(super) fn asking(&self) -> Cow<'_, [Asking]> {
        let all = self.question.asking();
        match &self.rest {
            None => Cow::Borrowed(all),
            Some(rest) => {
                let part = |place: &usize| all.get(*place).cloned();
                Cow::Owned(rest.places.iter().filter_map(part).collect())
            }
        }
    }

    /// Whether grants cover a part of it, so that an answer is to the rest alone.
    pub(super) const fn is_partly_covered(&self) -> bool {
        self.rest.is_some()
    }

    fn ruling(&self) -> &Ruling {
        let rest = self.rest.as_ref();
        rest.map_or(self.question.ruling(), |rest| &rest.ruling)
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
        announced: Announced,
        rest: Option<Rest>,
        asked_at: Time,
        expires: Option<Moment>,
    ) -> (Number, &Open) {
        let Announced { question, skill } = announced;
        self.n_asked += 1;
        let number = self.n_asked;
        self.numbers.insert(question.id().clone(), number);
        let open = self.open.entry(number).or_insert(Open {
            question,
            skill,
            rest: rest.map(Arc::new),
            asked_at,
            expires,
            n_changes: 0,
        });
        (number, open)
    }

    pub(super) fn get(&self, id: &RequestId) -> Option<&Open> {
        self.numbered(*self.numbers.get(id)?)
    }

    pub(super) fn numbered(&self, number: Number) -> Option<&Open> {
        self.open.get(&number)
    }

    pub(super) fn is_open(&self, id: &RequestId) -> bool {
        self.numbers.contains_key(id)
    }

    pub(super) fn n_open(&self) -> usize {
        self.open.len()
    }

    /// The questions of which grants may cover a part and leave another.
    pub(super) fn of_several_parts(&self) -> Vec<Question> {
        let questions = self.iter().map(|open| &open.question);
        questions
            .filter(|question| question.asking().len() > 1)
            .cloned()
            .collect()
    }

    /// Takes over what a question asks about now; returns it if that has changed.
    pub(super) fn regard(&mut self, id: &RequestId, rest: Option<Rest>) -> Option<&Open> {
        let open = self.open.get_mut(self.numbers.get(id)?)?;
        let places = |rest: &Rest| rest.places.clone();
        if open.rest.as_deref().map(places) == rest.as_ref().map(places) {
            return None;
        }
        open.rest = rest.map(Arc::new);
        open.n_changes += 1;
        Some(open)
    }

    /// What became of a question that is open no longer.
    pub(super) fn settled(&self, id: &RequestId) -> Option<&(Outcome, DecidedBy)> {
        self.settled.get(id)
    }

    /// A question is open no longer; returns it, if it was.
    pub(super) fn settle(
        &mut self,
        id: &RequestId,
        outcome: Outcome,
        by: DecidedBy,
    ) -> Option<(Number, Open)> {
        let open = self
            .numbers
            .remove(id)
            .and_then(|number| self.open.remove_entry(&number));
        if self.settled.insert(id.clone(), (outcome, by)).is_none() {
            self.settled_order.push_back(id.clone());
        }
        if self.settled_order.len() > SETTLED_KEPT
            && let Some(oldest) = self.settled_order.pop_front()
        {
            self.settled.remove(&oldest);
        }
        open
    }

    /// The open questions, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Open> {
        self.open.values()
    }

    /// Those after one of them; all if it is not open.
    pub(super) fn after(&self, id: Option<&RequestId>) -> impl Iterator<Item = &Open> {
        let number = id.and_then(|id| self.numbers.get(id));
        let from = number.map_or(0, |number| number.saturating_add(1));
        self.open.range(from..).map(|(_, open)| open)
    }
}

/// A question in a snapshot.
pub(super) struct OpenPart {
    pub(super) frame: Arc<Frame>,
    pub(super) asker: Arc<Asker>,
    pub(super) texts: Arc<Texts>,
    pub(super) open: Open,
}

impl Lazy for OpenPart {
    fn line(&self) -> Option<Arc<str>> {
        let id = self.open.question.id().clone();
        let key = Key::Request(id, self.open.n_changes);
        let json = self.texts.get(&key, || {
            let request = self.asker.request(&self.open);
            let event = wire::Event::PermissionRequest(request);
            Some(json_line(&event).ok()?.into())
        })?;
        self.frame.snapshot_line_of(&json)
    }
}

#[cfg(test)]
pub(super) mod tests;
