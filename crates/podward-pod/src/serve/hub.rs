//! The server's task: it alone owns what is known of clients and questions.

mod background;
pub(super) mod below;
mod clients;
mod explaining;
mod methods;
mod questions;
mod remembered;
mod replies;
pub(super) mod turns;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use podward_gate::Question;
use podward_protocol::{
    Envelope, ErrorCode, ErrorRaised, Event, MethodError, MethodErrorCode, Notice, Reply, Response,
    SessionId, encode_response,
};
use podward_scope::family;
use podward_worker::{ActiveSkills, Proposer, SharedGate};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use self::below::Below;
use self::explaining::{Explaining, explaining};
use self::remembered::{Deeds, deeds};
use self::turns::{Job, Turn};
use super::Auto;
use super::clients::{Clients, Frame};
use super::connection::{self, ClientNumber, Door};
use super::local::{LocalCall, LocalEvents};
use super::outbox::{MAX_BYTES, MAX_LINES, Outbox};
use super::pending::{PendingReplies, ReplyTo};
use super::presence::{Moment, Presence, Unattended};
use super::questions::{Asker, Number, Questions};
use super::run_dir::Claim;
use super::snapshot::Snapshot;
use super::texts::Texts;
use crate::children::FromBelow;
use crate::clock::Clock;
use crate::grants::GrantStore;
use crate::hook::Asked;
use crate::pod::{Parts, PodError, Told};

/// How often clients are asked whether they are there, unless something else is said.
const PING: Duration = Duration::from_secs(10);

/// How long clients may take to read what is left when the pod stops.
const FAREWELL: Duration = Duration::from_secs(2);

/// What clients say that may wait to be heard.
const N_HEARD: usize = 256;

/// How long nobody is let in after that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// All that the server knows.
pub(super) struct Hub {
    pub(super) session: SessionId,
    pub(super) session_dir: PathBuf,
    pub(super) gate: SharedGate,
    pub(super) proposer: Proposer,
    pub(super) skills: ActiveSkills,
    pub(super) grants: Option<Arc<GrantStore>>,
    /// What is being done about them.
    pub(super) deeds: Deeds,
    pub(super) is_looking_at_grants: bool,
    pub(super) explaining: Explaining,
    pub(super) asker: Arc<Asker>,
    pub(super) auto: Auto,
    pub(super) clock: Arc<dyn Clock>,
    /// When the steady clock began.
    pub(super) begun: Instant,
    pub(super) presence: Presence<Number>,
    pub(super) questions: Questions,
    /// How often the grants had changed when what the questions ask about was last looked at.
    pub(super) n_grant_changes: u64,
    /// Whether grants that were given elsewhere may cover open questions, all of them.
    pub(super) may_be_covered: bool,
    pub(super) pending: PendingReplies,
    pub(super) clients: Clients,
    /// The children that run, and what they ask.
    pub(super) below: Below,
    /// The client that is the pod above: when it is gone, the process kills itself.
    pub(super) above: Option<ClientNumber>,
    pub(super) snapshot: Snapshot,
    /// What snapshots say of questions.
    pub(super) texts: Arc<Texts>,
    pub(super) local: LocalEvents,
    /// How often clients are asked whether they are there.
    pub(super) ping: Duration,
    /// Whether the client in this process could answer, and takes nothing any more.
    pub(super) is_local_away: bool,
    /// The programs that are told of questions.
    pub(super) asked_hooks: Option<Asked>,
    pub(super) jobs: mpsc::Sender<Job>,
    pub(super) turn: Turn,
    /// Who asked for the end of a skill while no turn ran, and has no answer yet.
    pub(super) ending: VecDeque<Option<ReplyTo>>,
    /// That the turn has ended, and what comes after it: told when the next one may begin.
    pub(super) last_words: Vec<Event>,
    /// The number of the last turn.
    pub(super) last_turn: u64,
    pub(super) next_seq: u64,
    pub(super) phase: Phase,
    /// Until when nobody is let in, because that failed.
    pub(super) door_opens_at: Option<Instant>,
}

