//! A pod with clients: its socket, who is connected, what is asked and answered.

mod always;
mod clients;
mod connection;
mod hub;
mod lines;
mod local;
mod made_up;
mod outbox;
mod outcome;
mod pending;
mod presence;
mod questions;
mod run_dir;
mod snapshot;
mod texts;

use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use podward_manifest::{Approvals, AutoAnswers, OnAsk, WorkspaceMode};
use podward_policy::LayerKind;
use podward_protocol::{Notice, PROTOCOL_VERSION, PodEntry, SessionId};
use podward_scope::family;
use serde::{Deserialize, Serialize};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use local::{LocalCaller, LocalClient};
pub(crate) use run_dir::RunDir;
pub use run_dir::{RunDirError, RunDirProblem};

use self::connection::ClientNumber;
use self::hub::turns;
use self::hub::{Hub, Inputs, Makings};
use self::presence::Unattended;
use self::questions::Asker;
use self::run_dir::Claim;
use crate::children::ChildError;
use crate::clock::Clock;
use crate::places::Places;
use crate::pod::{Pod, PodError, PodRequest, Served, SessionChoice, interrupt};

/// The number of the client in this process.
const LOCAL: ClientNumber = 0;

/// Events that may wait for the client in this process, and calls of it.
const N_LOCAL: usize = 256;

/// What a server is made from.
pub struct ServeRequest {
    /// The pod.
    pub pod: PodRequest,
    /// Whether there has to be a socket.
    pub socket: Socket,
    /// Whether somebody is at the client in this process who can answer.
    pub attended: Attended,
    /// Whether questions are answered beforehand.
    pub auto: Auto,
}

/// Whether a pod has a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Socket {
    /// Without one it does not start.
    Required,
    /// Without one it says so and starts.
    Wanted,
    /// It has none.
    None,
}

/// Whether somebody is at the client in the pod's own process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attended {
    /// Somebody who can answer.
    Yes,
    /// Nobody.
    No,
}

/// Whether questions are answered beforehand, by who starts the pod: each with "once".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auto {
    /// They are asked.
    Off,
    /// Those are where all that is asked about is known before it runs.
    Known,
    /// All are.
    All,
}

/// A pod with clients, ready to work.
pub struct Server {
    pod: Pod,
    hub: Hub,
    inputs: Inputs,
    work: (mpsc::Receiver<turns::Job>, mpsc::Sender<turns::Worked>),
    claim: Option<Claim>,
    stop: CancellationToken,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServeEnd {
    /// It was told to stop.
    Stopped,
}

impl Server {
    /// Puts a pod and what serves it together.
    ///
    /// Has to be called inside a Tokio runtime. The client in this process gets every event from
    /// the first; somebody has to read them all the time.
    ///
    /// # Errors
    /// As for [`Pod::start`]; there is no socket and there has to be one; a layer forbids that
    /// questions are answered beforehand.
    pub fn start(places: &Places, request: ServeRequest) -> Result<(Self, LocalClient), PodError> {
        let approvals = request.pod.loaded.resolved.approvals.clone();
        if request.auto != Auto::Off && approvals.auto == AutoAnswers::Forbid {
            return Err(PodError::AutoForbidden);
        }
        family::adopt_orphans().map_err(PodError::Process)?;
        let mut entry = entry(&request.pod);
        let mut asker = asker(&request.pod);
        let clock = Arc::clone(&request.pod.clock);
        let starts_anew =
            request.socket == Socket::Required && request.pod.session == SessionChoice::New;
        let Served {
            mut pod,
            told,
            mut parts,
        } = Pod::serve(places, request.pod, request.auto)?;
        entry.session = pod.session().clone();
        asker.session = entry.session.clone();
        asker.cwd = pod.workspace().to_string_lossy().into_owned();
        if starts_anew {
            settle_abandoned(places, &entry, &clock);
        }
        let (claim, listener) = open_socket(places, request.socket, &entry, &mut pod)?.unzip();
        let (events_in, events) = mpsc::channel(N_LOCAL);
        let (calls_in, calls) = mpsc::channel(N_LOCAL);
        let (jobs, jobs_out) = mpsc::channel(turns::N_JOBS);
        let (ended_in, ended) = mpsc::channel(1);
        let stop = CancellationToken::new();
        let inputs = Inputs {
            listener,
            calls,
            told,
            notices: std::mem::replace(&mut parts.notices, mpsc::channel(1).1),
            above: None,
            below: std::mem::replace(&mut parts.from_below, mpsc::channel(1).1),
            ended,
            stop: stop.clone(),
        };
        let is_asking = parts.is_asking;
        let mut hub = Hub::new(Makings {
            session: entry.session,
            session_dir: pod.session_dir().to_owned(),
            parts,
            asker,
            auto: request.auto,
            clock,
            unattended: unattended(&approvals),
            local: events_in,
            jobs,
        });
        if request.attended == Attended::Yes {
            hub.presence.join(LOCAL);
        } else if is_asking {
            hub.presence.expect_somebody(hub.now());
        }
        if is_asking && request.socket == Socket::Required {
            // What is asked is asked again, under the same ids, before anybody says anything.
            hub.go_on();
        }
        let server = Self {
            pod,
            hub,
            inputs,
            work: (jobs_out, ended_in),
            claim,
            stop,
        };
        let caller = LocalCaller::new(calls_in);
        Ok((server, LocalClient { events, caller }))
    }

    /// Asks clients so often whether they are there, in place of every ten seconds. At least a millisecond.
    #[must_use]
    pub fn ping_every(mut self, interval: Duration) -> Self {
        self.hub.ping = interval.max(Duration::from_millis(1));
        self
    }

