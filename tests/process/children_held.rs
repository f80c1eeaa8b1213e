//! What a child cannot be freed from, whoever starts it.

use std::path::PathBuf;

use crate::children::{calls, child, spawns};
use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};

const WRITES: (&str, &str) = ("file_write", "{ path = \"made\", content = \"x\" }");

/// Runs the pod with these arguments before its manifest.
fn go(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let pod = sandbox.path("pod.toml");
    let mut all = vec!["run"];
    all.extend(arguments);
    all.extend([pod.to_str().unwrap(), "go"]);
    sandbox.run(&all)
}

fn made(sandbox: &Sandbox) -> PathBuf {
    sandbox.work().join("made")
}

/// A pod, a child in one mode and a child of that in another; the last one writes a file.
fn three(middle: &str, last: &str, top: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.child("last", &calls(&[WRITES]), ALLOW_ALL);
    let below = child("last", &format!("mode = \"{last}\""));
    sandbox.child("middle", &spawns(&["last"]), &format!("{below}{ALLOW_ALL}"));
    let below = child("middle", &format!("mode = \"{middle}\""));
    sandbox.pod(&spawns(&["middle"]), &format!("{below}{top}"));
    sandbox
}

#[test]
fn a_child_is_not_freed_by_a_pod_that_was_held_itself() {
    let rules = "[permissions]\ndefault_action = \"deny\"\nrule = [\n\
        { tool = \"spawn\", pattern = \"*\", action = \"allow\" }]\n";
    for (middle, last, is_written) in [
        ("ceiling", "independent", false),
        ("ceiling", "ceiling", false),
        ("independent", "ceiling", true),
        ("independent", "independent", true),
    ] {
        let sandbox = three(middle, last, rules);
        let ran = go(&sandbox, &[]).exits(0);
        assert_eq!(sandbox.sessions().len(), 3, "{middle} {last} {ran:#?}");
        let is_made = made(&sandbox).exists();
        assert_eq!(is_made, is_written, "{middle} {last} {ran:#?}");
    }
}

#[test]
fn hooks_of_a_pod_hold_what_a_child_held_by_it_starts() {
    let hook = format!(
        "[[hook]]\nname = \"no\"\nevent = \"pre_tool_call\"\ntool = \"file_write\"\n\
         command = [\"false\"]\n{ALLOW_ALL}"
    );
    for (middle, is_written) in [("ceiling", false), ("independent", true)] {
        let sandbox = three(middle, "independent", &hook);
        let ran = go(&sandbox, &[]).exits(0);
        assert_eq!(made(&sandbox).exists(), is_written, "{middle} {ran:#?}");
    }
}

#[test]
fn what_whoever_starts_a_pod_adds_to_its_rules_holds_an_independent_child() {
    let strict = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
        { tool = \"file_*\", pattern = \"*\", action = \"deny\" }]\n";
    let sandbox = three("independent", "independent", ALLOW_ALL);
    let file = sandbox.write("strict.toml", strict);
    let ran = go(&sandbox, &["--permissions", file.to_str().unwrap()]).exits(0);
    assert!(!made(&sandbox).exists(), "{ran:#?}");

    let pod = sandbox.path("pod.toml");
    let mut command = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    let ran: Ran = command
        .env("PODWARD_PERMISSIONS", strict)
        .output()
        .unwrap()
        .into();
    let ran = ran.exits(0);
    assert!(!made(&sandbox).exists(), "{ran:#?}");

    let ran = go(&sandbox, &[]).exits(0);
    assert!(made(&sandbox).exists(), "{ran:#?}");
}