/// How far a server has come.
#[derive(Debug)]
pub(super) enum Phase {
    Open,
    /// It waits for the turn to end.
    Stopping,
    Stopped,
    /// The same, and its questions stay open for the next pod of its session.
    Kept,
    /// The pod cannot go on.
    Failed(PodError),
}

/// What the server hears.
pub(super) struct Inputs {
    pub(super) listener: Option<UnixListener>,
    pub(super) calls: mpsc::Receiver<LocalCall>,
    pub(super) told: mpsc::Receiver<Told>,
    /// What children tell.
    pub(super) below: mpsc::Receiver<FromBelow>,
    /// What fails in hooks that are told of questions.
    pub(super) notices: mpsc::Receiver<Notice>,
    /// The connection to the pod above.
    pub(super) above: Option<UnixStream>,
    pub(super) ended: mpsc::Receiver<turns::Worked>,
    pub(super) stop: CancellationToken,
}

/// Whether an event could be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fits {
    Yes,
    /// It is too long for a line.
    No,
}

/// What a hub is made from.
pub(super) struct Makings {
    pub(super) session: SessionId,
    pub(super) session_dir: PathBuf,
    pub(super) parts: Parts,
    pub(super) asker: Asker,
    pub(super) auto: Auto,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) unattended: Unattended,
    pub(super) local: mpsc::Sender<Envelope>,
    pub(super) jobs: mpsc::Sender<Job>,
}

impl Hub {
    /// Nobody is there, and nothing has happened.
    pub(super) fn new(makings: Makings) -> Self {
        let parts = makings.parts;
        Self {
            session: makings.session,
            session_dir: makings.session_dir,
            gate: parts.gate,
            proposer: parts.proposer,
            skills: parts.skills,
            grants: parts.grants,
            deeds: deeds(),
            is_looking_at_grants: false,
            explaining: explaining(),
            asker: Arc::new(makings.asker),
            auto: makings.auto,
            clock: makings.clock,
            begun: Instant::now(),
            presence: Presence::new(makings.unattended),
            questions: Questions::default(),
            n_grant_changes: 0,
            may_be_covered: false,
            pending: PendingReplies::default(),
            clients: Clients::default(),
            below: Below::new(parts.attended),
            above: None,
            snapshot: Snapshot::new(),
            texts: Arc::default(),
            local: LocalEvents::new(makings.local),
            ping: PING,
            is_local_away: false,
            asked_hooks: parts.asked_hooks,
            jobs: makings.jobs,
            turn: Turn::Idle,
            ending: VecDeque::new(),
            last_words: Vec::new(),
            last_turn: parts.n_turns,
            next_seq: 0,
            phase: Phase::Open,
            door_opens_at: None,
        }
    }

