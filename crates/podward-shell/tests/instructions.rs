//! Instructions for hostile text, counted by valgrind where it is installed: a soak sets
//! `PODWARD_VALGRIND`, other runs leave it out (the work that tests always count is in `src/work.rs`).

#![expect(clippy::unwrap_used, reason = "a test")]

mod lexical;
mod units;

use std::process::Command;

const UNIT: &str = "PODWARD_UNIT";
const BYTES: &str = "PODWARD_BYTES";

fn number(name: &str) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

/// What valgrind watches: one text, by its unit and its length.
#[test]
fn one_text_is_lowered() {
    let unit = units::UNITS[number(UNIT)];
    let text = unit.repeat(number(BYTES) / unit.len());
    let _ = podward_shell::lower("warm up", &lexical::place());
    let _ = podward_shell::lower(&text, &lexical::place());
}

/// Instructions of a process that lowers one text; `None` without valgrind.
fn instructions(unit: usize, n_bytes: usize) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "one_text_is_lowered", "--test-threads=1"])
        .env(UNIT, unit.to_string())
        .env(BYTES, n_bytes.to_string())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, count) = said.split_once("Collected :")?;
    count.split_whitespace().next()?.parse().ok()
}

#[test]
fn instructions_grow_with_the_length_of_hostile_text() {
    if std::env::var_os("PODWARD_VALGRIND").is_none() {
        return;
    }
    let Some(nothing) = instructions(0, 0) else {
        eprintln!("no valgrind here: nothing is counted");
        return;
    };
    let mut worse = Vec::new();
    for (idx, unit) in units::UNITS.iter().enumerate() {
        let of = |n_bytes| instructions(idx, n_bytes).unwrap().saturating_sub(nothing);
        let (short, long) = (of(16 * 1024), of(64 * 1024));
        eprintln!(
            "{unit:?}: {short} and {long}, {} a byte",
            long / (64 * 1024)
        );
        // Four times the text; what is over five times is more than an allocator's growth.
        if long > 5 * short || long > 10_000 * 64 * 1024 {
            worse.push(format!("{unit:?}: {short} to {long}"));
        }
    }
    assert_eq!(worse, Vec::<String>::new());
}
