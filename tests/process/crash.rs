//! kill -9 at any point leaves a session that can be resumed.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::session_files::{Ending, decisions, exchanges};

/// How many crashes are tried; `cargo xtask soak` sets more.
fn n_crashes() -> usize {
    std::env::var("PODWARD_CRASHES").map_or(24, |count| count.parse().unwrap())
}

/// Calls of several kinds, some refused; each writes down that it ran.
const SCRIPT: &str = r#"
[[step]]
label = "a"
text = "First."
[[step.call]]
tool = "bash"
input = { command = "echo one >> ran" }
[[step.call]]
tool = "read"
input = { path = ".env" }
[[step.call]]
tool = "file_write"
input = { path = "two", content = "two" }

[[step]]
text = "Second."
[[step.call]]
tool = "bash"
input = { command = "echo three >> ran" }

[[step]]
text = "End."
[[step.next]]
prompt_contains = "again"
goto = "a"
"#;

fn rules() -> String {
    format!(
        "{ALLOW_ALL}rule = [{{ tool = \"bash\", pattern = \"*\", action = \"allow\" }},\n\
         {{ tool = \"read\", pattern = \"*.env\", action = \"deny\" }}]\n"
    )
}

/// Kills a run as soon as it has written so many events; says whether it was still running.
fn crash_after(sandbox: &Sandbox, pod: &str, n_events: usize) -> Crash {
    let mut child = sandbox
        .podward(&["run", pod, "go", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let n_read = lines.by_ref().take(n_events).count();
    child.kill().unwrap();
    let status = child.wait().unwrap();
    if n_read < n_events || status.code().is_some() {
        Crash::TooLate
    } else {
        Crash::Killed
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Crash {
    Killed,
    /// It had ended by itself.
    TooLate,
}

#[test]
fn a_session_killed_at_any_point_goes_on() {
    let mut n_events = 0;
    let mut n_killed = 0;
    for _ in 0..n_crashes() {
        let sandbox = Sandbox::new();
        let pod = sandbox.pod(SCRIPT, &rules());
        let pod = pod.to_str().unwrap();
        let crash = crash_after(&sandbox, pod, n_events);
        n_events = match crash {
            Crash::Killed => n_events + 1,
            Crash::TooLate => 0,
        };
        let Some(session) = sandbox.sessions().pop() else {
            continue;
        };
        let id = session.file_name().unwrap().to_str().unwrap();
        if session.join("session.jsonl").exists() {
            exchanges_before_resume(&session);
        }
        n_killed += usize::from(crash == Crash::Killed);
        let ran = sandbox.run(&["run", pod, "again", "--resume", id]);
        // A prompt that was never answered is not asked again: then nothing is refused.
        assert!(
            matches!(ran.code, Some(0 | 10)),
            "after {n_events} events: {ran:#?}"
        );
        assert!(ran.stdout.ends_with("End.\n"), "{ran:#?}");
        let results = exchanges(&session, Ending::Written);
        for exchange in &results {
            let is_refused = exchange.tool == "read";
            let is_interrupted = exchange.is_error && !is_refused;
            assert!(
                !is_interrupted || exchange.content.contains("interrupted"),
                "{exchange:#?}"
            );
        }
        assert_eq!(decisions_of_runs(&session, &results), Vec::<String>::new());
    }
    assert!(n_killed > 0, "no run was killed");
}

#[test]
fn a_turn_that_was_cut_off_is_finished_without_a_prompt() {
    let sandbox = Sandbox::new();
    let script = "[[step]]\n[[step.call]]\ntool = \"bash\"\n\
        input = { command = \"sleep 1000\" }\n\
        [[step]]\ntext = \"{{result.1 | find interrupted}}\"\n";
    let pod = sandbox.pod(script, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    // Session, busy, turn, usage, arguments: the message with the call is on disk.
    assert_eq!(crash_after(&sandbox, pod, 5), Crash::Killed);
    let session = sandbox.session();
    let id = session.file_name().unwrap().to_str().unwrap();
    let ran = sandbox.run(&["run", pod, "--resume", id]).exits(0);
    assert!(ran.stdout.contains("interrupted"), "{ran:#?}");
    assert_eq!(exchanges(&session, Ending::Written).len(), 1);
    let again = sandbox.run(&["run", pod, "--resume", id]).exits(0);
    assert_eq!(again.stdout, "");
    assert!(again.stderr.contains("no turn was cut off"), "{again:#?}");
}

/// A killed session may have calls without a result in its last message, and a torn last line.
fn exchanges_before_resume(session: &std::path::Path) {
    let file = session.join("session.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let copy = tempfile::tempdir().unwrap();
    std::fs::write(copy.path().join("session.jsonl"), &text.as_bytes()[..whole]).unwrap();
    exchanges(copy.path(), Ending::Killed);
}

/// Tools that ran although no line of the decision log allowed them.
fn decisions_of_runs(
    session: &std::path::Path,
    results: &[crate::session_files::Exchange],
) -> Vec<String> {
    let mut allowed: Vec<String> = decisions(session)
        .iter()
        .filter(|line| line["verdict"]["verdict"] == "allow")
        .map(|line| line["tool"].as_str().unwrap().to_owned())
        .collect();
    let mut unjudged = Vec::new();
    for exchange in results.iter().filter(|exchange| !exchange.is_error) {
        match allowed.iter().position(|tool| *tool == exchange.tool) {
            Some(place) => {
                allowed.remove(place);
            }
            None => unjudged.push(exchange.tool.clone()),
        }
    }
    unjudged
}
