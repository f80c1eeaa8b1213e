use std::path::PathBuf;

use podward_protocol::{
    Cancel, CancelStarted, CloseReason, Closing, MAX_LINE_BYTES, MethodError, MethodErrorCode,
    PROTOCOL_VERSION, PermissionList, Ping, Response, ResponseOutcome, Run, RunStarted, SessionId,
    SnapshotEnd, SnapshotStarted, Status, Stop, TextDelta, Time, decode_request, encode,
    encode_response, json_line,
};
use tokio::io::AsyncBufReadExt;
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::*;

/// A pod's side of one socket, played by the test.
struct Fake {
    listener: UnixListener,
    socket: PathBuf,
    _directory: tempfile::TempDir,
}

/// One connection, seen from the pod.
struct Peer {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

fn fake() -> Fake {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("pod.sock");
    Fake {
        listener: UnixListener::bind(&socket).unwrap(),
        socket,
        _directory: directory,
    }
}

fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL_VERSION,
        client: "test".into(),
        version: None,
        can_approve: true,
        events: None,
    }
}

fn a_welcome() -> Welcome {
    Welcome {
        protocol: PROTOCOL_VERSION,
        version: "0.1.0".into(),
        pod: "demo".into(),
        path: Vec::new(),
        session: SessionId::from_bits(1),
        client: 3,
        can_approve: true,
        ping_interval_ms: 10_000,
        max_request_bytes: 1 << 20,
    }
}

fn event(event: Event) -> Envelope {
    Envelope {
        time: Time::UNIX_EPOCH,
        session: SessionId::from_bits(1),
        seq: 0,
        snapshot: false,
        event,
    }
}

fn text(text: &str) -> Envelope {
    event(Event::TextDelta(TextDelta { text: text.into() }))
}

impl Fake {
    async fn accept(&self) -> Peer {
        let (stream, _) = self.listener.accept().await.unwrap();
        let (reader, writer) = stream.into_split();
        Peer {
            reader: BufReader::new(reader),
            writer,
        }
    }

    /// Both sides of a connection that was welcomed.
    async fn connected(&self) -> (Client, Events, Peer) {
        let accepting = async {
            let mut peer = self.accept().await;
            let request = peer.request().await;
            assert_eq!(request.method, Method::Hello(hello()));
            peer.reply(request.id, Reply::Hello(a_welcome())).await;
            peer
        };
        let (connected, peer) = tokio::join!(Client::connect(&self.socket, hello()), accepting);
        let (client, events) = connected.unwrap();
        (client, events, peer)
    }
}

impl Peer {
    async fn request(&mut self) -> Request {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        decode_request(line.as_bytes()).unwrap()
    }

    async fn write(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn tell(&mut self, envelope: &Envelope) {
        self.write(&encode(envelope).unwrap()).await;
    }

    async fn respond(&mut self, id: Option<MethodId>, outcome: ResponseOutcome) {
        let line = encode_response(&Response { id, outcome }).unwrap();
        self.write(&line).await;
    }

    async fn reply(&mut self, id: MethodId, reply: Reply) {
        self.respond(Some(id), ResponseOutcome::Result(reply)).await;
    }

    async fn refuse(&mut self, id: Option<MethodId>, error: MethodError) {
        self.respond(id, ResponseOutcome::Error(error)).await;
    }
}

fn is_told(ending: &Ending) -> Option<CloseReason> {
    match ending {
        Ending::Told(closing) => Some(closing.reason),
        _ => None,
    }
}

#[tokio::test]
async fn hello_is_answered_and_events_follow() {
    let fake = fake();
    let (client, mut events, mut peer) = fake.connected().await;
    assert_eq!(*client.welcome(), a_welcome());
    let told = [
        event(Event::SnapshotStarted(SnapshotStarted {})),
        Envelope {
            snapshot: true,
            ..event(Event::Status(Status::Idle))
        },
        event(Event::SnapshotEnd(SnapshotEnd { seq: 0 })),
        text("now"),
    ];
    for envelope in &told {
        peer.tell(envelope).await;
    }
    for envelope in told {
        assert_eq!(events.next().await, Some(envelope));
    }
    assert!(!client.is_over());
    drop(peer);
    assert_eq!(events.next().await, None);
    assert!(client.is_over());
    assert!(matches!(events.ending(), Ending::Closed));
    let error = client.call(Method::Cancel(Cancel {})).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Over(Ending::Closed)),
        "{error}"
    );
}

