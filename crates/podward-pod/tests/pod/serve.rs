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
    Method::Run(Run {
        prompt,
        skill: None,
    })
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

/// Serves a pod and begins a turn; `talk` gets the client that began it.
fn turn<F: Future<Output = ()>>(
    bench: &Bench,
    model: &str,
    talk: impl FnOnce(Client, Talk) -> F,
) -> Vec<Envelope> {
    serve(
        bench,
        model,
        |_| {},
        async |served| {
            let mut client = served.client("test").await;
            client.call("run", json!({ "prompt": "go" })).await.unwrap();
            talk(client, served).await;
        },
    )
}

pub(crate) fn a_rejection_reaches_the_model_word_for_word() {
    let bench = Bench::new(ASKS);
    let script = script(&[&[write("a.txt"), write("b.txt")], &[text("done")]]);
    let words = "No.\n\tUse `b.txt` \u{2013} please \"quote\" it.";
    let events = turn(&bench, &script, async |mut client, _talk| {
        let first = client.event("permission_request").await;
        let second = client.event("permission_request").await;
        let answer = json!({ "kind": "reject", "feedback": words });
        client.reply(&first, answer).await.unwrap();
        client
            .reply(&second, json!({ "kind": "once" }))
            .await
            .unwrap();
        client.event("turn_ended").await;
    });
    assert!(bench.read("project/a.txt").is_none());
    assert_eq!(bench.read("project/b.txt").as_deref(), Some("x"));
    let read = finished(&events);
    assert!(read[0].contains(words), "{}", read[0]);
}

/// What the model read of all calls, in the order in which they ended.
fn finished(events: &[Envelope]) -> Vec<String> {
    events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::ToolCallFinished(finished) => Some(finished.content.clone()),
            _ => None,
        })
        .collect()
}

pub(crate) fn an_edit_is_judged_again_and_what_is_denied_stays_open() {
    let bench = Bench::new(ASKS);
    let script = script(&[&[write("a.txt")], &[text("done")]]);
    let events = turn(&bench, &script, async |mut client, _talk| {
        let request = client.event("permission_request").await;
        let mut edit = async |arguments: Value| {
            let answer = json!({ "kind": "edit", "arguments": arguments });
            client.reply(&request, answer).await
        };
        let denied = edit(json!({ "path": "secret.txt", "content": "x" })).await;
        assert_eq!(denied.unwrap_err()["code"], "edit_denied");
        let invalid = edit(json!({ "content": "x" })).await;
        assert_eq!(invalid.unwrap_err()["code"], "edit_invalid");
        let edited = edit(json!({ "path": "b.txt", "content": "y" }))
            .await
            .unwrap();
        assert_eq!(edited["settled"][0]["outcome"]["kind"], "approved_edited");
        assert_eq!(edited["settled"][0]["by"]["edited"], true);
        client.event("turn_ended").await;
    });
    assert!(bench.read("project/a.txt").is_none());
    assert_eq!(bench.read("project/b.txt").as_deref(), Some("y"));
    assert!(finished(&events)[0].contains("b.txt"));
}

