//! kill -9 of any pod of a tree, at any point: the pods above go on, what was below ends, and whoever goes on
//! with the session of the one that was killed gets the work of the tree done, and nothing of it twice.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};
use crate::session_files::{Ending, exchanges};
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
    let top = format!("{}{ALLOW_ALL}", child("a", ""));
    sandbox.pod(&spawns(&["a"]), &top)
}

/// Goes on with the session of a pod that was killed. One that had not its prompt gets it.
fn goes_on(sandbox: &Sandbox, pod: &Path, session: &Path) -> Ran {
    let id = session.file_name().unwrap().to_str().unwrap();
    let mut arguments = vec!["run", pod.to_str().unwrap(), "--resume", id];
    let text = std::fs::read_to_string(session.join("session.jsonl")).unwrap_or_default();
    if !text.contains("\"entry\":\"prompt\"") {
        arguments.push("go");
    }
    sandbox.run(&arguments).exits(0)
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

/// Checks that a tree has done its work, each deed at most once, as far down as its calls had started when a
/// pod was killed.
#[track_caller]
fn whole(sandbox: &Sandbox, what: &str) {
    let mut sessions = sandbox.sessions();
    assert!(
        sessions.len() <= 4,
        "a child was started a second time: {what}"
    );
    let innermost = (sessions.len() == 4).then(|| sessions.remove(3));
    for (generation, session) in sessions.iter().enumerate() {
        let spawn = exchanges(session, Ending::Written);
        let [spawn] = &spawn[..] else {
            panic!("{what}: {spawn:#?}");
        };
        let is_last = innermost.is_none() && generation + 1 == sessions.len();
        let never_ran = spawn.is_error && spawn.content.contains("before it started");
        assert_eq!(never_ran, is_last, "{what}: {spawn:#?}");
    }
    let Some(innermost) = innermost else {
        return;
    };
    let calls = exchanges(&innermost, Ending::Written);
    let [bash, write, _] = &calls[..] else {
        panic!("{what}: {calls:#?}");
    };
    let ran = std::fs::read_to_string(sandbox.work().join("ran")).unwrap_or_default();
    let n_deeds = [
        ran.lines().count(),
        usize::from(sandbox.work().join("two").exists()),
    ];
    for (n, call) in n_deeds.into_iter().zip([bash, write]) {
        let is_cut_off = call.is_error && call.content.contains("interrupted");
        assert!(n == 1 || n == 0 && is_cut_off, "{what}: {n} {call:#?}");
    }
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
        let killed = pods.get(generation).map(|(session, _)| session.clone());
        for (_, pid) in pods {
            ended(pid);
        }
        // A child that is killed is a result for the pod above it.
        assert!(
            matches!(status.code(), Some(0) | None),
            "generation {generation}, after {n_read} events: {status:?} {rest}"
        );
        let Some(killed) = killed else {
            continue;
        };
        let what = format!("generation {generation}, after {n_read} events");
        let names = ["pod", "a", "b", "c"];
        let manifest = sandbox.path(&format!("{}.toml", names[generation]));
        let ran = goes_on(&sandbox, &manifest, &killed);
        whole(&sandbox, &format!("{what}: {ran:#?}"));
    }
    assert!(n_killed.iter().sum::<usize>() > 0, "no pod was killed");
}
