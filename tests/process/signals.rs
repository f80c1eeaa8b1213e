//! SIGINT and SIGTERM stop the agent, kill what it runs, and leave every call with its result.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::session_files::{Ending, exchanges};

/// A run whose command has begun: it said its process id.
fn run_until_it_waits(sandbox: &Sandbox) -> Child {
    let script = "[[step]]\n[[step.call]]\ntool = \"bash\"\n\
        input = { command = \"echo $$ > pid; sleep 1000 & sleep 1000; echo never > never\" }\n\
        [[step]]\ntext = \"never\"\n";
    let pod = sandbox.pod(script, ALLOW_ALL);
    let mut child = sandbox
        .podward(&["run", pod.to_str().unwrap(), "go", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        lines.any(|line| line.unwrap().contains("\"tool_call_started\"")),
        "the command never began"
    );
    // The rest of the output is wanted no more, but the pipe must stay open.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Waits until the command has said its process id.
fn command_pid(sandbox: &Sandbox) -> u32 {
    let file = sandbox.path("work/pid");
    loop {
        match std::fs::read_to_string(&file)
            .unwrap_or_default()
            .trim()
            .parse()
        {
            Ok(pid) => return pid,
            Err(_) => std::thread::yield_now(),
        }
    }
}

#[track_caller]
fn stops(signals: &[Signal], code: i32) {
    let sandbox = Sandbox::new();
    let mut child = run_until_it_waits(&sandbox);
    let pid = command_pid(&sandbox);
    for signal in signals {
        send(&child, *signal);
    }
    assert_eq!(child.wait().unwrap().code(), Some(code));
    let is_gone = !Path::new(&format!("/proc/{pid}/cmdline")).exists()
        || std::fs::read(format!("/proc/{pid}/cmdline"))
            .unwrap()
            .is_empty();
    assert!(is_gone, "the command still runs");
    assert!(!sandbox.path("work/never").exists());
    if let [_] = signals {
        let results = exchanges(&sandbox.session(), Ending::Written);
        assert_eq!(results.len(), 1);
        assert!(results[0].is_error, "{results:#?}");
    }
}

#[test]
fn sigterm_kills_the_command_and_writes_its_result() {
    stops(&[Signal::TERM], 143);
}

#[test]
fn sigint_kills_the_command_and_writes_its_result() {
    stops(&[Signal::INT], 130);
}