pub(crate) fn always_settles_what_it_covers_and_is_not_asked_again() {
    let bench = Bench::new(ASKS);
    let script = script(&[
        &[write("d/a.txt"), write("d/b.txt"), write("other.txt")],
        &[write("d/c.txt")],
        &[text("done")],
    ]);
    let events = turn(&bench, &script, async |mut client, _talk| {
        let first = client.event("permission_request").await;
        client.event("permission_request").await;
        let other = client.event("permission_request").await;
        let answer = json!({
            "kind": "always",
            "patterns": [{ "operation": 0, "pattern": "d/*" }],
            "for": { "kind": "session" },
        });
        let settled = client.reply(&first, answer).await.unwrap();
        let kinds: Vec<_> = settled["settled"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["outcome"]["kind"].clone())
            .collect();
        assert_eq!(kinds, [json!("approved_always"), json!("approved_always")]);
        let wide = json!({
            "kind": "always",
            "patterns": [{ "operation": 0, "pattern": "*" }],
            "for": { "kind": "session" },
        });
        let refused = client.reply(&other, wide).await.unwrap_err();
        assert_eq!(refused["code"], "pattern_refused");
        client
            .reply(&other, json!({ "kind": "reject" }))
            .await
            .unwrap();
        client.event("turn_ended").await;
        let grants = client.call("grants_list", json!({})).await.unwrap();
        let id = grants["grants"][0]["id"].clone();
        client
            .call("grants_revoke", json!({ "id": id }))
            .await
            .unwrap();
        let again = client.call("grants_revoke", json!({ "id": id })).await;
        assert_eq!(again.unwrap_err()["code"], "unknown_grant");
    });
    for name in ["a", "b", "c"] {
        assert!(bench.read(&format!("project/d/{name}.txt")).is_some());
    }
    assert_eq!(outcomes(&events).len(), 3, "the fourth is not asked about");
    let names: Vec<_> = events
        .iter()
        .map(|envelope| envelope.event.name())
        .collect();
    assert!(names.contains(&"grant_added") && names.contains(&"grant_revoked"));
}

pub(crate) fn the_first_answer_counts_and_others_hear_who_was_first() {
    let bench = Bench::new(ASKS);
    let script = script(&[&[write("a.txt")], &[text("done")]]);
    turn(&bench, &script, async |mut client, talk| {
        let request = client.event("permission_request").await;
        let mut other = talk.client("other").await;
        let same = other.event("permission_request").await;
        assert_eq!(same, request, "a snapshot shows the same");
        let mut wrong = request.clone();
        wrong["digest"] = json!("sha256:0");
        let mismatch = other.reply(&wrong, json!({ "kind": "once" })).await;
        assert_eq!(mismatch.unwrap_err()["code"], "digest_mismatch");
        wrong["id"] = json!("nothing");
        let unknown = other.reply(&wrong, json!({ "kind": "once" })).await;
        assert_eq!(unknown.unwrap_err()["code"], "unknown_request");
        other
            .reply(&request, json!({ "kind": "once" }))
            .await
            .unwrap();
        let late = client
            .reply(&request, json!({ "kind": "reject" }))
            .await
            .unwrap_err();
        assert_eq!(late["code"], "already_settled");
        assert_eq!(late["data"]["outcome"]["kind"], "approved_once");
        assert_eq!(late["data"]["by"]["name"], "other");
        client.event("turn_ended").await;
    });
}

pub(crate) fn what_is_asked_ends_with_whoever_could_have_answered() {
    let quick = ASKS.replace("[permissions]", "[permissions]\nclient_grace = \"0s\"");
    let waits = ASKS.replace(
        "[permissions]",
        "[permissions]\non_ask = \"wait\"\nask_timeout = \"1s\"",
    );
    let check = |manifest: &str, expected: &str, talk: &dyn Fn(Client) -> Option<Client>| {
        let bench = Bench::new(manifest);
        let script = script(&[&[write("a.txt")], &[text("done")]]);
        let events = serve(
            &bench,
            &script,
            |_| {},
            async |served| {
                let mut watcher = Client::hello(&served.socket, "watcher", false).await;
                let client = talk(served.client("test").await);
                watcher
                    .call("run", json!({ "prompt": "go" }))
                    .await
                    .unwrap();
                if client.is_some() {
                    watcher.event("permission_request").await;
                }
                drop(client);
                watcher.event("turn_ended").await;
            },
        );
        assert_eq!(outcomes(&events).len(), 1);
        assert!(
            outcomes(&events)[0].ends_with(expected),
            "{:?}",
            outcomes(&events)
        );
        assert!(bench.read("project/a.txt").is_none());
    };
    check(&quick, "client_gone", &Some);
    check(&waits, "expired", &Some);
    check(&waits, "expired", &|_| None);
    let bench = Bench::new(ASKS);
    let script = script(&[&[write("a.txt")], &[text("done")]]);
    let events = serve(
        &bench,
        &script,
        |_| {},
        async |served| {
            served.caller.call(run("go")).await.unwrap();
            let mut watcher = Client::hello(&served.socket, "watcher", false).await;
            watcher.event("turn_ended").await;
        },
    );
    assert!(outcomes(&events)[0].ends_with("no_client"));
}

