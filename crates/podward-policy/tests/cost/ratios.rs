//! Times of decisions beside each other, in one process: what is left where nothing counts instructions.

use std::hint::black_box;

use libtest_mimic::Failed;
use podward_policy::{Lowered, Policies};
use rustix::time::{ClockId, clock_gettime};

use crate::workload::{HITS, calls, policies};

/// Batches of each table, in turns; the fastest counts.
const ROUNDS: usize = 25;

/// How much longer a decision by 100,000 rules may take than one by 100. Instructions are held to
/// twice as many; this is to show a loop over the rules, which takes 400 times as long.
const MOST: u64 = 8;

pub(crate) fn check() -> Result<(), Failed> {
    let tables = [100, 100_000].map(|n_rules| {
        let all: Vec<Lowered> = HITS
            .iter()
            .flat_map(|hit| calls(n_rules, *hit, 20))
            .collect();
        (policies(n_rules), all)
    });
    let mut fastest = [u64::MAX; 2];
    for _ in 0..ROUNDS {
        for ((policies, calls), fastest) in tables.iter().zip(&mut fastest) {
            *fastest = batch(policies, calls).min(*fastest);
        }
    }
    let [few, many] = fastest;
    println!("CPU time: {many} ns against {few} ns");
    match many <= MOST * few {
        true => Ok(()),
        false => Err(format!("{many} ns against {few} ns").into()),
    }
}

fn batch(policies: &Policies, calls: &[Lowered]) -> u64 {
    let start = now();
    for call in calls.iter().cycle().take(calls.len() * 10) {
        black_box(policies.judge(black_box(call)));
    }
    now() - start
}

/// CPU time of this thread.
fn now() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap()
}
