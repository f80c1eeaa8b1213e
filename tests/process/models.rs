//! Models on a network: the whole program against a provider on this machine that speaks the real
//! wire formats and checks every request as the provider would.

mod failures;
mod keys;
mod killed;
mod proxies;

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use podward_model::ScriptedModel;
use podward_protocol::Time;
use podward_test_provider::{Format, Setup, TestProvider, Tls, Trouble};
use serde::Deserialize as _;
use serde_json::Value;

use crate::demo::{DEMO_VERDICTS, refused_tools};
use crate::sandbox::{ALLOW_ALL, Ran, Sandbox, repository};
use crate::session_files::{Ending, exchanges, verdicts};

/// The key that providers ask for in these tests.
const KEY: &str = "sk-hush-0123456789";

/// The script of most tests: text, a call, text.
const WORK: &str = "[[step]]\nlabel = \"look\"\ntext = \"I look.\\n\"\n[[step.call]]\ntool = \"bash\"\n\
    input = { command = \"echo seen\" }\n[[step]]\ntext = \"Found {{result.1 | find seen}}.\\n\"\n\
    [[step.next]]\nprompt_contains = \"\"\ngoto = \"look\"\n";

/// Bytes after which every format's answer with [`long_text`] is in the middle of its text.
const IN_THE_MIDDLE: usize = 5000;

/// The beginning of a step whose answer is long, in small pieces.
fn long_text() -> String {
    let text = "word ".repeat(200);
    format!("[[step]]\nchunk = 5\ntext = \"{text}\\n\"\n")
}

fn setup(format: Format, script: &str) -> Setup {
    let script = ScriptedModel::parse("test", script).unwrap_or_else(|errors| panic!("{errors:?}"));
    Setup::new(format, script).with_key(KEY)
}

fn start(setup: Setup) -> TestProvider {
    TestProvider::start(setup).unwrap()
}

/// `[model]` without a key.
fn model(format: Format, provider: &TestProvider) -> String {
    format!(
        "[model]\nprovider = \"{}\"\nmodel = \"{}-model\"\nbase_url = \"{}\"\n",
        format.name(),
        format.name(),
        provider.base_url()
    )
}

/// A manifest whose model is this provider, the key being in `MODEL_KEY`.
fn pod(sandbox: &Sandbox, format: Format, provider: &TestProvider, permissions: &str) -> PathBuf {
    let model = model(format, provider);
    let text =
        format!("[pod]\nworkspace = \"work\"\n{model}key_env = \"MODEL_KEY\"\n{permissions}");
    sandbox.write(&format!("{}.toml", format.name()), &text)
}

/// Runs a pod to its end, with the key.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut command = sandbox.podward(&["run"]);
    command.args(arguments).env("MODEL_KEY", KEY);
    Ran::from(command.output().unwrap())
}

/// What is wrong with the requests that came in.
fn problems(provider: &TestProvider) -> Vec<String> {
    let requests = provider.requests().into_iter();
    requests.filter_map(|request| request.problem).collect()
}

/// Waits for something that comes; the limit only keeps a broken program from hanging the tests.
#[track_caller]
fn wait<T>(what: &str, work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let waited =
        runtime.block_on(async { tokio::time::timeout(Duration::from_secs(120), work).await });
    waited.unwrap_or_else(|_| panic!("waited for {what}"))
}

