//! What a method of a pod takes, beside a line there and back between two programs that do nothing else.
//!
//! `cargo build --release --workspace --examples --bins`, then
//! `taskset -c 0 target/release/examples/method_cost [CORE [PROGRAM]]`
//!
//! serves on that core (0 unless said otherwise) first a program that answers lines, and then a pod (the
//! `podward` beside it), each a process of its own with the runtime of a pod, and asks both from one thread.
//! The lines are those of the method `pong`. They take turns; the table is over all.
#![expect(clippy::print_stdout, reason = "a program that measures")]

use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use podward_client::Client;
use podward_protocol::{
    Hello, Line, Method, MethodId, MethodName, PROTOCOL_VERSION, Pong, PongHeard, Reply, Request,
    Response, decode_line, decode_request, encode_request, encode_response,
};
use served::{Outcome, Served, built_beside, row};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

#[path = "many_questions/served.rs"]
mod served;

const N_TURNS: usize = 10;

const N_ROUNDS: usize = 5_000;

/// The first argument of the program that answers lines.
const ANSWERS: &str = "answers";

/// What is said and answered where no JSON is read or written.
const PING: &str = "{\"method\":\"pong\",\"params\":{\"n\":1},\"id\":1000}";
const PONG: &str = "{\"id\":1000,\"result\":{}}";

/// Whether lines are read and written as what they say, at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Json {
    Untouched,
    Typed,
}

/// The other end of bare lines, a process of its own.
struct Answering {
    child: Child,
    directory: tempfile::TempDir,
}

/// This end of bare lines.
struct Bare {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
}

impl Answering {
    fn start(core: &str) -> Outcome<Self> {
        let directory = tempfile::tempdir()?;
        let mut command = on_core(core, &std::env::current_exe()?);
        // The listener is there before the other end is, so nobody has to wait for it.
        let listener = StdListener::bind(directory.path().join("socket"))?;
        command
            .arg(ANSWERS)
            .stdin(std::os::fd::OwnedFd::from(listener));
        let child = command.spawn()?;
        Ok(Self { child, directory })
    }

    async fn connect(&self) -> Outcome<Bare> {
        let stream = UnixStream::connect(self.directory.path().join("socket")).await?;
        Ok(Bare::over(stream))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Bare {
    fn over(stream: UnixStream) -> Self {
        let (reader, writer) = stream.into_split();
        let lines = BufReader::new(reader).lines();
        Self { lines, writer }
    }

    async fn say(&mut self, line: &str) -> Outcome<String> {
        let mut bytes = line.as_bytes().to_vec();
        bytes.push(b'\n');
        self.writer.write_all(&bytes).await?;
        self.next().await
    }

    async fn next(&mut self) -> Outcome<String> {
        let line = self.lines.next_line().await?;
        Ok(line.ok_or("the other end is gone")?)
    }

    /// The time of each of many lines.
    async fn times(&mut self, json: Json) -> Outcome<Vec<Duration>> {
        let mut times = Vec::with_capacity(N_ROUNDS);
        for n in 0..N_ROUNDS as u64 {
            let start = Instant::now();
            match json {
                Json::Untouched => {
                    self.say(PING).await?;
                }
                Json::Typed => {
                    let method = Method::Pong(Pong { n });
                    let id = MethodId(1000 + n);
                    let line = encode_request(&Request { method, id })?;
                    let mut answer = decode_line(&self.say(&line).await?)?;
                    let response = loop {
                        match answer {
                            Line::Response(response) => break response,
                            // Now and then the pod asks who is there.
                            Line::Event(_) => answer = decode_line(&self.next().await?)?,
                        }
                    };
                    response.result?.read(MethodName::Pong)?;
                }
            }
            times.push(start.elapsed());
        }
        Ok(times)
    }
}

/// Answers whoever connects, as a pod does: a task for each.
async fn answer_all(listener: StdListener) -> Outcome {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::UnixListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            // Whoever asks sees that it ended.
            let _ = answer(stream).await;
        });
    }
}

async fn answer(stream: UnixStream) -> std::io::Result<()> {
    let mut bare = Bare::over(stream);
    while let Some(line) = bare.lines.next_line().await? {
        let mut answer = match line == PING {
            true => PONG.to_owned(),
            false => {
                let request = decode_request(line.as_bytes()).map_err(std::io::Error::other)?;
                let response = Response {
                    id: Some(request.id),
                    outcome: Ok(Reply::Pong(PongHeard {})).into(),
                };
                encode_response(&response).map_err(std::io::Error::other)?
            }
        };
        answer.push('\n');
        bare.writer.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL_VERSION,
        client: "measures".to_owned(),
        version: None,
        can_approve: true,
        events: Some(Vec::new()),
    }
}

/// The time of each of many methods.
async fn methods(client: &Client) -> Outcome<Vec<Duration>> {
    let mut times = Vec::with_capacity(N_ROUNDS);
    for n in 0..N_ROUNDS as u64 {
        let start = Instant::now();
        client.ask(Pong { n }).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

fn on_core(core: &str, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", core]).arg(program);
    command
}

async fn measure(core: &str, program: &Path) -> Outcome {
    let answering = Answering::start(core)?;
    let pod = Served::start(&mut on_core(core, program), 1)?;
    let mut bare = answering.connect().await?;
    let mut by_hand = Bare::over(UnixStream::connect(&pod.socket).await?);
    let request = Request {
        method: Method::Hello(hello()),
        id: MethodId(0),
    };
    // What comes after the answer is the snapshot's two lines.
    by_hand.say(&encode_request(&request)?).await?;
    for _ in 0..2 {
        by_hand.lines.next_line().await?;
    }
    let (client, _events) = Client::connect(&pod.socket, hello()).await?;
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..N_TURNS {
        let [untouched, typed, lines, asked] = &mut times;
        untouched.extend(bare.times(Json::Untouched).await?);
        typed.extend(bare.times(Json::Typed).await?);
        lines.extend(by_hand.times(Json::Typed).await?);
        asked.extend(methods(&client).await?);
    }
    let whats = [
        "a line there and back",
        "the same, read and written as JSON at both ends",
        "a method of the pod, by such lines",
        "a method of the pod, by the client's library",
    ];
    println!("| what | median | p99 |\n|---|---|---|");
    for (what, times) in whats.into_iter().zip(times) {
        row(what, times);
    }
    Ok(())
}

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some(ANSWERS) {
        let listener = std::os::fd::AsFd::as_fd(&std::io::stdin()).try_clone_to_owned()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        return runtime.block_on(answer_all(listener.into()));
    }
    let core = first.unwrap_or_else(|| "0".to_owned());
    let program = arguments.next().map(PathBuf::from).or_else(built_beside);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(&core, &program.ok_or("no program")?))
}
