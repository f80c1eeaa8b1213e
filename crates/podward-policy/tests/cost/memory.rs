//! What the allocator is asked for.

use std::hint::black_box;

use libtest_mimic::Failed;

use crate::workload::{HITS, calls, policies};

/// Bytes that a rule may take, compiled and indexed.
const MOST_A_RULE: u64 = 150;

pub(crate) fn decisions() -> Result<(), Failed> {
    for n_rules in [10, 100, 1000, 10_000] {
        let policies = policies(n_rules);
        for n_bytes in [20, 200, 8000] {
            for hit in HITS {
                for call in calls(n_rules, hit, n_bytes) {
                    let taken = allocation_counter::measure(|| {
                        black_box(policies.judge(black_box(&call)));
                    });
                    if taken.count_total != 0 {
                        let n = taken.count_total;
                        return Err(format!("{n} allocations, {n_rules} rules: {call:?}").into());
                    }
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn rules() -> Result<(), Failed> {
    for n_rules in [100_000, 1000] {
        let mut policy = None;
        let taken = allocation_counter::measure(|| {
            policy = Some(policies(n_rules));
        });
        let each = u64::try_from(taken.bytes_current)? / u64::try_from(n_rules)?;
        println!("{n_rules} rules: {each} bytes each");
        if each > MOST_A_RULE {
            return Err(format!("{n_rules} rules: {each} bytes each").into());
        }
        drop(policy);
    }
    Ok(())
}
