//! SIGINT and SIGTERM stop the agent, kill what it runs, and leave every call with its result.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::pipe::{PipeFlags, fcntl_getpipe_size, pipe_with};
use rustix::process::{Pid, Signal, kill_process};

use serde_json::json;

use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::serving::{Client, Pod, WAITS, asks, says, step};
use crate::session_files::{Ending, exchanges};
use crate::trees::{child, pipe, spawns};

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
    send_to(child.id(), signal);
}

fn send_to(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Waits for something that comes; the limit only keeps a broken program from hanging the tests.
#[track_caller]
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "waited for {what}"
        );
        std::thread::yield_now();
    }
}

/// The process id that the command has written down.
fn command_pid(sandbox: &Sandbox) -> u32 {
    let file = sandbox.path("work/pid");
    wait_for("the command's process id", || {
        std::fs::read_to_string(&file).ok()?.trim().parse().ok()
    })
}

/// Whether a process is gone, or is only waiting to be reaped.
fn is_gone(pid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline")).map_or(true, |line| line.is_empty())
}

#[track_caller]
fn stops(signals: &[Signal], codes: &[i32]) {
    let sandbox = Sandbox::new();
    let mut child = run_until_it_waits(&sandbox);
    let pid = command_pid(&sandbox);
    for signal in signals {
        send(&child, *signal);
    }
    let ended = child.wait().unwrap().code();
    assert!(
        ended.is_some_and(|ended| codes.contains(&ended)),
        "{ended:?}"
    );
    if let [_] = signals {
        assert!(is_gone(pid), "the command still runs");
    } else {
        // The process did not wait for it.
        wait_for("the end of the command", || is_gone(pid).then_some(()));
    }
    assert!(!sandbox.path("work/never").exists());
    if let [_] = signals {
        let results = exchanges(&sandbox.session(), Ending::Written);
        assert_eq!(results.len(), 1);
        assert!(results[0].is_error, "{results:#?}");
    }
}

#[test]
fn sigterm_kills_the_command_and_writes_its_result() {
    stops(&[Signal::TERM], &[143]);
}

#[test]
fn sigint_kills_the_command_and_writes_its_result() {
    stops(&[Signal::INT], &[130]);
}

/// Waits until the pipe of a child's output holds no more; nobody reads it.
fn fills(child: &mut Child) -> ChildStdout {
    let output = child.stdout.take().unwrap();
    let written = format!("/proc/self/fd/{}", output.as_raw_fd());
    let written = File::options().write(true).open(written).unwrap();
    wait_for("a full pipe", || {
        let mut room = [PollFd::new(&written, PollFlags::OUT)];
        let n_ready = poll(&mut room, Some(&Timespec::default())).unwrap();
        (n_ready == 0).then_some(())
    });
    output
}

/// Whoever should read has stopped, or never did: what they did not take is lost, and nothing else.
#[test]
fn a_signal_ends_a_pod_whose_output_nobody_takes() {
    let text = "x".repeat(1 << 20);
    let script = format!(
        "[[step]]\ntext = '''{text}'''\n[[step.call]]\ntool = \"bash\"\n\
         input = {{ command = \"touch ran\" }}\n[[step]]\ntext = \"end\"\n"
    );
    for (format, signal, code) in [("json", Signal::TERM, 143), ("text", Signal::INT, 130)] {
        let sandbox = Sandbox::new();
        let pod = sandbox.pod(&script, ALLOW_ALL);
        let mut child = sandbox
            .podward(&["run", pod.to_str().unwrap(), "go", "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The text is on its way then, into a pipe that holds no more of it.
        let _output = fills(&mut child);
        send(&child, signal);
        let ended = wait_for("the end", || child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(code));
        // What was recorded is whole, whether or not the turn came to its call.
        exchanges(&sandbox.session(), Ending::Written);
        let run = sandbox.path("state/podward/run");
        let left = std::fs::read_dir(run).unwrap();
        let left = left.map(|entry| entry.unwrap().file_name());
        assert_eq!(
            left.filter(|name| name != "lock").count(),
            0,
            "the socket stays"
        );
    }
}

/// Bytes of a page where pages are small.
const SMALLEST_PAGE: usize = 4096;

/// A pipe that is full but for so many bytes, which its last page holds, and how many are in it.
fn pipe_with_room(room: usize) -> (OwnedFd, OwnedFd, u64) {
    let (output, input) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let n_bytes = fcntl_getpipe_size(&input).unwrap();
    assert!(room < SMALLEST_PAGE, "{room} bytes");
    let n_filled = rustix::io::write(&input, &vec![b'x'; n_bytes - room]).unwrap();
    assert_eq!(n_filled, n_bytes - room);
    (output, input, u64::try_from(n_filled).unwrap())
}

/// A run whose reader takes nothing, with room for what it writes up to one of its lines, ends after a
/// signal.
fn ends_before_line(lines: &[String], idx: usize, signal: Signal, code: i32) {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(&says("end"), ALLOW_ALL);
    let room = lines[..idx].iter().map(|line| line.len() + 1).sum();
    let (output, input, n_filled) = pipe_with_room(room);
    let mut child = sandbox
        .podward(&["run", pod.to_str().unwrap(), "go", "--format", "json"])
        .stdout(input)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let n_expected = n_filled + u64::try_from(room).unwrap();
    wait_for(&format!("what is before {}", lines[idx]), || {
        (ioctl_fionread(&output).unwrap() == n_expected).then_some(())
    });
    send(&child, signal);
    let ended = wait_for(&format!("the end at {}", lines[idx]), || {
        child.try_wait().unwrap()
    });
    assert_eq!(ended.code(), Some(code), "at {}", lines[idx]);
}

/// The last line of a turn too, which only one follows.
#[test]
fn a_signal_ends_a_pod_whichever_of_its_lines_nobody_takes() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(&says("end"), ALLOW_ALL);
    let taken = sandbox.run(&["run", pod.to_str().unwrap(), "go", "--format", "json"]);
    let lines: Vec<String> = taken.exits(0).stdout.lines().map(str::to_owned).collect();
    assert!(lines.iter().any(|line| line.contains("\"turn_ended\"")));
    std::thread::scope(|scope| {
        // The first line tells that signals are heard.
        for idx in 1..lines.len() {
            for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
                let lines = &lines;
                scope.spawn(move || ends_before_line(lines, idx, signal, code));
            }
        }
    });
}

