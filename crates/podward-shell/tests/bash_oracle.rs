//! Real bash tells what a text runs: every program that it starts must be among the operations
//! found, or the text must hold unknown code.
//!
//! Bash runs with an empty `PATH` in an empty directory; what it does not find goes to a function
//! that writes the words down. `PODWARD_CASES` sets the number of generated texts. Real wrappers run
//! around stubs, in a list of their own.

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
    let bash = Bash::find();
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
    let bash = Bash::find();
    let mut tally = Tally::default();
    let texts: Vec<String> = include_str!("oracle/texts.txt")
        .split("\n%%\n")
        .map(str::to_owned)
        .collect();
    bash.compare(&texts, &mut tally);
    assert_eq!(tally.misses, Vec::<String>::new());
}

/// Real programs that run others, around stubs that write their words down.
const WRAPPERS: &[&str] = &[
    "dash", "env", "find", "flock", "nice", "nohup", "setsid", "sh", "stdbuf", "timeout", "xargs",
];
const IN_FRONT: &[&str] = &[
    "env ",
    "env A=1 ",
    "env -u A ",
    "timeout 9 ",
    "timeout -k 1 9 ",
    "timeout --signal=KILL 9 ",
    "nice ",
    "nice -n 5 ",
    "nice -5 ",
    "nohup ",
    "stdbuf -oL ",
    "stdbuf -o 0 -e L ",
    "setsid -w ",
    "xargs ",
    "xargs -n 1 ",
    "xargs -0 -r -n1 ",
    "flock -n lock ",
    "command ",
    "exec ",
    "find . -maxdepth 0 -exec ",
];
const SHELLS: &[&str] = &[
    "sh -c ",
    "dash -c ",
    "flock -n lock2 -c ",
    "eval ",
    "env sh -c ",
];
const STUB: &str = "#!/bin/sh
line=$(printf '%s\\001' \"${0##*/}\" \"$@\"; echo .)
printf '%s\\n' \"${line%.}\" >> \"$PODWARD_LOG\"
";

#[test]
fn real_wrappers_run_what_was_found() {
    let place = tempfile::tempdir().unwrap();
    let bin = place.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for name in WRAPPERS {
        let real = ["/usr/bin", "/bin"].map(|place| std::path::Path::new(place).join(name));
        let real = real.iter().find(|path| path.exists());
        let real = real.unwrap_or_else(|| panic!("this test compares with `{name}`: install it"));
        std::os::unix::fs::symlink(real, bin.join(name)).unwrap();
    }
    let bash = Bash::find();
    std::fs::write(place.path().join("stub"), STUB).unwrap();
    for name in ["pa", "pb"] {
        // Copied by another process: a descriptor open for writing would go on to what other
        // tests start at this moment, and a program that is open for writing cannot be run.
        let copied = std::process::Command::new("install")
            .args([place.path().join("stub"), bin.join(name)])
            .status();
        assert!(copied.unwrap().success());
    }
    let mut texts = Vec::new();
    for first in IN_FRONT {
        let end = if first.contains("-exec") { " \\;" } else { "" };
        texts.push(format!("{first}pa b 'c d'{end}"));
        for shell in SHELLS.iter().filter(|shell| **shell != "eval ") {
            texts.push(format!("{first}{shell}'pa b; pb \"c d\"'{end}"));
        }
        for second in IN_FRONT {
            let is_builtin = matches!(*second, "command " | "exec ");
            if !is_builtin && !second.contains("-exec") {
                texts.push(format!("{first}{second}pa b{end}"));
            }
        }
    }
    for shell in SHELLS {
        for second in IN_FRONT.iter().filter(|second| !second.contains("-exec")) {
            texts.push(format!("{shell}'{second}pa b && pb'"));
        }
    }
    let (misses, n_ran, n_understood) = bash.wrapped(&texts, place.path());
    assert_eq!(misses, Vec::<String>::new());
    assert!(n_ran * 10 >= texts.len() * 8, "{n_ran} of {}", texts.len());
    assert!(n_understood * 10 >= n_ran * 8, "{n_understood} of {n_ran}");
}
