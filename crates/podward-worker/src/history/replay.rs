//! From a journal back to a history.

use std::collections::BTreeMap;
use std::sync::Arc;

use podward_gate::{CallId, Progress, Refusal, RefusalCause, refusal_text, session_note};
use podward_model::{Block, PairingError, check_pairing};
use serde_json::Value;

use super::parked::{Parked, ParkedCall};
use super::{Begun, History, Started};
use crate::gate::Earlier;
use crate::journal::{Entry, OwnSession, RuledOutcome, SkillEnd, SkillMessage};

/// A history read back from a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The history; without the message of the model that `parked` holds.
    pub history: History,
    /// What the journal lacks: to be appended to it before anything else.
    pub repairs: Vec<Entry>,
    /// The last message of the model, if calls of it go on: they waited for an answer when the session ended,
    /// or worked in sessions of their own.
    pub parked: Option<Parked>,
}

/// Entries that no worker writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// An entry about a call that is not open at its place.
    #[error("entry {entry} is about the call `{call}`, which is not open there")]
    Call {
        /// The entry's place, from 0.
        entry: usize,
        /// The call's id.
        call: String,
    },
    /// An entry about a skill that cannot start or end at its place.
    #[error("entry {entry} is about the skill `{skill}`, which does not start or end there")]
    Skill {
        /// The entry's place, from 0.
        entry: usize,
        /// The skill.
        skill: Box<str>,
    },
    /// A message that no worker writes.
    #[error("the messages do not fit together")]
    Messages(#[source] PairingError),
}

impl History {
    /// Reads a history back from the entries of a journal, which may end anywhere.
    ///
    /// A call without a result gets an error result that says it was interrupted, and whether it
    /// had started; but one of the last message that waited for an answer, or worked in a session of its
    /// own, is parked: it can be asked about again, or run again.
    ///
    /// # Errors
    /// The entries are none that a worker writes in this order.
    pub fn replay(entries: &[Entry]) -> Result<Replayed, ReplayError> {
        let Read {
            history,
            open,
            begun,
        } = read(entries)?;
        let is_parked = open.is_parked();
        let (content, calls, started) = open.into_calls();
        let repair = |call: &ParkedCall| match call {
            ParkedCall::Done {
                id,
                content,
                is_error,
                made_up: MadeUp::Yes,
                tool: _,
            } => Some(Entry::Finished {
                call: id.clone(),
                content: content.clone(),
                is_error: *is_error,
            }),
            ParkedCall::Done { .. } | ParkedCall::Open { .. } => None,
        };
        // Its prompt is not on record: it never began.
        let never_began = begun.map(|begun| Entry::SkillEnded {
            name: begun.record.name.clone(),
            why: SkillEnd::Interrupted,
        });
        let repairs = calls.iter().filter_map(repair).chain(never_began);
        let repairs = repairs.collect();
        let parked = Parked {
            content,
            calls,
            started,
        };
        let mut closed = history.clone();
        parked.clone().interrupted().close(&mut closed);
        check_pairing(closed.messages()).map_err(ReplayError::Messages)?;
        Ok(match is_parked {
            true => Replayed {
                history,
                repairs,
                parked: Some(parked),
            },
            false => Replayed {
                history: closed,
                repairs,
                parked: None,
            },
        })
    }
}

/// What the entries tell.
#[derive(Default)]
struct Read {
    /// The history before the last message.
    history: History,
    /// That message.
    open: OpenStep,
    /// A skill that begins with the prompt that comes next.
    begun: Option<Begun>,
}

impl Read {
    /// The last message is complete.
    fn close(&mut self) {
        std::mem::take(&mut self.open).close(&mut self.history);
    }

