//! Proxies of the environment, for the whole program.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use podward_test_provider::{Format, TestProvider, TestProxy, Tls};

use super::{KEY, WORK, pod, problems, setup, start};
use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};

/// A provider far away: of a name that only a proxy can find.
fn far_away(sandbox: &Sandbox) -> (TestProvider, Vec<String>) {
    let provider = start(setup(Format::OpenAiChat, WORK).with_tls(Tls::PrivateAuthority));
    let text = format!(
        "[pod]\nworkspace = \"work\"\n[model]\nprovider = \"openai\"\nmodel = \"m\"\n\
         base_url = \"https://provider.test/v1\"\nkey_env = \"MODEL_KEY\"\n{ALLOW_ALL}"
    );
    let pod = sandbox.write("far.toml", &text);
    let arguments = ["run", pod.to_str().unwrap(), "go", "--format", "json"];
    (provider, arguments.map(str::to_owned).to_vec())
}

/// The program with a key, and with the authority of a provider.
fn command(sandbox: &Sandbox, provider: &TestProvider, arguments: &[String]) -> Command {
    let mut command = sandbox.podward(arguments);
    command.env("MODEL_KEY", KEY);
    if let Some(authority) = provider.authority() {
        command.env("SSL_CERT_FILE", sandbox.write("authority.pem", authority));
    }
    command
}

#[test]
fn a_proxy_of_the_environment_is_asked_for_a_tunnel_and_sees_no_key() {
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let sandbox = Sandbox::new();
        let (provider, arguments) = far_away(&sandbox);
        let proxy = TestProxy::start(provider.address()).unwrap();
        let mut command = command(&sandbox, &provider, &arguments);
        let ran = Ran::from(command.env(variable, proxy.url()).output().unwrap()).exits(0);
        assert!(ran.stdout.contains("Found seen."), "{variable}: {ran:#?}");
        let mut asked = proxy.asked();
        asked.dedup();
        assert_eq!(asked, ["CONNECT provider.test:443 HTTP/1.1"], "{variable}");
        assert_eq!(provider.requests().len(), 2, "{variable}");
        assert_eq!(problems(&provider), [""; 0], "{variable}");
    }
}

#[test]
fn this_machine_is_reached_without_a_proxy() {
    let sandbox = Sandbox::new();
    let provider = start(setup(Format::OpenAiChat, WORK));
    let proxy = TestProxy::start(provider.address()).unwrap();
    let pod = pod(&sandbox, Format::OpenAiChat, &provider, ALLOW_ALL);
    let arguments = ["run", pod.to_str().unwrap(), "go"].map(str::to_owned);
    let mut command = command(&sandbox, &provider, &arguments);
    for variable in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(variable, proxy.url());
    }
    let ran = Ran::from(command.output().unwrap()).exits(0);
    assert_eq!(ran.stdout, "I look.\nFound seen.\n");
    assert_eq!(proxy.asked(), [""; 0]);
}

#[test]
fn a_provider_that_no_proxy_names_is_not_looked_for_through_one() {
    let sandbox = Sandbox::new();
    let (provider, arguments) = far_away(&sandbox);
    let proxy = TestProxy::start(provider.address()).unwrap();
    let mut command = command(&sandbox, &provider, &arguments);
    command
        .env("HTTPS_PROXY", proxy.url())
        .env("NO_PROXY", "other.test,provider.test");
    let retry = first_retry(&mut command);
    assert!(retry["data"]["reason"].is_string(), "{retry}");
    assert_eq!(proxy.asked(), [""; 0]);
    assert_eq!(provider.requests(), []);
}

#[test]
fn a_proxy_that_is_not_there_is_tried_again() {
    let sandbox = Sandbox::new();
    let (provider, arguments) = far_away(&sandbox);
    let proxy = TestProxy::start(provider.address()).unwrap();
    let url = proxy.url();
    drop(proxy);
    let mut command = command(&sandbox, &provider, &arguments);
    let retry = first_retry(command.env("HTTPS_PROXY", url));
    let reason = retry["data"]["reason"].as_str().unwrap();
    assert!(reason.contains("Connection refused"), "{retry}");
    assert_eq!(retry["data"]["attempt"], 2);
    assert!(retry["data"]["at"].as_str().unwrap() >= retry["time"].as_str().unwrap());
}

#[test]
fn no_request_goes_past_a_proxy_that_makes_no_sense() {
    let sandbox = Sandbox::new();
    let (provider, arguments) = far_away(&sandbox);
    for value in [
        "::::",
        "http://ann:s3cret@",
        "socks5://ann:s3cret@127.0.0.1:1",
    ] {
        let mut command = command(&sandbox, &provider, &arguments);
        let ran = Ran::from(command.env("HTTPS_PROXY", value).output().unwrap()).exits(78);
        assert!(
            ran.stderr.contains("the proxy in `HTTPS_PROXY` "),
            "{ran:#?}"
        );
        assert!(!ran.stderr.contains("s3cret"), "{ran:#?}");
        assert!(sandbox.sessions().is_empty());
    }
}

/// The first retry that is told; nobody here waits for the last.
fn first_retry(command: &mut Command) -> serde_json::Value {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let retry = lines
        .map(|line| line.unwrap())
        .find(|line| line.contains("\"state\":\"retry\""));
    child.kill().unwrap();
    child.wait().unwrap();
    serde_json::from_str(&retry.unwrap()).unwrap()
}