pub(crate) fn stopping_and_cancelling_settle_what_is_open() {
    for (method, expected) in [("stop", "pod_stopped"), ("cancel", "cancelled")] {
        let bench = Bench::new(ASKS);
        let script = script(&[&[write("a.txt")], &[text("done")]]);
        let events = turn(&bench, &script, async |mut client, talk| {
            client.event("permission_request").await;
            client.call(method, json!({})).await.unwrap();
            client.event("turn_ended").await;
            if method == "stop" {
                assert_eq!(client.event("closing").await["reason"], "stopping");
                assert!(client.line().await.is_none());
                assert!(!talk.socket.exists());
            }
        });
        assert!(
            outcomes(&events)[0].ends_with(expected),
            "{:?}",
            outcomes(&events)
        );
        assert!(bench.read("project/a.txt").is_none());
    }
}

pub(crate) fn what_is_no_request_gets_a_typed_error() {
    let bench = Bench::new(ASKS);
    serve(
        &bench,
        &script(&[]),
        |_| {},
        async |talk| {
            let mut early = Client::connect(&talk.socket).await;
            let error = early
                .call("run", json!({ "prompt": "go" }))
                .await
                .unwrap_err();
            assert_eq!(error["code"], "hello_first");
            assert_eq!(early.event("closing").await["reason"], "bad_line");
            assert!(early.line().await.is_none());

            let mut old = Client::connect(&talk.socket).await;
            let hello = json!({ "protocol": 1, "client": "old" });
            let error = old.call("hello", hello).await.unwrap_err();
            assert_eq!(
                (&error["code"], &error["data"]["protocol"]),
                (&json!("version"), &json!(2))
            );

            let mut poser = Client::connect(&talk.socket).await;
            let hello = json!({ "protocol": 2, "client": " Terminal" });
            let error = poser.call("hello", hello).await.unwrap_err();
            assert_eq!(error["code"], "invalid_params", "{error}");

            let mut client = talk.client("test").await;
            client.write("nonsense\n").await;
            client.event("snapshot_end").await;
            assert_eq!(client.line().await.unwrap()["error"]["code"], "malformed");
            for (method, params, code) in [
                ("dance", json!({}), "unknown_method"),
                ("cancel", json!({ "now": true }), "invalid_params"),
                ("cancel", json!({}), "idle"),
                ("run", json!({}), "nothing_to_resume"),
                (
                    "hello",
                    json!({ "protocol": 2, "client": "again" }),
                    "invalid_params",
                ),
            ] {
                let error = client.call(method, params).await.unwrap_err();
                assert_eq!(error["code"], code, "{method}");
            }
            let mut reader = Client::hello(&talk.socket, "reader", false).await;
            let all = reader.call("permission_reject_all", json!({})).await;
            assert_eq!(all.unwrap_err()["code"], "not_allowed");
            let name = json!({ "protocol": 2, "client": "a\u{1b}[2J" });
            let mut hostile = Client::connect(&talk.socket).await;
            assert_eq!(
                hostile.call("hello", name).await.unwrap_err()["code"],
                "invalid_params"
            );
            let long = "x".repeat(podward_protocol::MAX_REQUEST_BYTES + 1);
            client.write(&long).await;
            while client
                .line()
                .await
                .is_some_and(|line| line["error"]["code"] != "too_long")
            {}
            assert_eq!(client.event("closing").await["reason"], "bad_line");
        },
    );
}