    /// Serves until it is told to stop, or cannot go on.
    pub(super) async fn run(
        mut self,
        mut inputs: Inputs,
        mut claim: Option<Claim>,
    ) -> Result<(), PodError> {
        let (say, mut heard) = mpsc::channel(N_HEARD);
        let mut connections = JoinSet::new();
        self.let_in_above(inputs.above.take(), &mut connections, &say);
        let local = self.local.sender.clone();
        let mut adopted = family::Adopted::new();
        let mut pings = tokio::time::interval_at(Instant::now() + self.ping, self.ping);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while let Phase::Open | Phase::Stopping = self.phase {
            let is_open = matches!(self.phase, Phase::Open);
            let is_heard = self.local.waiting.is_empty() || self.is_ending();
            let due = self.next_due();
            let now = Instant::now();
            let pause = self.door_opens_at.filter(|at| *at > now);
            tokio::select! {
                () = inputs.stop.cancelled(), if is_open => self.stop(None),
                Some((number, what)) = heard.recv() => self.hear(number, what),
                Some(call) = inputs.calls.recv() => self.call(call),
                permit = local.reserve(), if !self.local.waiting.is_empty() => {
                    self.local.pass_on(permit.ok());
                }
                // Nothing more happens until the client in this process has heard what did; only the end of
                // a turn that was cancelled waits for nobody.
                Some(told) = inputs.told.recv(), if is_heard => self.take(told),
                Some(notice) = inputs.notices.recv() => {
                    self.publish(Event::Notice(notice));
                }
                Some(from) = inputs.below.recv(), if is_heard => self.take_from_below(from),
                passed = self.below.next() => self.passed(passed),
                Some(end) = inputs.ended.recv() => {
                    while let Ok(told) = inputs.told.try_recv() {
                        self.take(told);
                    }
                    self.worked(end);
                }
                accepted = accept(inputs.listener.as_ref()), if is_open && pause.is_none() => {
                    if let Some((stream, number, outbox)) = self.let_in(accepted) {
                        let since = family::now();
                        connections.spawn(
                            connection::serve(stream, number, Door::Socket(since), outbox, say.clone()));
                    }
                }
                (to, done) = self.deeds.next() => self.done(to, done),
                (to, told) = self.explaining.next() => self.explained(to, told),
                _ = pings.tick() => {
                    self.ping();
                    adopted.reap();
                }
                () = sleep_until(due) => {}
                () = sleep_until(pause), if pause.is_some() => {}
                Some(_) = connections.join_next() => {}
            }
            self.close_due();
            self.tell_below_who_is_there();
            if !matches!(self.phase, Phase::Open) {
                inputs.stop.cancel();
            }
        }
        // From now on nobody comes in, and the next pod finds no socket.
        if let (Phase::Kept, Some(claim)) = (&self.phase, &mut claim) {
            claim.leave_entry();
        }
        drop((inputs, claim));
        self.end(connections).await
    }

    /// Takes in the pod above, if there is one.
    fn let_in_above(
        &mut self,
        stream: Option<UnixStream>,
        connections: &mut JoinSet<()>,
        say: &mpsc::Sender<(ClientNumber, connection::Heard)>,
    ) {
        let above = stream.and_then(|stream| self.let_in(Ok(stream)));
        if let Some((stream, number, outbox)) = above {
            self.above = Some(number);
            let say = say.clone();
            connections.spawn(connection::serve(stream, number, Door::Above, outbox, say));
        }
    }

    /// Takes in a connection; where that failed, nobody is let in for a while, and whoever is in
    /// already does not wait for that.
    fn let_in(
        &mut self,
        accepted: std::io::Result<UnixStream>,
    ) -> Option<(UnixStream, ClientNumber, Outbox)> {
        match accepted {
            Ok(stream) => {
                let outbox = Outbox::new(MAX_LINES, MAX_BYTES);
                let number = self.clients.add(outbox.clone())?;
                Some((stream, number, outbox))
            }
            Err(error) => {
                tracing::warn!(%error, "nobody can be let in");
                self.door_opens_at = Instant::now().checked_add(ACCEPT_PAUSE);
                None
            }
        }
    }