    /// Takes an entry about a skill; `None`: no worker writes it here.
    fn skill(&mut self, entry: &Entry) -> Option<()> {
        match entry {
            Entry::SkillStarted { skill, message } => {
                let is_active = self
                    .history
                    .skills()
                    .any(|active| active.name == skill.name);
                if is_active || self.open.has_started(&skill.name) || self.begun.is_some() {
                    return None;
                }
                let record = Arc::new(skill.clone());
                match message {
                    SkillMessage::Prompt { instructions } => {
                        self.close();
                        self.begun = Some(Begun {
                            record,
                            instructions: instructions.as_str().into(),
                        });
                    }
                    SkillMessage::Result { call } => {
                        self.open.unfinished(call)?;
                        self.open.started.push(Started {
                            record,
                            call: call.clone(),
                        });
                    }
                }
                Some(())
            }
            Entry::SkillEnded { name, .. } => match self.begun.take() {
                Some(begun) => (begun.record.name == *name).then_some(()),
                None => {
                    self.close();
                    self.history.end_skill(name).then_some(())
                }
            },
            // Entries about other things.
            _ => self.begun.is_none().then_some(()),
        }
    }
}

fn read(entries: &[Entry]) -> Result<Read, ReplayError> {
    let mut read = Read::default();
    for (idx, entry) in entries.iter().enumerate() {
        if let Entry::Prompt { text } = entry {
            read.close();
            let begun = read.begun.take();
            read.history.push_prompt(text, begun);
            continue;
        }
        let about = match (entry, &read.begun) {
            (Entry::SkillStarted { skill, .. }, _) => skill.name.clone(),
            (Entry::SkillEnded { name, .. }, _) => name.clone(),
            (_, Some(begun)) => begun.record.name.clone(),
            (_, None) => Box::default(),
        };
        read.skill(entry).ok_or(ReplayError::Skill {
            entry: idx,
            skill: about,
        })?;
        let Read { history, open, .. } = &mut read;
        let unknown = |call: &String| ReplayError::Call {
            entry: idx,
            call: call.clone(),
        };
        match entry {
            Entry::Prompt { .. } | Entry::SkillStarted { .. } | Entry::SkillEnded { .. } => {}
            Entry::Assistant { content } => {
                std::mem::take(open).close(history);
                *open = OpenStep::new(content.clone());
            }
            Entry::Ruled {
                call,
                part_of: None,
                outcome,
                ..
            } => {
                let call = open.unfinished(call).ok_or_else(|| unknown(call))?;
                call.state = match outcome {
                    RuledOutcome::Ask => CallState::Asked,
                    RuledOutcome::Run => CallState::Open,
                    RuledOutcome::Refuse => CallState::Refused,
                };
            }
            Entry::Ruled {
                part_of: Some(call),
                ..
            } => {
                open.unfinished(call).ok_or_else(|| unknown(call))?;
            }
            Entry::Started { call, in_session } => {
                let call = open.unfinished(call).ok_or_else(|| unknown(call))?;
                call.state = CallState::Started;
                call.in_session.clone_from(in_session);
            }
            Entry::Finished {
                call,
                content,
                is_error,
            } => {
                open.unfinished(call).ok_or_else(|| unknown(call))?.state =
                    CallState::Finished(content.clone(), *is_error);
            }
            Entry::TurnEnded { .. } => std::mem::take(open).close(history),
        }
    }
    Ok(read)
}

impl Replayed {
    /// The same without parked calls: they were interrupted.
    #[must_use]
    pub fn interrupted(mut self) -> Self {
        if let Some(parked) = self.parked.take() {
            self.repairs.extend(parked.interruptions());
            parked.interrupted().close(&mut self.history);
        }
        self
    }
}

/// A message of the model whose calls may lack results.
#[derive(Default)]
struct OpenStep {
    content: Vec<Block>,
    calls: BTreeMap<String, OpenCall>,
    started: Vec<Started>,
}

/// What is known of a call of such a message.
#[derive(Default)]
struct OpenCall {
    state: CallState,
    /// The session in which it has begun to work.
    in_session: Option<OwnSession>,
}

