use serde_json::json;

use super::*;

fn parse(text: &str) -> Result<Option<HookOutput>, String> {
    HookOutput::parse(text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn an_answer_is_one_object() {
    for (text, decision, message) in [
        (r#"{"decision":"none"}"#, HookDecision::None, None),
        (
            " {\"decision\": \"refuse\", \"message\": \"not \\u001b now\"}\n",
            HookDecision::Refuse,
            Some("not \u{1b} now"),
        ),
        (
            r#"{"message":null,"decision":"abort"}"#,
            HookDecision::Abort,
            None,
        ),
    ] {
        let expected = HookOutput {
            decision,
            message: message.map(str::to_owned),
        };
        assert_eq!(parse(text), Ok(Some(expected)), "{text}");
    }
    assert_eq!(parse(""), Ok(None));
    assert_eq!(parse(" \n\t"), Ok(None));
}

/// Whatever a hook writes, it permits nothing.
#[test]
fn no_word_permits() {
    for word in [
        "allow",
        "approve",
        "approved",
        "permit",
        "permitted",
        "ok",
        "yes",
        "run",
        "continue",
        "ask",
        "None",
        "NONE",
        "Refuse",
        "",
    ] {
        let said = parse(&json!({ "decision": word }).to_string()).unwrap_err();
        assert!(said.contains("unknown variant"), "{word}: {said}");
    }
    let schema: Value = serde_json::from_str(&hook_output_schema()).unwrap();
    let decisions = schema["$defs"]["HookDecision"]["oneOf"].as_array().unwrap();
    let words: Vec<_> = decisions
        .iter()
        .map(|decision| decision["const"].clone())
        .collect();
    assert_eq!(words, [json!("none"), json!("refuse"), json!("abort")]);
}

#[test]
fn anything_else_is_an_error() {
    for text in [
        "ok",
        "null",
        "\"none\"",
        "[\"none\"]",
        "[\"refuse\", \"x\"]",
        "{",
        "{}",
        r#"{"decision":"none""#,
        r#"{"decision":"none"} {"decision":"refuse"}"#,
        r#"{"decision":"none","decision":"refuse"}"#,
        r#"{"decision":"none","permissionDecision":"allow"}"#,
        r#"{"decision":"refuse","message":3}"#,
        r#"{"decision":null}"#,
        "\u{feff}{\"decision\":\"none\"}",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert_eq!(
        HookOutput::parse(b"{\"decision\":\"\xff\"}"),
        Err(HookOutputError::NotUtf8)
    );
}

#[test]
fn the_input_is_flat() {
    let input = HookInput {
        version: HOOK_VERSION,
        hook: "guard".into(),
        session: SessionId::new("01JDZZZZZZZZZZZZZZZZZZZZZZ").unwrap(),
        pod: "demo".into(),
        workspace: "/w".into(),
        cwd: "/w".into(),
        event: HookEvent::PromptSubmit(PromptSubmit {
            prompt: "go".into(),
        }),
    };
    assert_eq!(
        serde_json::to_value(&input).unwrap(),
        json!({
            "version": 1, "hook": "guard", "session": "01JDZZZZZZZZZZZZZZZZZZZZZZ", "pod": "demo",
            "workspace": "/w", "cwd": "/w", "event": "prompt_submit", "prompt": "go",
        })
    );
}