pub(crate) fn a_slow_client_is_cut_off_and_the_pod_goes_on() {
    let bench = Bench::new("");
    // More lines than wait for a client, each a piece of the text.
    let long = json!({ "text": "word ", "repeat": 30_000, "chunk": 5 });
    serve(
        &bench,
        &script(&[&[long]]),
        |_| {},
        async |talk| {
            let mut slow = Client::hello(&talk.socket, "slow", false).await;
            slow.event("snapshot_end").await;
            // One that could answer would have to take pings, however long the machine takes.
            let mut watcher = Client::hello(&talk.socket, "watcher", false).await;
            let chosen = json!({ "events": ["client_left", "turn_ended"] });
            watcher.call("subscribe", chosen).await.unwrap();
            watcher
                .call("run", json!({ "prompt": "go" }))
                .await
                .unwrap();
            assert_eq!(watcher.event("client_left").await["name"], "slow");
            let mut last = Value::Null;
            while let Some(line) = slow.line().await {
                last = line;
            }
            assert_eq!(
                (&last["event"], &last["data"]["reason"]),
                (&json!("closing"), &json!("too_slow"))
            );
            watcher.call("cancel", json!({})).await.ok();
            watcher.event("turn_ended").await;
        },
    );
}

pub(crate) fn a_question_outlives_the_pod_and_keeps_its_id() {
    let waits = ASKS.replace(
        "[permissions]",
        "[permissions]\non_ask = \"wait\"\nask_timeout = \"1h\"",
    );
    let bench = Bench::new(&waits);
    let script = script(&[&[write("a.txt")], &[text("done")]]);
    let (request, session) = killed_while_asking(&bench, &script);
    // Only the pod's journal is left.
    let mut pod = bench.request(&script);
    pod.session = podward_pod::SessionChoice::Resume(session);
    let events = serve_request(
        &bench,
        pod,
        |_| {},
        async |talk| {
            let mut client = talk.client("test").await;
            let again = client.event("permission_request").await;
            assert_eq!(
                (&again["id"], &again["digest"]),
                (&request["id"], &request["digest"])
            );
            client
                .reply(&again, json!({ "kind": "once" }))
                .await
                .unwrap();
            client.event("turn_ended").await;
        },
    );
    assert_eq!(outcomes(&events).len(), 1);
    assert_eq!(bench.read("project/a.txt").as_deref(), Some("x"));
}

/// A pod that is gone, without a word, while it asks: the request and the session.
fn killed_while_asking(bench: &Bench, model: &str) -> (Value, String) {
    let request = ServeRequest {
        pod: bench.request(model),
        socket: Socket::Required,
        attended: Attended::No,
        auto: Auto::Off,
    };
    let runtime = runtime();
    let found = runtime.block_on(async {
        let (server, local) = Server::start(&Places::below(bench.root()), request).unwrap();
        let (socket, session) = (server.socket().unwrap(), server.session().to_string());
        tokio::spawn(server.run());
        let mut events = local.events;
        tokio::spawn(async move { while events.recv().await.is_some() {} });
        let mut client = Client::hello(&socket, "test", true).await;
        client.call("run", json!({ "prompt": "go" })).await.unwrap();
        (client.event("permission_request").await, session)
    });
    runtime.shutdown_timeout(PATIENCE);
    found
}

