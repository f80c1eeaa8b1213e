//! Instructions, as callgrind counts them.

use std::hint::black_box;
use std::process::Command;

use libtest_mimic::Failed;
use podward_policy::{KnownTools, Lowered, Policies, Policy, PolicySpec, ToolName};

use crate::hostile;
use crate::workload::{HITS, Hit, calls, calls_with_holes, compiled, layers, policies, spec};

/// Bytes of a text.
const SIZES: [usize; 3] = [20, 200, 8000];

/// Of the calls with holes.
const N_LAYERS: usize = 3;
const N_OPERATIONS: usize = 5;
const SIZES_WITH_HOLES: [usize; 2] = [20, 200];

/// The scenario of lists that are made to be slow.
const HOSTILE: &str = "hostile";

/// The scenario of calls that are asked about.
const ASKED: &str = "asked";

/// Rules of which each is tried.
const N_TRIED: usize = 100;

/// Runs what is measured: each call of [`measured`], [`asked`] or [`compile`] is one figure.
pub(crate) fn run(scenario: &str) {
    match scenario {
        HOSTILE => run_hostile(),
        ASKED => run_asked(),
        n_rules => run_real(n_rules.parse().unwrap()),
    }
}

fn run_real(n_rules: usize) {
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
    if n_rules == WITH_HOLES {
        let layers = layers(n_rules, N_LAYERS);
        for n_bytes in SIZES_WITH_HOLES {
            let calls = calls_with_holes(n_rules, N_OPERATIONS, n_bytes);
            mark();
            measured(&layers, &calls);
        }
    }
}

fn run_hostile() {
    for list in hostile::LISTS {
        for (n_rules, n_bytes) in hostile::SIZES {
            let policies = list.policies(n_rules);
            let calls = list.calls(n_bytes);
            mark();
            measured(&policies, &calls);
        }
    }
}

fn run_asked() {
    let policies = Policies::from(compiled(N_TRIED));
    let calls = calls(N_TRIED, Hit::Never, SIZES[0]);
    mark();
    measured(&policies, &calls);
    mark();
    asked(&policies, &calls);
}

#[inline(never)]
fn asked(policies: &Policies, calls: &[Lowered]) {
    let tool = ToolName::new("bash").unwrap();
    for call in calls {
        let judged = policies.judge_call(&tool, black_box(call));
        assert_eq!(judged.asking.len(), 1, "{call:?}");
        black_box(judged);
    }
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
    /// Of one operation in one layer, where calls have some with holes, by size.
    with_holes: Option<[u64; 2]>,
}

impl Figures {
    /// Whatever is looked for.
    fn mean(&self, size: usize) -> u64 {
        let of_size = self.decisions.iter().map(|sizes| sizes[size]);
        of_size.sum::<u64>() / 3
    }
}

/// Rules, and the most instructions of a decision over texts of each size: more than was counted by as much as
/// one build of the same code differs from another, which is a fifth for the long texts. Of those it is no more
/// than eight instructions a byte.
const BUDGETS: [(usize, [u64; 3]); 3] = [
    (100, [10_000, 11_000, 38_000]),
    (1000, [7_500, 11_500, 50_000]),
    (100_000, [11_500, 15_500, 62_000]),
];

/// The most instructions of a compilation with its index, for each of 1,000 rules.
const COMPILATION: u64 = 4_000;

/// The table that calls with holes are judged by, and the most that one operation of them may cost in one
/// layer: times what an operation without holes costs, by size.
const WITH_HOLES: usize = 1000;
const TIMES_WITHOUT: [u64; 2] = [4, 5];

pub(crate) fn check() -> Result<(), Failed> {
    if !has_valgrind() {
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
        for (size, n) in found.with_holes.into_iter().flatten().enumerate() {
            if n > TIMES_WITHOUT[size] * found.mean(size) {
                return Err(format!("with holes: {n} against {}", found.mean(size)).into());
            }
        }
        let Some(few) = &few else {
            few = Some(found);
            continue;
        };
        // Of all that is looked for, at most twice as much as with 100 rules.
        for size in [0, 1, 2] {
            if found.mean(size) > 2 * few.mean(size) {
                return Err(format!("{n_rules} rules: {found:?}; 100 rules: {few:?}").into());
            }
        }
    }
    Ok(())
}

/// Twice the text, and twice the rules, are at most 2.2 times the work, whatever they look like.
pub(crate) fn check_hostile() -> Result<(), Failed> {
    if !has_valgrind() {
        return Ok(());
    }
    let totals = totals(HOSTILE)?;
    for (list, totals) in hostile::LISTS
        .iter()
        .zip(totals.chunks(hostile::SIZES.len()))
    {
        println!("{list:?}: {totals:?}");
        let &[half_of_rules, half_of_text, whole] = totals else {
            return Err(format!("{list:?}: {totals:?}").into());
        };
        if whole * 10 > half_of_rules * 22 || whole * 10 > half_of_text * 22 {
            return Err(format!("{list:?}: {totals:?}").into());
        }
    }
    Ok(())
}

/// What asks is found out where it is judged: by a second round over the rules it would be twice as much.
pub(crate) fn check_asked() -> Result<(), Failed> {
    if !has_valgrind() {
        return Ok(());
    }
    let totals = totals(ASKED)?;
    println!("judged, and with what asks: {totals:?}");
    let &[judged, asked] = &*totals else {
        return Err(format!("{totals:?}").into());
    };
    match asked * 10 > judged * 12 {
        true => Err(format!("{judged} to judge, {asked} with what asks").into()),
        false => Ok(()),
    }
}

fn has_valgrind() -> bool {
    let has = Command::new("valgrind").arg("--version").output().is_ok();
    if !has {
        println!("valgrind is not installed: no instruction was counted");
    }
    has
}

fn figures(n_rules: usize) -> Result<Figures, Failed> {
    let totals = totals(&n_rules.to_string())?;
    let n_with_holes = u64::try_from(16 * N_LAYERS * N_OPERATIONS)?;
    let n_figures = if n_rules == WITH_HOLES { 12 } else { 10 };
    if totals.len() != n_figures {
        return Err(format!("{totals:?}").into());
    }
    Ok(Figures {
        decisions: std::array::from_fn(|hit| {
            std::array::from_fn(|size| totals[3 * hit + size] / 16)
        }),
        compilation: totals[9],
        with_holes: (n_figures > 10)
            .then(|| std::array::from_fn(|size| totals[10 + size] / n_with_holes)),
    })
}

/// The figures of a scenario, in order.
fn totals(scenario: &str) -> Result<Vec<u64>, Failed> {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cost.{scenario}"));
    std::fs::remove_file(&file).ok();
    let dumps = ["mark", "measured", "asked", "compile"]
        .map(|name| format!("--dump-after=*instructions::{name}*"));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--combine-dumps=yes"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .args(dumps)
        .arg(std::env::current_exe()?)
        .env("PODWARD_COST_SCENARIO", scenario)
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
    match output.status.success() {
        true => Ok(totals),
        false => Err(format!("callgrind: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}