/// What a supervisor does that never reads its child's output.
#[test]
fn a_pod_whose_output_nobody_takes_is_cancelled_and_stopped_over_its_socket() {
    // More events than fit anywhere on their way.
    let many: Vec<String> = (0..60).map(|n| format!("seq {n} 2000")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let script = step(&many).repeat(8) + &says("never");
    let sandbox = Sandbox::new();
    let manifest = sandbox.pod(&script, ALLOW_ALL);
    let mut child = sandbox
        .podward(&["serve", manifest.to_str().unwrap(), "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut client = Client::hello(&socket(&sandbox), json!({"client": "tester"}));
    client.run("go");
    let _output = fills(&mut child);
    // While the pod answers these, everything on the way to the pipe fills as well.
    for _ in 0..1000 {
        client.call("permission_list", json!({})).unwrap();
    }
    client.call("cancel", json!({})).unwrap();
    assert_eq!(client.event("turn_ended")["reason"]["kind"], "cancelled");
    // A turn begins when what came before is taken: it waits, and is stopped.
    client.send("run", json!({"prompt": "go"}));
    client.call("stop", json!({})).unwrap();
    let ended = wait_for("the end", || child.try_wait().unwrap());
    assert_eq!(ended.code(), Some(1), "not all was written");
    exchanges(&sandbox.session(), Ending::Written);
}

/// The socket of the pod that runs, once somebody listens there.
fn socket(sandbox: &Sandbox) -> PathBuf {
    let run = sandbox.path("state/podward/run");
    wait_for("a socket", || {
        let entries = std::fs::read_dir(&run).ok()?;
        let mut paths = entries.map(|entry| entry.unwrap().path());
        // It is there a moment before anybody listens.
        paths.find(|path| UnixStream::connect(path).is_ok())
    })
}

/// Whoever reads may take their time: the child waits for it, as its pod does.
#[test]
fn a_child_is_not_lost_while_nobody_reads_what_a_run_tells() {
    let sandbox = Sandbox::new();
    let held = pipe(&sandbox, "held");
    // Longer than an approver that answers no ping is taken for there.
    let holds = "exec 3> held; sleep 36; echo done >&3";
    // More than fits anywhere on its way, and no call twice.
    let many: Vec<String> = (0..300).map(|n| format!("seq {n} 1000")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let works: String = many.chunks(50).map(step).collect();
    sandbox.child(
        "worker",
        &(works + &step(&[holds]) + &says("end")),
        ALLOW_ALL,
    );
    let worker = child("worker", "");
    let manifest = sandbox.pod(&spawns(&["worker"]), &format!("{worker}{ALLOW_ALL}"));
    let mut run = sandbox
        .podward(&["run", manifest.to_str().unwrap(), "go", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Somebody is there, so that the child asks for signs of life.
    let _client = Client::hello(
        &socket(&sandbox),
        json!({"client": "tester", "can_approve": true}),
    );
    let output = fills(&mut run);
    assert_eq!(std::fs::read_to_string(held).unwrap(), "done\n");
    let lines: Vec<String> = BufReader::new(output).lines().map(Result::unwrap).collect();
    assert_eq!(run.wait().unwrap().code(), Some(0), "{:#?}", lines.last());
    let results = exchanges(&sandbox.sessions()[0], Ending::Written);
    assert_eq!(results[0].content, "end");
}

/// SIGTERM is the machine that goes down, SIGINT a person who wants no more of it.
#[test]
fn what_a_run_asks_and_waits_for_is_kept_after_sigterm_and_cancelled_after_sigint() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let sandbox = Sandbox::new();
        let manifest = sandbox.pod(&(step(&["touch mark"]) + &says("end")), &asks(WAITS));
        let mut command = sandbox.podward(&["run", "--format", "json"]);
        command.arg(&manifest).arg("go").stdin(Stdio::null());
        let mut run = Pod::start(&sandbox, command);
        let asked = run.tells("permission_request");
        send_to(run.id(), signal);
        let session = run.session.clone();
        assert_eq!(run.ends(), Some(code), "{signal:?}");
        if signal == Signal::INT {
            let results = exchanges(&session, Ending::Written);
            assert_eq!(results.len(), 1);
            assert!(results[0].content.contains("cancelled"), "{results:#?}");
            continue;
        }
        let pod = Pod::go_on(&sandbox, &manifest, &session);
        let mut client = Client::approver(&pod, "tester");
        let kept = client.request();
        assert_eq!(kept["id"], asked["id"]);
        client.reply(&kept, json!({"kind": "once"})).unwrap();
        assert_eq!(client.event("turn_ended")["reason"]["kind"], "done");
        assert!(sandbox.work().join("mark").exists());
    }
}

#[test]
fn a_second_signal_ends_the_process_too() {
    stops(&[Signal::INT, Signal::TERM], &[130, 143]);
}
