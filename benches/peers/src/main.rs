//! podward-policy beside other engines: the same rules, the same answers, in one run.
//!
//! Rules are of one tool (`bash`), and texts are known to the last character: what all of them can
//! say. Each engine answers with the number of the first rule that matches; the answers are compared
//! before anything is measured. Batches of all engines take turns; each is CPU time of its thread.
//!
//! It must never be built by what ships.

#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a program run by hand that prints a table"
)]

mod engines;

#[path = "../../../crates/podward-policy/tests/cost/workload.rs"]
#[expect(dead_code, reason = "the tests of costs use all of it")]
mod workload;

use std::hint::black_box;
use std::process::Command;

use engines::Engine;
use rustix::time::{ClockId, clock_gettime};
use workload::{Hit, rules, targets};

/// Batches of each engine.
const ROUNDS: usize = 11;

/// About how long one batch takes.
const BATCH_NS: f64 = 5_000_000.0;

fn main() {
    println!("| rules | text | engine | median | times podward |");
    println!("|---|---|---|---|---|");
    let mut cases = Vec::new();
    for n_rules in [10, 100, 1000] {
        let patterns = patterns(n_rules);
        let engines = engines::all(&patterns);
        for n_bytes in [20, 200] {
            let texts = texts(n_bytes);
            let answers = agree(&engines, &texts);
            let ours_ns = table(n_rules, n_bytes, &engines, &texts);
            cases.push(serde_json::json!({
                "rules": n_rules, "bytes": n_bytes, "ours_us": ours_ns / 1e3,
                "patterns": patterns, "texts": texts, "answers": answers,
            }));
        }
    }
    run_scripts(&cases);
}

/// Patterns of commands, without those that not all engines read alike.
fn patterns(n_rules: usize) -> Vec<String> {
    rules(n_rules * 4)
        .into_iter()
        .filter(|rule| rule.tool == "bash")
        .map(|rule| rule.pattern)
        // An end that may be missing, and whole lines, are podward's own.
        .filter(|pattern| !pattern.ends_with(" *") && !pattern.contains('|'))
        .take(n_rules)
        .collect()
}

/// Commands that no rule matches, and some that one does.
fn texts(n_bytes: usize) -> Vec<String> {
    [Hit::Never, Hit::Early]
        .into_iter()
        .flat_map(|hit| targets(1000, hit, n_bytes))
        .filter(|target| target.tool == "bash")
        .map(|target| target.text)
        .collect()
}

/// What podward answers, and so do all others.
fn agree(engines: &[Box<dyn Engine>], texts: &[String]) -> Vec<Option<usize>> {
    let ask = |text: &String| {
        let expected = engines.first().and_then(|engine| engine.first_match(text));
        for engine in engines {
            match engine.first_match(text) {
                // Only that there is one.
                Some(usize::MAX) => assert!(expected.is_some(), "{}: {text}", engine.name()),
                found => assert_eq!(found, expected, "{}: {text}", engine.name()),
            }
        }
        expected
    };
    texts.iter().map(ask).collect()
}

/// Prints the rows of all engines; podward's time.
fn table(n_rules: usize, n_bytes: usize, engines: &[Box<dyn Engine>], texts: &[String]) -> f64 {
    let run = |engine: &dyn Engine, n: usize| {
        let start = thread_ns();
        for _ in 0..n {
            for text in texts {
                black_box(engine.first_match(black_box(text)));
            }
        }
        (thread_ns() - start) / (n * texts.len()) as f64
    };
    let sizes: Vec<usize> = engines
        .iter()
        .map(|engine| {
            let once = run(&**engine, 1) * texts.len() as f64;
            ((BATCH_NS / once) as usize).clamp(1, 100_000)
        })
        .collect();
    let mut samples = vec![Vec::new(); engines.len()];
    for _ in 0..ROUNDS {
        for ((engine, n), samples) in engines.iter().zip(&sizes).zip(&mut samples) {
            samples.push(run(&**engine, *n));
        }
    }
    let medians: Vec<f64> = samples.into_iter().map(median).collect();
    let ours = medians.first().copied().unwrap_or(f64::NAN);
    for (engine, ns) in engines.iter().zip(&medians) {
        let name = engine.name();
        let times = ns / ours;
        println!(
            "| {n_rules} | {n_bytes} B | {name} | {} | {times:.1} |",
            shown(*ns)
        );
    }
    ours
}

/// The engines that are not in Rust, by the same rules and texts.
fn run_scripts(cases: &[serde_json::Value]) {
    let file = std::env::temp_dir().join(format!("podward-peers-{}.json", std::process::id()));
    let text = serde_json::Value::from(cases).to_string();
    std::fs::write(&file, text).expect("the file is written");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts.mjs");
    let ran = Command::new("node").arg(script).arg(&file).status();
    std::fs::remove_file(&file).expect("the file was written");
    match ran {
        Ok(status) => assert!(status.success(), "node: {status}"),
        Err(error) => eprintln!("no rows of node: {error}"),
    }
}

fn thread_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn shown(ns: f64) -> String {
    match ns {
        ns if ns < 1e4 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}
