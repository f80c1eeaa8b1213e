//! From what a worker does to the events that clients see.

use std::collections::BTreeMap;
use std::sync::Arc;

use podward_gate::{AskReason, Progress};
use podward_policy::Policies;
use podward_protocol::{
    CallCount, CallId, Change, Envelope, ErrorCode, ErrorRaised, Event, Notice, RefusalCause,
    SessionId, Status, TextDelta, Time, ToolCallArguments, ToolCallFinished, ToolCallStarted,
    ToolCallVerdict, ToolOutcome, TurnEnded, TurnStarted, Usage, encode,
};
use podward_shell::AddedPrograms;
use podward_tools::allowing_rules;
use podward_worker::{Decision, EndReason, HookFailure, TurnEnd, WorkerEvent};
use serde_json::Value;

use crate::clock::Clock;
use crate::key::KeyOrigin;
use crate::pod::model::help;
use crate::wire;

/// Tells the events of one run.
pub(crate) struct Narrator {
    session: SessionId,
    clock: Arc<dyn Clock>,
    next_seq: u64,
    turn: u64,
    status: Status,
    /// Why calls do not run, or ended before their time.
    refusals: BTreeMap<podward_gate::CallId, (RefusalCause, Progress)>,
    n_calls: u64,
    /// Tokens of the turns before this one.
    before: podward_model::Usage,
    /// Tokens of this turn.
    usage: podward_model::Usage,
    /// Where the model's key came from.
    key: Option<KeyOrigin>,
    /// What judges, to say what would have been allowed.
    rules: Option<(Policies, AddedPrograms)>,
}

impl Narrator {
    /// `n_turns` began in earlier runs of the session.
    pub(crate) fn new(session: SessionId, n_turns: u64, clock: Arc<dyn Clock>) -> Self {
        Self {
            session,
            clock,
            next_seq: 0,
            turn: n_turns,
            status: Status::Idle,
            refusals: BTreeMap::new(),
            n_calls: 0,
            before: podward_model::Usage::default(),
            usage: podward_model::Usage::default(),
            key: None,
            rules: None,
        }
    }

    /// The same, with what judges.
    pub(crate) fn with_rules(mut self, policies: Policies, programs: AddedPrograms) -> Self {
        self.rules = Some((policies, programs));
        self
    }

    /// The same, with where the model's key came from.
    pub(crate) fn with_key(mut self, key: Option<KeyOrigin>) -> Self {
        self.key = key;
        self
    }

    /// Puts an event into its envelope. One that is too long to be sent becomes an error that says
    /// so: it is in the session all the same.
    pub(crate) fn envelope(&mut self, event: Event) -> Envelope {
        let seq = self.next_seq;
        self.next_seq += 1;
        let mut envelope = Envelope {
            time: self.clock.now(),
            session: self.session.clone(),
            seq,
            snapshot: false,
            event,
        };
        let may_be_long = matches!(
            envelope.event,
            Event::ToolCallArguments(_) | Event::ToolCallVerdict(_) | Event::ToolCallFinished(_)
        );
        let mut encoded = may_be_long.then(|| encode(&envelope)).transpose();
        if encoded.is_err()
            && let Event::ToolCallVerdict(verdict) = &mut envelope.event
            && let Some(allowed_by @ Change::Rules { .. }) = &mut verdict.allowed_by
        {
            // The verdict matters more than what would have changed it.
            *allowed_by = Change::LeftOut;
            encoded = encode(&envelope).map(Some);
        }
        if let Err(error) = encoded {
            let name = envelope.event.name();
            envelope.event = Event::Error(ErrorRaised {
                code: ErrorCode::Internal,
                message: format!("the event `{name}` cannot be sent: {error}"),
                help: Some("the session on disk has it".into()),
            });
        }
        envelope
    }

    /// What clients see of something that happened.
    pub(crate) fn tell(&mut self, event: WorkerEvent) -> Vec<Event> {
        let is_retry = matches!(event, WorkerEvent::Retry { .. });
        let mut told = Vec::new();
        if !is_retry && matches!(self.status, Status::Retry { .. }) {
            told.push(self.enter(Status::Busy));
        }
        match event {
            WorkerEvent::TurnStarted { prompt } => told.extend(self.turn_started(prompt)),
            WorkerEvent::StepStarted { .. } => {}
            WorkerEvent::TextDelta(text) => told.push(Event::TextDelta(TextDelta { text })),
            WorkerEvent::ThinkingDelta(text) => told.push(Event::ThinkingDelta(TextDelta { text })),
            WorkerEvent::Retry {
                attempt,
                reason,
                after,
            } => {
                let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
                let at = self.clock.now().unix_milliseconds().saturating_add(after);
                let at = Time::from_unix_milliseconds(at).unwrap_or(self.clock.now());
                told.push(self.enter(Status::Retry {
                    attempt,
                    reason,
                    at,
                }));
            }
            WorkerEvent::CallAnnounced { id, tool } => {
                told.push(Event::ToolCallStarted(ToolCallStarted {
                    call: CallId::new(id.as_str()),
                    tool: tool.as_ref().into(),
                }));
            }
            WorkerEvent::CallProposed {
                id,
                tool,
                arguments,
            } => told.push(self.proposed(&id, &tool, &arguments)),
            WorkerEvent::CallDecided(decision) => told.push(self.decided(&decision)),
            WorkerEvent::Waiting => told.push(self.enter(Status::Waiting)),
            WorkerEvent::Working => told.push(self.enter(Status::Busy)),
            // What was decided says that it runs.
            WorkerEvent::CallStarted { .. } => {}
            WorkerEvent::CallFinished { id, tool, output } => {
                told.push(self.finished(&id, &tool, &output));
            }
            WorkerEvent::SkillStarted { skill, call } => {
                told.push(Event::SkillStarted(wire::skill_started(&skill, call)));
            }
            WorkerEvent::SkillEnded { name, why } => {
                told.extend(wire::skill_ended(&name, &why).map(Event::SkillEnded));
            }
            WorkerEvent::HookFailed(HookFailure { hook, why }) => {
                told.push(Event::Notice(Notice {
                    message: format!("the hook `{hook}` failed: {why}"),
                    help: None,
                }));
            }
            WorkerEvent::Usage(used) => {
                self.usage = used.usage;
                told.push(self.tokens(used.steps));
            }
            WorkerEvent::TurnEnded(end) => told.extend(self.turn_ended(&end)),
        }
        told
    }

