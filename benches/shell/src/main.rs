//! `podward_shell::lower` beside the parse of tree-sitter-bash alone, in one run.
//!
//! Batches of both take turns, so that what else runs on the machine meets both alike; each batch
//! is measured in CPU time of its thread. The table shows medians, and the median of the ratios of
//! neighbouring batches. An argument picks the groups with it in their name.
//!
//! It must never be built by what ships: its C parser is for comparison alone.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program run by hand that prints a table"
)]

mod texts;

#[path = "../../../crates/podward-shell/tests/lexical/mod.rs"]
mod lexical;

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};
use texts::Group;
use tree_sitter::Parser;

/// Pairs of batches per group.
const ROUNDS: usize = 41;

/// About how long one batch takes.
const BATCH_NS: f64 = 2_000_000.0;

fn main() {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .expect("the grammar fits the library");
    let only = std::env::args().nth(1).unwrap_or_default();
    println!("| text | bytes | podward-shell | tree-sitter-bash | ratio |");
    println!("|---|---|---|---|---|");
    for group in texts::groups() {
        if !group.name.contains(&only) {
            continue;
        }
        row(&mut parser, &group);
    }
}

fn row(parser: &mut Parser, group: &Group) {
    let n_texts = group.texts.len() as f64;
    let n_bytes: usize = group.texts.iter().map(String::len).sum();
    let mut ours = || {
        for text in &group.texts {
            black_box(podward_shell::lower(black_box(text), &lexical::place()));
        }
    };
    let mut theirs = || {
        for text in &group.texts {
            black_box(parser.parse(black_box(text), None));
        }
    };
    let (n_ours, n_theirs) = (batch_size(&mut ours), batch_size(&mut theirs));
    let mut samples = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let a = batch(n_ours, &mut ours) / n_texts;
        let b = batch(n_theirs, &mut theirs) / n_texts;
        samples.push((a, b));
    }
    let ours = median(samples.iter().map(|(a, _)| *a));
    let theirs = median(samples.iter().map(|(_, b)| *b));
    let ratio = median(samples.iter().map(|(a, b)| b / a));
    println!(
        "| {} | {} | {} | {} | {ratio:.1} |",
        group.name,
        n_bytes / group.texts.len(),
        shown(ours),
        shown(theirs),
    );
}

/// How many runs make a batch of [`BATCH_NS`].
fn batch_size(run: &mut impl FnMut()) -> usize {
    // What is made at the first use is no part of it.
    run();
    let mut n = 1;
    loop {
        let taken = batch(n, run) * n as f64;
        if taken > BATCH_NS {
            return n;
        }
        n *= 2;
    }
}

/// Nanoseconds of CPU time for one of `n` runs.
fn batch(n: usize, run: &mut impl FnMut()) -> f64 {
    let start = thread_ns();
    for _ in 0..n {
        run();
    }
    (thread_ns() - start) / n as f64
}

fn thread_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
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
