//! One pod: what its manifest says, put together and run.

mod error;
mod hooks;
pub(crate) mod model;
mod settings;
mod start;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_model::Model;
use podward_protocol::{Envelope, ErrorCode, ErrorRaised, Event, Notice, SessionId, Status};
use podward_scope::Helper;
use podward_worker::{Hooks, TurnEnd, Worker, WorkerError, WorkerEvent};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

pub use error::PodError;
pub use model::{EmbeddedScript, declared_model};

use crate::clock::{Clock, SystemClock};
use crate::key::ModelKey;
use crate::layers::Loaded;
use crate::narrator::Narrator;
use crate::places::Places;
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
    out: mpsc::Sender<Envelope>,
    span: tracing::Span,
    session: SessionId,
    session_dir: PathBuf,
    workspace: PathBuf,
    /// Removed with the pod.
    _workplace: Workplace,
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
        start::start(places, request)
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
    /// the turn ends.
    ///
    /// # Errors
    /// The session or the decision log cannot be written; nothing that is not on record happened.
    pub async fn run(
        &mut self,
        prompt: String,
        cancel: CancellationToken,
    ) -> Result<TurnEnd, PodError> {
        self.work(Some(prompt), cancel).await
    }

    /// Goes on with a turn that was interrupted; ends at once if there is none.
    ///
    /// # Errors
    /// As for [`Pod::run`].
    pub async fn resume(&mut self, cancel: CancellationToken) -> Result<TurnEnd, PodError> {
        self.work(None, cancel).await
    }

    async fn work(
        &mut self,
        prompt: Option<String>,
        cancel: CancellationToken,
    ) -> Result<TurnEnd, PodError> {
        let span = self.span.clone();
        async {
            for event in std::mem::take(&mut self.opening) {
                send(&self.out, &mut self.narrator, event).await;
            }
            let ended = CancellationToken::new();
            let turn = async {
                // Also when the turn panics, the events stop being waited for.
                let _ended = ended.clone().drop_guard();
                match prompt {
                    Some(prompt) => self.worker.turn(prompt, cancel).await,
                    None => self.worker.resume(cancel).await,
                }
            };
            let (told, notices) = (&mut self.told, &mut self.kept_notices);
            let telling = tell(told, notices, &mut self.narrator, &self.out, &ended);
            let (end, ()) = tokio::join!(turn, telling);
            if let Err(error) = &end {
                self.report(error).await;
            }
            end.map_err(PodError::Worker)
        }
        .instrument(span)
        .await
    }

    async fn report(&mut self, error: &WorkerError) {
        let mut message = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        let event = Event::Error(ErrorRaised {
            code: ErrorCode::Storage,
            message,
            help: None,
        });
        send(&self.out, &mut self.narrator, event).await;
        send(&self.out, &mut self.narrator, Event::Status(Status::Idle)).await;
    }
}

/// Passes on what the worker tells until the turn has ended and nothing is left.
async fn tell(
    told: &mut mpsc::Receiver<WorkerEvent>,
    notices: &mut mpsc::Receiver<String>,
    narrator: &mut Narrator,
    out: &mpsc::Sender<Envelope>,
    ended: &CancellationToken,
) {
    loop {
        let event = tokio::select! {
            biased;
            Some(message) = notices.recv() => {
                let notice = Notice { message, help: None };
                send(out, narrator, Event::Notice(notice)).await;
                continue;
            }
            event = told.recv() => event,
            () = ended.cancelled() => told.try_recv().ok(),
        };
        let Some(event) = event else { return };
        for event in narrator.tell(event) {
            send(out, narrator, event).await;
        }
    }
}

async fn send(out: &mpsc::Sender<Envelope>, narrator: &mut Narrator, event: Event) {
    // A reader that is gone does not stop the work.
    let _ = out.send(narrator.envelope(event)).await;
}