    fn enter(&mut self, status: Status) -> Event {
        self.status = status.clone();
        Event::Status(status)
    }

    fn turn_started(&mut self, prompt: Option<Arc<str>>) -> Vec<Event> {
        self.refusals.clear();
        self.n_calls = 0;
        let mut told = vec![self.enter(Status::Busy)];
        // Without a prompt, the last turn goes on.
        if let Some(prompt) = prompt {
            self.turn += 1;
            told.push(Event::TurnStarted(TurnStarted {
                turn: self.turn,
                prompt: prompt.as_ref().into(),
            }));
        }
        told
    }

    fn proposed(&mut self, id: &podward_gate::CallId, tool: &str, arguments: &str) -> Event {
        self.n_calls += 1;
        let arguments =
            serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()));
        Event::ToolCallArguments(ToolCallArguments {
            call: CallId::new(id.as_str()),
            tool: tool.to_owned(),
            arguments,
        })
    }

    fn decided(&mut self, decision: &Decision) -> Event {
        let allowed_by = self.allowed_by(decision);
        if let Decision::Refuse(refusal) = decision {
            let cause = refusal.cause();
            let why = (wire::refusal_cause(cause), wire::progress(cause));
            self.refusals.insert(decision.id().clone(), why);
        }
        Event::ToolCallVerdict(ToolCallVerdict {
            allowed_by,
            ..wire::verdict_told(decision)
        })
    }

    /// What would have allowed a call about which nobody was there to be asked.
    fn allowed_by(&self, decision: &Decision) -> Option<Change> {
        let Decision::Refuse(refusal) = decision else {
            return None;
        };
        let (policies, programs) = self.rules.as_ref()?;
        let question = refusal
            .question()
            .filter(|_| is_unanswered(refusal.cause()))?;
        if question.reason() == AskReason::PolicyRepeated {
            let why =
                "the same call is asked about from its third time in a turn on, where nothing \
                       but reading was permitted in between"
                    .to_owned();
            return Some(Change::None { why });
        }
        let lowered = question.facts().lowered();
        let rules = allowing_rules(lowered, question.asking(), policies, programs);
        Some(wire::change(rules))
    }

    fn finished(
        &self,
        id: &podward_gate::CallId,
        tool: &str,
        output: &podward_tools::ToolOutput,
    ) -> Event {
        let outcome = match self.refusals.get(id).cloned() {
            Some((cause, Progress::NotStarted)) => ToolOutcome::Refused { cause },
            Some((cause, Progress::Started)) => ToolOutcome::Stopped { cause },
            None if output.is_error => ToolOutcome::Failed,
            None => ToolOutcome::Done,
        };
        Event::ToolCallFinished(ToolCallFinished {
            call: CallId::new(id.as_str()),
            tool: tool.to_owned(),
            outcome,
            content: output.content.clone(),
        })
    }

    fn tokens(&self, n_steps: u32) -> Event {
        let mut total = self.before;
        total += self.usage;
        Event::Usage(Usage {
            input_tokens: self.usage.input_tokens,
            output_tokens: self.usage.output_tokens,
            total_input_tokens: total.input_tokens,
            total_output_tokens: total.output_tokens,
            n_steps: n_steps.into(),
        })
    }

    fn turn_ended(&mut self, end: &TurnEnd) -> Vec<Event> {
        self.before += end.usage;
        self.usage = podward_model::Usage::default();
        let mut told = Vec::new();
        if let EndReason::Model(error) = &end.reason {
            told.push(Event::Error(ErrorRaised {
                code: ErrorCode::Model,
                message: error.to_string(),
                help: help(error, self.key.as_ref()),
            }));
        }
        told.push(Event::TurnEnded(TurnEnded {
            turn: self.turn,
            reason: wire::end_reason(&end.reason),
            n_refused: end.n_refused.into(),
            n_calls: self.n_calls,
            n_steps: end.n_steps.into(),
            children: CallCount {
                n_calls: end.of_children.made.into(),
                n_refused: end.of_children.refused.into(),
            },
        }));
        told.push(self.enter(Status::Idle));
        told
    }
}

/// Whether a rule would have spared the question its end.
const fn is_unanswered(cause: &podward_gate::RefusalCause) -> bool {
    use podward_gate::RefusalCause as Cause;
    matches!(
        cause,
        Cause::NoClient { .. }
            | Cause::NotAuto
            | Cause::TooLarge
            | Cause::ClientGone
            | Cause::Expired
    )
}

#[cfg(test)]
mod tests;
