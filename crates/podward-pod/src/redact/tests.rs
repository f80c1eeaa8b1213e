use proptest::prelude::*;
use serde_json::json;

use super::*;

fn secrets() -> Secrets {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Secrets::among([
        variable("OPENAI_API_KEY", "hunter2hunter2"),
        variable("LONGER_TOKEN", "hunter2hunter2-and-more"),
        variable("SHORT_TOKEN", "abc"),
        variable("KEYBOARD", "qwertyuiop"),
        variable("SSH_KEY", "/home/ada/.ssh/id"),
        variable("LANG", "en_GB.UTF-8"),
    ])
}

#[track_caller]
fn check(text: &str, redacted: &str) {
    let (found, redaction) = secrets().redact(text);
    assert_eq!(found, redacted);
    assert_eq!(redaction == Redaction::Something, text != redacted);
}

#[test]
fn values_of_secret_variables_are_replaced_wherever_they_stand() {
    check(
        "curl -u me:hunter2hunter2 x",
        "curl -u me:[secret:env:OPENAI_API_KEY] x",
    );
    check("xhunter2hunter2y", "x[secret:env:OPENAI_API_KEY]y");
    check("hunter2hunter2-and-more", "[secret:env:LONGER_TOKEN]");
    check(
        "abc qwertyuiop /home/ada/.ssh/id en_GB.UTF-8",
        "abc qwertyuiop /home/ada/.ssh/id en_GB.UTF-8",
    );
}

#[test]
fn tokens_are_known_by_their_shape() {
    let a = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    check(&format!("x {}_{a};", "ghp"), "x [secret:github-token];");
    check(&format!("{}_{a}", "github_pat"), "[secret:github-token]");
    check(&format!("'{}-ant-api03-{a}'", "sk"), "'[secret:api-key]'");
    check(&format!("{}_{a}", "sk_live"), "[secret:api-key]");
    check(
        &format!("T={}-12345-67890-abc", "xoxb"),
        "T=[secret:slack-token]",
    );
    check(
        &format!("{}IOSFODNN7EXAMPLE", "AKIA"),
        "[secret:aws-access-key]",
    );
    check(
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "[secret:web-token]",
    );
}

#[test]
fn words_that_only_look_alike_stay() {
    for text in [
        "ghp_short",
        "task-list-of-everything-that-is-long",
        "sk-learn-something-with-a-long-name",
        "desk-A1b2C3d4E5f6G7h8I9j0K1l2M3n4",
        "AKIAIOSFODNN7EXAMPLEX",
        "aAKIAIOSFODNN7EXAMPLE",
        "eyJ.eyJ.x",
        "eyJhbGciOiJIUzI1NiJ9",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        "ssh://git@github.com/a/b",
        "https://host/a@b:c",
        "https://host/?q=a:b@c",
        "authorization: ",
        "the authorization",
        "npm_config_cache",
        "ünïcödé",
    ] {
        check(text, text);
    }
}

#[test]
fn private_keys_headers_and_user_info_are_replaced() {
    check(
        "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\nz",
        "a\n[secret:private-key]\nz",
    );
    check("-----BEGIN PRIVATE KEY-----\nb3Bl", "[secret:private-key]");
    check(
        "curl -H 'Authorization: Bearer abc.def' x",
        "curl -H 'Authorization: Bearer [secret:authorization]' x",
    );
    check(
        "authorization:xyz\nnext",
        "authorization:[secret:authorization]\nnext",
    );
    check(
        "\"X-Api-Key: k-1\"",
        "\"X-Api-Key: [secret:authorization]\"",
    );
    check(
        "https://me:pw@host/x",
        "https://[secret:url-user-info]@host/x",
    );
    check(
        "git clone https://me:p@w@host",
        "git clone https://[secret:url-user-info]@host",
    );
    check(
        "https://0123456789abcdef@host",
        "https://[secret:url-user-info]@host",
    );
}

#[test]
fn strings_and_keys_of_json_are_replaced_and_numbers_stay() {
    let value = json!({"a": ["hunter2hunter2", 1, null], "hunter2hunter2": {"b": true}});
    let marker = "[secret:env:OPENAI_API_KEY]";
    let expected = json!({"a": [marker, 1, null], (marker): {"b": true}});
    assert_eq!(
        secrets().redact_json(value),
        (expected.clone(), Redaction::Something)
    );
    let plain = json!({"a": [1, "b"]});
    assert_eq!(
        secrets().redact_json(plain.clone()),
        (plain, Redaction::Nothing)
    );
}

#[test]
fn secrets_do_not_show_themselves() {
    assert_eq!(format!("{:?}", secrets()), "Secrets(2)");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_no_known_value_remains(parts in proptest::collection::vec(
        prop_oneof![
            any::<String>(),
            Just("hunter2hunter2".to_owned()),
            Just("://".to_owned()),
            Just("Authorization: ".to_owned()),
            Just("-----BEGIN PRIVATE KEY-----".to_owned()),
            Just("eyJ".to_owned()),
            Just("sk-".to_owned()),
            Just("@".to_owned()),
        ],
        0..8,
    )) {
        let text = parts.concat();
        let (redacted, redaction) = secrets().redact(&text);
        prop_assert!(!redacted.contains("hunter2hunter2"));
        if redaction == Redaction::Nothing {
            prop_assert_eq!(redacted, text);
        }
    }
}
