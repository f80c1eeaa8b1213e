use std::process::{Command, Stdio};

use super::*;

/// As where a pod is killed while it starts a program: the child has its files, and so their locks, until it
/// has become the program.
#[test]
fn a_lock_that_a_killed_process_left_to_its_child_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("session.jsonl");
    let held = File::create(&path).unwrap();
    assert!(try_lock(&held).unwrap());
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(held)
        .spawn()
        .unwrap();

    let file = File::open(&path).unwrap();
    assert!(
        !lock_within(&file, Duration::ZERO).unwrap(),
        "the child has it"
    );
    let stdin = child.stdin.take();
    let becomes_another = std::thread::spawn(move || {
        drop(stdin);
        child.wait().unwrap();
    });
    assert!(lock_within(&file, Duration::from_secs(600)).unwrap());
    becomes_another.join().unwrap();
}
