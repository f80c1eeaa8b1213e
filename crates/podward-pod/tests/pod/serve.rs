//! Pods with clients: real sockets, answers of every kind.

use std::future::Future;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use podward_pod::{
    Attended, Auto, LocalCaller, LocalClient, Places, PodRequest, ServeRequest, Server, Socket,
};
use podward_protocol::{Envelope, Event, Method, Run, Stop};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::bench::{Bench, call, runtime, script, text};

/// Longer than anything takes: what comes later does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks about writes, lets everything else run.
pub(crate) const ASKS: &str = r#"
[permissions]
default_action = "allow"
[[permissions.rule]]
tool = "file_write"
pattern = "secret*"
action = "deny"
[[permissions.rule]]
tool = "file_write"
pattern = "?*"
action = "ask"
"#;

/// A client on a pod's socket.
pub(crate) struct Client {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    next: u64,
    /// Events that came while a response was waited for.
    events: Vec<Value>,
}

impl Client {
    pub(crate) async fn connect(socket: &std::path::Path) -> Self {
        let stream = UnixStream::connect(socket).await.unwrap();
        let (reader, writer) = stream.into_split();
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            next: 0,
            events: Vec::new(),
        }
    }

    /// Connects, says hello and reads the snapshot.
    pub(crate) async fn hello(socket: &std::path::Path, name: &str, can_approve: bool) -> Self {
        let mut client = Self::connect(socket).await;
        let hello = json!({ "protocol": podward_protocol::PROTOCOL_VERSION, "client": name, "can_approve": can_approve });
        client.call("hello", hello).await.unwrap();
        client
    }

    pub(crate) async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let line = json!({ "method": method, "params": params, "id": self.next });
        self.write(&format!("{line}\n")).await;
        self.next
    }

    pub(crate) async fn write(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).await.unwrap();
    }

    /// The next line; `None`: the pod closed the connection.
    pub(crate) async fn line(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.expect("a line").ok()??;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// What a method gets.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params).await;
        self.response(id).await
    }

    pub(crate) async fn response(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let line = self.line().await.expect("a response");
            if line["id"] == json!(id) {
                return match line.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(line["result"].clone()),
                };
            }
            if line.get("event").is_some() {
                self.events.push(line);
            }
        }
    }

    /// The data of the next event with this name.
    pub(crate) async fn event(&mut self, name: &str) -> Value {
        loop {
            let line = match self.events.is_empty() {
                true => self.line().await.expect(name),
                false => self.events.remove(0),
            };
            if line["event"] == json!(name) {
                return line["data"].clone();
            }
        }
    }

    /// Answers a request.
    pub(crate) async fn reply(&mut self, request: &Value, answer: Value) -> Result<Value, Value> {
        let params = json!({ "id": request["id"], "digest": request["digest"], "answer": answer });
        self.call("permission_reply", params).await
    }
}

/// A pod that is served while a test talks to it.
pub(crate) struct Talk {
    pub(crate) socket: std::path::PathBuf,
    pub(crate) caller: LocalCaller,
}

impl Talk {
    pub(crate) async fn client(&self, name: &str) -> Client {
        Client::hello(&self.socket, name, true).await
    }
}

/// Serves a pod while a test talks to it, then stops it; returns all events.
pub(crate) fn serve<F: Future<Output = ()>>(
    bench: &Bench,
    model: &str,
    change: impl FnOnce(&mut ServeRequest),
    talk: impl FnOnce(Talk) -> F,
) -> Vec<Envelope> {
    let request = bench.request(model);
    serve_request(bench, request, change, talk)
}

pub(crate) fn serve_request<F: Future<Output = ()>>(
    bench: &Bench,
    pod: PodRequest,
    change: impl FnOnce(&mut ServeRequest),
    talk: impl FnOnce(Talk) -> F,
) -> Vec<Envelope> {
    let mut request = ServeRequest {
        pod,
        socket: Socket::Required,
        attended: Attended::No,
        auto: Auto::Off,
    };
    change(&mut request);
    runtime().block_on(async {
        let places = Places::below(bench.root());
        let (server, LocalClient { mut events, caller }) =
            Server::start(&places, request).unwrap_or_else(|error| panic!("{error}"));
        let socket = server.socket().unwrap_or_default();
        let stopping = caller.clone();
        let talking = async {
            let talk = talk(Talk { socket, caller });
            tokio::time::timeout(PATIENCE, talk).await.expect("it ends");
            let _ = stopping.call(Method::Stop(Stop {})).await;
        };
        let reading = async {
            let mut all = Vec::new();
            while let Some(event) = events.recv().await {
                all.push(event);
            }
            all
        };
        let (served, all, ()) = tokio::join!(server.run(), reading, talking);
        served.unwrap();
        all
    })
}

pub(crate) fn run(prompt: &str) -> Method {
    let prompt = Some(prompt.to_owned());
    Method::Run(Run { prompt })
}

fn write(path: &str) -> Value {
    call("file_write", json!({ "path": path, "content": "x" }))
}

/// The outcomes of all questions, in the order in which they were settled.
fn outcomes(events: &[Envelope]) -> Vec<String> {
    events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::PermissionSettled(settled) => {
                Some(format!("{}: {}", settled.id, settled.outcome.as_str()))
            }
            _ => None,
        })
        .collect()
}

pub(crate) fn a_call_that_is_asked_about_runs_once_somebody_says_so() {
    let bench = Bench::new(ASKS);
    let script = script(&[&[write("a.txt")], &[text("done")]]);
    let events = serve(
        &bench,
        &script,
        |_| {},
        async |talk| {
            let mode = std::fs::metadata(&talk.socket)
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
            let mut client = talk.client("test").await;
            assert!(client.call("run", json!({ "prompt": "go" })).await.unwrap()["turn"] == 1);
            let request = client.event("permission_request").await;
            assert_eq!(request["tool"], "file_write");
            assert!(bench.read("project/a.txt").is_none());
            let settled = client
                .reply(&request, json!({ "kind": "once" }))
                .await
                .unwrap();
            assert_eq!(settled["settled"][0]["outcome"]["kind"], "approved_once");
            client.event("turn_ended").await;
        },
    );
    assert_eq!(bench.read("project/a.txt").as_deref(), Some("x"));
    assert_eq!(outcomes(&events).len(), 1);
    let seqs: Vec<u64> = events.iter().map(|envelope| envelope.seq).collect();
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>());
}
