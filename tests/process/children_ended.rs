//! How the work of a child ends before it is done: cancelled, out of time, hung, or over what the turn above has
//! left. Each time it is a result, what it asks is settled, and nothing of it stays.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};
use crate::serving::{Client, Pod, WAITS, asks};
use crate::session_files::{Ending, decisions, exchanges};
use crate::trees::{calls, child, pipe, spawns};

/// A pod whose grandchild asks whether it may make a file, and where all wait for who may come; `top`: what the
/// pod's own manifest says beside that.
fn waiting(sandbox: &Sandbox, top: &str) -> PathBuf {
    let touch = ("bash", "{ command = \"touch made\" }");
    sandbox.child("inner", &calls(&[touch]), &asks(WAITS));
    let inner = child("inner", "");
    let rules = format!("{ALLOW_ALL}{WAITS}");
    sandbox.child("worker", &spawns(&["inner"]), &format!("{inner}{rules}"));
    let worker = child("worker", "");
    sandbox.pod(&spawns(&["worker"]), &format!("{worker}{top}{rules}"))
}

/// Whether the question of the innermost pod is on record as cancelled, and nothing is asked there again.
#[track_caller]
fn is_cancelled(sandbox: &Sandbox) {
    let sessions = sandbox.sessions();
    assert_eq!(sessions.len(), 3, "{sessions:?}");
    for session in &sessions {
        let ended = exchanges(session, Ending::Written);
        assert!(ended[0].is_error, "{ended:#?}");
    }
    let log = decisions(&sessions[2]);
    let last = log.last().unwrap().to_string();
    assert!(last.contains("cancelled"), "{log:#?}");
    assert!(!sandbox.work().join("made").exists());
}

#[test]
fn what_a_child_asks_is_cancelled_with_the_turn_above() {
    let sandbox = Sandbox::new();
    let pod = Pod::serve(&sandbox, &waiting(&sandbox, ""));
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let request = client.request();
    client.call("cancel", json!({})).unwrap();
    let settled = client.event("permission_settled");
    assert_eq!(settled["id"], request["id"], "{settled}");
    assert_eq!(settled["outcome"]["kind"], "cancelled", "{settled}");
    client.event("turn_ended");
    is_cancelled(&sandbox);
}

#[test]
fn what_a_child_asks_is_cancelled_when_time_is_up_above() {
    // Only the outermost has so little, which is more and more until it is enough to come as far as that.
    for timeout in ["400ms", "2s", "10s", "60s"] {
        let sandbox = Sandbox::new();
        let limit = format!("[limits]\nturn_timeout = \"{timeout}\"\n");
        let pod = waiting(&sandbox, &limit);
        let more = child("worker", "limits = { turn_timeout = \"1h\" }");
        let text = std::fs::read_to_string(&pod).unwrap();
        sandbox.write("pod.toml", &text.replace(&child("worker", ""), &more));
        sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(1);
        let inner = sandbox.sessions().into_iter().nth(2);
        let log = inner.map(|inner| std::fs::read_to_string(inner.join("decisions.jsonl")));
        if log.is_some_and(|log| log.is_ok_and(|log| !log.is_empty())) {
            return is_cancelled(&sandbox);
        }
    }
    panic!("nothing was asked in a minute");
}

