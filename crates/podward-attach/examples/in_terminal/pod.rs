//! A pod that is none: it tells what it is told to.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use podward_protocol::{
    CallId, Envelope, Event, MethodId, PROTOCOL_VERSION, PodEntry, Reply, Response,
    ResponseOutcome, SessionId, SnapshotEnd, SnapshotStarted, Status, TextDelta, Time,
    ToolCallArguments, ToolCallFinished, ToolOutcome, Welcome, encode, encode_response,
};
use serde_json::{Value, json};

use super::Outcome;

const SESSION: &str = "01JDXW8Z4M9V7Q3T5R6S8N0PAB";

/// How often events are told.
const BEAT: Duration = Duration::from_millis(10);

/// What the pod shall tell.
pub(crate) enum Tell {
    /// So many events a second from now on.
    Rate(u64),
    /// So many as fast as they are taken.
    Burst(u64),
    /// This text.
    Text(String),
    Stop,
}

pub(crate) struct Pod {
    tell: Sender<Tell>,
    thread: JoinHandle<()>,
}

impl Pod {
    /// Listens where the program looks for pods.
    pub(crate) fn serve(root: &Path) -> Outcome<Self> {
        let directory = root.join("podward");
        if !directory.exists() {
            std::fs::DirBuilder::new().mode(0o700).create(&directory)?;
        }
        let session = SessionId::new(SESSION)?;
        let socket = directory.join(format!("{SESSION}.sock"));
        // That of an earlier one.
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket)?;
        let entry = PodEntry {
            format: 1,
            pod: "busy".to_owned(),
            session: session.clone(),
            pid: std::process::id(),
            started_at: Time::UNIX_EPOCH,
            workspace: "/work".to_owned(),
            manifest: None,
            protocol: PROTOCOL_VERSION,
        };
        let file = directory.join(format!("{SESSION}.json"));
        std::fs::write(file, serde_json::to_string(&entry)?)?;
        let (tell, told) = channel();
        let thread = spawn(move || {
            // Who only looks whether somebody listens says nothing.
            let client = listener
                .incoming()
                .flatten()
                .find_map(|stream| welcome(stream, &session).ok());
            if let Some(client) = client {
                // The client is gone: what it was told is measured.
                let _ = talk(client, session, &told);
            }
        });
        Ok(Self { tell, thread })
    }

    pub(crate) fn tell(&self, what: Tell) -> Outcome {
        self.tell
            .send(what)
            .map_err(|_| "the client is gone".into())
    }

    pub(crate) fn stop(self) -> Outcome {
        self.tell(Tell::Stop)?;
        self.thread.join().map_err(|_| "the pod broke down".into())
    }
}

/// Answers the first request.
fn welcome(stream: UnixStream, session: &SessionId) -> Outcome<UnixStream> {
    let mut line = String::new();
    let mut reader = BufReader::new(stream.try_clone()?);
    reader.read_line(&mut line)?;
    let request: Value = serde_json::from_str(&line)?;
    let welcome = Welcome {
        protocol: PROTOCOL_VERSION,
        version: "0.1.0".to_owned(),
        pod: "busy".to_owned(),
        path: Vec::new(),
        session: session.clone(),
        client: 1,
        can_approve: true,
        ping_interval_ms: 10_000,
        max_request_bytes: 1 << 20,
    };
    let response = Response {
        id: request.get("id").and_then(Value::as_u64).map(MethodId),
        outcome: ResponseOutcome::Result(Reply::Hello(welcome)),
    };
    let mut client = stream;
    writeln!(client, "{}", encode_response(&response)?)?;
    // What else it says is taken and passed over.
    spawn(move || for _ in reader.lines().map_while(Result::ok) {});
    Ok(client)
}

fn talk(mut client: UnixStream, session: SessionId, told: &Receiver<Tell>) -> Outcome {
    let mut n_told = 0;
    let mut say = |event: Event, snapshot: bool| -> Outcome {
        n_told += 1;
        let envelope = Envelope {
            time: Time::UNIX_EPOCH,
            session: session.clone(),
            seq: n_told,
            snapshot,
            event,
        };
        writeln!(client, "{}", encode(&envelope)?)?;
        Ok(())
    };
    say(Event::SnapshotStarted(SnapshotStarted {}), true)?;
    say(Event::Status(Status::Idle), true)?;
    say(Event::SnapshotEnd(SnapshotEnd { seq: 3 }), true)?;
    let (mut per_beat, mut n) = (0, 0);
    loop {
        let heard = match per_beat {
            0 => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
            _ => told.recv_timeout(BEAT),
        };
        let n_now = match heard {
            Ok(Tell::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(Tell::Rate(rate)) => {
                per_beat = rate / 100;
                0
            }
            Ok(Tell::Burst(n_events)) => n_events,
            Ok(Tell::Text(text)) => {
                say(Event::TextDelta(TextDelta { text }), false)?;
                0
            }
            Err(RecvTimeoutError::Timeout) => per_beat,
        };
        for _ in 0..n_now {
            say(event(n), false)?;
            n += 1;
        }
    }
}

/// A conversation: text, and a call now and then.
fn event(n: u64) -> Event {
    let call = CallId::new(format!("call_{}", n / 50));
    match n % 50 {
        48 => Event::ToolCallArguments(ToolCallArguments {
            call,
            tool: "bash".to_owned(),
            arguments: json!({"command": format!("make part-{n}")}),
        }),
        49 => Event::ToolCallFinished(ToolCallFinished {
            call,
            tool: "bash".to_owned(),
            outcome: ToolOutcome::Done,
            content: "built\n".repeat(8),
        }),
        _ => Event::TextDelta(TextDelta {
            text: format!("word {n} of *what* is said here. "),
        }),
    }
}
