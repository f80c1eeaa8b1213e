//! What a pod bears: many questions that wait, many clients, and what an answer takes.
//!
//! For a pod that serves, whose next turn asks about a great many calls. It gives the pod that turn:
//!
//! `cargo run --release -p podward-client --example many_questions SOCKET CLIENTS QUESTIONS ANSWERS`
#![expect(clippy::print_stdout, reason = "a program that measures")]

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use podward_client::{Client, Events};
use podward_protocol::{
    Answer, Event, Hello, PROTOCOL_VERSION, PermissionRejectAll, PermissionReply,
    PermissionRequest, Pong, RequestId, Run,
};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const N_ROUNDS: usize = 10_000;

/// Events that say nothing of the model's deltas.
const EVENTS: [&str; 2] = ["permission_request", "tool_call_finished"];

fn hello(name: String) -> Hello {
    Hello {
        protocol: PROTOCOL_VERSION,
        client: name,
        version: None,
        can_approve: true,
        events: Some(EVENTS.map(str::to_owned).to_vec()),
    }
}

/// The resident memory of the process at the other end, in kB.
fn memory(socket: &Path) -> Outcome<u64> {
    let stream = UnixStream::connect(socket)?;
    let pid = rustix::net::sockopt::socket_peercred(&stream)?.pid;
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_pid()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("no VmRSS")?.parse()?)
}

/// The median, and what 99 of 100 are not above.
fn shown(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied();
    format!(
        "{:?} (p99 {:?})",
        at(50).unwrap_or_default(),
        at(99).unwrap_or_default()
    )
}

/// Lines as long as those of a pong and its answer, there and back over a bare socket.
fn ping_pong() -> Outcome<Vec<Duration>> {
    let (here, there) = UnixStream::pair()?;
    let other = std::thread::spawn(move || -> std::io::Result<()> {
        let mut reader = BufReader::new(there.try_clone()?);
        let mut line = String::new();
        while reader.read_line(&mut line)? > 0 {
            (&there).write_all(b"{\"id\":1000,\"result\":{}}\n")?;
            line.clear();
        }
        Ok(())
    });
    let mut reader = BufReader::new(here.try_clone()?);
    let mut times = Vec::with_capacity(N_ROUNDS);
    let mut line = String::new();
    for _ in 0..N_ROUNDS {
        let start = Instant::now();
        (&here).write_all(b"{\"method\":\"pong\",\"params\":{\"n\":1},\"id\":1000}\n")?;
        line.clear();
        reader.read_line(&mut line)?;
        times.push(start.elapsed());
    }
    here.shutdown(std::net::Shutdown::Both)?;
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

/// Says yes to one question; the times until that is on disk and until the call has its result.
async fn answer(
    client: &Client,
    events: &mut Events,
    request: PermissionRequest,
) -> Outcome<(Duration, Duration)> {
    let start = Instant::now();
    let id: RequestId = request.id;
    let reply = PermissionReply {
        id,
        digest: request.digest,
        answer: Answer::Once,
    };
    client.ask(reply).await?;
    let on_disk = start.elapsed();
    loop {
        let envelope = events.next().await.ok_or("the pod closed the connection")?;
        if matches!(&envelope.event, Event::ToolCallFinished(finished) if finished.call == request.call)
        {
            return Ok((on_disk, start.elapsed()));
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("SOCKET CLIENTS QUESTIONS ANSWERS");
    let socket = next()?;
    let socket = Path::new(&socket);
    let (n_clients, n_questions): (usize, usize) = (next()?.parse()?, next()?.parse()?);
    let n_answers: usize = next()?.parse()?;
    let (client, mut events) = Client::connect(socket, hello("measures".to_owned())).await?;

    let mut pongs = Vec::with_capacity(N_ROUNDS);
    for n in 0..N_ROUNDS {
        let start = Instant::now();
        client.ask(Pong { n: n as u64 }).await?;
        pongs.push(start.elapsed());
    }
    println!("bare socket, there and back: {}", shown(ping_pong()?));
    println!("a method of the pod: {}", shown(pongs));

    let before = memory(socket)?;
    let prompt = Some("go".to_owned());
    client
        .ask(Run {
            prompt,
            skill: None,
        })
        .await?;
    let requests = questions(&mut events, n_questions).await?;
    let waiting = memory(socket)?;
    println!("{n_questions} questions wait: {before} kB before, {waiting} kB now");

    let mut others = Vec::new();
    for n in 0..n_clients {
        others.push(Client::connect(socket, hello(format!("client {n}"))).await?);
    }
    for (_, events) in &mut others {
        questions(events, n_questions).await?;
    }
    println!("{n_clients} clients have read them: {} kB", memory(socket)?);
    drop(others);

    let (mut on_disk, mut finished) = (Vec::new(), Vec::new());
    for request in requests.into_iter().take(n_answers) {
        let (disk, end) = answer(&client, &mut events, request).await?;
        on_disk.push(disk);
        finished.push(end);
    }
    println!("an answer is on disk: {}", shown(on_disk));
    println!("and the call has run: {}", shown(finished));
    client.ask(PermissionRejectAll { feedback: None }).await?;
    Ok(())
}
