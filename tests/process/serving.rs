//! A pod that serves, and clients on its socket that share no code with the program.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Only keeps a broken program from hanging the tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The first number of the requests that the reader of a connection makes by itself.
const FIRST_PONG: u64 = 1 << 40;

/// A process that serves a pod.
pub(crate) struct Pod {
    child: Child,
    events: Receiver<Value>,
    /// What it says on standard error.
    talk: PathBuf,
    /// The directory of the session's files.
    pub(crate) session: PathBuf,
    pub(crate) socket: PathBuf,
    /// How far its commands are confined.
    pub(crate) confinement: String,
}

impl Pod {
    /// Serves a manifest in a new session.
    pub(crate) fn serve(sandbox: &Sandbox, manifest: &Path) -> Self {
        Self::serve_with(sandbox, manifest, &[])
    }

    /// Serves a manifest and goes on with a session.
    pub(crate) fn go_on(sandbox: &Sandbox, manifest: &Path, session: &Path) -> Self {
        let id = session.file_name().unwrap().to_str().unwrap();
        Self::serve_with(sandbox, manifest, &["--resume", id])
    }

    /// Serves a manifest with further arguments.
    pub(crate) fn serve_with(sandbox: &Sandbox, manifest: &Path, more: &[&str]) -> Self {
        let mut command = sandbox.podward(&["serve", "--format", "json"]);
        command.arg(manifest).args(more);
        Self::start(sandbox, command)
    }

