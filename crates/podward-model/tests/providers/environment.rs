//! Proxies and certificates come from the environment: each test starts this binary again with one.

use std::process::Command;

use podward_test_provider::{TestProxy, Tls};

use super::*;

/// The variable that names the provider for [`a_provider_is_asked_with_the_environment_as_it_is`].
const BASE_URL: &str = "PODWARD_TEST_BASE_URL";

/// Asks the provider that the environment names, or one of its own.
#[tokio::test]
async fn a_provider_is_asked_with_the_environment_as_it_is() {
    let own = hello(Format::Anthropic, []);
    let base_url = std::env::var(BASE_URL).unwrap_or(own.base_url().to_owned());
    let (events, error) = events(&model_at(Format::Anthropic, endpoint(&base_url))).await;
    assert_eq!((text_of(&events).as_str(), error), ("Hello.", None));
}

/// Asks in a process with this environment; gives what it said if it failed.
fn ask(base_url: &str, environment: &[(&str, &str)]) -> Result<(), String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "--nocapture"])
        .arg("environment::a_provider_is_asked_with_the_environment_as_it_is")
        .env(BASE_URL, base_url);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"] {
        command
            .env_remove(name)
            .env_remove(name.to_ascii_lowercase());
    }
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD"] {
        command.env_remove(name);
    }
    let output = command.envs(environment.iter().copied()).output().unwrap();
    let shown = [output.stdout, output.stderr].concat();
    let shown = String::from_utf8_lossy(&shown).into_owned();
    assert!(
        shown.contains("1 passed") || shown.contains("1 failed"),
        "{shown}"
    );
    if output.status.success() {
        Ok(())
    } else {
        Err(shown)
    }
}

fn hello_over_tls() -> (TestProvider, tempfile::TempDir, String) {
    let script = script("[[step]]\ntext = \"Hello.\"\n");
    let setup = Setup::new(Format::Anthropic, script)
        .with_key(KEY)
        .with_tls(Tls::PrivateAuthority);
    let provider = TestProvider::start(setup).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, provider.authority().unwrap()).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (provider, folder, file)
}

#[test]
fn an_authority_is_trusted_by_ssl_cert_file_only() {
    let (provider, _folder, file) = hello_over_tls();
    let shown = ask(provider.base_url(), &[]).unwrap_err();
    assert!(shown.contains("certificate"), "{shown}");
    assert_eq!(provider.requests(), []);

    ask(provider.base_url(), &[("SSL_CERT_FILE", &file)]).unwrap();
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn a_proxy_of_the_environment_is_used() {
    let provider = hello(Format::Anthropic, []);
    let proxy = TestProxy::start(provider.address()).unwrap();
    ask("http://provider.test", &[("HTTP_PROXY", &proxy.url())]).unwrap();
    let expected = "POST http://provider.test/v1/messages HTTP/1.1";
    assert_eq!(proxy.asked(), [expected]);

    let (provider, _folder, file) = hello_over_tls();
    let proxy = TestProxy::start(provider.address()).unwrap();
    let environment = [("HTTPS_PROXY", proxy.url()), ("SSL_CERT_FILE", file)];
    let environment = environment
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    ask("https://provider.test", &environment).unwrap();
    assert_eq!(proxy.asked(), ["CONNECT provider.test:443 HTTP/1.1"]);
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn this_machine_is_reached_directly_whatever_the_environment_says() {
    let provider = hello(Format::Anthropic, []);
    let proxy = TestProxy::start(provider.address()).unwrap();
    let url = proxy.url();
    let environment = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"];
    let environment = environment.map(|name| (name, url.as_str()));
    ask(provider.base_url(), &environment).unwrap();
    // Names below `localhost` are this machine too, and no name server is asked about them.
    for host in ["localhost", "LocalHost.", "model.localhost"] {
        let url = format!("http://{host}:{}", provider.address().port());
        ask(&url, &environment).unwrap();
    }
    assert_eq!(proxy.asked(), Vec::<String>::new());
    assert_eq!(provider.requests().len(), 4);
}

#[test]
fn no_proxy_names_who_is_reached_directly() {
    let provider = hello(Format::Anthropic, []);
    let proxy = TestProxy::start(provider.address()).unwrap();
    let url = proxy.url();
    // An address of this machine that is not one of the loopback.
    let base_url = format!("http://0.0.0.0:{}", provider.address().port());
    ask(&base_url, &[("HTTP_PROXY", &url)]).unwrap();
    assert_eq!(proxy.asked().len(), 1);
    ask(&base_url, &[("HTTP_PROXY", &url), ("NO_PROXY", "0.0.0.0")]).unwrap();
    assert_eq!(proxy.asked().len(), 1);
    assert_eq!(provider.requests().len(), 2);
}