    /// Tells everybody that nothing more comes.
    async fn end(mut self, mut connections: JoinSet<()>) -> Result<(), PodError> {
        self.below.give_up();
        self.end_deeds().await;
        self.fail_pending();
        let ending = std::mem::take(&mut self.ending).into_iter().flatten();
        for to in ending.chain(self.explaining.give_up()) {
            self.respond(to, Err(stopping()));
        }
        if let Some(hooks) = self.asked_hooks.take() {
            hooks.stop().await;
        }
        self.clients.close_all(&self.frame());
        self.local.flush().await;
        let farewell = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
            connections.shutdown().await;
        }
        match self.phase {
            Phase::Failed(error) => Err(error),
            Phase::Open | Phase::Stopping | Phase::Stopped | Phase::Kept => Ok(()),
        }
    }

    /// Tells an event to all that want it.
    pub(super) fn publish(&mut self, event: Event) -> Fits {
        self.publish_as(event, None)
    }

    /// Tells the verdict over a call that is asked about: later clients are told of it from the
    /// question, which is there anyway.
    pub(super) fn publish_asked(&mut self, verdict: Event, question: Question) -> Fits {
        self.publish_as(verdict, Some(question))
    }

    fn publish_as(&mut self, event: Event, asked: Option<Question>) -> Fits {
        let mut frame = self.frame();
        frame.seq = self.next_seq;
        let (line, event, fits) = match frame.line(&event) {
            Some(line) => (Some(line), event, Fits::Yes),
            None => {
                let event = too_long(&event);
                (frame.line(&event), event, Fits::No)
            }
        };
        self.next_seq += 1;
        let event = Arc::new(event);
        let Some(line) = line else {
            return fits;
        };
        match asked.filter(|_| fits == Fits::Yes) {
            Some(question) => self.snapshot.keep_asked(question, line.len()),
            None => self.snapshot.fold(&event, line.len()),
        }
        for number in self.clients.publish(event.name(), &line) {
            self.cut_off(number);
        }
        self.local.push(|| Envelope {
            time: frame.time,
            session: frame.session,
            seq: frame.seq,
            snapshot: false,
            event: Arc::unwrap_or_clone(event),
        });
        fits
    }

    /// What a line of this moment says beside its event.
    pub(super) fn frame(&self) -> Frame {
        Frame {
            time: self.clock.now(),
            session: self.session.clone(),
            seq: self.next_seq.saturating_sub(1),
        }
    }

    /// Answers a request.
    pub(super) fn respond(&mut self, to: ReplyTo, result: Result<Reply, MethodError>) {
        match to {
            ReplyTo::Local(reply) => {
                // Whoever asked need not wait.
                let _ = reply.send(result);
            }
            ReplyTo::Remote(number, id) => {
                let response = Response {
                    id: Some(id),
                    outcome: result.into(),
                };
                self.send_response(number, &response);
            }
        }
    }

    pub(super) fn send_response(&mut self, number: ClientNumber, response: &Response) {
        let Some(client) = self.clients.get(number) else {
            return;
        };
        let line = encode_response(response).or_else(|error| {
            // The answer is lost, the connection is not.
            encode_response(&Response {
                id: response.id,
                outcome: Err(MethodError::new(
                    MethodErrorCode::Internal,
                    format!("the answer cannot be sent: {error}"),
                ))
                .into(),
            })
        });
        let is_full = line.is_ok_and(|line| client.outbox.push_response(line.into()).is_err());
        if is_full {
            self.cut_off(number);
        }
    }

    pub(super) fn now(&self) -> Moment {
        Moment {
            steady: i64::try_from(self.begun.elapsed().as_millis()).unwrap_or(i64::MAX),
            wall: self.clock.now().unix_milliseconds(),
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let due = u64::try_from(self.presence.next_due()?).unwrap_or(0);
        self.begun.checked_add(Duration::from_millis(due))
    }
}

/// What whoever waits for something hears of a pod that ends.
fn stopping() -> MethodError {
    MethodError::new(MethodErrorCode::Stopping, "the pod stops")
}

/// What takes the place of an event that is too long for a line.
fn too_long(event: &Event) -> Event {
    Event::Error(ErrorRaised {
        code: ErrorCode::Internal,
        message: format!("the event `{}` is too long to be sent", event.name()),
        help: Some("the session on disk has it".into()),
    })
}

/// The next client of the same user.
async fn accept(listener: Option<&UnixListener>) -> std::io::Result<UnixStream> {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    loop {
        let (stream, _) = listener.accept().await?;
        let user = rustix::process::geteuid().as_raw();
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == user => return Ok(stream),
            Ok(peer) => tracing::warn!(uid = peer.uid(), "another user is not let in"),
            Err(error) => tracing::warn!(%error, "a client whose user is not known is not let in"),
        }
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
