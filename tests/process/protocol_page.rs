//! The worked session of docs/protocol.md is one that a pod had.
//!
//! `PODWARD_UPDATE_PROTOCOL=1 cargo test -p podward --test process protocol_page` writes it anew.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, repository};
use crate::serving::{PATIENCE, Pod, asks, says, step};

/// What stands in the page for what is another each time; further grants and digests count on.
const SESSION: &str = "01JDXW8Z4M9V7Q3T5R6S8N0PAB";
const GRANT: &str = "01JDXW9000000000000000000";
const TIME: &str = "2026-01-02T03:04:05.678Z";
const PROJECT: &str = "/home/user/project";
const HOME: &str = "/home/user/";

/// The `id` of answers to pings, which are not written down: they come when they come.
const PONG: u64 = 1_000_000;

/// The events that the client wants: none that says on what machine the pod runs, or what a question says too.
const EVENTS: [&str; 8] = [
    "status",
    "turn_started",
    "text_delta",
    "permission_request",
    "permission_settled",
    "tool_call_finished",
    "turn_ended",
    "grant_added",
];

/// A connection of which every line is written down, as it was sent.
struct Recorded {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
    text: String,
    n_requests: u64,
}

impl Recorded {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            reader: BufReader::new(stream.try_clone().unwrap()),
            stream,
            text: String::new(),
            n_requests: 0,
        }
    }

    /// Sends a request, and reads on until its response and this event have come; the event's data.
    ///
    /// What waits for both of them has read all that came of the request.
    fn call(&mut self, method: &str, params: &str, event: Option<&str>) -> Value {
        let id = self.n_requests;
        self.n_requests += 1;
        let line = format!(r#"{{"method":"{method}","params":{params},"id":{id}}}"#);
        writeln!(self.stream, "{line}").unwrap();
        self.text.push_str(&format!("> {line}\n"));
        let (mut is_answered, mut data) = (false, event.is_none().then_some(Value::Null));
        while !is_answered || data.is_none() {
            let mut line = self.line();
            is_answered |= line["id"] == id;
            if event.is_some_and(|event| line["event"] == event) {
                data = Some(line["data"].take());
            }
        }
        data.unwrap()
    }

    /// Reads on until this event has come.
    fn event(&mut self, event: &str) {
        while self.line()["event"] != event {}
    }

    /// The next line; what has to do with pings is not written down.
    fn line(&mut self) -> Value {
        loop {
            let mut text = String::new();
            let n_bytes = self.reader.read_line(&mut text).unwrap();
            assert!(n_bytes > 0, "the connection ended:\n{}", self.text);
            let line: Value = serde_json::from_str(&text).unwrap();
            if line["event"] == "ping" {
                let n = &line["data"]["n"];
                let pong = json!({"method": "pong", "params": {"n": n}, "id": PONG});
                writeln!(self.stream, "{pong}").unwrap();
            } else if line["id"] != PONG {
                self.text.push_str(&format!("< {text}"));
                return line;
            }
        }
    }

    /// Answers a question, and reads on until this event has come.
    fn reply(&mut self, request: &Value, answer: &str, event: Option<&str>) -> Value {
        let params = format!(
            r#"{{"id":{},"digest":{},"answer":{answer}}}"#,
            request["id"], request["digest"]
        );
        self.call("permission_reply", &params, event)
    }

    /// The pod sends nothing more.
    fn ends(mut self) -> String {
        let mut rest = String::new();
        self.reader.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        self.text
    }
}

