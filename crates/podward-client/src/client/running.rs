//! A connection while it is there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use podward_protocol::{
    Closing, DecodeError, Envelope, Event, Line, MethodId, MethodName, Pong, RawReply, Reply,
    decode_line,
};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use crate::backlog::{Filler, Put};
use crate::client::encode;
use crate::error::{ClientError, Ending};
use crate::lines::next_line;

/// How many requests may be without a response; further ones wait for their turn.
const MAX_IN_FLIGHT: usize = 64;

/// How long the pod's last words are waited for when it reads nothing any more.
const LAST_WORDS_TIME: Duration = Duration::from_secs(5);

pub(super) type Answer = Result<Reply, ClientError>;

/// What was asked and not answered yet.
#[derive(Debug)]
pub(super) struct Calls {
    next_id: AtomicU64,
    turns: Arc<Semaphore>,
    outgoing: mpsc::Sender<String>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: BTreeMap<MethodId, Waiting>,
    /// How the connection ended.
    ending: Option<Ending>,
    /// Whether events were lost.
    fell_behind: bool,
}

/// Who waits for a response.
#[derive(Debug)]
struct Waiting {
    method: MethodName,
    answer: oneshot::Sender<Answer>,
    /// Given back with the response, also where nobody waits for it any more.
    _turn: OwnedSemaphorePermit,
}

impl Calls {
    /// Nothing is asked yet; the lines are for the pod.
    pub(super) fn new() -> (Arc<Self>, mpsc::Receiver<String>) {
        let (outgoing, lines) = mpsc::channel(MAX_IN_FLIGHT);
        let calls = Self {
            // 0 was `hello`.
            next_id: AtomicU64::new(1),
            turns: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            outgoing,
            state: Mutex::default(),
        };
        (Arc::new(calls), lines)
    }

    /// A number that no other request of the connection has.
    pub(super) fn next_id(&self) -> MethodId {
        MethodId(self.next_id.fetch_add(1, Ordering::Relaxed))
    }

    /// Sends the line of a request, and returns where its answer comes.
    pub(super) async fn send(
        &self,
        id: MethodId,
        method: MethodName,
        line: String,
    ) -> Result<oneshot::Receiver<Answer>, ClientError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(|_| ClientError::Over(self.ending()))?;
        let (answer, answered) = oneshot::channel();
        {
            let mut state = self.state();
            if let Some(ending) = &state.ending {
                return Err(ClientError::Over(ending.clone()));
            }
            let waiting = Waiting {
                method,
                answer,
                _turn: turn,
            };
            state.waiting.insert(id, waiting);
        }
        // Fails only at the end of the connection, which answers all that wait.
        let _ = self.outgoing.send(line).await;
        Ok(answered)
    }

    /// How the connection ended.
    pub(super) fn ending(&self) -> Ending {
        self.state().ending.clone().unwrap_or(Ending::Closed)
    }

    /// Why no more events come.
    pub(super) fn events_ending(&self) -> Ending {
        if self.state().fell_behind {
            Ending::FellBehind
        } else {
            self.ending()
        }
    }

    /// Whether the connection has ended.
    pub(super) fn is_over(&self) -> bool {
        self.state().ending.is_some()
    }

    /// Hands a response to whoever waits for it; one that nobody waits for is that to a pong.
    fn answer(&self, id: Option<MethodId>, result: Result<RawReply, ClientError>) {
        let waiting = id.and_then(|id| self.state().waiting.remove(&id));
        if let Some(waiting) = waiting {
            let answer = result.and_then(|reply| {
                let read = reply.read(waiting.method);
                read.map_err(|error| ClientError::Nonsense(error.into()))
            });
            // Whoever asked may have given up.
            let _ = waiting.answer.send(answer);
        }
    }

    fn end(&self, ending: &Ending) {
        let waiting = {
            let mut state = self.state();
            state.ending = Some(ending.clone());
            std::mem::take(&mut state.waiting)
        };
        self.turns.close();
        for waiting in waiting.into_values() {
            let _ = waiting.answer.send(Err(ClientError::Over(ending.clone())));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads and writes until the connection is over, and tells all that wait.
pub(super) async fn serve(
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    calls: Arc<Calls>,
    lines: mpsc::Receiver<String>,
    mut filler: Filler,
    pinged: watch::Receiver<Option<u64>>,
) {
    let ending = tokio::select! {
        ending = read(reader, &calls, &mut filler) => ending,
        ending = write(writer, &calls, lines, pinged) => ending,
    };
    calls.end(&ending);
    // Only now, so that whoever sees the last event can see why it is.
    drop(filler);
}

async fn read(mut reader: BufReader<OwnedReadHalf>, calls: &Calls, filler: &mut Filler) -> Ending {
    let mut told: Option<Closing> = None;
    loop {
        let line = match next_line(&mut reader).await {
            Ok(line) => line,
            Err(ending) => return told.map_or(ending, Ending::Told),
        };
        match decode_line(&line) {
            Ok(Line::Response(response)) => {
                calls.answer(response.id, response.result.map_err(ClientError::Refused));
            }
            Err(DecodeError::UnknownErrorCode { id, code, message }) => {
                calls.answer(id, Err(ClientError::UnknownCode { code, message }));
            }
            Ok(Line::Event(Envelope {
                event: Event::Ping(ping),
                ..
            })) => {
                if filler.put_ping(ping.n, line.len()) == Put::Overflow {
                    calls.state().fell_behind = true;
                    filler.close();
                }
            }
            Ok(Line::Event(envelope)) => {
                if let Event::Closing(closing) = &envelope.event {
                    told = Some(closing.clone());
                }
                if filler.put(envelope, line.len()) == Put::Overflow {
                    calls.state().fell_behind = true;
                    filler.close();
                }
            }
            // Of a later version: the pod may say more than is understood.
            Err(DecodeError::UnknownEvent { .. }) => {}
            Err(error) => return Ending::BadLine(Arc::new(error)),
        }
    }
}

async fn write(
    mut writer: OwnedWriteHalf,
    calls: &Calls,
    mut lines: mpsc::Receiver<String>,
    mut pinged: watch::Receiver<Option<u64>>,
) -> Ending {
    let error = loop {
        let line = tokio::select! {
            // The pod waits for it.
            biased;
            Ok(()) = pinged.changed() => pong(calls, &mut pinged),
            Some(line) = lines.recv() => Some(line),
            // Both fail only when the connection is over.
            else => return Ending::Closed,
        };
        let Some(line) = line else { continue };
        if let Err(error) = writer.write_all(line.as_bytes()).await {
            break error;
        }
    };
    // The reader ends the connection once it has read the pod's last words.
    tokio::time::sleep(LAST_WORDS_TIME).await;
    Ending::Failed(Arc::new(error))
}

/// The line that answers the latest ping.
fn pong(calls: &Calls, pinged: &mut watch::Receiver<Option<u64>>) -> Option<String> {
    let n = (*pinged.borrow_and_update())?;
    encode(calls.next_id(), Pong { n }.into()).ok()
}