    /// Starts a command that serves a pod and writes its events.
    pub(crate) fn start(sandbox: &Sandbox, mut command: Command) -> Self {
        let talk = sandbox.path("serve.stderr");
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(File::create(&talk).unwrap())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, events) = channel();
        std::thread::spawn(move || {
            // A pod that is killed may leave the beginning of a line.
            for line in lines.map_while(Result::ok) {
                let Ok(event) = serde_json::from_str(&line) else {
                    return;
                };
                // Whoever wanted the events may be gone; the pipe is read all the same.
                let _ = sender.send(event);
            }
        });
        let mut pod = Self {
            child,
            events,
            talk,
            session: PathBuf::new(),
            socket: PathBuf::new(),
            confinement: String::new(),
        };
        let started = pod.tells("session_started");
        pod.confinement = started["confinement"]["level"].as_str().unwrap().into();
        pod.session = started["session_dir"].as_str().unwrap().into();
        let id = pod.session.file_name().unwrap().to_str().unwrap();
        pod.socket = sandbox.path(&format!("state/podward/run/{id}.sock"));
        pod
    }

    /// Waits for an event on its standard output; the event's data.
    #[track_caller]
    pub(crate) fn tells(&mut self, name: &str) -> Value {
        loop {
            match self.events.recv_timeout(PATIENCE) {
                Ok(mut event) if event["event"] == name => return event["data"].take(),
                Ok(_) => {}
                Err(error) => {
                    let talk = std::fs::read_to_string(&self.talk).unwrap_or_default();
                    panic!("the pod did not tell `{name}`: {error}\n{talk}")
                }
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// kill -9.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end, and says with which code.
    #[track_caller]
    pub(crate) fn ends(mut self) -> Option<i32> {
        loop {
            match self.events.recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the pod does not end"),
            }
        }
        self.child.wait().unwrap().code()
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        // A test that failed leaves nothing running; one that did not has ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection to a pod.
pub(crate) struct Client {
    stream: Arc<Mutex<UnixStream>>,
    lines: Receiver<Value>,
    /// What came while something else was waited for.
    events: VecDeque<Value>,
    responses: Vec<Value>,
    n_requests: u64,
}

impl Client {
    /// A client that can answer.
    #[track_caller]
    pub(crate) fn approver(pod: &Pod, name: &str) -> Self {
        Self::hello(&pod.socket, json!({"client": name, "can_approve": true}))
    }

    /// A client that only looks on, and gives work.
    #[track_caller]
    pub(crate) fn onlooker(pod: &Pod, name: &str) -> Self {
        Self::hello(&pod.socket, json!({"client": name}))
    }

    /// A client that says this, and the version.
    #[track_caller]
    pub(crate) fn hello(socket: &Path, mut hello: Value) -> Self {
        let mut client = Self::connect(socket).unwrap();
        hello["protocol"] = 2.into();
        client.call("hello", hello).unwrap();
        client
    }

    /// A connection on which nothing is said yet.
    pub(crate) fn connect(socket: &Path) -> std::io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        let reader = BufReader::new(stream.try_clone()?);
        let stream = Arc::new(Mutex::new(stream));
        let (sender, lines) = channel();
        let writer = Arc::clone(&stream);
        std::thread::spawn(move || read(reader, &writer, &sender));
        Ok(Self {
            stream,
            lines,
            events: VecDeque::new(),
            responses: Vec::new(),
            n_requests: 0,
        })
    }

    /// Sends a request and says its number; a pod that is gone hears nothing.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.n_requests += 1;
        let id = self.n_requests;
        let line = json!({"method": method, "params": params, "id": id});
        let _ = writeln!(self.stream.lock().unwrap(), "{line}");
        id
    }

    /// What a request got; `None`: the connection ended.
    #[track_caller]
    pub(crate) fn response(&mut self, id: u64) -> Option<Result<Value, Value>> {
        let is_it = |line: &Value| line["id"] == id;
        loop {
            if let Some(place) = self.responses.iter().position(is_it) {
                let mut line = self.responses.remove(place);
                return Some(match line.get_mut("error") {
                    Some(error) => Err(error.take()),
                    None => Ok(line["result"].take()),
                });
            }
            let line = self.line()?;
            if line.get("event").is_some() {
                self.events.push_back(line);
            } else {
                self.responses.push(line);
            }
        }
    }

    /// Sends a request and waits for what it gets.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params);
        self.response(id).expect("a response")
    }

    /// The next event, as it was sent; `None`: the connection ended.
    #[track_caller]
    pub(crate) fn next_event(&mut self) -> Option<Value> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        loop {
            let line = self.line()?;
            if line.get("event").is_some() {
                return Some(line);
            }
            self.responses.push(line);
        }
    }

    /// Waits for an event; the event's data.
    #[track_caller]
    pub(crate) fn event(&mut self, name: &str) -> Value {
        loop {
            let Some(mut event) = self.next_event() else {
                panic!("the connection ended before `{name}`");
            };
            if event["event"] == name {
                return event["data"].take();
            }
        }
    }

    /// Begins a turn.
    #[track_caller]
    pub(crate) fn run(&mut self, prompt: &str) {
        self.call("run", json!({"prompt": prompt})).unwrap();
    }

    /// The next question.
    #[track_caller]
    pub(crate) fn request(&mut self) -> Value {
        self.event("permission_request")
    }

    /// The ids of the questions that are open.
    #[track_caller]
    pub(crate) fn open(&mut self) -> Vec<Value> {
        let listed = self.call("permission_list", json!({})).unwrap();
        let requests = listed["requests"].as_array().unwrap();
        requests
            .iter()
            .map(|request| request["id"].clone())
            .collect()
    }

    /// Answers a question, and does not wait for what that gets.
    pub(crate) fn send_reply(&mut self, request: &Value, answer: Value) -> u64 {
        let params = json!({"id": request["id"], "digest": request["digest"], "answer": answer});
        self.send("permission_reply", params)
    }

    /// Answers a question; what was settled.
    #[track_caller]
    pub(crate) fn reply(&mut self, request: &Value, answer: Value) -> Result<Value, Value> {
        let id = self.send_reply(request, answer);
        let reply = self.response(id).expect("a response");
        reply.map(|mut settled| settled["settled"].take())
    }

    #[track_caller]
    fn line(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the pod says nothing"),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Ok(stream) = self.stream.lock() {
            // The pod may have been first.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Passes on what a pod sends, and answers its pings.
fn read(
    mut reader: BufReader<UnixStream>,
    writer: &Mutex<UnixStream>,
    lines: &std::sync::mpsc::Sender<Value>,
) {
    let mut n_pongs = 0;
    let mut text = String::new();
    loop {
        text.clear();
        match reader.read_line(&mut text) {
            Ok(n) if n > 0 && text.ends_with('\n') => {}
            // A pod that was killed leaves the beginning of a line.
            Ok(_) | Err(_) => return,
        }
        let line: Value = serde_json::from_str(&text).unwrap();
        if line["event"] == "ping" {
            let id = FIRST_PONG + n_pongs;
            n_pongs += 1;
            let pong = json!({"method": "pong", "params": {"n": line["data"]["n"]}, "id": id});
            let Ok(mut writer) = writer.lock() else {
                return;
            };
            let _ = writeln!(writer, "{pong}");
        } else if line["id"].as_u64().is_none_or(|id| id < FIRST_PONG) && lines.send(line).is_err()
        {
            return;
        }
    }
}

/// A message of a scripted model with calls of bash.
pub(crate) fn step(commands: &[&str]) -> String {
    let mut step = "[[step]]\n".to_owned();
    for command in commands {
        step.push_str(&format!(
            "[[step.call]]\ntool = \"bash\"\ninput = {{ command = '''{command}''' }}\n"
        ));
    }
    step
}

/// A message of a scripted model that is a text.
pub(crate) fn says(text: &str) -> String {
    format!("[[step]]\ntext = '''{text}'''\n")
}

/// Rules that ask about `touch` and `mkdir`, deny `rm`, and allow the rest; `more` are further keys
/// of `[permissions]`.
pub(crate) fn asks(more: &str) -> String {
    format!(
        "[permissions]\ndefault_action = \"allow\"\n{more}rule = [\n\
         {{ tool = \"bash\", pattern = \"rm *\", action = \"deny\" }},\n\
         {{ tool = \"bash\", pattern = \"touch *\", action = \"ask\" }},\n\
         {{ tool = \"bash\", pattern = \"mkdir *\", action = \"ask\" }},\n]\n"
    )
}

/// Keys of `[permissions]` by which a question stays, whoever comes and goes.
pub(crate) const WAITS: &str = "on_ask = \"wait\"\nask_timeout = \"1h\"\n";
