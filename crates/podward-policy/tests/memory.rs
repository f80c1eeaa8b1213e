//! What judging asks of the allocator. A program of its own: the allocator that counts is none of what
//! `tests/cost` counts.

#![cfg(test)]

#[path = "cost/workload.rs"]
#[expect(dead_code, reason = "the tests of costs use all of it")]
mod workload;

use std::hint::black_box;

use workload::{HITS, calls, policies};

/// Bytes that a rule may take, compiled and indexed.
const MOST_A_RULE: i64 = 150;

#[test]
fn a_decision_allocates_nothing() {
    for n_rules in [10, 100, 1000, 10_000] {
        let policies = policies(n_rules);
        for n_bytes in [20, 200, 8000] {
            for hit in HITS {
                for call in calls(n_rules, hit, n_bytes) {
                    let taken = allocation_counter::measure(|| {
                        black_box(policies.judge(black_box(&call)));
                    });
                    assert_eq!(taken.count_total, 0, "{n_rules} rules: {call:?}");
                }
            }
        }
    }
}

#[test]
fn a_rule_takes_at_most_150_bytes() {
    for n_rules in [100_000, 1000] {
        let mut policy = None;
        let taken = allocation_counter::measure(|| {
            policy = Some(policies(n_rules));
        });
        let each = taken.bytes_current / i64::try_from(n_rules).unwrap();
        println!("{n_rules} rules: {each} bytes each");
        assert!(each > 0, "nothing was counted");
        assert!(each <= MOST_A_RULE, "{n_rules} rules: {each} bytes each");
        drop(policy);
    }
}
