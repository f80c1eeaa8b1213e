//! kill -9 of any pod of a tree, at any point: the pods above go on, what was below ends, and the outermost
//! pod can be resumed.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::trees::{calls, child, spawns};

/// How many crashes are tried; `cargo xtask soak` sets more.
fn n_crashes() -> usize {
    std::env::var("PODWARD_CHILD_CRASHES").map_or(8, |count| count.parse().unwrap())
}

/// Three generations below the first pod.
fn tree(sandbox: &Sandbox) -> PathBuf {
    let works = [
        ("bash", "{ command = \"echo one >> ran\" }"),
        ("file_write", "{ path = \"two\", content = \"two\" }"),
        ("list", "{}"),
    ];
    sandbox.child("c", &calls(&works), ALLOW_ALL);
    for (name, below) in [("b", "c"), ("a", "b")] {
        let below_it = format!("{}{ALLOW_ALL}", child(below, ""));
        sandbox.child(name, &spawns(&[below]), &below_it);
    }
    let script = "[[step]]\nlabel = \"a\"\n\
        [[step.call]]\ntool = \"spawn\"\ninput = { child = \"a\", prompt = \"go\" }\n\
        [[step]]\ntext = \"End.\"\n\
        [[step.next]]\nprompt_contains = \"again\"\ngoto = \"a\"\n";
    sandbox.pod(script, &format!("{}{ALLOW_ALL}", child("a", "")))
}

/// The processes of the pods that are said to run, by their sessions, the outermost first.
fn running(sandbox: &Sandbox) -> Vec<(PathBuf, u64)> {
    let pod = |session: PathBuf| {
        let id = session.file_name().unwrap().to_str().unwrap();
        let entry = sandbox.path(&format!("state/podward/run/{id}.json"));
        let entry: Value = serde_json::from_str(&std::fs::read_to_string(entry).ok()?).ok()?;
        Some((session, entry["pid"].as_u64().unwrap()))
    };
    sandbox.sessions().into_iter().filter_map(pod).collect()
}

/// Waits until a process has ended.
fn ended(pid: u64) {
    let mut tail = Command::new("tail");
    tail.args([&format!("--pid={pid}"), "-f", "/dev/null"]);
    assert!(tail.status().unwrap().success());
}

#[test]
fn a_tree_goes_on_wherever_a_pod_of_it_is_killed() {
    // Each generation at each point; what has ended by then is not killed.
    let mut n_killed = [0; 4];
    let mut n_events = 1;
    for crash in 0..n_crashes() {
        let sandbox = Sandbox::new();
        let pod = tree(&sandbox);
        let pod = pod.to_str().unwrap();
        let mut run = sandbox
            .podward(&["run", pod, "go", "--format", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(run.stdout.take().unwrap());
        let n_read = lines.by_ref().lines().take(n_events).count();
        n_events = match n_read < n_events {
            true => 1,
            false => n_events + 3,
        };
        let generation = crash % 4;
        let pods = running(&sandbox);
        if let Some((_, pid)) = pods.get(generation) {
            let pid = Pid::from_raw((*pid).try_into().unwrap()).unwrap();
            n_killed[generation] += usize::from(kill_process(pid, Signal::KILL).is_ok());
        }
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        let status = run.wait().unwrap();
        for (_, pid) in pods {
            ended(pid);
        }
        let Some(first) = sandbox.sessions().into_iter().next() else {
            continue;
        };
        // A child that is killed is a result for the pod above it.
        assert!(
            matches!(status.code(), Some(0) | None),
            "generation {generation}, after {n_read} events: {status:?} {rest}"
        );
        let id = first.file_name().unwrap().to_str().unwrap();
        let ran = sandbox.run(&["run", pod, "again", "--resume", id]);
        assert!(matches!(ran.code, Some(0 | 10)), "{ran:#?}");
        assert!(ran.stdout.ends_with("End.\n"), "{ran:#?}");
    }
    assert!(n_killed.iter().sum::<usize>() > 0, "no pod was killed");
}
