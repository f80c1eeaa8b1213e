//! What it costs to ask: a call is judged, put, answered and released; and beside it what it costs
//! to write one line down, which comes before anything of it has an effect.
//!
//! `cargo run --release -p podward-gate --example ask_cost [DIRECTORY FOR THE LINES]`
#![expect(clippy::print_stdout, reason = "a program that measures")]

use std::error::Error;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use podward_gate::{Answer, Call, CallFacts, CallId, Gate, Grant, GrantId, Settled, Submitted};
use podward_policy::{
    Action, CommandSubject, GrantRule, KnownTools, Need, Operation, Policies, Policy, PolicySpec,
    Subject, Text, ToolName,
};

const N_ROUNDS: usize = 100_000;
const N_WAITING: usize = 10_000;
const N_LINES: usize = 200;

/// As long as a line of a decision log about a call of bash.
const LINE: [u8; 900] = [b'x'; 900];

fn policies() -> Result<Policies, Box<dyn Error>> {
    let mut spec = PolicySpec::new(Action::Ask);
    for n in 0..30 {
        spec = spec.rule("bash", format!("program{n} *"), Action::Allow);
    }
    let compiled = Policy::compile(&spec, &KnownTools::built_in());
    Ok(compiled.map_err(|_| "a rule is wrong")?.policy.into())
}

fn call(number: usize) -> Result<Call<&'static str>, Box<dyn Error>> {
    let text = format!("git push origin branch-{number}");
    let tool = ToolName::new("bash")?;
    let arguments = format!(r#"{{"command":"{text}"}}"#);
    let operation = Operation {
        tool: tool.clone(),
        subject: Subject::Command(CommandSubject {
            written: Text::known(text),
            name_start: 0,
            name_end: 3,
            further: Vec::new(),
            place: None,
        }),
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    };
    let id = CallId::new(&format!("call_{number}"))?;
    let facts = CallFacts::new(id, tool, arguments, operation.into());
    Ok(Call::new(facts, "what would run"))
}

/// Asks about calls and answers each at once; the time of each.
fn round_trips() -> Result<Vec<Duration>, Box<dyn Error>> {
    let mut gate = Gate::new(policies()?);
    let calls: Result<Vec<_>, _> = (0..N_ROUNDS).map(call).collect();
    let mut times = Vec::with_capacity(N_ROUNDS);
    for call in calls? {
        let by = "me".into();
        let start = Instant::now();
        let Submitted::Ask(question) = gate.submit(call) else {
            return Err("it is not asked about".into());
        };
        gate.put(question.id())?;
        let Settled::Run(permitted) = gate.answer(question.id(), Answer::Once { by })? else {
            return Err("it was said yes".into());
        };
        let released = permitted.release();
        times.push(start.elapsed());
        drop(released);
    }
    Ok(times)
}

/// Lets many questions wait, and then answers them all with one grant.
fn many() -> Result<[(&'static str, Duration); 4], Box<dyn Error>> {
    let mut gate = Gate::new(policies()?);
    let calls: Result<Vec<_>, _> = (0..N_WAITING).map(call).collect();
    let mut first = None;
    let start = Instant::now();
    for call in calls? {
        let Submitted::Ask(question) = gate.submit(call) else {
            return Err("it is not asked about".into());
        };
        gate.put(question.id())?;
        first.get_or_insert(question);
    }
    let put = start.elapsed();
    let first = first.ok_or("nothing was asked")?;
    let start = Instant::now();
    let n_open = gate.open().len();
    let listed = start.elapsed();
    let askers = first.asking().iter().map(|part| part.asker.clone());
    let rule = GrantRule::compile(first.facts().tool(), "git push origin *0", askers.collect())?;
    let grant = Grant {
        id: GrantId::new("g")?,
        rules: vec![rule],
        expires_at: None,
        uses_left: None,
        by: "me".into(),
    };
    let start = Instant::now();
    let n_granted = gate.grant(grant, Some(first.id()))?.len();
    let granted = start.elapsed();
    let start = Instant::now();
    let n_rejected = gate.reject_all("me", None).len();
    let rejected = start.elapsed();
    println!("{n_open} waited, {n_granted} were settled by a grant, {n_rejected} rejected");
    Ok([
        ("submitted and put, all", put),
        ("listed, all", listed),
        ("re-judged for a grant, all", granted),
        ("rejected, all the others", rejected),
    ])
}

/// Writes lines and syncs each; the time of each.
fn lines(directory: PathBuf) -> Result<Vec<Duration>, Box<dyn Error>> {
    let path = directory.join(format!("podward-ask-cost-{}", std::process::id()));
    let mut file = File::create_new(&path)?;
    let mut write = || -> std::io::Result<Duration> {
        let start = Instant::now();
        file.write_all(&LINE)?;
        file.sync_data()?;
        Ok(start.elapsed())
    };
    let times: Result<Vec<_>, _> = (0..N_LINES).map(|_| write()).collect();
    std::fs::remove_file(&path)?;
    Ok(times?)
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| {
        times
            .get(times.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    println!("{what}: median {:?}, p99 {:?}", at(50), at(99));
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    show("judged, put, answered, released", round_trips()?);
    show("one line written and synced", lines(directory)?);
    for (what, time) in many()? {
        println!("{what}: {time:?}");
    }
    Ok(())
}
