//! What happened so far, folded into as few events as a client needs to follow what comes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use podward_gate::Question;
use podward_protocol::{
    CallId, ChildWork, Event, Notice, Status, TextDelta, ToolCallArguments, ToolCallStarted,
    json_line,
};
use podward_worker::Decision;
use serde_json::Value;

use crate::wire::verdict_told;

/// The longest text that is joined to one delta, in bytes.
const TEXT_BYTES: usize = 256 * 1024;

/// What is kept of a turn, in bytes; of a longer one the beginning is left out.
const TURN_BYTES: usize = 16 * 1024 * 1024;

/// Events that are kept of a turn: four of each call of the largest message.
const TURN_EVENTS: usize = 64 * 1024;

/// The turn that runs, or ran last, and what the pod is.
#[derive(Debug)]
pub(crate) struct Snapshot {
    started: Option<Arc<Event>>,
    /// The skills that are active, in the order in which they started.
    skills: Vec<Arc<Event>>,
    turn: Option<Arc<Event>>,
    /// What happened in the turn, with its size.
    events: VecDeque<(Kept, usize)>,
    /// The places in the turn of the events of each call that is not judged yet.
    unjudged: BTreeMap<CallId, Vec<u64>>,
    /// What the model is writing: it is joined until something else happens.
    writing: Option<Writing>,
    n_bytes: usize,
    n_left_out: u64,
    usage: Option<Arc<Event>>,
    ended: Option<Arc<Event>>,
    status: Arc<Event>,
    max_bytes: usize,
    max_events: usize,
}

/// An event that is told again.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    Event(Arc<Event>),
    /// One of a call, as JSON: that takes a part of the room, and a turn may have very many.
    Json(Arc<Json>),
    /// One of a call that is asked about: made of the question when it is told.
    Asked(Question, OfCall),
}

/// An event as it is told.
#[derive(Debug)]
pub(crate) struct Json {
    name: &'static str,
    pub(crate) text: Box<str>,
}

/// What is told of a call that is asked about, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OfCall {
    Started,
    Arguments,
    Verdict,
}

impl OfCall {
    /// The event.
    pub(crate) fn event(self, question: &Question) -> Event {
        let facts = question.facts();
        let (call, tool) = (CallId::new(facts.id().as_str()), facts.tool().to_string());
        match self {
            Self::Started => Event::ToolCallStarted(ToolCallStarted { call, tool }),
            Self::Arguments => Event::ToolCallArguments(ToolCallArguments {
                call,
                tool,
                arguments: serde_json::from_str(facts.arguments()).unwrap_or(Value::Null),
            }),
            Self::Verdict => Event::ToolCallVerdict(verdict_told(&Decision::Ask(question.clone()))),
        }
    }
}

impl Kept {
    fn json(event: &Arc<Event>) -> Self {
        match json_line(event.as_ref()) {
            Ok(text) => Self::Json(Arc::new(Json {
                name: event.name(),
                text: text.into(),
            })),
            Err(_) => Self::Event(Arc::clone(event)),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Event(event) => event.name(),
            Self::Json(json) => json.name,
            Self::Asked(_, OfCall::Started) => "tool_call_started",
            Self::Asked(_, OfCall::Arguments) => "tool_call_arguments",
            Self::Asked(_, OfCall::Verdict) => "tool_call_verdict",
        }
    }
}

#[derive(Debug)]
struct Writing {
    kind: Kind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
}

impl Snapshot {
    /// Nothing happened yet.
    pub(crate) fn new() -> Self {
        Self::with_bounds(TURN_BYTES, TURN_EVENTS)
    }

    fn with_bounds(max_bytes: usize, max_events: usize) -> Self {
        Self {
            started: None,
            skills: Vec::new(),
            turn: None,
            events: VecDeque::new(),
            unjudged: BTreeMap::new(),
            writing: None,
            n_bytes: 0,
            n_left_out: 0,
            usage: None,
            ended: None,
            status: Arc::new(Event::Status(Status::Idle)),
            max_bytes,
            max_events,
        }
    }

