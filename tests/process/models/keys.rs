//! Keys: where they come from, what is said when they are wrong, and that nobody finds them.

use std::path::Path;

use podward_test_provider::{Format, TestProvider};

use super::{KEY, WORK, model, pod, problems, run, setup, start};
use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};

/// One way to give a key: the lines of `[model]`, and what a message calls it.
struct Source {
    lines: &'static str,
    shown: &'static str,
}

const SOURCES: [Source; 3] = [
    Source {
        lines: "key_env = \"MODEL_KEY\"\n",
        shown: "the variable `MODEL_KEY`",
    },
    Source {
        lines: "key_file = \"secret.key\"\n",
        shown: "the file `",
    },
    Source {
        lines: "key_command = [\"./print-key\", \"now\"]\n",
        shown: "the output of `",
    },
];

/// Runs a pod whose key comes from one of the sources, and is this.
fn run_with(
    sandbox: &Sandbox,
    source: &Source,
    provider: &TestProvider,
    key: &str,
    more: &[&str],
) -> Ran {
    if source.lines.starts_with("key_file") {
        sandbox.write("secret.key", &format!("{key}\n"));
    }
    // The key is in the program in two pieces: the program itself can be read.
    let (front, back) = key.split_at(8);
    let program = format!("#!/bin/sh\nprintf '%s%s\\n' {front} {back}\n");
    let program = sandbox.write("print-key", &program);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(program, mode).unwrap();
    let text = format!(
        "[pod]\nworkspace = \"work\"\n{}{}{ALLOW_ALL}",
        model(Format::Anthropic, provider),
        source.lines
    );
    let pod = sandbox.write("pod.toml", &text);
    let mut command = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    command.args(more);
    if source.lines.starts_with("key_env") {
        command.env("MODEL_KEY", key);
    }
    Ran::from(command.output().unwrap())
}

/// Everything that a run wrote down.
fn written(sandbox: &Sandbox, ran: &Ran, log: &Path) -> Vec<String> {
    let session = sandbox.session();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    vec![
        ran.stdout.clone(),
        ran.stderr.clone(),
        read(log),
        read(&session.join("session.jsonl")),
        read(&session.join("decisions.jsonl")),
    ]
}

#[test]
fn no_tool_finds_the_key_of_any_source_and_nothing_writes_it_down() {
    let look = "env; cat /proc/$PPID/environ /proc/self/environ; \
        for fd in /proc/$PPID/fd/* /proc/self/fd/*; do case $(readlink $fd) in *memfd*) cat $fd;; esac; done; \
        cat ../secret.key; grep -r hush .. ; echo changed >> ../print-key; \
        mv ../secret.key ../other.key; echo looked";
    let script = format!(
        "[[step]]\n[[step.call]]\ntool = \"bash\"\ninput = {{ command = '''{look}''' }}\n\
         [[step.call]]\ntool = \"read\"\ninput = {{ path = \"../secret.key\" }}\n\
         [[step.call]]\ntool = \"grep\"\ninput = {{ pattern = \"hush\", path = \"../secret.key\" }}\n\
         [[step.call]]\ntool = \"file_write\"\ninput = {{ path = \"../secret.key\", content = \"x\" }}\n\
         [[step]]\ntext = \"{{{{result.1 | find looked}}}}\"\n"
    );
    for source in &SOURCES {
        let sandbox = Sandbox::new();
        let provider = start(setup(Format::Anthropic, &script));
        let log = sandbox.path("podward.log");
        let more = ["--format", "json", "--log", "trace", "--log-file"];
        let more = [&more[..], &[log.to_str().unwrap()]].concat();
        let ran = run_with(&sandbox, source, &provider, KEY, &more).exits(0);
        assert!(ran.stdout.contains("looked"), "{ran:#?}");
        assert_eq!(problems(&provider), [""; 0]);
        for text in written(&sandbox, &ran, &log) {
            assert!(!text.contains(KEY), "{}: {text}", source.lines);
        }
        let program = std::fs::read_to_string(sandbox.path("print-key")).unwrap();
        assert!(!program.contains("changed"), "{program}");
        let requests = provider.requests();
        assert_eq!(requests[0].header("x-api-key"), Some(KEY));
    }
}