#[tokio::test]
async fn responses_find_their_requests_in_any_order() {
    let fake = fake();
    let (client, _events, mut peer) = fake.connected().await;
    let run = |prompt: &str| {
        client.ask(Run {
            prompt: Some(prompt.into()),
            skill: None,
        })
    };
    let serving = async {
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(peer.request().await);
        }
        for request in ids.into_iter().rev() {
            let Method::Run(Run {
                prompt: Some(prompt),
                ..
            }) = request.method
            else {
                panic!("no prompt");
            };
            let turn = prompt.parse().unwrap();
            peer.tell(&text("between")).await;
            peer.reply(request.id, Reply::Run(RunStarted { turn }))
                .await;
        }
        peer
    };
    let (one, two, three, _peer) = tokio::join!(run("1"), run("2"), run("3"), serving);
    for (started, turn) in [(one, 1), (two, 2), (three, 3)] {
        assert_eq!(started.unwrap(), RunStarted { turn });
    }
}

#[tokio::test]
async fn a_refusal_is_typed_and_says_what_can_be_done() {
    let fake = fake();
    let (client, _events, mut peer) = fake.connected().await;
    let busy = MethodError::new(MethodErrorCode::Busy, "turn 3 runs").with_help("cancel it first");
    let serving = async {
        let request = peer.request().await;
        peer.refuse(Some(request.id), busy.clone()).await;
        let request = peer.request().await;
        let id = request.id.0;
        let later = format!(r#"{{"id":{id},"error":{{"code":"asleep","message":"at night"}}}}"#);
        peer.write(&later).await;
        let request = peer.request().await;
        peer.write(&format!(
            r#"{{"id":{},"result":{{"turn":"x"}}}}"#,
            request.id.0
        ))
        .await;
        peer
    };
    let asking = async {
        let refused = client.ask(Cancel {}).await.unwrap_err();
        assert_eq!(refused.to_string(), "the pod refuses: turn 3 runs");
        assert_eq!(refused.help(), Some("cancel it first"));
        assert!(matches!(refused, ClientError::Refused(error) if error == busy));
        let unknown = client.ask(Cancel {}).await.unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "the pod refuses with the unknown error `asleep`: at night"
        );
        let nonsense = client.ask(Cancel {}).await.unwrap_err();
        assert!(matches!(nonsense, ClientError::Nonsense(_)), "{nonsense}");
    };
    let ((), _peer) = tokio::join!(asking, serving);
}

#[tokio::test]
async fn pings_are_answered_and_not_seen() {
    let fake = fake();
    let (client, mut events, mut peer) = fake.connected().await;
    for n in 0..3 {
        peer.tell(&event(Event::Ping(Ping { n }))).await;
        let request = taking(&mut events, peer.request()).await;
        assert_eq!(request.method.name(), MethodName::Pong);
        assert!(matches!(request.method, Method::Pong(pong) if pong.n == n));
        let pong = podward_protocol::PongHeard {};
        peer.reply(request.id, Reply::Pong(pong)).await;
    }
    peer.tell(&text("seen")).await;
    assert_eq!(events.next().await, Some(text("seen")));
    drop(client);
    // Who only listens answers as well.
    peer.tell(&event(Event::Ping(Ping { n: 9 }))).await;
    let request = taking(&mut events, peer.request()).await;
    assert!(matches!(request.method, Method::Pong(pong) if pong.n == 9));
}

/// What comes of something while events are taken.
async fn taking<T>(events: &mut Events, of: impl Future<Output = T>) -> T {
    tokio::select! {
        value = of => value,
        event = events.next() => panic!("{event:?}"),
    }
}

/// A client whose own work hangs is not there, though its connection is.
#[tokio::test]
async fn a_ping_is_answered_when_all_before_it_was_taken() {
    let fake = fake();
    let (client, mut events, mut peer) = fake.connected().await;
    peer.tell(&text("first")).await;
    peer.tell(&event(Event::Ping(Ping { n: 1 }))).await;
    peer.tell(&text("second")).await;
    // Its connection works: what is asked comes back, and no pong was written before that.
    let asking = client.ask(Cancel {});
    let answering = async {
        let request = peer.request().await;
        assert_eq!(request.method.name(), MethodName::Cancel);
        let cancelled = CancelStarted { turn: 1 };
        peer.reply(request.id, Reply::Cancel(cancelled)).await;
    };
    let (asked, ()) = tokio::join!(asking, answering);
    asked.unwrap();
    assert_eq!(events.next().await, Some(text("first")));
    assert_eq!(events.next().await, Some(text("second")));
    let request = peer.request().await;
    assert!(matches!(request.method, Method::Pong(pong) if pong.n == 1));
    // Where nobody takes events, nobody can hang over them.
    drop(events);
    for n in [2, 3] {
        peer.tell(&event(Event::Ping(Ping { n }))).await;
        let request = peer.request().await;
        assert!(matches!(request.method, Method::Pong(pong) if pong.n == n));
    }
}