    /// Lets the pod above be a client, over the connection that
    /// [`Inheritance::connection`](crate::Inheritance::connection) gives: when that
    /// ends, the process kills itself, as nothing of a child may outlive the pod above. Has to be
    /// called inside a Tokio runtime.
    ///
    /// # Errors
    /// It is no connection.
    pub fn under(mut self, connection: StdStream) -> Result<Self, ChildError> {
        let stream = connection
            .set_nonblocking(true)
            .and_then(|()| UnixStream::from_std(connection))
            .map_err(|error| ChildError::io("talk to the pod above", error))?;
        self.inputs.above = Some(stream);
        Ok(self)
    }

    /// The session's id.
    #[must_use]
    pub const fn session(&self) -> &SessionId {
        self.pod.session()
    }

    /// The directory of the session's files.
    #[must_use]
    pub fn session_dir(&self) -> &Path {
        self.pod.session_dir()
    }

    /// The path of the socket, if there is one.
    #[must_use]
    pub fn socket(&self) -> Option<PathBuf> {
        self.claim.as_ref().map(Claim::socket)
    }

    /// Stops the server when it is cancelled, as the method `stop` does; whoever stops it, it is cancelled
    /// then.
    #[must_use]
    pub fn stop_token(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Serves until it is told to stop.
    ///
    /// # Errors
    /// The session, or the decision log, cannot be written; nothing that is not on record
    /// happened.
    pub async fn run(self) -> Result<ServeEnd, PodError> {
        let (jobs, ended) = self.work;
        // The socket is removed as soon as nobody listens, before clients hear that.
        let serving = self.hub.run(self.inputs, self.claim);
        let (served, ()) = tokio::join!(serving, turns::work(self.pod, jobs, ended));
        served.map(|()| ServeEnd::Stopped)
    }
}

/// What the pod writes about itself; its session is known later.
fn entry(request: &PodRequest) -> PodEntry {
    let loaded = &request.loaded;
    PodEntry {
        format: podward_protocol::POD_ENTRY_FORMAT,
        pod: loaded.resolved.pod.name.as_str().to_owned(),
        session: SessionId::from_bits(0),
        pid: std::process::id(),
        started_at: request.clock.now(),
        workspace: loaded.workspace.to_string_lossy().into_owned(),
        manifest: manifest(request),
        protocol: PROTOCOL_VERSION,
    }
}

/// What all questions of the pod have in common; its session and where it works are known later.
fn asker(request: &PodRequest) -> Asker {
    let resolved = &request.loaded.resolved;
    Asker {
        session: SessionId::from_bits(0),
        pod: resolved.pod.name.as_str().to_owned(),
        path: request.loaded.above().to_vec(),
        cwd: String::new(),
        copy_of: match resolved.pod.workspace.mode {
            WorkspaceMode::Direct => None,
            WorkspaceMode::Copy => Some(request.loaded.workspace.to_string_lossy().into_owned()),
        },
        policy_digest: request.loaded.policy_digest(),
        programs: resolved.programs.clone(),
        timeout: resolved.approvals.ask_timeout,
    }
}

const fn unattended(approvals: &Approvals) -> Unattended {
    match approvals.on_ask {
        OnAsk::Wait => Unattended::Wait,
        OnAsk::Refuse | OnAsk::Error => Unattended::Refuse {
            grace: approvals.client_grace,
        },
    }
}

/// Opens the socket; without one, where it need not be, people hear of it.
fn open_socket(
    places: &Places,
    socket: Socket,
    entry: &PodEntry,
    pod: &mut Pod,
) -> Result<Option<(Claim, UnixListener)>, PodError> {
    if socket == Socket::None {
        return Ok(None);
    }
    let opened = RunDir::open(places)
        .and_then(|run_dir| run_dir.claim(entry))
        .and_then(|(claim, listener)| {
            let listener = UnixListener::from_std(listener)
                .map_err(|error| RunDirError::io("listen on", &claim.socket(), error))?;
            Ok((claim, listener))
        });
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if socket == Socket::Required => Err(PodError::Socket(error)),
        Err(error) => {
            pod.notice(Notice {
                message: format!("nobody can connect to this pod: {error}"),
                help: error.help(),
            });
            Ok(None)
        }
    }
}

/// Settles the questions of pods of the same manifest that died and were not gone on with.
fn settle_abandoned(places: &Places, own: &PodEntry, clock: &Arc<dyn Clock>) {
    let Some(manifest) = &own.manifest else {
        return;
    };
    let stale = RunDir::open(places).and_then(|run_dir| run_dir.remove_stale(manifest));
    for entry in stale.unwrap_or_default() {
        if entry.session == own.session {
            continue;
        }
        match interrupt(places, entry.session.clone(), Arc::clone(clock)) {
            Ok(0) => {}
            Ok(n) => tracing::info!(session = %entry.session, n, "calls of a pod that died end"),
            // Whoever goes on with it does the same.
            Err(error) => tracing::warn!(session = %entry.session, %error, "not settled"),
        }
    }
}

/// The file of the manifest, if it was read from one.
fn manifest(request: &PodRequest) -> Option<String> {
    let layers = request.loaded.layers.iter();
    let mut manifests = layers.filter(|layer| layer.kind == LayerKind::Manifest);
    let path = manifests.next_back()?.path.as_ref()?;
    let path = path.canonicalize().unwrap_or_else(|_| path.clone());
    Some(path.to_string_lossy().into_owned())
}