#[test]
fn the_worked_session_is_one_that_a_pod_had() {
    let sandbox = Sandbox::new();
    let script = [
        step(&["touch made.txt"]),
        step(&["mkdir made"]),
        says("The file is made."),
    ];
    let pod = Pod::serve(&sandbox, &sandbox.pod(&script.concat(), &asks("")));
    let mut client = Recorded::connect(&pod.socket);
    let hello = format!(
        r#"{{"protocol":2,"client":"demo","can_approve":true,"events":{}}}"#,
        json!(EVENTS)
    );
    client.call("hello", &hello, Some("snapshot_end"));
    let asked = Some("permission_request");
    let first = client.call("run", r#"{"prompt":"make both"}"#, asked);
    let always = r#"{"kind":"always","width":0,"for":{"kind":"session"}}"#;
    let second = client.reply(&first, always, asked);
    client.reply(&first, r#"{"kind":"once"}"#, None);
    let reject = r#"{"kind":"reject","feedback":"the file is enough"}"#;
    client.reply(&second, reject, Some("turn_ended"));
    // The pod is idle.
    client.event("status");
    client.call("stop", "{}", Some("closing"));
    let text = client.ends();
    assert!(sandbox.work().join("made.txt").exists());
    assert!(!sandbox.work().join("made").exists());

    let found = normalised(&text, &sandbox, &pod);
    let path = repository().join("docs/protocol.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("\n## A session\n").unwrap();
    let (words, rest) = rest.split_once("```text\n").unwrap();
    let (shown, after) = rest.split_once("```").unwrap();
    if std::env::var_os("PODWARD_UPDATE_PROTOCOL").is_some() {
        let page = format!("{before}\n## A session\n{words}```text\n{found}```{after}");
        std::fs::write(&path, page).unwrap();
        return;
    }
    assert_eq!(found, shown, "PODWARD_UPDATE_PROTOCOL=1 writes it anew");
    assert_eq!(pod.ends(), Some(0));
}

/// The text with what is another each time as it is in the page.
fn normalised(text: &str, sandbox: &Sandbox, pod: &Pod) -> String {
    let session = pod.session.file_name().unwrap().to_str().unwrap();
    let text = text
        .replace(session, SESSION)
        .replace(sandbox.work().to_str().unwrap(), PROJECT)
        .replace(sandbox.path("").to_str().unwrap(), HOME)
        .replace(
            &format!(r#""version":"{}""#, env!("CARGO_PKG_VERSION")),
            r#""version":"0.1.0""#,
        );
    let text = numbered(&text, |quoted| {
        quoted.starts_with("sha256:").then_some(("sha256:", 64))
    });
    let is_grant = |quoted: &str| {
        let is_ulid = quoted.len() == SESSION.len()
            && quoted.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_ulid && quoted != SESSION
    };
    let text = numbered(&text, |quoted| is_grant(quoted).then_some((GRANT, 1)));
    let is_time = |quoted: &str| {
        quoted.len() == TIME.len() && quoted.starts_with("20") && quoted.ends_with('Z')
    };
    let text: Vec<_> = text
        .split('"')
        .map(|quoted| if is_time(quoted) { TIME } else { quoted })
        .collect();
    counted_from_first(&text.join("\""))
}

/// The text with each quoted value that `is_one` knows replaced by a front and a number of so many
/// digits, from 1 on; the same value has the same number.
fn numbered<'a>(text: &str, is_one: impl Fn(&str) -> Option<(&'a str, usize)>) -> String {
    let mut met: Vec<&str> = Vec::new();
    let mut parts: Vec<String> = Vec::new();
    for quoted in text.split('"') {
        let Some((front, n_digits)) = is_one(quoted) else {
            parts.push(quoted.to_owned());
            continue;
        };
        let place = met.iter().position(|one| *one == quoted);
        let number = place.unwrap_or(met.len()) + 1;
        if place.is_none() {
            met.push(quoted);
        }
        parts.push(format!("{front}{number:0n_digits$}"));
    }
    parts.join("\"")
}

/// The text with the events counted on from the number of the first line, which is 2 in the page: before
/// it come as many as there is to say of the machine.
fn counted_from_first(text: &str) -> String {
    let mut parts = text.split("\"seq\":");
    let mut counted = parts.next().unwrap().to_owned();
    let mut first = None;
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap();
        let (number, rest) = part.split_at(end);
        let number: u64 = number.parse().unwrap();
        let from = *first.get_or_insert(number);
        counted.push_str(&format!("\"seq\":{}{rest}", number - from + 2));
    }
    counted
}
