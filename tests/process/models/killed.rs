//! Signals and kill -9 around an answer: nothing hangs, and the session goes on.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use podward_test_provider::{Format, Trouble};
use rustix::process::{Pid, Signal, kill_process};

use super::{IN_THE_MIDDLE, KEY, long_text, pod, problems, run, session_id, setup, start, wait};
use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::session_files::{Ending, exchanges};

/// Words, a command that does not end by itself the first time, words.
fn slow() -> String {
    let text = long_text();
    format!(
        "{text}[[step.call]]\ntool = \"bash\"\n\
         input = {{ command = \"test -e quick || sleep 1000\" }}\n\
         [[step]]\ntext = \"End.\\n\"\n"
    )
}

type Lines = std::io::Lines<BufReader<ChildStdout>>;

/// A run that has just told an event with this in it.
fn run_until(sandbox: &Sandbox, pod: &Path, event: &str) -> (Child, Lines) {
    let mut command = sandbox.podward(&["run", pod.to_str().unwrap(), "go", "--format", "json"]);
    let mut child = command
        .env("MODEL_KEY", KEY)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        lines.any(|line| line.unwrap().contains(event)),
        "no event with {event}"
    );
    (child, lines)
}

fn goes_on(sandbox: &Sandbox, pod: &Path) {
    std::fs::write(sandbox.path("work/quick"), "").unwrap();
    let id = session_id(sandbox);
    let again = run(sandbox, &[pod.to_str().unwrap(), "go on", "--resume", &id]).exits(0);
    assert!(again.stdout.ends_with("End.\n"), "{again:#?}");
    exchanges(&sandbox.session(), Ending::Written);
}

#[test]
fn sigint_during_an_answer_closes_the_connection_and_the_session_goes_on() {
    for format in Format::ALL {
        let sandbox = Sandbox::new();
        let stall = Trouble::StallAfter(IN_THE_MIDDLE);
        let provider = start(setup(format, &slow()).with_troubles([stall]));
        let pod = pod(&sandbox, format, &provider, ALLOW_ALL);
        let (mut child, lines) = run_until(&sandbox, &pod, "\"text_delta\"");
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        lines.for_each(drop);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{format:?}");
        wait("the end of the connection", provider.abandoned(1));
        exchanges(&sandbox.session(), Ending::Written);
        goes_on(&sandbox, &pod);
        assert_eq!(problems(&provider), [""; 0], "{format:?}");
    }
}

#[test]
fn kill_in_the_middle_of_an_answer_leaves_a_session_that_goes_on() {
    for format in Format::ALL {
        let sandbox = Sandbox::new();
        let stall = Trouble::StallAfter(IN_THE_MIDDLE);
        let provider = start(setup(format, &slow()).with_troubles([stall]));
        let pod = pod(&sandbox, format, &provider, ALLOW_ALL);
        let (mut child, lines) = run_until(&sandbox, &pod, "\"text_delta\"");
        child.kill().unwrap();
        child.wait().unwrap();
        drop(lines);
        wait("the end of the connection", provider.abandoned(1));
        goes_on(&sandbox, &pod);
        assert_eq!(problems(&provider), [""; 0], "{format:?}");
    }
}

#[test]
fn kill_while_a_tool_runs_leaves_a_session_that_goes_on() {
    for format in Format::ALL {
        let sandbox = Sandbox::new();
        let provider = start(setup(format, &slow()));
        let pod = pod(&sandbox, format, &provider, ALLOW_ALL);
        let (mut child, lines) = run_until(&sandbox, &pod, "\"tool_call_verdict\"");
        child.kill().unwrap();
        child.wait().unwrap();
        drop(lines);
        goes_on(&sandbox, &pod);
        assert_eq!(problems(&provider), [""; 0], "{format:?}");
    }
}