    /// Takes in an event; `n_bytes`: about how much it holds.
    pub(crate) fn fold(&mut self, event: &Arc<Event>, n_bytes: usize) {
        match event.as_ref() {
            Event::SessionStarted(_) => self.started = Some(Arc::clone(event)),
            Event::Status(_) => self.status = Arc::clone(event),
            Event::TurnStarted(_) => {
                let bounds = (self.max_bytes, self.max_events);
                *self = Self {
                    started: self.started.take(),
                    skills: std::mem::take(&mut self.skills),
                    turn: Some(Arc::clone(event)),
                    status: Arc::clone(&self.status),
                    ..Self::with_bounds(bounds.0, bounds.1)
                };
            }
            Event::TextDelta(delta) => self.write(Kind::Text, delta),
            Event::ThinkingDelta(delta) => self.write(Kind::Thinking, delta),
            Event::ToolCallStarted(_)
            | Event::ToolCallArguments(_)
            | Event::ToolCallVerdict(_)
            | Event::ToolCallFinished(_)
            | Event::Error(_) => {
                self.freeze();
                match event.as_ref() {
                    Event::ToolCallStarted(ToolCallStarted { call, .. })
                    | Event::ToolCallArguments(ToolCallArguments { call, .. }) => {
                        let place = self.n_left_out + self.events.len() as u64;
                        self.unjudged.entry(call.clone()).or_default().push(place);
                    }
                    Event::ToolCallVerdict(verdict) => drop(self.unjudged.remove(&verdict.call)),
                    _ => {} // of a call that is judged, or of none
                }
                self.keep(Kept::json(event), n_bytes);
            }
            Event::ChildWorked(worked) => match &worked.did {
                // What it comes to is the result of a call.
                ChildWork::TextDelta(_) => {}
                ChildWork::ToolCallArguments(_)
                | ChildWork::ToolCallVerdict(_)
                | ChildWork::ToolCallFinished(_) => {
                    self.freeze();
                    self.keep(Kept::json(event), n_bytes);
                }
            },
            Event::Usage(_) => self.usage = Some(Arc::clone(event)),
            Event::SkillStarted(_) => self.skills.push(Arc::clone(event)),
            Event::SkillEnded(ended) => self
                .skills
                .retain(|skill| name_of(skill) != Some(&ended.name)),
            Event::TurnEnded(_) => self.ended = Some(Arc::clone(event)),
            // Open requests, grants and clients are known where they are answered, used and heard;
            // a notice is for those who were there.
            Event::Notice(_)
            | Event::PermissionRequest(_)
            | Event::PermissionSettled(_)
            | Event::GrantAdded(_)
            | Event::GrantRevoked(_)
            | Event::ClientJoined(_)
            | Event::ClientLeft(_)
            | Event::SnapshotStarted(_)
            | Event::SnapshotEnd(_)
            | Event::Ping(_)
            | Event::Closing(_) => {}
        }
    }

    /// Takes in the verdict over a call that is asked about; `n_bytes`: about how much is told of it. What
    /// was told of the call before is made of the question as well from now on, where that says the same.
    pub(crate) fn keep_asked(&mut self, question: Question, n_bytes: usize) {
        self.freeze();
        let call = CallId::new(question.facts().id().as_str());
        for place in self.unjudged.remove(&call).into_iter().flatten() {
            let idx = place
                .checked_sub(self.n_left_out)
                .and_then(|idx| usize::try_from(idx).ok());
            let Some((kept, _)) = idx.and_then(|idx| self.events.get_mut(idx)) else {
                continue;
            };
            let Kept::Json(json) = &*kept else {
                continue;
            };
            let is_said = |of_call: &OfCall| {
                let said = json_line(&of_call.event(&question));
                said.is_ok_and(|said| *said == *json.text)
            };
            let same = [OfCall::Started, OfCall::Arguments]
                .into_iter()
                .find(is_said);
            if let Some(of_call) = same {
                *kept = Kept::Asked(question.clone(), of_call);
            }
        }
        self.keep(Kept::Asked(question, OfCall::Verdict), n_bytes);
    }

