//! Hostile text: no panic, no stack overflow, and no verdict that an allow could cover.

#![expect(clippy::unwrap_used, reason = "a test")]

mod lexical;
mod units;

use podward_policy::{Lowered, Subject};
use units::UNITS;

const MEGABYTE: usize = 1024 * 1024;

/// Runs on a stack of 256 KiB, which an overflow would end the process with.
fn lower(text: String) -> Lowered {
    std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(move || podward_shell::lower(&text, &lexical::place()))
        .unwrap()
        .join()
        .unwrap()
}

fn is_unknown(lowered: &Lowered) -> bool {
    match lowered {
        Lowered::NothingToRun => false,
        Lowered::Operations(operations) => operations
            .iter()
            .any(|operation| matches!(operation.subject, Subject::Unknown(_))),
    }
}

#[test]
fn a_megabyte_of_anything_is_unknown() {
    for unit in UNITS {
        let lowered = lower(unit.repeat(MEGABYTE / unit.len()));
        assert!(is_unknown(&lowered), "{unit:?}");
    }
}

#[test]
fn nesting_of_any_depth_is_read_or_refused() {
    for unit in UNITS {
        for n in [1, 5, 20, 39, 40, 41, 100, 1000, 8000] {
            let text = unit.repeat(n);
            if text.len() <= 64 * 1024 {
                lower(text);
            }
        }
    }
}

#[test]
fn pairs_of_units_are_read_or_refused() {
    for first in UNITS {
        for second in UNITS {
            lower(format!("{first}{second}").repeat(60));
            lower(format!("{}{}", first.repeat(30), second.repeat(30)));
        }
    }
}