#[test]
fn a_key_that_is_not_accepted_is_looked_for_where_it_came_from() {
    let wrong = "sk-wrong-9876543210";
    for source in &SOURCES {
        let sandbox = Sandbox::new();
        let provider = start(setup(Format::Anthropic, WORK));
        let log = sandbox.path("podward.log");
        let more = ["--log", "trace", "--log-file", log.to_str().unwrap()];
        let ran = run_with(&sandbox, source, &provider, wrong, &more).exits(1);
        assert!(ran.stderr.contains("does not accept the key"), "{ran:#?}");
        let help = format!("help: the key comes from {}", source.shown);
        assert!(ran.stderr.contains(&help), "{ran:#?}");
        assert_eq!(provider.requests().len(), 1, "it is not tried again");
        let session = sandbox.session().join("session.jsonl");
        for text in [
            ran.stdout,
            ran.stderr,
            std::fs::read_to_string(log).unwrap(),
            std::fs::read_to_string(session).unwrap(),
        ] {
            assert!(!text.contains(wrong), "{text}");
        }
    }
}

#[test]
fn a_key_that_is_not_there_is_said_before_anything_is_begun() {
    let sandbox = Sandbox::new();
    let provider = start(setup(Format::Anthropic, WORK));
    let pod = pod(&sandbox, Format::Anthropic, &provider, ALLOW_ALL);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(78);
    assert!(
        ran.stderr
            .contains("the variable `MODEL_KEY`, in which the model's key should be, is not set"),
        "{ran:#?}"
    );
    assert!(
        ran.stderr.contains("help: set it, `export MODEL_KEY=…`"),
        "{ran:#?}"
    );
    assert!(sandbox.sessions().is_empty());
    assert_eq!(provider.requests(), []);
}

#[test]
fn a_key_file_that_others_can_read_is_refused() {
    let sandbox = Sandbox::new();
    let provider = start(setup(Format::Anthropic, WORK));
    let key = sandbox.write("secret.key", KEY);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&key, mode).unwrap();
    let text = format!(
        "[pod]\nworkspace = \"work\"\n{}key_file = \"secret.key\"\n{ALLOW_ALL}",
        model(Format::Anthropic, &provider)
    );
    let pod = sandbox.write("pod.toml", &text);
    let ran = run(&sandbox, &[pod.to_str().unwrap(), "go"]).exits(78);
    assert!(
        ran.stderr.contains("can be read by others (mode 0644)"),
        "{ran:#?}"
    );
    assert!(ran.stderr.contains("chmod 600"), "{ran:#?}");
    assert_eq!(provider.requests(), []);
}

#[test]
fn a_run_without_a_model_says_what_to_write() {
    let sandbox = Sandbox::new();
    let pod = sandbox.write("pod.toml", ALLOW_ALL);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(78);
    for line in [
        "error: no layer names a model",
        "    provider = \"anthropic\"\n",
        "    key_env = \"ANTHROPIC_API_KEY\"\n",
        "    base_url = \"http://127.0.0.1:11434/v1\"\n",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {ran:#?}");
    }
    assert!(sandbox.sessions().is_empty());
}

#[test]
fn a_server_of_ones_own_needs_no_key_and_five_lines() {
    let sandbox = Sandbox::new();
    let mut setup = setup(Format::OpenAiChat, WORK);
    setup.key = None;
    let provider = start(setup);
    let text = format!("{}{ALLOW_ALL}", model(Format::OpenAiChat, &provider));
    assert_eq!(text.lines().count(), 6, "{text}");
    let pod = sandbox.write("pod.toml", &text);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(0);
    assert_eq!(ran.stdout, "I look.\nFound seen.\n");
    assert_eq!(problems(&provider), [""; 0]);
    assert!(provider.requests()[0].header("authorization").is_none());
}

#[test]
fn a_layer_below_an_allow_asks_no_other_model() {
    let sandbox = Sandbox::new();
    let provider = start(setup(Format::OpenAiChat, WORK));
    let user = "[model]\nallow = [\"anthropic/*\"]\n";
    sandbox.write("config/podward/pod.toml", user);
    let pod = pod(&sandbox, Format::OpenAiChat, &provider, ALLOW_ALL);
    let ran = run(&sandbox, &[pod.to_str().unwrap(), "go"]).exits(78);
    assert!(
        ran.stderr
            .contains("the model `openai/openai-model` is not one of those that may be asked"),
        "{ran:#?}"
    );
    assert_eq!(provider.requests(), []);
}
