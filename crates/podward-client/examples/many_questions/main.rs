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

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use podward_client::{Client, Events};
use podward_protocol::{
    Answer, Event, Hello, PROTOCOL_VERSION, PermissionList, PermissionRejectAll, PermissionReply,
    PermissionRequest, Run,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use served::{Outcome, Served, built_beside, row};

mod served;

/// Events that say nothing of the model's deltas.
const EVENTS: [&str; 2] = ["permission_request", "tool_call_finished"];

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

fn print_answers(answers: &[Answered]) {
    println!("| {} answers | median | p99 |", answers.len());
    println!("|---|---|---|");
    let times = |of: fn(&Answered) -> Duration| answers.iter().map(of).collect();
    row("an answer is on disk", times(|answered| answered.on_disk));
    row(
        "its program (`date`) runs",
        times(|answered| answered.started),
    );
    row(
        "its call has its result",
        times(|answered| answered.finished),
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let mut count = |usual: usize| arguments.next().map_or(Ok(usual), |count| count.parse());
    let (n_questions, n_clients, n_answers) = (count(10_000)?, count(200)?, count(1_000)?);
    let program = arguments.next().map(PathBuf::from).or_else(built_beside);
    let message = message(n_questions)?;
    let pod = Served::start(&mut Command::new(program.ok_or("no program")?), n_questions)?;
    let (client, mut events) = Client::connect(&pod.socket, hello("measures".to_owned())).await?;

    let memory = || resident(&pod.child.id().to_string());
    println!(
        "| {n_questions} questions, {n_clients} clients | took | resident memory of the pod |"
    );
    println!("|---|---|---|");
    println!("| before | | {} kB |", memory()?);
    let before = memory()?;
    let mut start = Instant::now();
    let step = |what: &str, start: &mut Instant| -> Outcome {
        println!("| {what} | {:.1?} | {} kB |", start.elapsed(), memory()?);
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
    let waiting = memory()?.saturating_sub(before);
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

    print_answers(&answers);
    for other in others {
        other.abort();
    }
    Ok(())
}