/// The line of a process that a tool or a hook has left behind: what it gets from the pod.
pub(crate) fn talk_from_below(socket: &str, out: &str) {
    let told = runtime().block_on(async {
        let mut client = Client::hello(std::path::Path::new(socket), "tool", true).await;
        let request = client.event("permission_request").await;
        let mut got = Vec::new();
        let reply = client.reply(&request, json!({ "kind": "once" })).await;
        got.push(reply.unwrap_err()["code"].clone());
        for (method, params) in [
            ("permission_reject_all", json!({})),
            ("grants_list", json!({})),
            ("grants_revoke", json!({ "id": "g" })),
            ("skill_end", json!({ "name": "s" })),
            ("run", json!({ "prompt": "go" })),
            ("cancel", json!({})),
            ("stop", json!({})),
        ] {
            got.push(client.call(method, params).await.unwrap_err()["code"].clone());
        }
        std::fs::write(out, Value::from(got).to_string()).unwrap();
        // What it is told later, and what a snapshot tells then.
        let mut told = Vec::new();
        let mut later = None;
        while let Some(line) = client.line().await {
            told.push(line["event"].clone());
            if line["event"] == "turn_ended" {
                later = Some(Client::hello(std::path::Path::new(socket), "later", false).await);
                break;
            }
        }
        let mut later = later.unwrap();
        told.extend(later.events.drain(..).map(|line| line["event"].clone()));
        while let Some(line) = later.line().await {
            told.push(line["event"].clone());
            if line["event"] == "snapshot_end" {
                break;
            }
        }
        told
    });
    std::fs::write(out, Value::from(told).to_string()).unwrap();
}

pub(crate) fn what_the_pod_has_started_cannot_answer_it() {
    let bench = Bench::new("");
    let out = bench.path("out");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &out,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let program = std::env::current_exe().unwrap();
    let run_dir = Places::below(bench.root()).run_dir().to_owned();
    // Twice forked, in a session of its own, its parents gone: it is the user's hook that leaves it.
    let hook = format!(
        "#!/bin/sh\nsetsid sh -c '(\"{}\" talk-from-below {}/*.sock {} </dev/null >/dev/null 2>&1 &) &'\n",
        program.display(),
        run_dir.display(),
        out.display()
    );
    let path = bench.path("hook.sh");
    std::fs::write(&path, hook).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let declared = format!("{ASKS}\n[[hook]]\nevent = \"prompt_submit\"\ncommand = [{path:?}]\n");
    bench.write_manifest("", &declared);
    let script = script(&[&[write("a.txt")], &[text("done")]]);
    let (got, again) = (out.clone(), out.clone());
    let events = turn(&bench, &script, async |mut client, _talk| {
        let reading = tokio::task::spawn_blocking(move || std::fs::read_to_string(got).unwrap());
        let codes: Vec<String> = serde_json::from_str(&reading.await.unwrap()).unwrap();
        assert_eq!(codes, ["not_allowed"; 8]);
        let request = client.event("permission_request").await;
        let always = json!({ "kind": "always", "width": 0, "for": { "kind": "session" } });
        client.reply(&request, always).await.unwrap();
        client.event("grant_added").await;
        client.event("turn_ended").await;
        let reading = tokio::task::spawn_blocking(move || std::fs::read_to_string(again).unwrap());
        let told: Vec<String> = serde_json::from_str(&reading.await.unwrap()).unwrap();
        assert!(told.contains(&"permission_settled".to_owned()), "{told:?}");
        assert!(told.ends_with(&["snapshot_end".to_owned()]), "{told:?}");
        assert!(!told.contains(&"grant_added".to_owned()), "{told:?}");
        let list = client.call("grants_list", json!({})).await.unwrap();
        assert_eq!(list["grants"].as_array().unwrap().len(), 1);
    });
    let joined: Vec<_> = events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::ClientJoined(joined) => Some((joined.name.as_str(), joined.can_approve)),
            _ => None,
        })
        .collect();
    assert_eq!(joined, [("test", true), ("tool", false), ("later", false)]);
}

pub(crate) fn another_user_is_not_let_in() {
    let bench = Bench::new(ASKS);
    if !rustix::process::geteuid().is_root() {
        return;
    }
    serve(
        &bench,
        &script(&[]),
        |_| {},
        async |talk| {
            // As if somebody had opened the directory to all.
            for path in [
                bench.root(),
                talk.socket.parent().unwrap(),
                talk.socket.as_path(),
                &bench.path("run"),
            ] {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
            }
            let program = std::env::current_exe().unwrap();
            let output = tokio::process::Command::new("setpriv")
                .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
                .arg(program)
                .arg("talk-as-another")
                .arg(&talk.socket)
                .output()
                .await
                .unwrap();
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                "closed",
                "{output:?}"
            );
        },
    );
}