    /// What a new client is told first; `known` (clients and grants) comes before the turn.
    pub(crate) fn head(&mut self, known: impl IntoIterator<Item = Arc<Event>>) -> Vec<Kept> {
        self.freeze();
        let left_out = (self.n_left_out > 0).then(|| {
            Arc::new(Event::Notice(Notice {
                message: format!(
                    "{} earlier events of this turn are left out",
                    self.n_left_out
                ),
                help: Some("the session on disk has all of them".into()),
            }))
        });
        self.started
            .iter()
            .cloned()
            .chain(known)
            .chain(self.skills.iter().cloned())
            .chain(self.turn.iter().cloned())
            .chain(left_out)
            .map(Kept::Event)
            .chain(self.events.iter().map(|(event, _)| event.clone()))
            .chain(self.usage.iter().cloned().map(Kept::Event))
            .collect()
    }

    /// What it is told last, after the open requests.
    pub(crate) fn tail(&self) -> Vec<Arc<Event>> {
        let ended = self.ended.iter().cloned();
        ended.chain([Arc::clone(&self.status)]).collect()
    }

    fn write(&mut self, kind: Kind, delta: &TextDelta) {
        let goes_on = self.writing.as_ref().is_some_and(|writing| {
            writing.kind == kind && writing.text.len() + delta.text.len() <= TEXT_BYTES
        });
        if !goes_on {
            self.freeze();
        }
        let text = String::new();
        let writing = self.writing.get_or_insert(Writing { kind, text });
        writing.text.push_str(&delta.text);
    }

    /// Makes an event of what is being written: it can be told from now on.
    fn freeze(&mut self) {
        let Some(Writing { kind, mut text }) = self.writing.take() else {
            return;
        };
        // Text that was told in the middle is joined with what came before.
        let before = self.events.back().and_then(|(event, n_bytes)| {
            let Kept::Event(event) = event else {
                return None;
            };
            let (Event::TextDelta(delta) | Event::ThinkingDelta(delta)) = event.as_ref() else {
                return None;
            };
            let is_same = kind_of(event) == Some(kind);
            (is_same && delta.text.len() + text.len() <= TEXT_BYTES)
                .then(|| (delta.text.clone(), *n_bytes))
        });
        if let Some((before, n_bytes)) = before {
            self.events.pop_back();
            self.n_bytes = self.n_bytes.saturating_sub(n_bytes);
            text.insert_str(0, &before);
        }
        let n_bytes = text.len();
        let delta = TextDelta { text };
        let event = match kind {
            Kind::Text => Event::TextDelta(delta),
            Kind::Thinking => Event::ThinkingDelta(delta),
        };
        self.keep(Kept::Event(Arc::new(event)), n_bytes);
    }

    fn keep(&mut self, event: Kept, n_bytes: usize) {
        self.events.push_back((event, n_bytes));
        self.n_bytes = self.n_bytes.saturating_add(n_bytes);
        while (self.n_bytes > self.max_bytes || self.events.len() > self.max_events)
            && let Some((_, n_bytes)) = self.events.pop_front()
        {
            self.n_bytes = self.n_bytes.saturating_sub(n_bytes);
            self.n_left_out += 1;
        }
    }
}

/// The skill that an event says to be active.
fn name_of(event: &Event) -> Option<&String> {
    match event {
        Event::SkillStarted(started) => Some(&started.name),
        // Nothing else is kept among the skills.
        _ => None,
    }
}

fn kind_of(event: &Event) -> Option<Kind> {
    match event {
        Event::TextDelta(_) => Some(Kind::Text),
        Event::ThinkingDelta(_) => Some(Kind::Thinking),
        // Nothing else is written piece by piece.
        _ => None,
    }
}

#[cfg(test)]
mod tests;
