//! Turns: begun by clients, worked through by the pod, cancelled and stopped.

use podward_gate::Answer;
use podward_protocol::{
    CancelStarted, Event, MethodError, MethodErrorCode, Notice, Reply, RunStarted, SkillEndStarted,
    Status,
};
use podward_worker::{Decision, EndReason, Prompt, SkillError, TurnEnd};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Hub, Phase};
use crate::error::with_causes;
use crate::pod::{Pod, PodError, Told};
use crate::serve::connection::ClientNumber;
use crate::serve::pending::ReplyTo;

/// Jobs that may wait: a turn, and ends of skills.
pub(in crate::serve) const N_JOBS: usize = 64;

/// What the pod is to do.
#[derive(Debug)]
pub(in crate::serve) enum Job {
    /// A turn to be worked through.
    Turn {
        /// `None`: the turn that was cut off goes on.
        prompt: Option<Prompt>,
        cancel: CancellationToken,
    },
    /// Skills to be ended, of which it was told.
    EndSkills,
}

/// What the pod has done.
#[derive(Debug)]
pub(in crate::serve) enum Worked {
    Turn(Result<TurnEnd, PodError>),
    EndedSkills(Result<(), PodError>),
}

impl Worked {
    /// Whether nothing more can be done.
    const fn is_last(&self) -> bool {
        match self {
            // No turn has begun.
            Self::Turn(Ok(_) | Err(PodError::Skill(_))) | Self::EndedSkills(Ok(())) => false,
            Self::Turn(Err(_)) | Self::EndedSkills(Err(_)) => true,
        }
    }
}

/// The turn that runs, if one does.
#[derive(Debug)]
pub(in crate::serve) enum Turn {
    Idle,
    Running {
        cancel: CancellationToken,
        /// Who began it, until it is known that it has begun.
        begun_by: Option<ReplyTo>,
        begins: Begins,
    },
}

/// What a turn begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::serve) enum Begins {
    WithPrompt,
    WhereItWas,
}

/// Works through turns and what comes between them, one after the other, until nobody can ask for
/// anything or something is not on record.
pub(in crate::serve) async fn work(
    mut pod: Pod,
    mut jobs: mpsc::Receiver<Job>,
    ended: mpsc::Sender<Worked>,
) {
    pod.open().await;
    while let Some(job) = jobs.recv().await {
        let worked = match job {
            Job::Turn { prompt, cancel } => Worked::Turn(pod.begin(prompt, cancel).await),
            Job::EndSkills => Worked::EndedSkills(pod.end_skills().await),
        };
        let is_last = worked.is_last();
        if ended.send(worked).await.is_err() || is_last {
            return;
        }
    }
}

impl Hub {
    /// Begins a turn.
    pub(super) fn run_turn(&mut self, to: ReplyTo, prompt: Option<Prompt>) {
        if !matches!(self.turn, Turn::Idle) {
            let error = MethodError::new(MethodErrorCode::Busy, "a turn runs already")
                .with_help("wait until it has ended, or cancel it");
            return self.respond(to, Err(error));
        }
        let cancel = CancellationToken::new();
        let begins = match &prompt {
            Some(_) => Begins::WithPrompt,
            None => Begins::WhereItWas,
        };
        let job = Job::Turn {
            prompt,
            cancel: cancel.clone(),
        };
        if self.jobs.try_send(job).is_err() {
            let error = MethodError::new(MethodErrorCode::Internal, "the pod takes no turn");
            return self.respond(to, Err(error));
        }
        self.turn = Turn::Running {
            cancel,
            begun_by: Some(to),
            begins,
        };
    }

    /// Goes on with the turn of an earlier run whose questions are still open, without being asked.
    pub(in crate::serve) fn go_on(&mut self) {
        let cancel = CancellationToken::new();
        let job = Job::Turn {
            prompt: None,
            cancel: cancel.clone(),
        };
        if self.jobs.try_send(job).is_ok() {
            self.turn = Turn::Running {
                cancel,
                begun_by: None,
                begins: Begins::WhereItWas,
            };
        }
    }

    /// Cancels the turn that runs.
    pub(super) fn cancel_turn(&mut self) -> Result<Reply, MethodError> {
        match &self.turn {
            Turn::Running { cancel, .. } => {
                cancel.cancel();
                Ok(Reply::Cancel(CancelStarted {
                    turn: self.last_turn,
                }))
            }
            Turn::Idle => Err(MethodError::new(MethodErrorCode::Idle, "no turn runs")),
        }
    }

    /// Whether a turn runs that was cancelled.
    pub(super) fn is_ending(&self) -> bool {
        matches!(&self.turn, Turn::Running { cancel, .. } if cancel.is_cancelled())
    }

    /// Ends a skill: at once where no turn runs, else before the turn's next request.
    pub(super) fn end_skill(&mut self, to: ReplyTo, by: &str, name: &str) {
        if let Err(error) = self.skills.end(name, by) {
            return self.respond(to, Err(skill_error(&error)));
        }
        match self.turn {
            Turn::Running { .. } => {
                let turn = Some(self.last_turn);
                self.respond(to, Ok(Reply::SkillEnd(SkillEndStarted { turn })));
            }
            Turn::Idle => self.end_skills(Some(to)),
        }
    }

    /// Has the pod end the skills that are to end.
    fn end_skills(&mut self, to: Option<ReplyTo>) {
        match self.jobs.try_send(Job::EndSkills) {
            Ok(()) => self.ending.push_back(to),
            Err(_) => {
                if let Some(to) = to {
                    let error =
                        MethodError::new(MethodErrorCode::Internal, "the pod takes no request");
                    self.respond(to, Err(error));
                }
            }
        }
    }

