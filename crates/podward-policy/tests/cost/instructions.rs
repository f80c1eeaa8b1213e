//! Instructions, as callgrind counts them.

use std::hint::black_box;
use std::process::Command;

use libtest_mimic::Failed;
use podward_policy::{KnownTools, Lowered, Policies, Policy, PolicySpec};

use crate::workload::{HITS, calls, policies, spec};

/// Bytes of a text.
const SIZES: [usize; 3] = [20, 200, 8000];

/// Runs what is measured: each call of [`measured`] or [`compile`] is one figure.
pub(crate) fn run(scenario: &str) {
    let n_rules: usize = scenario.parse().unwrap();
    let plain = policies(n_rules);
    for hit in HITS {
        for n_bytes in SIZES {
            let calls = calls(n_rules, hit, n_bytes);
            mark();
            measured(&plain, &calls);
        }
    }
    let spec = spec(n_rules);
    mark();
    compile(&spec);
}

#[inline(never)]
fn measured(policies: &Policies, calls: &[Lowered]) {
    for call in calls {
        black_box(policies.judge(black_box(call)));
    }
}

/// What was done so far is no part of the next figure.
#[inline(never)]
fn mark() {
    black_box(());
}

#[inline(never)]
fn compile(spec: &PolicySpec) {
    let policy = Policy::compile_unread(black_box(spec), &KnownTools::built_in()).unwrap();
    // Giving the memory back is no part of it.
    std::mem::forget(black_box(Policies::from(policy).indexed()));
}

/// Instructions of one decision on average, and of one compilation.
#[derive(Debug)]
struct Figures {
    /// By what is looked for, in the order of [`HITS`], and by size, in the order of [`SIZES`].
    decisions: [[u64; 3]; 3],
    compilation: u64,
}

/// Rules, and the most instructions of a decision over texts of each size.
const BUDGETS: [(usize, [u64; 3]); 3] = [
    (100, [10_000, 18_000, 330_000]),
    (1000, [9_000, 17_000, 360_000]),
    (100_000, [11_000, 25_000, 600_000]),
];

/// The most instructions of a compilation with its index, for each of 1,000 rules.
const COMPILATION: u64 = 4_000;

pub(crate) fn check() -> Result<(), Failed> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed: no instruction was counted");
        return Ok(());
    }
    let mut few: Option<Figures> = None;
    for (n_rules, most) in BUDGETS {
        let found = figures(n_rules)?;
        println!("{n_rules} rules: {found:?}");
        for (hit, decisions) in HITS.iter().zip(found.decisions) {
            for ((size, n), most) in SIZES.iter().zip(decisions).zip(most) {
                if n > most {
                    return Err(format!("{n_rules} rules, {hit:?}, {size} bytes: {n}").into());
                }
            }
        }
        if n_rules == 1000 && found.compilation > 1000 * COMPILATION {
            return Err(format!("compilation: {}", found.compilation).into());
        }
        let Some(few) = &few else {
            few = Some(found);
            continue;
        };
        // Of all that is looked for in a command line, at most twice as much as with 100 rules.
        for size in [0, 1] {
            let sum = |figures: &Figures| -> u64 {
                figures.decisions.iter().map(|sizes| sizes[size]).sum()
            };
            if sum(&found) > 2 * sum(few) {
                return Err(format!("{n_rules} rules: {found:?}; 100 rules: {few:?}").into());
            }
        }
    }
    Ok(())
}

fn figures(n_rules: usize) -> Result<Figures, Failed> {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cost.{n_rules}"));
    std::fs::remove_file(&file).ok();
    let dumps =
        ["mark", "measured", "compile"].map(|name| format!("--dump-after=*instructions::{name}*"));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--combine-dumps=yes"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .args(dumps)
        .arg(std::env::current_exe()?)
        .env("PODWARD_COST_SCENARIO", n_rules.to_string())
        .output()?;
    let told = std::fs::read_to_string(&file)?;
    std::fs::remove_file(&file)?;
    let mut is_measured = false;
    let mut totals: Vec<u64> = Vec::new();
    for line in told.lines() {
        if let Some(trigger) = line.strip_prefix("desc: Trigger: --dump-after=") {
            is_measured = !trigger.ends_with("mark");
        } else if let Some(total) = line.strip_prefix("totals: ")
            && std::mem::take(&mut is_measured)
        {
            totals.push(total.trim().parse()?);
        }
    }
    if !output.status.success() || totals.len() != 10 {
        let talk = String::from_utf8_lossy(&output.stderr);
        return Err(format!("callgrind: {totals:?}: {talk}").into());
    }
    Ok(Figures {
        decisions: std::array::from_fn(|hit| {
            std::array::from_fn(|size| totals[3 * hit + size] / 16)
        }),
        compilation: totals[9],
    })
}
