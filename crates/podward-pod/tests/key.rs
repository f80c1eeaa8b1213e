//! The key of a model is gone from the process before anything else happens.
//!
//! This program is its own subject: with an argument it plays podward, without one it is the test.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test without a harness, and the reports of its subject"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use podward_pod::{KEY_FD_VARIABLE, hand_over, start};

const VARIABLE: &str = "TEST_MODEL_KEY";
const OTHER_VARIABLE: &str = "TEST_OTHER_KEY";
const KEY: &str = "the-key=with-an-equals-sign";

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("podward") => play_podward(),
        Some("peer") => play_peer(),
        _ => {
            the_key_is_gone_and_podward_has_it();
            another_process_of_the_same_user_cannot_read_it();
            without_a_key_nothing_is_started_again();
            a_key_that_is_not_wanted_is_gone_too();
            keys_that_are_none_are_refused();
            a_descriptor_of_somebody_else_is_left_alone();
        }
    }
}

/// What the program does first, then a report of all that a tool could look at.
fn play_podward() {
    let key = match start() {
        Ok(key) => key,
        Err(error) => fail(&error),
    };
    if let Err(error) = hand_over(Some(VARIABLE), &[OTHER_VARIABLE]) {
        fail(&error);
    }
    println!(
        "key: {:?}",
        key.as_ref()
            .map(|key| (key.origin().to_string(), key.reveal()))
    );
    println!("shown: {key:?}");
    println!(
        "arguments: {:?}",
        std::env::args().skip(1).collect::<Vec<_>>()
    );
    println!("variable: {:?}", std::env::var_os(VARIABLE));
    // Not even the process itself can open it, unless it is root's.
    let environ = fs::read("/proc/self/environ").unwrap_or_default();
    println!(
        "environ: {}",
        String::from_utf8_lossy(&environ).contains(KEY)
    );
    for entry in fs::read_dir("/proc/self/fd").unwrap() {
        let path = entry.unwrap().path();
        if fs::read_link(&path).is_ok_and(|to| to.to_string_lossy().contains("memfd")) {
            println!("left: {:?}", fs::read_to_string(&path).unwrap());
        }
    }
    let child = Command::new("/proc/self/exe")
        .args(["peer", &std::process::id().to_string()])
        .output()
        .unwrap();
    print!("{}", String::from_utf8_lossy(&child.stdout));
}

/// What a tool tries.
fn play_peer() {
    let pid = std::env::args().nth(2).unwrap();
    let read = |name: &str| fs::read(Path::new("/proc").join(&pid).join(name)).map(|_| ());
    println!(
        "peer: {:?}",
        std::env::vars().any(|(_, value)| value.contains(KEY))
    );
    println!("peer reads environ: {}", read("environ").is_ok());
    println!(
        "peer opens memory: {}",
        fs::File::open(format!("/proc/{pid}/mem")).is_ok()
    );
}

fn fail(error: &dyn std::error::Error) -> ! {
    println!("error: {error}");
    std::process::exit(1)
}

fn run(program: &mut Command) -> String {
    let Output { stdout, stderr, .. } = program.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&stderr), "");
    String::from_utf8(stdout).unwrap()
}

fn podward() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["podward", "a b", ""])
        .env_remove(VARIABLE)
        .env_remove(OTHER_VARIABLE)
        .env_remove(KEY_FD_VARIABLE);
    command
}

fn the_key_is_gone_and_podward_has_it() {
    let report = run(podward().env(VARIABLE, KEY));
    for line in [
        "key: Some((\"the variable `TEST_MODEL_KEY`\", \"the-key=with-an-equals-sign\"))",
        "shown: Some(ModelKey { origin: Variable(\"TEST_MODEL_KEY\"), .. })",
        "arguments: [\"podward\", \"a b\", \"\"]",
        "variable: None",
        "environ: false",
        "left: \"\"",
        "peer: false",
    ] {
        assert!(
            report.lines().any(|found| found == line),
            "{line}\n{report}"
        );
    }
}

fn another_process_of_the_same_user_cannot_read_it() {
    // Root reads every process; so this one runs as another user then, and always runs.
    let directory = tempfile::tempdir().unwrap();
    let report = if rustix::process::geteuid().is_root() {
        use std::os::unix::fs::PermissionsExt as _;
        let everyone = fs::Permissions::from_mode(0o755);
        fs::set_permissions(directory.path(), everyone.clone()).unwrap();
        let program = directory.path().join("test");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, everyone).unwrap();
        run(Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(program)
            .arg("podward")
            .env_remove(KEY_FD_VARIABLE)
            .env(VARIABLE, KEY))
    } else {
        run(podward().env(VARIABLE, KEY))
    };
    for line in [
        "environ: false",
        "peer reads environ: false",
        "peer opens memory: false",
    ] {
        assert!(
            report.lines().any(|found| found == line),
            "{line}\n{report}"
        );
    }
}

fn without_a_key_nothing_is_started_again() {
    let report = run(&mut podward());
    assert!(report.contains("key: None\n"), "{report}");
    assert!(!report.contains("left:"), "{report}");
}

fn a_key_that_is_not_wanted_is_gone_too() {
    let report = run(podward().env(OTHER_VARIABLE, KEY));
    for line in ["key: None", "environ: false", "peer: false"] {
        assert!(
            report.lines().any(|found| found == line),
            "{line}\n{report}"
        );
    }
    let report = run(podward().env(OTHER_VARIABLE, "").env(VARIABLE, KEY));
    assert!(
        report.contains("key: Some((\"the variable `TEST_MODEL_KEY`\""),
        "{report}"
    );
}

fn keys_that_are_none_are_refused() {
    for (value, state) in [
        ("", "empty"),
        (" \n", "empty"),
        (&*"x".repeat(70_000), "too long"),
    ] {
        let report = run(podward().env(VARIABLE, value));
        assert_eq!(
            report,
            format!("error: the key in the variable `{VARIABLE}` is {state}\n")
        );
    }
}

fn a_descriptor_of_somebody_else_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("memfd:podward-key (deleted)");
    fs::write(&path, "precious").unwrap();
    for value in ["0", "99", "-1", "x", ""] {
        let report = run(podward().env(KEY_FD_VARIABLE, value).stdin(
            fs::OpenOptions::new()
                .read(true)
                .write(true)
                .open(&path)
                .unwrap(),
        ));
        assert!(
            report.starts_with("error: `PODWARD_KEY_FD` names nothing"),
            "{report}"
        );
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}
