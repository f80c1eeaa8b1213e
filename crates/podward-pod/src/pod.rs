//! One pod: what its manifest says, put together and run.

mod announcer;
mod begun;
mod children;
mod error;
mod hooks;
pub(crate) mod model;
mod opening;
mod protected;
mod scope;
mod settings;
mod start;
mod tools;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_model::Model;
use podward_protocol::{Envelope, ErrorCode, ErrorRaised, Event, Notice, SessionId, Status};
use podward_scope::Helper;
use podward_worker::{
    ActiveSkills, Decision, Hooks, Prompt, Proposer, SharedGate, TurnEnd, Worker, WorkerError,
    WorkerEvent,
};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

pub(crate) use announcer::Announced;
pub(crate) use begun::interrupt;
pub use error::PodError;
pub use model::{EmbeddedScript, declared_model};

use crate::children::FromBelow;
use crate::clock::{Clock, SystemClock};
use crate::error::with_causes;
use crate::grants::GrantStore;
use crate::hook::Asked;
use crate::key::ModelKey;
use crate::layers::Loaded;
use crate::narrator::Narrator;
use crate::places::Places;
use crate::serve::Auto;
use crate::skills;
use crate::workplace::Workplace;

/// Events that may wait for their reader.
const N_WAITING: usize = 256;

/// What a pod is made from.
pub struct PodRequest {
    /// The manifest.
    pub loaded: Loaded,
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// Which session.
    pub session: SessionChoice,
    /// The key of the model, which appears in nothing that is written down.
    pub key: Option<ModelKey>,
    /// The variables of podward itself: commands see those that the manifest lets through.
    pub variables: Vec<(OsString, OsString)>,
    /// Hooks of the program around the pod: they come after those that the manifest declares.
    pub hooks: Hooks,
    /// What confines commands.
    pub helper: Helper,
    /// What starts children: a program whose argument `child` is podward's; `None`: it starts none.
    pub child_program: Option<PathBuf>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// Which session a pod works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new one.
    New,
    /// One of earlier, by the front of its id.
    Resume(String),
    /// That of a child, whose id the pod above has chosen: a new one, or the same of earlier.
    OfChild(SessionId),
}

impl PodRequest {
    /// A request for a new session, with this process's variables, no hooks and the machine's
    /// clock; this program is the helper, so its `main` begins with
    /// [`podward_scope::confine_main`].
    #[must_use]
    pub fn new(loaded: Loaded, model: Arc<dyn Model>) -> Self {
        Self {
            loaded,
            model,
            session: SessionChoice::New,
            key: None,
            variables: std::env::vars_os().collect(),
            hooks: Hooks::new(),
            helper: Helper::this_program(),
            child_program: None,
            clock: Arc::new(SystemClock),
        }
    }
}

/// A pod that is ready to work.
pub struct Pod {
    worker: Worker,
    /// What the worker tells.
    told: mpsc::Receiver<WorkerEvent>,
    /// What people should hear of what is kept for undo.
    kept_notices: mpsc::Receiver<String>,
    narrator: Narrator,
    /// What is still to be told of the start.
    opening: Vec<Event>,
    out: Out,
    /// What the worker asks, where somebody hears it.
    asked: mpsc::Receiver<Announced>,
    span: tracing::Span,
    session: SessionId,
    session_dir: PathBuf,
    workspace: PathBuf,
    /// Removed with the pod.
    _workplace: Workplace,
}

/// What a pod tells those who serve it.
#[derive(Debug)]
pub(crate) enum Told {
    /// Something happened.
    Event(Box<Event>),
    /// A question is open and on record.
    Asked(Announced),
    /// A decision is on record; its event.
    Decided(Arc<Decision>, Box<Event>),
}

/// Where a pod tells what happens.
enum Out {
    /// To whoever made it.
    Envelopes(mpsc::Sender<Envelope>),
    /// To the server around it.
    Served(mpsc::Sender<Told>),
}

/// A pod that is served, and what serves it.
pub(crate) struct Served {
    pub(crate) pod: Pod,
    pub(crate) told: mpsc::Receiver<Told>,
    pub(crate) parts: Parts,
}

