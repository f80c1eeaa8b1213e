//! How long the client takes for a key and for what pods tell, and what it keeps of it.
//!
//! `cargo run --release -p podward-attach --example busy`
#![expect(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use podward_attach::{App, Colors, Effect, Input, Keys, Now, PodNews, draw};
use podward_client::Found;
use podward_protocol::{
    CallId, Envelope, Event, PROTOCOL_VERSION, PodEntry, SessionId, TextDelta, Time,
    ToolCallArguments, ToolCallFinished, ToolOutcome,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

/// Events that pods tell.
const N_EVENTS: u64 = 100_000;
/// Events between two frames at 1,000 events a second and 60 frames a second.
const PER_FRAME: u64 = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let session = SessionId::new("01JDXW8Z4M9V7Q3T5R6S8N0PAB")?;
    let found = found(session.clone());
    let mut app = App::new(vec![found], Keys::default(), 200, 50);
    let mut screen = Terminal::new(TestBackend::new(200, 50))?;
    let mut effects: Vec<Effect> = Vec::new();
    let begun = Instant::now();
    let now = || Now {
        steady: u64::try_from(begun.elapsed().as_millis()).unwrap_or(0),
        wall: 0,
    };
    let mut show = |app: &mut App| -> Result<(), Box<dyn Error>> {
        app.lay_out();
        screen.draw(|frame| draw(app, frame, Colors::Sixteen))?;
        Ok(())
    };
    for n in 0..N_EVENTS {
        let envelope = Envelope {
            time: Time::UNIX_EPOCH,
            session: session.clone(),
            seq: n,
            snapshot: false,
            event: event(n),
        };
        let news = PodNews::Told(Box::new(envelope));
        effects.extend(app.on_event(now(), Input::Pod(0, Box::new(news))));
        if n % PER_FRAME == 0 {
            show(&mut app)?;
        }
        if (n + 1) % (N_EVENTS / 5) == 0 {
            println!("{:>7} events: {} KiB resident", n + 1, resident()?);
        }
    }
    let took = begun.elapsed();
    println!(
        "{N_EVENTS} events, a frame each {PER_FRAME}: {took:?}, {:?} an event",
        took / 100_000
    );
    let mut keys: Vec<Duration> = Vec::new();
    for _ in 0..2_000 {
        let key = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE);
        let pressed = Instant::now();
        effects.extend(app.on_event(now(), Input::Key(key)));
        show(&mut app)?;
        keys.push(pressed.elapsed());
    }
    keys.sort();
    let at = |share: usize| {
        keys.get(keys.len() * share / 1000)
            .copied()
            .unwrap_or_default()
    };
    println!(
        "a key to its frame: median {:?}, 99.9 % {:?}",
        at(500),
        at(999)
    );
    black_box(effects);
    Ok(())
}

fn found(session: SessionId) -> Found {
    Found {
        entry: PodEntry {
            format: 1,
            pod: "busy".to_owned(),
            session,
            pid: 1,
            started_at: Time::UNIX_EPOCH,
            workspace: "/work".to_owned(),
            manifest: None,
            protocol: PROTOCOL_VERSION,
        },
        socket: PathBuf::from("/run/busy.sock"),
    }
}

/// A conversation: text, and a call now and then.
fn event(n: u64) -> Event {
    let call = CallId::new(format!("call_{}", n / 50));
    match n % 50 {
        48 => Event::ToolCallArguments(ToolCallArguments {
            call,
            tool: "bash".to_owned(),
            arguments: json!({"command": format!("make part-{n}")}),
        }),
        49 => Event::ToolCallFinished(ToolCallFinished {
            call,
            tool: "bash".to_owned(),
            outcome: ToolOutcome::Done,
            content: "built\n".repeat(8),
        }),
        _ => Event::TextDelta(TextDelta {
            text: format!("word {n} of *what* is said here. "),
        }),
    }
}

/// KiB of this process in memory.
fn resident() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("no VmRSS")?.parse()?)
}
