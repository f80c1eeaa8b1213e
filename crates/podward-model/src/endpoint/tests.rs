use super::*;

#[track_caller]
fn check_new(base_url: &str, expected: &str) {
    let found = Endpoint::new(base_url, "m").map_or_else(
        |error| error.to_string(),
        |endpoint| endpoint.url("chat/completions").to_string(),
    );
    assert_eq!(found, expected);
}

#[test]
fn a_base_url_is_taken_with_or_without_a_slash() {
    check_new(
        "http://127.0.0.1:11434/v1",
        "http://127.0.0.1:11434/v1/chat/completions",
    );
    check_new(
        " https://example.test/v1/ ",
        "https://example.test/v1/chat/completions",
    );
    check_new(
        "https://example.test",
        "https://example.test/chat/completions",
    );
    check_new(
        "example.test/v1",
        "the model cannot be used: `base_url` is no absolute URL: relative URL without a base",
    );
    check_new(
        "file:///etc/passwd",
        "the model cannot be used: `base_url` begins with neither `http://` nor `https://`",
    );
    check_new(
        "https://ann:secret@example.test",
        "the model cannot be used: `base_url` has a user or a password; a key comes from \
         `key_env`, `key_file` or `key_command`",
    );
    check_new(
        "https://example.test/?key=secret",
        "the model cannot be used: `base_url` has a `?` or a `#`; it ends with the path of the API",
    );
}

#[test]
fn a_key_is_never_shown() {
    let key = ApiKey::new(" sk-test-123\n").unwrap();
    let endpoint = Endpoint::new("https://example.test", "m")
        .unwrap()
        .with_key(key.clone());
    assert_eq!(key.expose(), "sk-test-123");
    assert!(!format!("{endpoint:?} {endpoint:#?} {key:?}").contains("sk-test"));
    for wrong in ["", " \n", "sk test", "sk-\u{e4}", "sk-\x07"] {
        let error = ApiKey::new(wrong).unwrap_err().to_string();
        assert!(!error.contains("sk"), "{error}");
    }
}

#[test]
fn this_machine_has_many_names() {
    let is_loopback = |host: &str| {
        Endpoint::new(&format!("http://{host}/v1"), "m")
            .unwrap()
            .is_loopback()
    };
    for host in [
        "localhost",
        "LOCALHOST.:80",
        "a.localhost",
        "127.0.0.1:1",
        "127.9.9.9",
        "2130706433",
        "[::1]",
        "[::ffff:127.0.0.1]",
    ] {
        assert!(is_loopback(host), "{host}");
    }
    for host in ["localhost.test", "127.test", "10.0.0.1", "[::2]", "0.0.0.0"] {
        assert!(!is_loopback(host), "{host}");
    }
}