#[derive(Default)]
enum CallState {
    /// It was not decided, or may run.
    #[default]
    Open,
    /// It waits for an answer.
    Asked,
    /// It does not run.
    Refused,
    Started,
    Finished(String, bool),
}

impl OpenCall {
    /// What it waits for, if it goes on when the session does.
    fn goes_on(&self) -> Option<Earlier> {
        match (&self.state, &self.in_session) {
            (CallState::Asked, _) => Some(Earlier::Asked),
            (CallState::Open | CallState::Started, Some(_)) => Some(Earlier::Nothing),
            (CallState::Open | CallState::Started, None)
            | (CallState::Refused | CallState::Finished(..), _) => None,
        }
    }
}

impl OpenStep {
    fn new(content: Vec<Block>) -> Self {
        let calls = content
            .iter()
            .filter_map(|block| match block {
                Block::ToolUse { id, .. } => Some((id.clone(), OpenCall::default())),
                Block::Text { .. } | Block::Thinking { .. } | Block::ToolResult { .. } => None,
            })
            .collect();
        Self {
            content,
            calls,
            started: Vec::new(),
        }
    }

    /// Whether a call has started this skill, or is about to.
    fn has_started(&self, skill: &str) -> bool {
        let mut started = self.started.iter();
        started.any(|started| *started.record.name == *skill)
    }

    fn unfinished(&mut self, call: &str) -> Option<&mut OpenCall> {
        self.calls
            .get_mut(call)
            .filter(|call| !matches!(call.state, CallState::Finished(..)))
    }

    fn is_parked(&self) -> bool {
        let mut calls = self.calls.values();
        calls.any(|call| call.goes_on().is_some())
    }

    /// The message, and its calls in order: one that has no result was interrupted.
    fn into_calls(mut self) -> (Vec<Block>, Vec<ParkedCall>, Vec<Started>) {
        let mut calls = Vec::new();
        for block in &self.content {
            let Block::ToolUse { id, name, input } = block else {
                continue;
            };
            let done = |content, is_error, made_up| ParkedCall::Done {
                id: id.clone(),
                tool: name.clone(),
                content,
                is_error,
                made_up,
            };
            let Some(call) = self.calls.remove(id) else {
                continue;
            };
            let (earlier, in_session) = (call.goes_on(), call.in_session);
            calls.push(match (call.state, earlier) {
                (CallState::Finished(content, is_error), _) => done(content, is_error, MadeUp::No),
                (_, Some(earlier)) => ParkedCall::Open {
                    id: id.clone(),
                    tool: name.clone(),
                    arguments: (in_session.as_ref())
                        .and_then(|own| own.arguments.clone())
                        .unwrap_or_else(|| input.clone()),
                    earlier,
                    in_session,
                },
                (state, None) => {
                    let progress = match state {
                        CallState::Started => Progress::Started,
                        _ => Progress::NotStarted,
                    };
                    let of = (id.as_str(), name.as_str(), input);
                    let text = interrupted_text(of, progress, in_session.as_ref());
                    done(text, true, MadeUp::Yes)
                }
            });
        }
        (self.content, calls, self.started)
    }

    fn close(self, history: &mut History) {
        let (content, calls, started) = self.into_calls();
        let parked = Parked {
            content,
            calls,
            started,
        };
        parked.interrupted().close(history);
    }
}

/// What the model reads of a call that was interrupted; one that has begun to work in a session has started.
pub(super) fn interrupted_text(
    (id, tool, arguments): (&str, &str, &Value),
    progress: Progress,
    in_session: Option<&OwnSession>,
) -> String {
    let text = |progress| {
        refusal_text(&Refusal::raw(
            CallId::from_model(id),
            tool,
            arguments.to_string(),
            RefusalCause::Interrupted(progress),
        ))
    };
    match in_session {
        Some(own) => format!("{}\n{}", session_note(&own.id), text(Progress::Started)),
        None => text(progress),
    }
}

/// Whether a result had to be made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MadeUp {
    Yes,
    No,
}

#[cfg(test)]
mod tests;