/// The only session's id.
fn session_id(sandbox: &Sandbox) -> String {
    let session = sandbox.session();
    session.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The demonstration's manifest with another model.
fn demonstration(sandbox: &Sandbox, format: Format, provider: &TestProvider) -> PathBuf {
    let text = std::fs::read_to_string(repository().join("manifests/demo.toml")).unwrap();
    let project = repository().join("crates/podward/demo/project");
    let model = format!("{}key_env = \"MODEL_KEY\"\n", model(format, provider));
    let text = text
        .replace("../crates/podward/demo/project", project.to_str().unwrap())
        .replace(
            "[model]\nprovider = \"scripted\"\nscript = \"demo\"\n",
            &model,
        );
    assert!(text.contains(provider.base_url()), "{text}");
    sandbox.write("demo.toml", &text)
}

#[test]
fn the_demonstration_is_the_same_behind_every_wire() {
    let script = repository().join("crates/podward/demo/script.toml");
    let script = std::fs::read_to_string(script).unwrap();
    for format in Format::ALL {
        let sandbox = Sandbox::new();
        let provider = start(setup(format, &script));
        let pod = demonstration(&sandbox, format, &provider);
        let ran = run(&sandbox, &[pod.to_str().unwrap(), "make the tests pass"]).exits(10);
        assert!(
            ran.stdout.contains("the tests say 2 passed, 0 failed"),
            "{ran:#?}"
        );
        let session = sandbox.session();
        assert_eq!(
            refused_tools(&session),
            ["bash", "file_write"],
            "{format:?}"
        );
        let expected = DEMO_VERDICTS.map(|(tool, verdict)| (tool.to_owned(), verdict.to_owned()));
        assert_eq!(verdicts(&session), expected, "{format:?}");
        assert_eq!(problems(&provider), [""; 0], "{format:?}");
    }
}

#[test]
fn a_session_goes_on_with_another_provider() {
    let sandbox = Sandbox::new();
    let mut resume: Vec<String> = Vec::new();
    let mut n_calls = 0;
    for format in [
        Format::Anthropic,
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Anthropic,
    ] {
        let provider = start(setup(format, WORK));
        let pod = pod(&sandbox, format, &provider, ALLOW_ALL);
        let mut arguments = vec![pod.to_str().unwrap(), "go"];
        arguments.extend(resume.iter().map(String::as_str));
        let ran = run(&sandbox, &arguments).exits(0);
        assert_eq!(ran.stdout, "I look.\nFound seen.\n");
        assert_eq!(problems(&provider), [""; 0], "{format:?}");
        let notice = "the model was `";
        assert_eq!(ran.stderr.contains(notice), !resume.is_empty(), "{ran:#?}");
        n_calls += 1;
        assert_eq!(
            exchanges(&sandbox.session(), Ending::Written).len(),
            n_calls
        );
        resume = vec!["--resume".to_owned(), session_id(&sandbox)];
    }
}

#[test]
fn https_is_spoken_with_those_whom_ssl_cert_file_vouches_for() {
    let sandbox = Sandbox::new();
    let setup = setup(Format::Anthropic, WORK).with_tls(Tls::PrivateAuthority);
    let provider = start(setup);
    let pod = pod(&sandbox, Format::Anthropic, &provider, ALLOW_ALL);
    let authority = sandbox.write("authority.pem", provider.authority().unwrap());
    let mut command = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    command
        .env("MODEL_KEY", KEY)
        .env("SSL_CERT_FILE", authority);
    let ran = Ran::from(command.output().unwrap()).exits(0);
    assert_eq!(ran.stdout, "I look.\nFound seen.\n");
    assert_eq!(provider.requests().len(), 2);
}

#[test]
fn a_certificate_that_nobody_vouches_for_gets_no_key() {
    let sandbox = Sandbox::new();
    let other = start(setup(Format::Anthropic, WORK).with_tls(Tls::PrivateAuthority));
    let provider = start(setup(Format::Anthropic, WORK).with_tls(Tls::PrivateAuthority));
    let pod = pod(&sandbox, Format::Anthropic, &provider, ALLOW_ALL);
    let authority = sandbox.write("authority.pem", other.authority().unwrap());
    let mut command = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    command
        .env("MODEL_KEY", KEY)
        .env("SSL_CERT_FILE", authority);
    let ran = Ran::from(command.output().unwrap()).exits(1);
    assert!(ran.stderr.contains("certificate"), "{ran:#?}");
    assert!(ran.stderr.contains("SSL_CERT_FILE"), "{ran:#?}");
    assert_eq!(provider.requests(), []);
}

#[test]
fn a_retry_is_shown_with_its_reason_and_the_time_of_the_next_attempt() {
    let sandbox = Sandbox::new();
    let limited = Trouble::Status(429, Some("1".to_owned()));
    let provider = start(setup(Format::OpenAiChat, WORK).with_troubles([limited]));
    let pod = pod(&sandbox, Format::OpenAiChat, &provider, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    let ran = run(&sandbox, &[pod, "go", "--format", "json"]).exits(0);
    let lines = ran.json_lines();
    let retry = lines
        .iter()
        .find(|line| line["event"] == "status" && line["data"]["state"] == "retry")
        .unwrap_or_else(|| panic!("{ran:#?}"));
    assert_eq!(retry["data"]["attempt"], 2);
    assert!(retry["data"]["reason"].is_string(), "{retry}");
    // A second after it was known, and that was after the first line.
    let milliseconds = |time: &Value| Time::deserialize(time).unwrap().unix_milliseconds();
    let began = milliseconds(&lines[0]["time"]);
    assert!(milliseconds(&retry["data"]["at"]) >= began + 1000);
    assert_eq!(provider.requests().len(), 3);
    assert_eq!(problems(&provider), [""; 0]);
}

#[test]
fn what_is_sent_of_a_long_session_is_bounded_and_valid_and_the_disk_keeps_it_all() {
    let output = "x".repeat(700);
    // A script looks at what is left of a conversation, so it is never at its end.
    let step = format!(
        "[[step]]\n\
         [[step.call]]\ntool = \"bash\"\ninput = {{ command = \"echo {output}\" }}\n\
         [[step.call]]\ntool = \"bash\"\ninput = {{ command = \"rm x\" }}\n"
    );
    let again = step.repeat(13);
    let rules = "[permissions]\ndefault_action = \"deny\"\n\
        rule = [{ tool = \"bash\", pattern = \"echo *\", action = \"allow\" }]\n\
        [limits]\nhistory_size = \"6KiB\"\nmax_steps = 12\n";
    for format in Format::ALL {
        let sandbox = Sandbox::new();
        let provider = start(setup(format, &again));
        let pod = pod(&sandbox, format, &provider, rules);
        run(&sandbox, &[pod.to_str().unwrap(), "go"]).exits(1);
        assert_eq!(problems(&provider), [""; 0], "{format:?}");
        let requests = provider.requests();
        assert_eq!(requests.len(), 12, "{format:?}");
        let last = requests.last().unwrap().body.to_string();
        assert!(last.contains("were left out"), "{format:?}");
        assert!(last.matches(&output).count() < 10, "{format:?}");
        let kept = exchanges(&sandbox.session(), Ending::Written);
        assert_eq!(kept.len(), 24, "{format:?}");
    }
}
