//! What a pod bears: many questions that wait, many clients, and what an answer takes.
//!
//! It serves a pod of its own in a new directory, whose scripted model asks about all calls in one
//! message, and prints a table:
//!
//! `cargo build --release --workspace --examples --bins`, then
//! `target/release/examples/many_questions [QUESTIONS [CLIENTS [ANSWERS [PROGRAM]]]]`
//!
//! (10 000, 200, 1 000 and the `podward` beside it, unless said otherwise).
#![expect(clippy::print_stdout, reason = "a program that measures")]

use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use podward_client::{Client, Events};
use podward_protocol::{
    Answer, Event, Hello, PROTOCOL_VERSION, PermissionList, PermissionRejectAll, PermissionReply,
    PermissionRequest, Pong, Run,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const N_ROUNDS: usize = 10_000;

/// Events that say nothing of the model's deltas.
const EVENTS: [&str; 2] = ["permission_request", "tool_call_finished"];

/// A pod that is served for this, and ends with it.
struct Served {
    child: Child,
    socket: PathBuf,
    _directory: tempfile::TempDir,
}

impl Served {
    /// A pod whose first message has so many calls, all of them asked about.
    fn start(program: &Path, n_questions: usize) -> Outcome<Self> {
        let directory = tempfile::tempdir()?;
        let path = |name: &str| directory.path().join(name);
        std::fs::create_dir(path("work"))?;
        std::fs::DirBuilder::new().mode(0o700).create(path("run"))?;
        let mut script = "[[step]]\n".to_owned();
        for number in 0..n_questions {
            // Each tells when it ran, and is another call than the others.
            write!(
                script,
                "[[step.call]]\ntool = \"bash\"\ninput = {{ command = 'date +%s%N-{number}' }}\n"
            )?;
        }
        std::fs::write(path("script.toml"), script)?;
        let manifest = format!(
            "[pod]\nname = \"load\"\nworkspace = \"work\"\n\
             [model]\nprovider = \"scripted\"\nscript = \"./script.toml\"\n\
             [permissions]\ndefault_action = \"deny\"\non_ask = \"wait\"\nask_timeout = \"1h\"\n\
             rule = [{{ tool = \"bash\", pattern = \"date *\", action = \"ask\" }}]\n\
             [limits]\nmessage_calls = {n_questions}\n"
        );
        std::fs::write(path("pod.toml"), manifest)?;
        let mut child = Command::new(program)
            .args(["serve", "--format", "json"])
            .arg(path("pod.toml"))
            .current_dir(path("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", directory.path())
            .env("XDG_RUNTIME_DIR", path("run"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        // What it tells is of no interest, but somebody has to read it.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let is_socket = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "sock");
        let socket = std::fs::read_dir(path("run").join("podward"))?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .find(is_socket)
            .ok_or("the pod has no socket")?;
        Ok(Self {
            child,
            socket,
            _directory: directory,
        })
    }

    /// The resident memory of the pod, in kB.
    fn memory(&self) -> Outcome<u64> {
        resident(&self.child.id().to_string())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The resident memory of a process, in kB.
fn resident(pid: &str) -> Outcome<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("no VmRSS")?.parse()?)
}

/// What the message itself takes, in kB: the calls as a history keeps them, whether anybody is asked
/// about them or not.
fn message(n_calls: usize) -> Outcome<u64> {
    let before = resident("self")?;
    let calls: Vec<(String, String, Value)> = (0..n_calls)
        .map(|number| {
            let input = json!({"command": format!("date +%s%N-{number}")});
            (format!("call_{number}"), "bash".to_owned(), input)
        })
        .collect();
    let after = resident("self")?;
    drop(calls);
    Ok(after.saturating_sub(before))
}

fn hello(name: String) -> Hello {
    Hello {
        protocol: PROTOCOL_VERSION,
        client: name,
        version: None,
        can_approve: true,
        events: Some(EVENTS.map(str::to_owned).to_vec()),
    }
}

/// A row of times: the median, and what 99 of 100 are not above.
fn row(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied();
    let (median, p99) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
    println!("| {what} | {median:.1?} | {p99:.1?} |");
}

/// Lines as long as those of a pong and its answer.
const PING: &[u8] = b"{\"method\":\"pong\",\"params\":{\"n\":1},\"id\":1000}\n";
const PONG: &[u8] = b"{\"id\":1000,\"result\":{}}\n";

/// Such lines there and back over a bare socket, between two threads that block.
fn ping_pong() -> Outcome<Vec<Duration>> {
    let (here, there) = UnixStream::pair()?;
    let other = std::thread::spawn(move || -> std::io::Result<()> {
        let mut reader = BufReader::new(there.try_clone()?);
        let mut line = String::new();
        while reader.read_line(&mut line)? > 0 {
            (&there).write_all(PONG)?;
            line.clear();
        }
        Ok(())
    });
    let mut reader = BufReader::new(here.try_clone()?);
    let mut times = Vec::with_capacity(N_ROUNDS);
    let mut line = String::new();
    for _ in 0..N_ROUNDS {
        let start = Instant::now();
        (&here).write_all(PING)?;
        line.clear();
        reader.read_line(&mut line)?;
        times.push(start.elapsed());
    }
    here.shutdown(std::net::Shutdown::Both)?;
    other.join().map_err(|_| "the other end failed")??;
    Ok(times)
}

/// The same between two runtimes, as a client and a pod have them: what waits for a socket waits for others
/// as well.
async fn ping_pong_of_runtimes() -> Outcome<Vec<Duration>> {
    let (here, there) = UnixStream::pair()?;
    here.set_nonblocking(true)?;
    there.set_nonblocking(true)?;
    let other = std::thread::spawn(move || -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let (reader, mut writer) = tokio::net::UnixStream::from_std(there)?.into_split();
            let mut lines = tokio::io::BufReader::new(reader).lines();
            while lines.next_line().await?.is_some() {
                writer.write_all(PONG).await?;
            }
            Ok(())
        })
    });
    let mut times = Vec::with_capacity(N_ROUNDS);
    let (reader, mut writer) = tokio::net::UnixStream::from_std(here)?.into_split();
    let mut lines = tokio::io::BufReader::new(reader).lines();
    for _ in 0..N_ROUNDS {
        let start = Instant::now();
        writer.write_all(PING).await?;
        lines.next_line().await?;
        times.push(start.elapsed());
    }
    drop((lines, writer));
    other.join().map_err(|_| "the other end failed")??;
    Ok(times)
}

/// The next questions, up to so many.
async fn questions(events: &mut Events, n: usize) -> Outcome<Vec<PermissionRequest>> {
    let mut requests = Vec::with_capacity(n);
    while requests.len() < n {
        let envelope = events.next().await.ok_or("the pod closed the connection")?;
        if let Event::PermissionRequest(request) = envelope.event {
            requests.push(request);
        }
    }
    Ok(requests)
}

/// How long an answer took: until it was on disk, until the program that was asked about ran, and
/// until its call had its result.
struct Answered {
    on_disk: Duration,
    started: Duration,
    finished: Duration,
}

/// Says yes to one question.
async fn answer(
    client: &Client,
    events: &mut Events,
    request: PermissionRequest,
) -> Outcome<Answered> {
    let said_at = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let start = Instant::now();
    let reply = PermissionReply {
        id: request.id,
        digest: request.digest,
        answer: Answer::Once,
        by: None,
    };
    client.ask(reply).await?;
    let on_disk = start.elapsed();
    loop {
        let envelope = events.next().await.ok_or("the pod closed the connection")?;
        let Event::ToolCallFinished(finished) = envelope.event else {
            continue;
        };
        if finished.call == request.call {
            // `date` has written when it ran.
            let digits = finished.content.split('-').next().unwrap_or_default();
            let ran_at = Duration::from_nanos(digits.trim().parse()?);
            return Ok(Answered {
                on_disk,
                started: ran_at.saturating_sub(said_at),
                finished: start.elapsed(),
            });
        }
    }
}

/// Reads all pages of the open questions.
async fn list(client: &Client, n: usize) -> Outcome {
    let mut after = None;
    let mut n_listed = 0;
    loop {
        let page = client.ask(PermissionList { after, limit: None }).await?;
        n_listed += page.requests.len();
        after = page.requests.last().map(|request| request.id.clone());
        if !page.more {
            break;
        }
    }
    match n_listed == n {
        true => Ok(()),
        false => Err(format!("{n_listed} of {n} questions are listed").into()),
    }
}

/// The program that was built with this example.
fn built_beside() -> Option<PathBuf> {
    let directory = std::env::current_exe().ok()?.parent()?.parent()?.to_owned();
    Some(directory.join("podward"))
}

/// Does something while a client goes on taking its events: one that takes none is silent.
async fn while_reading<T>(
    events: &mut Events,
    doing: impl Future<Output = Outcome<T>>,
) -> Outcome<T> {
    tokio::pin!(doing);
    loop {
        tokio::select! {
            done = &mut doing => return done,
            event = events.next() => {
                if event.is_none() {
                    return Err("the pod told nothing more".into());
                }
            }
        }
    }
}

/// Connects more clients, each of which reads all questions and whatever comes later.
async fn connect_others(
    pod: &Served,
    n_clients: usize,
    n_questions: usize,
) -> Outcome<Vec<JoinHandle<()>>> {
    let mut others = Vec::new();
    for n in 0..n_clients {
        let name = format!("client {n}");
        let (other, mut events) = Client::connect(&pod.socket, hello(name)).await?;
        questions(&mut events, n_questions).await?;
        others.push(tokio::spawn(async move {
            let _other = other;
            while events.next().await.is_some() {}
        }));
    }
    Ok(others)
}

async fn print_answers(answers: &[Answered], pongs: Vec<Duration>) -> Outcome {
    println!("| {} answers | median | p99 |", answers.len());
    println!("|---|---|---|");
    let times = |of: fn(&Answered) -> Duration| answers.iter().map(of).collect();
    row("a line there and back over a bare socket", ping_pong()?);
    row(
        "the same between two runtimes",
        ping_pong_of_runtimes().await?,
    );
    row("a method of the pod", pongs);
    row("an answer is on disk", times(|answered| answered.on_disk));
    row(
        "its program (`date`) runs",
        times(|answered| answered.started),
    );
    row(
        "its call has its result",
        times(|answered| answered.finished),
    );
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let mut count = |usual: usize| arguments.next().map_or(Ok(usual), |count| count.parse());
    let (n_questions, n_clients, n_answers) = (count(10_000)?, count(200)?, count(1_000)?);
    let program = arguments.next().map(PathBuf::from).or_else(built_beside);
    let message = message(n_questions)?;
    let pod = Served::start(&program.ok_or("no program")?, n_questions)?;
    let (client, mut events) = Client::connect(&pod.socket, hello("measures".to_owned())).await?;
    let mut pongs = Vec::with_capacity(N_ROUNDS);
    for n in 0..N_ROUNDS {
        let start = Instant::now();
        client.ask(Pong { n: n as u64 }).await?;
        pongs.push(start.elapsed());
    }

    println!(
        "| {n_questions} questions, {n_clients} clients | took | resident memory of the pod |"
    );
    println!("|---|---|---|");
    println!("| before | | {} kB |", pod.memory()?);
    let before = pod.memory()?;
    let mut start = Instant::now();
    let step = |what: &str, start: &mut Instant| -> Outcome {
        println!(
            "| {what} | {:.1?} | {} kB |",
            start.elapsed(),
            pod.memory()?
        );
        *start = Instant::now();
        Ok(())
    };
    let prompt = Some("go".to_owned());
    let run = Run {
        prompt,
        skill: None,
    };
    client.ask(run).await?;
    let requests = questions(&mut events, n_questions).await?;
    let waiting = pod.memory()?.saturating_sub(before);
    step("all of them asked and read by one client", &mut start)?;
    list(&client, n_questions).await?;
    step("all listed, a page at a time", &mut start)?;
    let connecting = connect_others(&pod, n_clients, n_questions);
    let others = while_reading(&mut events, connecting).await?;
    step("all read by each of the other clients", &mut start)?;
    let mut answers = Vec::with_capacity(n_answers);
    for request in requests.into_iter().take(n_answers) {
        answers.push(answer(&client, &mut events, request).await?);
    }
    step("some answered with yes, one after the other", &mut start)?;
    client.ask(PermissionRejectAll { feedback: None }).await?;
    step("all others rejected at once", &mut start)?;
    let each = |kb: u64| kb * 1024 / n_questions.max(1) as u64;
    println!(
        "\n{} B of resident memory for each question while all wait; the message alone takes {} B a call\n",
        each(waiting),
        each(message)
    );

    print_answers(&answers, pongs).await?;
    for other in others {
        other.abort();
    }
    Ok(())
}
