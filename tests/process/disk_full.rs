//! No room on the disk: nothing runs that cannot be written down.

use std::process::Command;

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};

/// Results that fill a small file system, each from a command that says that it ran.
const SCRIPT: &str = r#"
[[step]]
label = "fill"
text = "More."
[[step.call]]
tool = "bash"
input = { command = "echo ran >> ran; head -c 20000 /dev/zero | tr '\\0' x; date +%N" }
[[step.next]]
goto = "fill2"

[[step]]
label = "fill2"
text = "And more."
[[step.call]]
tool = "bash"
input = { command = "head -c 20000 /dev/zero | tr '\\0' y; echo ran >> ran" }

[[step]]
text = "And still more."
[[step.call]]
tool = "bash"
input = { command = "echo ran >> ran; head -c 20000 /dev/zero | tr '\\0' z" }

[[step]]
text = "{{result.1}}{{result.1}}"
[[step.call]]
tool = "bash"
input = { command = "echo last >> ran" }

[[step]]
text = "Never."
"#;

#[test]
fn a_full_disk_ends_the_turn_before_anything_more_runs() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(SCRIPT, ALLOW_ALL);
    let run = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    // The state directory becomes a file system of 64 KiB that only this run sees.
    let mount =
        "mount -t tmpfs -o size=64k,mode=700 podward-test \"$XDG_STATE_HOME\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", mount, "sh"]);
    command
        .arg(run.get_program())
        .args(run.get_args())
        .env_clear();
    command.envs(
        run.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = command.current_dir(sandbox.work()).output().unwrap();
    let ran = Ran::from(output);
    if ran.code != Some(1) && ran.stderr.starts_with("unshare:") {
        // Said, not hidden: some containers forbid every mount.
        eprintln!(
            "this machine lets nobody mount a small file system: {}",
            ran.stderr
        );
        return;
    }
    let ran = ran.exits(1);
    // What is kept for undo may have had no room before, which is a warning.
    let errors = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("error: "));
    let said: Vec<&str> = errors.collect();
    assert_eq!(said.len(), 1, "{ran:#?}");
    assert!(said[0].contains("No space left on device"), "{ran:#?}");
    assert!(!ran.stdout.contains("Never."), "{ran:#?}");
    let marks = std::fs::read_to_string(sandbox.path("work/ran")).unwrap_or_default();
    assert!(
        !marks.contains("last"),
        "a command ran that is not on record: {ran:#?}"
    );
}

#[test]
fn a_limit_of_file_size_is_like_a_full_disk() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(SCRIPT, ALLOW_ALL);
    let run = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -f 48; exec \"$@\"", "bash"]);
    command
        .arg(run.get_program())
        .args(run.get_args())
        .env_clear();
    command.envs(
        run.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = command.current_dir(sandbox.work()).output().unwrap();
    let ran = Ran::from(output).exits(1);
    assert!(ran.stderr.contains("cannot be recorded"), "{ran:#?}");
    let said = std::fs::read_to_string(sandbox.work().join("ran")).unwrap();
    assert!(!said.contains("last"), "{said}");
}
