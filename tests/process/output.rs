//! Standard output is data, standard error is talk.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::Stdio;

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox, repository};

const WORK: &str = "[[step]]\ntext = \"I look.\"\n[[step.call]]\ntool = \"list\"\ninput = {}\n\
                    [[step]]\ntext = \"Two lines\\nof text.\"\n";

#[test]
fn text_is_the_models_text_and_nothing_else() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(WORK, ALLOW_ALL);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(0);
    assert_eq!(ran.stdout, "I look.\nTwo lines\nof text.\n");
    assert!(ran.stderr.contains("#1 list"), "{ran:#?}");
    assert!(
        ran.stderr.contains("allow  default of manifest"),
        "{ran:#?}"
    );
    assert!(
        !ran.stderr.contains('\u{1b}'),
        "no colour without a terminal: {ran:#?}"
    );
}

#[test]
fn json_is_one_event_a_line_that_fits_the_schema() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(WORK, ALLOW_ALL);
    let ran = sandbox
        .run(&["run", pod.to_str().unwrap(), "go", "--format", "json"])
        .exits(0);
    let schema = std::fs::read_to_string(repository().join("docs/schemas/event.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let lines = ran.json_lines();
    for (idx, line) in lines.iter().enumerate() {
        let errors: Vec<String> = schema
            .iter_errors(line)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:?}: {line}");
        assert_eq!(line["seq"], idx);
        assert_eq!(line["session"], lines[0]["session"]);
        let text = line.to_string();
        let decoded = podward_protocol::decode(&text).unwrap();
        let encoded = podward_protocol::encode(&decoded).unwrap();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&encoded).unwrap(),
            *line
        );
    }
    assert_eq!(lines[0]["event"], "session_started");
    let last = lines
        .iter()
        .rfind(|line| line["event"] == "turn_ended")
        .unwrap();
    assert_eq!(last["data"]["reason"]["kind"], "done");
    assert!(ran.stderr.is_empty(), "{ran:#?}");
}

#[test]
fn the_prompt_comes_from_standard_input_if_it_is_no_argument() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod("[[step]]\ntext = \"{{prompt}}\"\n", ALLOW_ALL);
    let mut child = sandbox
        .podward(&["run", pod.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"from a pipe")
        .unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap()).exits(0);
    assert_eq!(ran.stdout, "from a pipe\n");
}

#[test]
fn colour_is_asked_for_or_not() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(WORK, ALLOW_ALL);
    for (arguments, variables, colored) in [
        (&["--color", "always"][..], &[][..], true),
        (&["--color", "always"], &[("NO_COLOR", "1")], true),
        (&["--color", "never"], &[], false),
        (&[], &[("NO_COLOR", "1")], false),
    ] {
        let mut command = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
        let ran = command
            .args(arguments)
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let ran = Ran::from(ran).exits(0);
        assert_eq!(
            ran.stderr.contains('\u{1b}'),
            colored,
            "{arguments:?} {variables:?}"
        );
        assert!(!ran.stdout.contains('\u{1b}'), "data has no colour");
    }
}

#[test]
fn talk_shows_what_a_terminal_would_obey() {
    let sandbox = Sandbox::new();
    let script = "[[step]]\ntext = \"a\\u001b[2Jb\"\n[[step.call]]\ntool = \"bash\"\n\
        input = { command = \"printf '\\\\033[2J\\\\342\\\\200\\\\256x' # \\u202e\" }\n[[step]]\ntext = \"end\"\n";
    let pod = sandbox.pod(script, ALLOW_ALL);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(0);
    for treacherous in ['\u{1b}', '\u{202e}'] {
        assert!(!ran.stderr.contains(treacherous), "{ran:#?}");
    }
    assert!(ran.stderr.contains("\\u{202e}"), "{ran:#?}");
}

#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(WORK, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    for arguments in [
        vec!["run", pod, "go"],
        vec!["run", pod, "go", "--format", "json"],
        vec!["manifest", pod],
        vec!["tools", pod],
        vec!["completions", "bash"],
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = sandbox.podward(&arguments).stdout(full).output().unwrap();
        let ran = Ran::from(output).exits(1);
        assert!(
            ran.stderr.contains("cannot write standard output"),
            "{arguments:?}: {ran:#?}"
        );
    }
}

#[test]
fn a_reader_that_went_away_is_no_reason_to_complain() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(WORK, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    for arguments in [
        vec!["run", pod, "go"],
        vec!["run", pod, "go", "--format", "json"],
        vec!["manifest", pod],
        vec!["completions", "bash"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = sandbox.podward(&arguments).stdout(writer).output().unwrap();
        let ran = Ran::from(output);
        assert!(
            !ran.stderr.contains("error") && !ran.stderr.contains("panic"),
            "{ran:#?}"
        );
    }
}

#[test]
fn diagnostics_go_to_standard_error_or_a_file() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(WORK, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    let quiet = sandbox.run(&["run", pod, "go"]).exits(0);
    let loud = sandbox.run(&["run", pod, "go", "--log", "debug"]).exits(0);
    assert_eq!(quiet.stdout, loud.stdout);
    assert!(loud.stderr.len() > quiet.stderr.len(), "{loud:#?}");
    let by_variable = sandbox
        .podward(&["run", pod, "go"])
        .env("PODWARD_LOG", "debug")
        .output()
        .unwrap();
    assert!(Ran::from(by_variable).stderr.len() > quiet.stderr.len());
    let file = sandbox.path("podward.log");
    let filed = sandbox
        .run(&[
            "run",
            pod,
            "go",
            "--log",
            "debug",
            "--log-file",
            file.to_str().unwrap(),
        ])
        .exits(0);
    assert_eq!(filed.stdout, quiet.stdout);
    assert!(
        filed.stderr.lines().count() == quiet.stderr.lines().count(),
        "{filed:#?}"
    );
    let log = std::fs::read_to_string(&file).unwrap();
    assert!(log.lines().count() > 0);
    assert_eq!(crate::session_files::mode_of(&file), 0o600);
}

/// A library may say anything at its lower levels: a searched text, a header.
#[test]
fn diagnostics_are_those_of_podward_alone() {
    let sandbox = Sandbox::new();
    let search = "[[step]]\n[[step.call]]\ntool = \"grep\"\ninput = { pattern = \"hush.hush\" }\n";
    let pod = sandbox.pod(search, ALLOW_ALL);
    let file = sandbox.path("podward.log");
    let (pod, log) = (pod.to_str().unwrap(), file.to_str().unwrap());
    sandbox
        .run(&["run", pod, "go", "--log", "trace", "--log-file", log])
        .exits(0);
    for line in std::fs::read_to_string(&file).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            line["target"].as_str().unwrap().starts_with("podward"),
            "{line}"
        );
    }
}