#[test]
fn what_a_child_asks_is_cancelled_by_a_signal_to_the_outermost_pod() {
    let sandbox = Sandbox::new();
    let pod = waiting(&sandbox, "");
    let running = sandbox
        .podward(&["run", pod.to_str().unwrap(), "go"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let entry = sandbox.path("state/podward/run");
    let socket = loop {
        // The one that asks comes last.
        match sandbox.sessions().get(2) {
            Some(session) => {
                break entry.join(format!(
                    "{}.sock",
                    session.file_name().unwrap().to_str().unwrap()
                ));
            }
            None => std::thread::yield_now(),
        }
    };
    let mut client = loop {
        match Client::connect(&socket) {
            Ok(client) => break client,
            Err(_) => std::thread::yield_now(),
        }
    };
    let hello = json!({ "client": "onlooker", "protocol": 2 });
    client.call("hello", hello).unwrap();
    client.request();
    let pid = i32::try_from(running.id()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    let ran = Ran::from(running.wait_with_output().unwrap());
    ran.exits(130);
    is_cancelled(&sandbox);
}

/// What the outermost pod read of its child, and a client at the socket of that.
fn at_worker(sandbox: &Sandbox) -> Client {
    let session = &sandbox.sessions()[1];
    let id = session.file_name().unwrap().to_str().unwrap();
    let socket = sandbox.path(&format!("state/podward/run/{id}.sock"));
    Client::hello(&socket, json!({ "client": "tester", "can_approve": true }))
}

#[test]
fn a_child_that_is_cancelled_or_stopped_itself_is_a_result() {
    for (method, says) in [
        ("cancel", "its turn was cancelled"),
        // Nobody else will ever answer, and the pod above goes on.
        ("stop", "its turn was cancelled"),
    ] {
        let sandbox = Sandbox::new();
        let pod = Pod::serve(&sandbox, &waiting(&sandbox, ""));
        let mut client = Client::approver(&pod, "tester");
        client.run("go");
        client.request();
        at_worker(&sandbox).call(method, json!({})).unwrap();
        let end = client.event("turn_ended");
        assert_eq!(end["reason"]["kind"], "done", "{method} {end}");
        is_cancelled(&sandbox);
        let above = exchanges(&sandbox.sessions()[0], Ending::Written);
        assert!(above[0].content.contains(says), "{method} {above:#?}");
        assert!(client.open().is_empty());
    }
}

/// A pod whose grandchild hangs while a command of it runs: its process is stopped by a hook that says so.
struct Hung {
    sandbox: Sandbox,
    pod: PathBuf,
    hung: PathBuf,
    held: PathBuf,
}

impl Hung {
    fn new(timeout: &str) -> Self {
        let sandbox = Sandbox::new();
        let (held, hung) = (pipe(&sandbox, "held"), pipe(&sandbox, "hung"));
        let hook = format!(
            "[[hook]]\nname = \"hang\"\nevent = \"post_tool\"\ntool = \"list\"\n\
             command = [\"sh\", \"-c\", \"echo $PPID > '{}'; kill -STOP $PPID\"]\n",
            hung.display()
        );
        let holds = "{ command = \"exec 3> held; echo begun >&3; exec sleep 100000\" }";
        let works = calls(&[("bash", holds), ("list", "{}")]);
        sandbox.child("inner", &works, &format!("{hook}{ALLOW_ALL}"));
        let inner = child("inner", timeout);
        sandbox.child(
            "worker",
            &spawns(&["inner"]),
            &format!("{inner}{ALLOW_ALL}"),
        );
        let worker = child("worker", "");
        let pod = sandbox.pod(&spawns(&["worker"]), &format!("{worker}{ALLOW_ALL}"));
        Self {
            sandbox,
            pod,
            hung,
            held,
        }
    }

    /// Runs it until the innermost pod hangs; what its command holds open.
    fn run(&self) -> (std::process::Child, File) {
        let running = self
            .sandbox
            .podward(&["run", self.pod.to_str().unwrap(), "go"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut held = File::open(&self.held).unwrap();
        let mut begun = [0; 6];
        held.read_exact(&mut begun).unwrap();
        let pid = std::fs::read_to_string(&self.hung).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") T ")) {
            std::thread::yield_now();
        }
        (running, held)
    }

    /// Whether nothing runs any more, and the pods above it went on to their ends.
    #[track_caller]
    fn over(self, mut held: File, says: &str) {
        let mut rest = Vec::new();
        held.read_to_end(&mut rest).unwrap();
        let sessions = self.sandbox.sessions();
        for session in &sessions[..2] {
            let ended = exchanges(session, Ending::Written);
            assert!(ended[0].content.contains(says), "{ended:#?}");
        }
        let left: Vec<_> = std::fs::read_dir(self.sandbox.path("state/podward/run"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let worker = sessions[1].file_name().unwrap().to_str().unwrap();
        assert!(!left.iter().any(|name| name.contains(worker)), "{left:?}");
    }
}

#[test]
fn a_child_that_hangs_is_a_result_at_the_end_of_its_time() {
    let hung = Hung::new("limits = { turn_timeout = \"500ms\" }");
    let (running, held) = hung.run();
    let ran = Ran::from(running.wait_with_output().unwrap()).exits(0);
    let says = "the child `inner` did not do it: it hung at the end of its `turn_timeout`";
    assert!(ran.stdout.contains(says), "{ran:#?}");
    hung.over(held, says);
}

#[test]
fn a_child_that_hangs_is_killed_and_the_pods_above_it_end_in_order() {
    let hung = Hung::new("");
    let (running, held) = hung.run();
    let pid = i32::try_from(running.id()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    Ran::from(running.wait_with_output().unwrap()).exits(130);
    hung.over(held, "did not do it: it was cancelled");
}

/// The end of the turn.
fn end(ran: &Ran) -> Value {
    let lines = ran.json_lines();
    let end = lines.iter().find(|line| line["event"] == "turn_ended");
    end.unwrap_or_else(|| panic!("{ran:#?}"))["data"].clone()
}

/// Asks its model twice, and then works for ever.
const TWICE: &str = "[[step]]\n[[step.call]]\ntool = \"list\"\ninput = {}\n\
    [[step]]\n[[step.call]]\ntool = \"bash\"\ninput = { command = \"sleep 100000\" }\n";

#[test]
fn children_that_work_at_the_same_time_share_the_steps_that_are_left() {
    for (is_deep, most, n_steps) in [(false, 6, 7), (true, 9, 10)] {
        let sandbox = Sandbox::new();
        let limits = "limits = { turn_timeout = \"60s\" }";
        sandbox.child("leaf", TWICE, ALLOW_ALL);
        let leaf = child("leaf", limits);
        sandbox.child("middle", &spawns(&["leaf"]), &format!("{leaf}{ALLOW_ALL}"));
        let both = format!("{leaf}{}", child("middle", limits));
        let each = if is_deep { "middle" } else { "leaf" };
        let limit = format!("[limits]\nmax_steps = {most}\n");
        let start = |n: u32| format!("{{ child = \"{each}\", prompt = \"part {n}\" }}");
        let starts = [start(1), start(2), start(3)];
        let starts = starts.each_ref().map(|start| ("spawn", start.as_str()));
        sandbox.pod(&calls(&starts), &format!("{both}{limit}{ALLOW_ALL}"));
        let pod = sandbox.path("pod.toml");
        let ran = sandbox.run(&["run", "--format", "json", pod.to_str().unwrap(), "go"]);
        let ran = ran.exits(1);
        // One of its own, and two of each leaf, and one of each pod between.
        assert_eq!(end(&ran)["n_steps"], n_steps, "{ran:#?}");
        assert_eq!(end(&ran)["reason"]["limit"], "max_steps", "{ran:#?}");
        for call in exchanges(&sandbox.sessions()[0], Ending::Written) {
            let says = "`limits.max_steps` of the turn above was reached";
            assert!(call.content.contains(says), "{call:#?}");
        }
    }
}
