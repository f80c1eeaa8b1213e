//! The worked session of docs/protocol.md is one of a real pod.
//!
//! `PODWARD_UPDATE_PROTOCOL=1 cargo test -p podward --test process protocol_page` writes it anew.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, repository};
use crate::serving::{PATIENCE, Pod, step};

const RULES: &str = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
    { tool = \"bash\", pattern = \"touch *\", action = \"ask\" },\n]\n";

/// What stands in the page for what is another each time.
const SESSION: &str = "01JDXW8Z4M9V7Q3T5R6S8N0PAB";
const GRANT: &str = "01JDXW9000000000000000000G";
const TIME: &str = "2026-01-02T03:04:05.678Z";
const DIGEST: &str = "sha256:4f1c";
const PROJECT: &str = "/home/user/project";

/// A connection of which every line is written down, as it was sent.
struct Recorded {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
    text: String,
}

impl Recorded {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        let text = String::new();
        Self {
            stream,
            reader,
            text,
        }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stream, "{line}").unwrap();
        self.text.push_str(&format!("> {line}\n"));
    }

    /// Reads on to each of these: a response by its `id`, an event by its name. The last line.
    fn until(&mut self, awaited: &[Value]) -> Value {
        let mut awaited = awaited.to_vec();
        loop {
            let mut text = String::new();
            assert!(
                self.reader.read_line(&mut text).unwrap() > 0,
                "{}",
                self.text
            );
            let line: Value = serde_json::from_str(&text).unwrap();
            // Pings come when they come.
            if line["event"] == "ping" {
                let n = &line["data"]["n"];
                let pong = json!({"method": "pong", "params": {"n": n}, "id": 1_000_000});
                writeln!(self.stream, "{pong}").unwrap();
                continue;
            }
            if line["id"] == 1_000_000 {
                continue;
            }
            self.text.push_str(&format!("< {text}"));
            awaited.retain(|one| *one != line["id"] && *one != line["event"]);
            if awaited.is_empty() {
                return line;
            }
        }
    }
}

#[test]
fn the_worked_session_is_one_of_a_real_pod() {
    let sandbox = Sandbox::new();
    let pod = Pod::serve(&sandbox, &sandbox.pod(&step(&["touch made"]), RULES));
    let mut client = Recorded::connect(&pod.socket);
    client.say(
        r#"{"method":"hello","params":{"protocol":2,"client":"demo","can_approve":true,"events":["turn_started","permission_request","permission_settled","tool_call_finished","turn_ended"]},"id":0}"#,
    );
    client.until(&[json!("snapshot_end")]);
    client.say(r#"{"method":"run","params":{"prompt":"make it"},"id":1}"#);
    let asked = client.until(&[json!(1), json!("permission_request")]);
    let reply = |answer: &str, id: u64| {
        let data = &asked["data"];
        format!(
            r#"{{"method":"permission_reply","params":{{"id":{},"digest":{},"answer":{answer}}},"id":{id}}}"#,
            data["id"], data["digest"]
        )
    };
    client.say(&reply(
        r#"{"kind":"always","width":0,"for":{"kind":"session"}}"#,
        2,
    ));
    client.until(&[json!(2), json!("turn_ended")]);
    client.say(&reply(r#"{"kind":"once"}"#, 3));
    client.until(&[json!(3)]);
    assert!(sandbox.work().join("made").exists());

    let found = normalised(&client.text, &sandbox, &pod);
    let path = repository().join("docs/protocol.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("```text\n> {\"method\":\"hello\"").unwrap();
    let (shown, after) = rest.split_once("```").unwrap();
    let shown = format!("> {{\"method\":\"hello\"{shown}");
    if std::env::var_os("PODWARD_UPDATE_PROTOCOL").is_some() {
        std::fs::write(&path, format!("{before}```text\n{found}```{after}")).unwrap();
        return;
    }
    assert_eq!(found, shown, "{}", path.display());
}

/// The text with what is another each time as it is in the page.
fn normalised(text: &str, sandbox: &Sandbox, pod: &Pod) -> String {
    let session = pod.session.file_name().unwrap().to_str().unwrap();
    let mut text = text
        .replace(session, SESSION)
        .replace(sandbox.work().to_str().unwrap(), PROJECT)
        .replace(env!("CARGO_PKG_VERSION"), "0.1.0");
    for (front, length, placeholder) in [
        ("sha256:", "sha256:".len() + 64, DIGEST),
        ("20", TIME.len(), TIME),
    ] {
        text = replaced(&text, front, length, placeholder);
    }
    let (_, grants) = text.split_once("\"grants\":[\"").unwrap();
    let grant = grants.split('"').next().unwrap().to_owned();
    text.replace(&grant, GRANT)
}

/// The text with each quoted value that begins so and is so long replaced.
fn replaced(text: &str, front: &str, length: usize, placeholder: &str) -> String {
    text.split('"')
        .map(
            |part| match part.starts_with(front) && part.len() == length {
                true => placeholder,
                false => part,
            },
        )
        .collect::<Vec<_>>()
        .join("\"")
}
