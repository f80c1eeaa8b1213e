//! What a child cannot be freed from, whoever starts it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};
use crate::session_files::{Ending, exchanges};
use crate::trees::{Holding, calls, child, spawns};

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
        let ran = go(&sandbox, &[]).exits(if is_written { 0 } else { 10 });
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
        let ran = go(&sandbox, &[]).exits(if is_written { 0 } else { 10 });
        assert_eq!(made(&sandbox).exists(), is_written, "{middle} {ran:#?}");
    }
}

#[test]
fn what_whoever_starts_a_pod_adds_to_its_rules_holds_an_independent_child() {
    let strict = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
        { tool = \"file_*\", pattern = \"*\", action = \"deny\" }]\n";
    let sandbox = three("independent", "independent", ALLOW_ALL);
    let file = sandbox.write("strict.toml", strict);
    let ran = go(&sandbox, &["--permissions", file.to_str().unwrap()]).exits(10);
    assert!(!made(&sandbox).exists(), "{ran:#?}");

    let pod = sandbox.path("pod.toml");
    let mut command = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    let ran: Ran = command
        .env("PODWARD_PERMISSIONS", strict)
        .output()
        .unwrap()
        .into();
    let ran = ran.exits(10);
    assert!(!made(&sandbox).exists(), "{ran:#?}");

    let ran = go(&sandbox, &[]).exits(0);
    assert!(made(&sandbox).exists(), "{ran:#?}");
}

/// A pod whose tools put programs and a key wherever they can, and then start a child with this model.
fn planting(model: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("work/agents/worker.toml", &format!("{model}{ALLOW_ALL}"));
    std::fs::create_dir(sandbox.work().join("links")).unwrap();
    let own = program(&sandbox, "bin/mypass", "used");
    std::os::unix::fs::symlink(own, sandbox.work().join("links/k.sh")).unwrap();
    let mark = sandbox.path("pwned");
    let plant = format!(
        "mkdir -p .venv/bin; for f in .venv/bin/mypass agents/k.sh links/k.sh; do rm -f $f; \
         printf \"#!/bin/sh\\ntouch {}\\necho sk-0123456789\\n\" > $f; chmod 700 $f; done; \
         (umask 077; echo sk-0123456789 > agents/key)",
        mark.display()
    );
    let bash = format!(
        "[[step]]\n[[step.call]]\ntool = \"bash\"\ninput = {{ command = '''{plant}''' }}\n"
    );
    let worker =
        "[children.worker]\nmanifest = \"work/agents/worker.toml\"\nmode = \"independent\"\n";
    sandbox.pod(
        &format!("{bash}{}", spawns(&["worker"])),
        &format!("{worker}{ALLOW_ALL}"),
    );
    sandbox
}

/// A program that makes a file when it runs, and prints a key.
fn program(sandbox: &Sandbox, name: &str, mark: &str) -> PathBuf {
    let mark = sandbox.path(mark);
    let text = format!("#!/bin/sh\ntouch {}\necho sk-0123456789\n", mark.display());
    let path = sandbox.write(name, &text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

/// The same with a `PATH` whose first directory is one of the workspace.
fn go_activated(sandbox: &Sandbox) -> Ran {
    let pod = sandbox.path("pod.toml");
    let path = format!(
        "{}:{}:{}",
        sandbox.work().join(".venv/bin").display(),
        sandbox.path("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    command.env("PATH", path).output().unwrap().into()
}

/// A model that nobody answers for.
fn remote(key: &str) -> String {
    format!(
        "[model]\nprovider = \"openai\"\nmodel = \"x\"\nbase_url = \"http://127.0.0.1:9/v1\"\n{key}\n"
    )
}

#[test]
fn what_prints_the_key_of_a_child_is_none_that_tools_could_make() {
    for command in [
        "\"./k.sh\"",
        "\"sh\", \"./k.sh\"",
        "\"sh\", \"k.sh\"",
        "\"../links/k.sh\"",
    ] {
        let sandbox = planting(&remote(&format!("key_command = [{command}]")));
        let ran = go_activated(&sandbox).exits(78);
        assert!(ran.stderr.contains("k.sh"), "{command} {ran:#?}");
        assert!(!sandbox.path("pwned").exists(), "{command} {ran:#?}");
    }
}

#[test]
fn what_prints_a_key_is_looked_for_where_no_tool_can_put_it() {
    let remote = remote("key_command = [\"mypass\"]\n[limits]\nturn_timeout = \"1s\"");
    // The child's own; and that of the user's layer, which the pod above does not use.
    for (own, user) in [(remote.as_str(), ""), ("", remote.as_str())] {
        let sandbox = planting(own);
        sandbox.write("config/podward/pod.toml", user);
        let ran = go_activated(&sandbox).exits(0);
        assert!(sandbox.work().join(".venv/bin/mypass").exists(), "{ran:#?}");
        assert!(sandbox.path("used").exists(), "{ran:#?}");
        assert!(!sandbox.path("pwned").exists(), "{ran:#?}");
    }
}

#[test]
fn a_key_file_that_tools_could_have_made_is_no_childs() {
    let sandbox = planting(&remote("key_file = \"key\""));
    let ran = go_activated(&sandbox).exits(0);
    assert!(sandbox.work().join("agents/key").exists(), "{ran:#?}");
    assert!(ran.stdout.contains("tools of the pods above"), "{ran:#?}");
}

/// The names in a directory.
fn names(directory: PathBuf) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn a_tree_that_is_stopped_ends_in_order() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut holding = Holding::start();
        let pid = i32::try_from(holding.running.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        holding.let_go();
        let ran = Ran::from(holding.running.wait_with_output().unwrap());
        // Each has written down what became of its call, and has tidied up.
        let sandbox = holding.sandbox;
        let sessions = sandbox.sessions();
        assert_eq!(sessions.len(), 3, "{ran:#?}");
        for session in sessions {
            let calls = exchanges(&session, Ending::Written);
            assert!(calls[0].is_error, "{ran:#?} {calls:#?}");
        }
        let left = names(sandbox.path("state/podward/run"));
        assert_eq!(left, ["lock"], "{ran:#?}");
        let left = names(sandbox.path("tmp"));
        assert!(left.is_empty(), "{left:?} {ran:#?}");
    }
}

/// The requests to models that the turn counted.
fn n_steps(ran: &Ran) -> u64 {
    let lines = ran.json_lines();
    let end = lines.iter().find(|line| line["event"] == "turn_ended");
    let end: &Value = end.unwrap_or_else(|| panic!("{ran:#?}"));
    end["data"]["n_steps"].as_u64().unwrap()
}

#[test]
fn what_a_child_has_spent_counts_although_it_was_killed() {
    let mut holding = Holding::start();
    holding.kill(2);
    holding.let_go();
    let ran = Ran::from(holding.running.wait_with_output().unwrap()).exits(0);
    // Two of each pod, and the one that the innermost had made.
    assert_eq!(n_steps(&ran), 5, "{ran:#?}");
}

#[test]
fn a_child_has_the_steps_that_the_pod_above_has_left() {
    let endless = "[[step]]\nlabel = \"a\"\n[[step.call]]\ntool = \"list\"\ninput = {}\n\
        [[step.next]]\ngoto = \"a\"\n";
    for (most, says) in [(4, "its limit `max_steps`"), (1, "no step is left")] {
        let sandbox = Sandbox::new();
        sandbox.child("worker", endless, ALLOW_ALL);
        let worker = child("worker", "limits = { max_steps = 60 }");
        let limit = format!("[limits]\nmax_steps = {most}\n");
        sandbox.pod(&spawns(&["worker"]), &format!("{worker}{limit}{ALLOW_ALL}"));
        let ran = go(&sandbox, &["--format", "json"]).exits(1);
        assert!(ran.stdout.contains(says), "{ran:#?}");
        assert_eq!(n_steps(&ran), most, "{ran:#?}");
    }
}

#[test]
fn a_question_waits_in_no_child_where_the_pod_above_waits_for_nobody() {
    let sandbox = Sandbox::new();
    let asks = "[permissions]\ndefault_action = \"ask\"\n\
        on_ask = \"wait\"\nask_timeout = \"1h\"\n";
    sandbox.child("worker", &calls(&[WRITES]), asks);
    let worker = child("worker", "mode = \"independent\"");
    sandbox.pod(&spawns(&["worker"]), &format!("{worker}{ALLOW_ALL}"));
    let ran = go(&sandbox, &[]);
    assert!(ran.stdout.contains("refused calls of"), "{ran:#?}");
    assert!(!made(&sandbox).exists());
}

#[test]
fn a_file_of_a_childs_manifest_that_is_not_there_starts_no_pod_and_is_not_made() {
    let sandbox = Sandbox::new();
    let programs = format!("[programs]\nfiles = [\"work/p.toml\"]\n{ALLOW_ALL}");
    sandbox.child("worker", &calls(&[WRITES]), &programs);
    sandbox.pod(
        &spawns(&["worker"]),
        &format!("{}{ALLOW_ALL}", child("worker", "")),
    );
    let ran = go(&sandbox, &[]).exits(78);
    assert!(ran.stderr.contains("p.toml"), "{ran:#?}");
    assert!(!sandbox.work().join("p.toml").exists(), "{ran:#?}");
}

#[test]
fn a_call_of_a_child_that_has_ended_is_explained_under_the_pods_above() {
    let sandbox = Sandbox::new();
    let strict = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
        { tool = \"file_*\", pattern = \"*\", action = \"deny\" }]\n";
    sandbox.child("worker", &calls(&[WRITES]), ALLOW_ALL);
    sandbox.pod(
        &spawns(&["worker"]),
        &format!("{}{strict}", child("worker", "")),
    );
    go(&sandbox, &[]).exits(10);
    let session = &sandbox.sessions()[1];
    let id = session.file_name().unwrap().to_str().unwrap();
    let ran = sandbox.run(&["explain", "call_1_1", "--session", id, "--format", "json"]);
    let ran = ran.exits(0);
    let explained: Value = serde_json::from_str(&ran.stdout).unwrap();
    let now = &explained["now"];
    assert_eq!(now["verdict"], "deny", "{explained:#}");
    assert_eq!(now["cause"]["layer"], "parent", "{explained:#}");
}
