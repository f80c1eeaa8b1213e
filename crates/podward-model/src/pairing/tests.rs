use serde_json::json;

use super::*;

/// A conversation in short: `u` text of the user, `a` text of the model, `+x` a call, `-x` its
/// result; messages end with `.`.
fn conversation(short: &str) -> Vec<Message> {
    short
        .split_terminator('.')
        .map(|message| {
            let mut role = Role::User;
            let content = message
                .split_whitespace()
                .map(|word| match word.split_at(1) {
                    ("+", id) => {
                        role = Role::Assistant;
                        Block::ToolUse {
                            id: id.into(),
                            name: "t".into(),
                            input: json!({}),
                        }
                    }
                    ("-", id) => Block::ToolResult {
                        tool_use_id: id.into(),
                        content: String::new(),
                        is_error: false,
                    },
                    ("a", _) => {
                        role = Role::Assistant;
                        Block::Text { text: "a".into() }
                    }
                    _ => Block::Text { text: "u".into() },
                })
                .collect();
            Message { role, content }
        })
        .collect()
}

#[track_caller]
fn check(short: &str, expected: Result<(), &str>) {
    let found = check_pairing(&conversation(short)).map_err(|error| error.to_string());
    assert_eq!(found, expected.map_err(str::to_owned), "{short}");
}

#[test]
fn every_call_has_its_result_in_the_next_message() {
    check("", Ok(()));
    check("u. a.", Ok(()));
    check("u. a +1 +2. -1 -2. a. u.", Ok(()));
    check("u. +1. -1 u.", Ok(()));
    check("u. u. +1. -1. u.", Ok(()));
    check(
        "u. +1.",
        Err(r#"message 2 answers [] where ["1"] were called"#),
    );
    check(
        "u. +1. u. -1.",
        Err(r#"message 2 answers [] where ["1"] were called"#),
    );
    check(
        "u. +1 +2. -1.",
        Err(r#"message 2 answers ["1"] where ["1", "2"] were called"#),
    );
    check(
        "u. +1 +2. -2 -1.",
        Err(r#"message 2 answers ["2", "1"] where ["1", "2"] were called"#),
    );
    check(
        "u. +1. -1 -1.",
        Err(r#"message 2 answers ["1", "1"] where ["1"] were called"#),
    );
    check(
        "u. -1.",
        Err(r#"message 1 answers ["1"] where [] were called"#),
    );
    check(
        "u. +1. -1. +1. -1.",
        Err("message 3 uses the call id `1` a second time"),
    );
    check(
        "u. +1. u -1.",
        Err("message 2 has a result after other content"),
    );
    check(
        "u. a -1.",
        Err("message 1 holds a block that its role cannot say"),
    );
    check("u.  . a.", Err("message 1 is empty"));
}

#[test]
fn arguments_are_objects() {
    let mut messages = conversation("u. +1. -1.");
    if let Block::ToolUse { input, .. } = &mut messages[1].content[0] {
        *input = json!("text");
    }
    assert_eq!(
        check_pairing(&messages),
        Err(PairingError::Input { id: "1".into() })
    );
}