/// What a server needs of a pod beside what it tells.
pub(crate) struct Parts {
    pub(crate) gate: SharedGate,
    pub(crate) proposer: Proposer,
    pub(crate) skills: ActiveSkills,
    /// `None`: the workspace has a name that cannot be written down.
    pub(crate) grants: Option<Arc<GrantStore>>,
    /// How many turns began in earlier runs of the session.
    pub(crate) n_turns: u64,
    /// Whether calls of an earlier run still wait for an answer.
    pub(crate) is_asking: bool,
    /// The programs that are told of questions.
    pub(crate) asked_hooks: Option<Asked>,
    /// What fails in them.
    pub(crate) notices: mpsc::Receiver<Notice>,
    /// What children tell.
    pub(crate) from_below: mpsc::Receiver<FromBelow>,
    /// Whether somebody is there who can answer what they ask.
    pub(crate) attended: watch::Sender<bool>,
}

impl Pod {
    /// Puts a pod together: nothing of it is left behind if that fails, except a session that was
    /// begun.
    ///
    /// The receiver gets what happens in [`Pod::run`]; somebody has to read it all the time, and a
    /// pod whose receiver is gone works on silently.
    ///
    /// # Errors
    /// The session cannot be found or written, the scope cannot be opened or enforced.
    pub fn start(
        places: &Places,
        request: PodRequest,
    ) -> Result<(Self, mpsc::Receiver<Envelope>), PodError> {
        let (out, receiver) = mpsc::channel(N_WAITING);
        let audience = start::Audience {
            out: Out::Envelopes(out),
            attendance: start::Attendance::Nobody,
            auto: Auto::Off,
        };
        let (pod, _) = start::start(places, request, audience)?;
        Ok((pod, receiver))
    }

    /// The same for a server: its questions are left to that.
    pub(crate) fn serve(
        places: &Places,
        request: PodRequest,
        auto: Auto,
    ) -> Result<Served, PodError> {
        let (out, told) = mpsc::channel(N_WAITING);
        let audience = start::Audience {
            out: Out::Served(out),
            attendance: start::Attendance::Server,
            auto,
        };
        let (pod, parts) = start::start(places, request, audience)?;
        Ok(Served { pod, told, parts })
    }

    /// The session's id.
    #[must_use]
    pub const fn session(&self) -> &SessionId {
        &self.session
    }

    /// The directory of the session's files.
    #[must_use]
    pub fn session_dir(&self) -> &Path {
        &self.session_dir
    }

    /// The directory the pod works in: the workspace, or its copy.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Works through a turn: from a prompt until the model has nothing more to do.
    ///
    /// When `cancel` is cancelled, running commands are killed, every call gets its result, and
    /// the turn ends. A prompt that begins with `/name` starts the skill of that name.
    ///
    /// # Errors
    /// There is no such skill, or it does not start: then nothing has happened. The session or the
    /// decision log cannot be written; nothing that is not on record happened.
    pub async fn run(
        &mut self,
        prompt: String,
        cancel: CancellationToken,
    ) -> Result<TurnEnd, PodError> {
        match skills::prompt(Some(prompt), None) {
            Ok(prompt) => self.work(prompt, cancel).await,
            Err(error) => Err(PodError::TwoSkills(error)),
        }
    }

    /// Goes on with a turn that was interrupted; ends at once if there is none.
    ///
    /// # Errors
    /// As for [`Pod::run`].
    pub async fn resume(&mut self, cancel: CancellationToken) -> Result<TurnEnd, PodError> {
        self.work(None, cancel).await
    }

    /// The active skills, for those who look at them and end them.
    #[must_use]
    pub fn skills(&self) -> ActiveSkills {
        self.worker.skills()
    }

    /// Works through a turn that begins with a prompt; `None`: with what the history ends in.
    pub(crate) async fn begin(
        &mut self,
        prompt: Option<Prompt>,
        cancel: CancellationToken,
    ) -> Result<TurnEnd, PodError> {
        self.work(prompt, cancel).await
    }

    /// Ends the skills that [`ActiveSkills::end`] has asked to end, between two turns.
    ///
    /// # Errors
    /// The session cannot be written.
    pub async fn end_skills(&mut self) -> Result<(), PodError> {
        let span = self.span.clone();
        async {
            self.tell_opening().await;
            let ended = CancellationToken::new();
            let ending = async {
                let _ended = ended.clone().drop_guard();
                self.worker.end_skills().await
            };
            let mut heard = Heard {
                told: &mut self.told,
                asked: &mut self.asked,
                notices: &mut self.kept_notices,
            };
            let telling = heard.tell(&mut self.narrator, &self.out, &ended);
            let (end, ()) = tokio::join!(ending, telling);
            if let Err(error) = &end {
                self.report(error).await;
            }
            end.map_err(PodError::Worker)
        }
        .instrument(span)
        .await
    }

