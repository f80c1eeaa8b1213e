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

#[test]
fn a_control_character_is_what_ends_the_reading_also_within_quotes() {
    for text in ["printf 'a\u{1b}[31mb'", "echo \"a\u{7}b\"", "echo a\u{1}b"] {
        let Lowered::Operations(operations) = lower(text.to_owned()) else {
            panic!("{text:?}: nothing to run");
        };
        let reasons: Vec<_> = operations
            .iter()
            .filter_map(|operation| match &operation.subject {
                Subject::Unknown(why) => Some(why.as_str()),
                _ => None,
            })
            .collect();
        assert!(
            reasons
                .iter()
                .all(|why| why.starts_with("a control character")),
            "{text:?}: {reasons:?}"
        );
        assert!(!reasons.is_empty(), "{text:?}");
    }
}
