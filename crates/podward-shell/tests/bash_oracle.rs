//! Real bash tells what a text runs: every program that it starts must be among the operations
//! found, or the text must hold unknown code.
//!
//! Bash runs with an empty `PATH` in an empty directory; what it does not find goes to a function
//! that writes the words down. `PODWARD_CASES` sets the number of generated texts.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "a test"
)]

mod lexical;
mod oracle;

use oracle::generate::Generator;
use oracle::{Bash, Tally};

/// Texts in the test run; a soak sets more.
const DEFAULT_CASES: usize = 2000;

#[test]
fn bash_starts_no_program_that_was_not_found() {
    let Some(bash) = Bash::find() else {
        eprintln!("no bash here: nothing to compare with");
        return;
    };
    let n_cases = std::env::var("PODWARD_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(DEFAULT_CASES);
    let seed = std::env::var("PODWARD_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let mut generator = Generator::new(seed);
    let mut tally = Tally::default();
    let texts: Vec<String> = (0..n_cases).map(|_| generator.text()).collect();
    bash.compare(&texts, &mut tally);
    tally.finish(n_cases);
}

#[test]
fn listed_texts_run_what_was_found() {
    let Some(bash) = Bash::find() else {
        eprintln!("no bash here: nothing to compare with");
        return;
    };
    let mut tally = Tally::default();
    let texts: Vec<String> = include_str!("oracle/texts.txt")
        .split("\n%%\n")
        .map(str::to_owned)
        .collect();
    bash.compare(&texts, &mut tally);
    assert_eq!(tally.misses, Vec::<String>::new());
}