    /// The pod has done something, and everything it told was taken.
    pub(super) fn worked(&mut self, worked: Worked) {
        match worked {
            Worked::Turn(end) => {
                self.turn_ended(end);
                // One was asked to end too late for the turn.
                if self.skills.is_ending() && !matches!(self.phase, Phase::Failed(_)) {
                    self.end_skills(None);
                }
            }
            Worked::EndedSkills(ended) => {
                let to = self.ending.pop_front().flatten();
                // Calls of an earlier run wait that were judged under it.
                let turn = self.skills.is_ending().then_some(self.last_turn);
                let result = match &ended {
                    Ok(()) => Ok(Reply::SkillEnd(SkillEndStarted { turn })),
                    Err(error) => Err(storage(error)),
                };
                if let Some(to) = to {
                    self.respond(to, result);
                }
                if let Err(error) = ended {
                    self.phase = Phase::Failed(error);
                }
            }
        }
    }

    /// Begins to stop, because a client says so, or somebody else: what is asked is answered, or kept for the
    /// next pod of the session; the turn is cancelled.
    pub(in crate::serve) fn stop(&mut self, by: Option<ClientNumber>) {
        if !matches!(self.phase, Phase::Open) {
            return;
        }
        if self.is_ending() {
            // What is asked is settled as cancelled.
        } else if self.presence.waits() && (self.above.is_none() || by == self.above) {
            // A child that is stopped by somebody else is not gone on with: the pod above has its result.
            self.gate.keep_questions();
        } else {
            let open = self.questions.iter().map(|open| open.question.id());
            for id in open {
                // Somebody may have been first.
                let _ = self.gate.answer(id, Answer::PodStopped);
            }
        }
        self.phase = match &self.turn {
            Turn::Idle => Phase::Stopped,
            Turn::Running { cancel, .. } => {
                cancel.cancel();
                Phase::Stopping
            }
        };
    }

    /// Takes what the pod tells.
    pub(super) fn take(&mut self, told: Told) {
        match told {
            Told::Event(event) => {
                let begun = match &*event {
                    Event::TurnStarted(started) => {
                        self.last_turn = started.turn;
                        true
                    }
                    Event::Status(Status::Busy) => matches!(
                        self.turn,
                        Turn::Running {
                            begins: Begins::WhereItWas,
                            ..
                        }
                    ),
                    Event::TurnEnded(_) => true,
                    // Nothing else tells that a turn has begun.
                    _ => false,
                };
                if begun {
                    self.turn_begun();
                }
                if matches!(*event, Event::TurnEnded(_)) || !self.last_words.is_empty() {
                    self.last_words.push(*event);
                } else {
                    self.publish(*event);
                }
            }
            Told::Asked(question) => self.ask(question),
            Told::Decided(decision, verdict) => {
                match &*decision {
                    Decision::Ask(question) => self.publish_asked(*verdict, question.clone()),
                    Decision::Run { .. } | Decision::Refuse(_) => self.publish(*verdict),
                };
                self.decide(&decision);
                self.tell_grants();
            }
        }
    }

    fn turn_begun(&mut self) {
        let turn = self.last_turn;
        if let Turn::Running { begun_by, .. } = &mut self.turn
            && let Some(to) = begun_by.take()
        {
            self.respond(to, Ok(Reply::Run(RunStarted { turn })));
        }
    }

    fn turn_ended(&mut self, end: Result<TurnEnd, PodError>) {
        let turn = std::mem::replace(&mut self.turn, Turn::Idle);
        let begun_by = match turn {
            Turn::Running { begun_by, .. } => begun_by,
            Turn::Idle => None,
        };
        // Whoever hears that the turn is over may begin the next.
        for event in std::mem::take(&mut self.last_words) {
            self.publish(event);
        }
        match end {
            Ok(end) if end.reason == EndReason::Kept => {
                self.tell_kept();
                self.phase = Phase::Kept;
            }
            Ok(_) => {
                if let Some(to) = begun_by {
                    let error =
                        MethodError::new(MethodErrorCode::NothingToResume, "no turn was cut off");
                    self.respond(to, Err(error.with_help("say what to do next")));
                }
                if matches!(self.phase, Phase::Stopping) {
                    self.phase = Phase::Stopped;
                }
            }
            Err(PodError::Skill(error)) => {
                if let Some(to) = begun_by {
                    self.respond(to, Err(skill_error(&error)));
                }
                if matches!(self.phase, Phase::Stopping) {
                    self.phase = Phase::Stopped;
                }
            }
            Err(error) => {
                if let Some(to) = begun_by {
                    self.respond(to, Err(storage(&error)));
                }
                self.phase = Phase::Failed(error);
            }
        }
    }

    /// Tells how those who are asked can answer another time.
    fn tell_kept(&mut self) {
        let open = match self.questions.n_open() + self.below.n_open() {
            1 => "1 question stays open".to_owned(),
            n_open => format!("{n_open} questions stay open"),
        };
        let again = format!(
            "`podward serve MANIFEST --resume {}` asks again",
            self.session
        );
        self.publish(Event::Notice(Notice {
            message: open,
            help: Some(again),
        }));
    }
}

/// Why a skill does not start, or end.
fn skill_error(error: &SkillError) -> MethodError {
    let code = match error {
        SkillError::Unknown { .. } | SkillError::NotActive { .. } => MethodErrorCode::UnknownSkill,
        // Whatever else there is, it is there and does not start.
        _ => MethodErrorCode::SkillRefused,
    };
    let refused = MethodError::new(code, error.to_string());
    match crate::skills::help(error) {
        Some(help) => refused.with_help(help),
        None => refused,
    }
}

/// What cannot be written down did not happen.
pub(in crate::serve) fn storage(error: &dyn std::error::Error) -> MethodError {
    MethodError::new(MethodErrorCode::Storage, with_causes(error))
}