/// What another user gets from a pod.
pub(crate) fn talk_as_another(socket: &str) -> &'static str {
    runtime().block_on(async {
        let mut client = Client::connect(std::path::Path::new(socket)).await;
        let hello = json!({ "protocol": 2, "client": "other" });
        let line = json!({ "method": "hello", "params": hello, "id": 1 });
        // Closed before or after it is written.
        let _ = client
            .writer
            .write_all(format!("{line}\n").as_bytes())
            .await;
        match client.line().await {
            None => "closed",
            Some(_) => "answered",
        }
    })
}

/// A clock that can be set.
struct Set(std::sync::atomic::AtomicI64);

impl podward_pod::Clock for Set {
    fn now(&self) -> podward_protocol::Time {
        let now = self.0.load(std::sync::atomic::Ordering::SeqCst);
        podward_protocol::Time::from_unix_milliseconds(now).unwrap()
    }
}

/// A machine that slept notices that a question is over by the answer that comes too late.
pub(crate) fn an_answer_after_the_end_of_a_question_is_too_late() {
    let timed = ASKS.replace("[permissions]", "[permissions]\nask_timeout = \"60s\"");
    let bench = Bench::new(&timed);
    let model = script(&[&[write("a")], &[text("done")]]);
    let clock = std::sync::Arc::new(Set(1_800_000_000_000.into()));
    let mut pod = bench.request(&model);
    pod.clock = std::sync::Arc::clone(&clock) as std::sync::Arc<dyn podward_pod::Clock>;
    let events = serve_request(
        &bench,
        pod,
        |_| {},
        |talk| async move {
            let mut ann = talk.client("ann").await;
            let _ = talk.caller.call(run("go")).await;
            let request = ann.event("permission_request").await;
            clock
                .0
                .fetch_add(61_000, std::sync::atomic::Ordering::SeqCst);
            let late = ann.reply(&request, json!({ "kind": "once" })).await;
            assert_eq!(late.unwrap_err()["code"], json!("already_settled"));
            ann.event("turn_ended").await;
        },
    );
    assert!(outcomes(&events)[0].ends_with(": expired"));
    assert!(bench.read("project/a").is_none());
}

/// Who answers no ping is gone, though its connection is there.
pub(crate) fn an_approver_that_answers_no_ping_is_gone() {
    let quick = ASKS.replace("[permissions]", "[permissions]\nclient_grace = \"0s\"");
    let bench = Bench::new(&quick);
    let request = ServeRequest {
        pod: bench.request(&script(&[&[write("a.txt")], &[text("done")]])),
        socket: Socket::Required,
        attended: Attended::No,
        auto: Auto::Off,
    };
    let events = runtime().block_on(async {
        let (server, local) = Server::start(&Places::below(bench.root()), request).unwrap();
        let server = server.ping_every(Duration::from_secs(1));
        let socket = server.socket().unwrap();
        let LocalClient { mut events, caller } = local;
        let talking = async {
            // It answers nothing: what this client reads it only looks at.
            let mut silent = Client::hello(&socket, "silent", true).await;
            let mut watcher = Client::hello(&socket, "watcher", false).await;
            caller.call(run("go")).await.unwrap();
            silent.event("permission_request").await;
            assert_eq!(silent.event("closing").await["reason"], "silent");
            let settled = watcher.event("permission_settled").await;
            assert_eq!(settled["outcome"]["kind"], "client_gone");
            watcher.event("turn_ended").await;
            caller.call(Method::Stop(Stop {})).await.unwrap();
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
    });
    assert!(outcomes(&events)[0].ends_with("client_gone"));
    assert!(bench.read("project/a.txt").is_none());
}