    /// Tells what it is made of.
    pub(crate) async fn open(&mut self) {
        let span = self.span.clone();
        self.tell_opening().instrument(span).await;
    }

    /// Adds to what is told at the beginning.
    pub(crate) fn notice(&mut self, notice: Notice) {
        self.opening.push(Event::Notice(notice));
    }

    async fn tell_opening(&mut self) {
        for event in std::mem::take(&mut self.opening) {
            self.out.send(&mut self.narrator, event).await;
        }
    }

    async fn work(
        &mut self,
        prompt: Option<Prompt>,
        cancel: CancellationToken,
    ) -> Result<TurnEnd, PodError> {
        let span = self.span.clone();
        async {
            self.tell_opening().await;
            let ended = CancellationToken::new();
            let turn = async {
                // Also when the turn panics, the events stop being waited for.
                let _ended = ended.clone().drop_guard();
                match prompt {
                    Some(prompt) => self.worker.turn(prompt, cancel).await,
                    None => self.worker.resume(cancel).await,
                }
            };
            let mut heard = Heard {
                told: &mut self.told,
                asked: &mut self.asked,
                notices: &mut self.kept_notices,
            };
            let telling = heard.tell(&mut self.narrator, &self.out, &ended);
            let (end, ()) = tokio::join!(turn, telling);
            match end {
                // No turn has begun.
                Err(WorkerError::Skill(error)) => Err(PodError::Skill(error)),
                Err(error) => {
                    self.report(&error).await;
                    Err(PodError::Worker(error))
                }
                Ok(end) => Ok(end),
            }
        }
        .instrument(span)
        .await
    }

    async fn report(&mut self, error: &WorkerError) {
        let event = Event::Error(ErrorRaised {
            code: ErrorCode::Storage,
            message: with_causes(error),
            help: None,
        });
        self.out.send(&mut self.narrator, event).await;
        let idle = Event::Status(Status::Idle);
        self.out.send(&mut self.narrator, idle).await;
    }
}

/// Whoever tells something during a turn.
struct Heard<'p> {
    told: &'p mut mpsc::Receiver<WorkerEvent>,
    asked: &'p mut mpsc::Receiver<Announced>,
    notices: &'p mut mpsc::Receiver<String>,
}

impl Heard<'_> {
    /// Passes on what is told until the turn has ended and nothing is left.
    async fn tell(&mut self, narrator: &mut Narrator, out: &Out, ended: &CancellationToken) {
        loop {
            let event = tokio::select! {
                biased;
                Some(message) = self.notices.recv() => {
                    let notice = Notice { message, help: None };
                    out.send(narrator, Event::Notice(notice)).await;
                    continue;
                }
                Some(event) = self.told.recv() => Some(event),
                // Behind what the worker tells: it told of the call before it asked.
                Some(question) = self.asked.recv() => {
                    out.ask(question).await;
                    continue;
                }
                () = ended.cancelled() => self.told.try_recv().ok(),
            };
            let Some(event) = event else {
                // What is not told of is settled: the turn has ended.
                while self.asked.try_recv().is_ok() {}
                return;
            };
            let decision = match &event {
                WorkerEvent::CallDecided(decision) => Some(Arc::clone(decision)),
                // Only decisions are told as they are.
                _ => None,
            };
            let mut events = narrator.tell(event);
            // What was decided is told last.
            let verdict = decision.and_then(|decision| Some((decision, events.pop()?)));
            for event in events {
                out.send(narrator, event).await;
            }
            if let Some((decision, verdict)) = verdict {
                out.decide(narrator, decision, verdict).await;
            }
        }
    }
}

impl Out {
    /// Tells an event. A reader that is gone does not stop the work.
    async fn send(&self, narrator: &mut Narrator, event: Event) {
        match self {
            Self::Envelopes(out) => {
                let _ = out.send(narrator.envelope(event)).await;
            }
            Self::Served(out) => {
                let _ = out.send(Told::Event(Box::new(event))).await;
            }
        }
    }

    async fn ask(&self, question: Announced) {
        if let Self::Served(out) = self {
            let _ = out.send(Told::Asked(question)).await;
        }
    }

    async fn decide(&self, narrator: &mut Narrator, decision: Arc<Decision>, verdict: Event) {
        match self {
            Self::Envelopes(_) => self.send(narrator, verdict).await,
            Self::Served(out) => {
                let _ = out.send(Told::Decided(decision, Box::new(verdict))).await;
            }
        }
    }
}
