//! The person at the terminal: questions to them, their lines, the answers they give.

use std::pin::Pin;

use podward_pod::with_causes;
use podward_protocol::{Event, Method, MethodError, MethodErrorCode, PermissionReply, Reply, Run};
use podward_view::{Question, by_text, error_text, outcome_text};

use crate::before::before;
use crate::connection::{CallError, Caller};
use crate::question::{Answering, Prompts, Replied, Step};
use crate::screen::Screen;
use crate::terminal::Terminal;
use crate::transcript::Transcript;

/// Said of what was typed too soon, below its echo.
const THROWN_AWAY: &str = "\nwhat was typed so soon is thrown away\n";

/// An answer or a prompt on its way.
type OnItsWay = Pin<Box<dyn Future<Output = Sent> + Send>>;

pub(super) struct AtTerminal {
    terminal: Terminal,
    answering: Answering,
    screen: Screen,
    to_send: Option<ToSend>,
    on_its_way: Option<OnItsWay>,
    /// The cursor stands behind a prompt.
    is_at_prompt: bool,
    /// It is waited until nothing is typed.
    is_pausing: bool,
    has_left: bool,
}

/// What the person gives the pod.
enum ToSend {
    Answer(PermissionReply),
    Prompt(String),
}

/// What was given, and what became of it.
enum Sent {
    Answer(Result<Reply, CallError>),
    Prompt(String, Result<Reply, CallError>),
}

impl AtTerminal {
    pub(super) fn new(terminal: Terminal, screen: Screen, prompts: Prompts) -> Self {
        let answering = Answering::new(screen.talk, terminal.size(), prompts);
        Self {
            terminal,
            answering,
            screen,
            to_send: None,
            on_its_way: None,
            is_at_prompt: false,
            is_pausing: false,
            has_left: false,
        }
    }

    /// Whether the person has left.
    pub(super) const fn has_left(&self) -> bool {
        self.has_left
    }

    /// Waits for what the person does, or for what becomes of their answer, and acts on it.
    ///
    /// Nothing is lost where the wait is given up.
    pub(super) async fn next(&mut self, caller: &Caller) {
        if let Some(to_send) = self.to_send.take() {
            let caller = caller.clone();
            self.on_its_way = Some(Box::pin(async move { send(&caller, to_send).await }));
        }
        if let Some(on_its_way) = &mut self.on_its_way {
            let sent = on_its_way.await;
            self.on_its_way = None;
            self.answering.resized(self.terminal.size());
            let steps = match sent {
                Sent::Answer(result) => self.answering.replied(replied(result)),
                Sent::Prompt(_, Ok(_)) => Vec::new(),
                Sent::Prompt(prompt, Err(why)) => {
                    self.answering.not_taken(&prompt, &with_causes(&why))
                }
            };
            self.take(steps);
        } else if self.is_pausing {
            let n_typed = self.terminal.quiet().await;
            self.is_pausing = false;
            self.answering.resized(self.terminal.size());
            if n_typed > 0 {
                self.screen.write_talk(THROWN_AWAY);
                self.answering.wrote(THROWN_AWAY);
            }
            let steps = self.answering.after_pause();
            self.take(steps);
        } else if self.answering.wants_line() {
            let typed = self.terminal.line().await;
            self.answering.resized(self.terminal.size());
            // The person's own line break ended the prompt's line.
            self.is_at_prompt = false;
            let steps = self.answering.typed(typed);
            self.take(steps);
        } else {
            std::future::pending().await
        }
    }

    /// Begins a new line, if the cursor stands behind a prompt: something else will be written.
    pub(super) fn make_room(&mut self) {
        if std::mem::take(&mut self.is_at_prompt) {
            self.screen.write_talk("\n");
        }
    }

    /// Something else was written below what is asked.
    pub(super) fn wrote(&mut self, text: &str) {
        self.answering.resized(self.terminal.size());
        self.answering.wrote(text);
    }

    /// Hears of an event that was written, if it was one to be.
    pub(super) fn hear(&mut self, event: &Event, transcript: &mut Transcript) {
        self.answering.resized(self.terminal.size());
        let steps = match event {
            Event::PermissionRequest(request) => {
                let number = transcript.number_of(request);
                let name = format!("#{number} {}", request.tool);
                let before = before(request);
                let request = request.clone();
                self.answering.asked(name, Question { request, before })
            }
            Event::PermissionSettled(settled) => {
                let by = by_text(&settled.by);
                self.answering.settled(&settled.id, &settled.outcome, &by)
            }
            Event::Status(status) => {
                self.answering.does(status);
                Vec::new()
            }
            _ => Vec::new(), // nothing to answer
        };
        self.take(steps);
        if !self.is_at_prompt && !self.is_pausing {
            let steps = self.answering.interrupted();
            self.take(steps);
        }
    }

    fn take(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Say(text) => {
                    self.is_at_prompt = !text.ends_with('\n') && !text.is_empty();
                    self.screen.write_talk(&text);
                }
                Step::Bell => self.screen.write_talk("\u{7}"),
                Step::Pause => self.is_pausing = true,
                Step::Reply { id, digest, answer } => {
                    self.to_send = Some(ToSend::Answer(PermissionReply {
                        id,
                        digest,
                        answer,
                        by: None,
                    }));
                }
                Step::Run(prompt) => self.to_send = Some(ToSend::Prompt(prompt)),
                Step::Leave => self.has_left = true,
            }
        }
    }
}

async fn send(caller: &Caller, to_send: ToSend) -> Sent {
    match to_send {
        ToSend::Answer(reply) => Sent::Answer(caller.call(Method::PermissionReply(reply)).await),
        ToSend::Prompt(prompt) => {
            let run = Run {
                prompt: Some(prompt.clone()),
                skill: None,
            };
            Sent::Prompt(prompt, caller.call(run.into()).await)
        }
    }
}

/// What became of an answer.
fn replied(result: Result<Reply, CallError>) -> Replied {
    match result {
        Ok(_) => Replied::Settled,
        Err(CallError::Lost(error)) => Replied::Gone(error.to_string()),
        Err(CallError::Refused(error)) => refused(&error),
    }
}

fn refused(error: &MethodError) -> Replied {
    let message = error_text(error);
    match &error.code {
        MethodErrorCode::AlreadySettled(settled) => {
            let (what, by) = (outcome_text(&settled.outcome), by_text(&settled.by));
            Replied::Gone(format!("it had been settled: {what} ({by})"))
        }
        // What it asks now was told before this.
        MethodErrorCode::DigestMismatch
        | MethodErrorCode::EditDenied(_)
        | MethodErrorCode::EditInvalid
        | MethodErrorCode::PatternRefused { .. }
        | MethodErrorCode::NotGrantable
        | MethodErrorCode::InvalidParams
        | MethodErrorCode::TooMany => Replied::StillOpen(message),
        MethodErrorCode::Malformed
        | MethodErrorCode::TooLong
        | MethodErrorCode::UnknownMethod
        | MethodErrorCode::HelloFirst
        | MethodErrorCode::Version { .. }
        | MethodErrorCode::NotAllowed
        | MethodErrorCode::Busy
        | MethodErrorCode::Idle
        | MethodErrorCode::NothingToResume
        | MethodErrorCode::UnknownRequest
        | MethodErrorCode::UnknownCall
        | MethodErrorCode::UnknownGrant
        | MethodErrorCode::UnknownSkill
        | MethodErrorCode::SkillRefused
        | MethodErrorCode::Storage
        | MethodErrorCode::Stopping
        | MethodErrorCode::Internal => Replied::Gone(message),
    }
}
