//! Bounds on the work of reading: per byte, and when a text grows.

use super::DONE;
use crate::lexical;

#[path = "../../tests/units/mod.rs"]
mod units;

fn work_of(text: &str) -> usize {
    DONE.with(|done| done.set(0));
    let _ = crate::lower(text, &lexical::place());
    DONE.with(std::cell::Cell::get)
}

fn of_length(unit: &str, n_bytes: usize) -> String {
    unit.repeat(n_bytes / unit.len())
}

/// Four times the text is four times the work, and no more than an eighth on top.
#[test]
fn work_grows_with_the_length_of_hostile_text() {
    let mut worse = Vec::new();
    for unit in units::UNITS {
        let short = work_of(&of_length(unit, 16 * 1024));
        let long = work_of(&of_length(unit, 64 * 1024));
        if long * 2 > short * 9 {
            worse.push(format!("{unit:?}: {short} to {long}"));
        }
    }
    assert_eq!(worse, Vec::<String>::new());
}

#[test]
fn work_per_byte_of_hostile_text_is_bounded() {
    let mut worse = Vec::new();
    for unit in units::UNITS {
        let text = of_length(unit, 64 * 1024);
        let per_byte = work_of(&text) / text.len();
        if per_byte > 100 {
            worse.push(format!("{unit:?}: {per_byte}"));
        }
    }
    assert_eq!(worse, Vec::<String>::new());
}

/// Commands of public projects: each byte is looked at a few times.
#[test]
fn work_per_byte_of_real_commands_is_bounded() {
    let (mut work, mut n_bytes) = (0, 0);
    let mut worse = Vec::new();
    for line in include_str!("../../tests/real/commands.jsonl").lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let command = line["command"].as_str().unwrap();
        let own = work_of(command);
        if own > 30 * command.len() + 200 {
            worse.push(format!("{command:?}: {own}"));
        }
        work += own;
        n_bytes += command.len();
    }
    assert_eq!(worse, Vec::<String>::new());
    assert!(work < 10 * n_bytes, "{work} for {n_bytes} bytes");
}

#[test]
fn a_plain_command_is_looked_at_once() {
    let text = "git log --oneline --max-count 20 src";
    let work = work_of(text);
    assert!(work <= 2 * text.len(), "{work}");
}