#[tokio::test]
async fn a_connection_is_closed_with_its_last_handle() {
    let fake = fake();
    let (client, events, mut peer) = fake.connected().await;
    drop(events);
    // Events that nobody takes hold back nothing.
    for _ in 0..100 {
        peer.tell(&text("unheard")).await;
    }
    let again = client.clone();
    drop(client);
    let asking = again.ask(Stop {});
    let serving = async {
        let request = peer.request().await;
        let stopping = podward_protocol::StopStarted {};
        peer.reply(request.id, Reply::Stop(stopping)).await;
        peer
    };
    let (stopped, mut peer) = tokio::join!(asking, serving);
    stopped.unwrap();
    drop(again);
    let mut line = String::new();
    assert_eq!(peer.reader.read_line(&mut line).await.unwrap(), 0);
}

#[tokio::test]
async fn every_call_in_flight_is_told_of_the_end() {
    let fake = fake();
    let (client, mut events, mut peer) = fake.connected().await;
    let closing = Closing {
        reason: CloseReason::Stopping,
        message: "the pod stops".into(),
    };
    let calls = async {
        let list = || PermissionList {
            after: None,
            limit: None,
        };
        tokio::join!(
            client.ask(Cancel {}),
            client.ask(list()),
            client.ask(list())
        )
    };
    let serving = async {
        for _ in 0..3 {
            peer.request().await;
        }
        peer.tell(&event(Event::Closing(closing.clone()))).await;
        drop(peer);
    };
    let ((one, two, three), ()) = tokio::join!(calls, serving);
    for error in [one.unwrap_err(), two.unwrap_err(), three.unwrap_err()] {
        assert!(
            matches!(&error, ClientError::Over(ending) if is_told(ending) == Some(CloseReason::Stopping)),
            "{error}"
        );
    }
    assert_eq!(events.next().await, Some(event(Event::Closing(closing))));
    assert_eq!(events.next().await, None);
    assert_eq!(
        events.ending().to_string(),
        "the pod closed it: the pod stops"
    );
}

#[tokio::test]
async fn a_pod_that_refuses_a_client_is_heard() {
    let version = MethodError::new(
        MethodErrorCode::Version { protocol: 9 },
        "this pod speaks version 9",
    );
    // The second: before anything was read.
    for id in [Some(HELLO_ID), None] {
        let fake = fake();
        let serving = async {
            let mut peer = fake.accept().await;
            peer.refuse(id, version.clone()).await;
        };
        let (connected, ()) = tokio::join!(Client::connect(&fake.socket, hello()), serving);
        let error = connected.unwrap_err();
        assert!(matches!(error, ClientError::Refused(error) if error == version));
    }
    let fake = fake();
    let serving = async {
        let mut peer = fake.accept().await;
        peer.request().await;
        let closing = Closing {
            reason: CloseReason::Stopping,
            message: "the pod stops".into(),
        };
        peer.tell(&event(Event::Closing(closing))).await;
    };
    let (connected, ()) = tokio::join!(Client::connect(&fake.socket, hello()), serving);
    let error = connected.unwrap_err();
    assert!(
        matches!(&error, ClientError::Over(ending) if is_told(ending) == Some(CloseReason::Stopping)),
        "{error}"
    );
}

