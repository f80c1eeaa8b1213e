//! A follower that runs beside what it follows.

use std::path::Path;
use std::time::Duration;

use podward_client::Client;
use podward_protocol::{Envelope, TurnEndReason, TurnEnded};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::arguments::Format;
use crate::connection::{Caller, CanApprove, Events, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::follow::{Follow, Lists, Written, follow};
use crate::question::Prompts;
use crate::screen::Screen;
use crate::signals::{self, Received, Watch};
use crate::terminal::Terminal;
use crate::transcript::Asked;

/// Turns that may end before anybody looks.
const N_ENDS: usize = 64;

/// How long whoever reads what is written may take nothing, once the end was asked for by a signal.
/// Without a signal they may take their time: nothing is lost behind a pager.
const STUCK: Duration = Duration::from_secs(5);

/// A follower at work.
pub(super) struct Following {
    task: JoinHandle<Written>,
    ends: mpsc::Receiver<TurnEnded>,
    cancel: CancellationToken,
    /// Cancelled when the reader took nothing for too long: the follower never comes back.
    given_up: CancellationToken,
    /// Passes on the events of a pod in this process.
    _relay: Option<AbortOnDropHandle<()>>,
}

/// A pod behind a socket that is followed in lines; a person at the terminal is asked in place.
pub(super) struct Joined {
    pub(super) client: Client,
    pub(super) following: Following,
    /// Cancelled by a signal, and where nothing more can be written.
    pub(super) cancel: CancellationToken,
    done: CancellationToken,
    watch: Watch,
}

impl Joined {
    /// Connects under a name and begins to follow.
    ///
    /// # Errors
    /// Nobody listens there, or signals cannot be waited for.
    pub(super) async fn join(
        socket: &Path,
        name: &str,
        format: Format,
        prompts: Prompts,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let terminal = Terminal::of_a_person();
        let can_approve = match &terminal {
            Some(_) => CanApprove::Yes,
            None => CanApprove::No,
        };
        let (client, events) = connect(socket, name, can_approve, &[]).await?;
        let cancel = CancellationToken::new();
        let watch = signals::watch(cancel.clone()).map_err(Failure::Runtime)?;
        let (ended, ends) = ends();
        let done = CancellationToken::new();
        let follow = Follow {
            events: Events::There(events),
            caller: Caller::There(client.clone()),
            format,
            screen,
            terminal,
            prompts,
            whom: Asked::Clients,
            lists: Lists::Nothing,
            cancel: cancel.clone(),
            done: done.clone(),
            ended,
        };
        Ok(Self {
            client,
            following: Following::start(follow, ends),
            cancel,
            done,
            watch,
        })
    }

    /// Writes what is left, and says for whom, and which signal came. Ends the process where a thread of it
    /// never ends.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) async fn leave(self) -> Result<(Reader, Option<Received>), Failure> {
        self.done.cancel();
        let reader = self.following.finish().await;
        let received = self.watch.stop().await;
        let reader = reader?;
        if let Reader::Stuck = reader {
            signals::end(received);
        }
        Ok((reader, received))
    }
}

/// What hears of turns that end.
pub(super) fn ends() -> (mpsc::Sender<TurnEnded>, mpsc::Receiver<TurnEnded>) {
    mpsc::channel(N_ENDS)
}

impl Following {
    /// Begins to follow; what is written may keep its thread waiting.
    pub(super) fn start(mut what: Follow, ends: mpsc::Receiver<TurnEnded>) -> Self {
        let cancel = what.cancel.clone();
        let given_up = CancellationToken::new();
        let (events, relay) = match what.events {
            Events::Here(events) => {
                let (passed_on, taken) = mpsc::channel(1);
                let (cancel, given_up) = (cancel.clone(), given_up.clone());
                let relay = async move {
                    if let Passed::NotTaken = pass_on(events, passed_on, &cancel).await {
                        given_up.cancel();
                    }
                };
                let relay = tokio::spawn(relay);
                (Events::Here(taken), Some(AbortOnDropHandle::new(relay)))
            }
            Events::There(events) => (Events::There(events), None),
        };
        what.events = events;
        let handle = tokio::runtime::Handle::current();
        let task = tokio::task::spawn_blocking(move || handle.block_on(follow(what)));
        Self {
            task,
            ends,
            cancel,
            given_up,
            _relay: relay,
        }
    }

    /// Waits for the end of a turn; `None` if there is nothing to follow any more, or nobody reads it.
    pub(super) async fn end_of(&mut self, turn: u64) -> Option<TurnEnded> {
        loop {
            let end = tokio::select! {
                biased;
                end = self.ends.recv() => end?,
                () = self.given_up.cancelled() => return None,
            };
            if end.turn == turn {
                return Some(end);
            }
        }
    }

    /// Waits until there is nothing to follow any more.
    pub(super) async fn over(&mut self) {
        while self.ends.recv().await.is_some() {}
    }

    /// Waits until everything is written, or nobody takes it although the end was asked for.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) async fn finish(self) -> Result<Reader, Failure> {
        let written = tokio::select! {
            biased;
            written = self.task => written.map_err(|_| Failure::Writer)?,
            () = self.given_up.cancelled() => return Ok(Reader::Stuck),
            () = stuck(&self.cancel) => return Ok(Reader::Stuck),
        };
        match written {
            Written::All => Ok(Reader::There),
            Written::ReaderGone => Ok(Reader::Gone),
            Written::Failed(error) => Err(Failure::Stdout(error)),
            Written::Lost(ending) => Ok(Reader::Cut(ending)),
        }
    }
}

/// What became of the events that were to be passed on.
enum Passed {
    /// There are no more, or nobody wants them.
    All,
    /// The end was asked for, and then one was not taken for too long.
    NotTaken,
}

/// Passes on what a pod in this process tells, which waits until it is taken. Once the end was asked
/// for, a reader that takes nothing holds nothing up: the pod tells nobody any more.
async fn pass_on(
    mut events: mpsc::Receiver<Envelope>,
    passed_on: mpsc::Sender<Envelope>,
    cancel: &CancellationToken,
) -> Passed {
    loop {
        // Room comes first: an event that nothing follows is not taken unless what was before it is.
        let room = tokio::select! {
            biased;
            room = passed_on.reserve() => room,
            () = stuck(cancel) => return Passed::NotTaken,
        };
        let (Ok(room), Some(envelope)) = (room, events.recv().await) else {
            return Passed::All;
        };
        room.send(envelope);
    }
}

/// Waits until the end was asked for, and so long from now or then.
async fn stuck(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(STUCK).await;
}

/// Whether anybody still read standard output at the end.
#[derive(Debug)]
pub(super) enum Reader {
    There,
    Gone,
    /// They take nothing, and the end was asked for: the thread that writes never ends.
    Stuck,
    /// The connection was lost before.
    Cut(podward_client::Ending),
}

/// What the exit code says about a turn.
pub(super) fn exit(end: &TurnEnded, received: Option<Received>) -> Exit {
    match (&end.reason, received) {
        (TurnEndReason::Cancelled, Some(received)) => received.exit(),
        (TurnEndReason::Done, _) if end.n_refused + end.children.n_refused == 0 => Exit::Done,
        (TurnEndReason::Done, _) => Exit::Refusals,
        (
            TurnEndReason::Cancelled
            | TurnEndReason::Limit { .. }
            | TurnEndReason::Aborted { .. }
            | TurnEndReason::Failed,
            _,
        ) => Exit::Failed,
    }
}