#[tokio::test]
async fn where_nobody_listens_the_error_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let dead = directory.path().join("dead.sock");
    drop(UnixListener::bind(&dead).unwrap());
    for socket in [dead, directory.path().join("none.sock")] {
        let error = Client::connect(&socket, hello()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("no pod listens at `{}`", socket.display())
        );
        assert_eq!(error.help(), Some("`podward pods` lists the pods that run"));
    }
    let long = directory.path().join("x".repeat(200));
    let error = Client::connect(&long, hello()).await.unwrap_err();
    assert!(matches!(error, ClientError::NotReached { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_says_nothing_is_not_waited_for_forever() {
    let fake = fake();
    let error = Client::connect(&fake.socket, hello()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the pod at `{}` did not answer `hello` in 30 s",
            fake.socket.display()
        )
    );
}

#[tokio::test]
async fn what_is_no_line_of_a_pod_ends_the_connection() {
    let long = "x".repeat(MAX_LINE_BYTES + 1);
    for (line, said) in [
        ("{", "the pod sent a line that cannot be read"),
        (
            "HTTP/1.1 400 Bad Request",
            "the pod sent a line that cannot be read",
        ),
        (&*long, "the pod sent a line of more than 8388608 bytes"),
    ] {
        let fake = fake();
        let (client, mut events, mut peer) = fake.connected().await;
        let writing = async {
            let line = format!("{line}\n");
            // The client may leave before it has read all.
            let _ = peer.writer.write_all(line.as_bytes()).await;
        };
        let (event, ()) = tokio::join!(events.next(), writing);
        assert_eq!(event, None);
        assert_eq!(events.ending().to_string(), said);
        let error = client.ask(Cancel {}).await.unwrap_err();
        assert!(matches!(error, ClientError::Over(_)), "{error}");
    }
}

#[tokio::test]
async fn events_of_a_later_version_are_passed_over() {
    let fake = fake();
    let (_client, mut events, mut peer) = fake.connected().await;
    let mut later = serde_json::to_value(text("x")).unwrap();
    later["event"] = "dance".into();
    peer.write(&json_line(&later).unwrap()).await;
    peer.tell(&text("known")).await;
    assert_eq!(events.next().await, Some(text("known")));
}

#[tokio::test]
async fn a_request_that_is_too_long_is_not_sent() {
    let fake = fake();
    let (client, _events, mut peer) = fake.connected().await;
    let prompt = Some("x".repeat(podward_protocol::MAX_REQUEST_BYTES));
    let error = client
        .ask(Run {
            prompt,
            skill: None,
        })
        .await
        .unwrap_err();
    assert!(
        matches!(error, ClientError::RequestTooLong { .. }),
        "{error}"
    );
    let serving = async {
        let request = peer.request().await;
        peer.reply(request.id, Reply::Cancel(CancelStarted { turn: 1 }))
            .await;
    };
    let (cancelled, ()) = tokio::join!(client.ask(Cancel {}), serving);
    assert_eq!(cancelled.unwrap(), CancelStarted { turn: 1 });
}

/// A reply stands behind events that nobody takes: it comes all the same, and so do further ones when
/// the events have become too many.
#[tokio::test]
async fn events_that_are_not_taken_hold_back_no_reply() {
    let fake = fake();
    let (client, mut events, mut peer) = fake.connected().await;
    let large = text(&"x".repeat(1 << 20));
    let line = encode(&large).unwrap();
    let n_kept = crate::MAX_BACKLOG_BYTES / (1 << 20) - 1;
    for n_events in [3, n_kept] {
        let serving = async {
            let request = peer.request().await;
            for _ in 0..n_events {
                peer.write(&line).await;
            }
            peer.reply(request.id, Reply::Cancel(CancelStarted { turn: 1 }))
                .await;
        };
        let (cancelled, ()) = tokio::join!(client.ask(Cancel {}), serving);
        cancelled.unwrap();
    }
    for _ in 0..n_kept {
        assert_eq!(events.next().await, Some(large.clone()));
    }
    assert_eq!(events.next().await, None);
    assert!(matches!(events.ending(), Ending::FellBehind));
    assert!(!client.is_over());
}

#[tokio::test]
async fn more_calls_than_may_be_in_flight_take_turns() {
    let fake = fake();
    let (client, _events, mut peer) = fake.connected().await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let client = client.clone();
        calls.spawn(async move { client.ask(Cancel {}).await });
    }
    for _ in 0..200 {
        let request = peer.request().await;
        peer.reply(request.id, Reply::Cancel(CancelStarted { turn: 1 }))
            .await;
    }
    while let Some(call) = calls.join_next().await {
        call.unwrap().unwrap();
    }
}

/// Where the other user listens.
const LISTEN_AT: &str = "PODWARD_TEST_LISTEN_AT";

/// Nothing is said to a process of another user, by root neither.
#[tokio::test]
async fn a_pod_of_another_user_is_not_talked_to() {
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Stdio};

    if let Some(socket) = std::env::var_os(LISTEN_AT) {
        let listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
        println!("\nlistening");
        io::stdout().flush().unwrap();
        let mut heard = Vec::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_end(&mut heard).unwrap();
        println!("\nheard {} bytes", heard.len());
        return;
    }
    if !rustix::process::geteuid().is_root() {
        // Said, not hidden: only root can be two users.
        eprintln!("only root can start a process of another user");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let program = directory.path().join("test");
    let this = std::env::current_exe().unwrap();
    // Copied by another process, so that no descriptor of this one is open for writing.
    let copied = Command::new("install").args([&this, &program]).status();
    assert!(copied.unwrap().success());
    let socket = directory.path().join("pod.sock");
    let mut child = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&program)
        .args(["client::tests::a_pod_of_another_user_is_not_talked_to"])
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .env(LISTEN_AT, &socket)
        .current_dir("/")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = io::BufRead::lines(io::BufReader::new(child.stdout.take().unwrap()));
    let mut wait_for = |what: &str| lines.by_ref().any(|line| line.unwrap() == what);
    assert!(wait_for("listening"));
    let error = Client::connect(&socket, hello()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "what listens at `{}` belongs to another user (uid 65534)",
            socket.display()
        )
    );
    assert!(error.help().unwrap().contains("no pod of yours"));
    assert!(wait_for("heard 0 bytes"));
    assert!(child.wait().unwrap().success());
}
