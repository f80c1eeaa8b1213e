use serde_json::json;

use super::*;

/// Checks a request in whose list of messages or items only these stand.
#[track_caller]
fn check(format: Format, list: Value, expected: Result<(), &str>) {
    let body = match format {
        Format::Anthropic => json!({
            "model": "m", "max_tokens": 9, "stream": true, "messages": list,
            "tools": [{"name": "t", "description": "t", "input_schema": {"type": "object"}}],
        }),
        Format::OpenAiChat => json!({
            "model": "m", "max_tokens": 9, "stream": true, "messages": list,
            "tools": [{"type": "function", "function": {"name": "t", "parameters": {"type": "object"}}}],
        }),
        Format::OpenAiResponses => json!({
            "model": "m", "max_output_tokens": 99, "stream": true, "store": false, "input": list,
            "tools": [{
                "type": "function", "name": "t", "strict": false, "parameters": {"type": "object"},
            }],
        }),
    };
    match (check_request(format, &body), expected) {
        (Ok(()), Ok(())) => {}
        (Err(found), Err(expected)) if found.contains(expected) => {}
        (found, expected) => panic!("{found:?} instead of {expected:?}: {list}"),
    }
}

#[test]
fn anthropic_takes_what_is_paired_and_nothing_else() {
    let user = json!({"role": "user", "content": "hi"});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
    let calls = json!({"role": "assistant", "content": [call("a"), call("b")]});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    let text = |text: &str| json!({"type": "text", "text": text});
    let answer = |blocks: &[Value]| json!({"role": "user", "content": blocks});
    let check = |list: &[Value], expected| check(Format::Anthropic, json!(list), expected);
    check(std::slice::from_ref(&user), Ok(()));
    check(
        &[
            user.clone(),
            calls.clone(),
            answer(&[result("a"), result("b"), text("and")]),
        ],
        Ok(()),
    );
    check(&[], Err("messages: [] is too short"));
    check(std::slice::from_ref(&calls), Err("beginning with \"user\""));
    check(&[user.clone(), user.clone()], Err("must alternate"));
    check(&[user.clone(), calls.clone()], Err("must end with a user"));
    check(
        &[user.clone(), calls.clone(), answer(&[result("a")])],
        Err("found without `tool_result` blocks immediately after: b"),
    );
    check(
        &[
            user.clone(),
            calls.clone(),
            answer(&[result("a"), text("x"), result("b")]),
        ],
        Err("must come before other content"),
    );
    check(
        &[
            user.clone(),
            calls.clone(),
            answer(&[result("a"), result("a"), result("b")]),
        ],
        Err("must have a single result"),
    );
    check(&[answer(&[result("a")])], Err("unexpected `tool_use_id`"));
    check(&[answer(&[text(" \n")])], Err("text must be non-empty"));
    let twice = json!({"role": "assistant", "content": [call("a"), call("a")]});
    check(&[user.clone(), twice], Err("ids must be unique"));
    let odd = json!({"role": "assistant", "content": [call("a b")]});
    check(&[user.clone(), odd], Err("should match pattern"));
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "forged"});
    let thought = json!({"role": "assistant", "content": [thought, text("x")]});
    check(
        &[user.clone(), thought, user.clone()],
        Err("Invalid `signature`"),
    );
}

#[test]
fn no_format_takes_calls_without_tools_or_an_empty_list_of_them() {
    let body = |format, tools: Option<Value>| {
        let mut body = match format {
            Format::Anthropic => json!({
                "model": "m", "max_tokens": 9, "stream": true, "messages": [
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": [
                        {"type": "tool_use", "id": "a", "name": "t", "input": {}},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "a", "content": "x"},
                    ]},
                ],
            }),
            Format::OpenAiChat => json!({
                "model": "m", "max_tokens": 9, "stream": true, "messages": [
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "tool_calls": [{
                        "id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"},
                    }]},
                    {"role": "tool", "tool_call_id": "a", "content": "x"},
                ],
            }),
            Format::OpenAiResponses => json!({
                "model": "m", "max_output_tokens": 99, "stream": true, "store": false, "input": [
                    {"type": "message", "role": "user", "content": [
                        {"type": "input_text", "text": "hi"},
                    ]},
                    {"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "a", "output": "x"},
                ],
            }),
        };
        if let Some(tools) = tools {
            body["tools"] = tools;
        }
        body
    };
    let schema = json!({"type": "object"});
    for (format, other) in [
        (
            Format::Anthropic,
            json!({"name": "o", "description": "o", "input_schema": schema}),
        ),
        (
            Format::OpenAiChat,
            json!({"type": "function", "function": {"name": "o", "parameters": schema}}),
        ),
        (
            Format::OpenAiResponses,
            json!({"type": "function", "name": "o", "strict": false, "parameters": schema}),
        ),
    ] {
        check_request(format, &body(format, Some(json!([other])))).unwrap();
        let absent = check_request(format, &body(format, None)).unwrap_err();
        let is_said = ["must define tools", "without `tools=`"]
            .iter()
            .any(|said| absent.contains(said));
        assert!(is_said, "{format:?}: {absent}");
        let empty = check_request(format, &body(format, Some(json!([])))).unwrap_err();
        assert!(empty.contains("[] is too short"), "{format:?}: {empty}");
    }
}

#[test]
fn chat_takes_what_is_paired_and_nothing_else() {
    let user = json!({"role": "user", "content": "hi"});
    let call = |id: &str, arguments: &str| {
        json!({
            "id": id,
            "type": "function",
            "function": {"name": "t", "arguments": arguments},
        })
    };
    let calls = json!({"role": "assistant", "tool_calls": [call("a", "{}"), call("b", "{}")]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let check = |list: &[Value], expected| check(Format::OpenAiChat, json!(list), expected);
    check(std::slice::from_ref(&user), Ok(()));
    check(
        &[
            user.clone(),
            calls.clone(),
            result("b"),
            result("a"),
            user.clone(),
        ],
        Ok(()),
    );
    check(
        &[user.clone(), calls.clone(), result("a"), user.clone()],
        Err("did not have response messages: b"),
    );
    check(&[user.clone(), calls.clone()], Err("response messages: a"));
    check(&[user.clone(), result("a")], Err("preceeding message"));
    check(&[user.clone(), user.clone()], Err("must alternate"));
    let broken = json!({"role": "assistant", "tool_calls": [call("a", "{")]});
    check(&[user.clone(), broken, result("a")], Err("no JSON object"));
    let long = "x".repeat(41);
    let long = json!({"role": "assistant", "tool_calls": [call(&long, "{}")]});
    check(&[user.clone(), long], Err("should match pattern"));
    let none = json!({"role": "assistant", "content": "", "tool_calls": []});
    check(&[user, none], Err("[] is too short"));
}

#[test]
fn responses_takes_what_is_paired_and_nothing_else() {
    let user = json!({
        "type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}],
    });
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "t", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "x"});
    let thought = json!({
        "type": "reasoning",
        "summary": [],
        "encrypted_content": conversation::seal("m", "reasoning"),
    });
    let check = |list: &[Value], expected| check(Format::OpenAiResponses, json!(list), expected);
    check(std::slice::from_ref(&user), Ok(()));
    check(
        &[
            user.clone(),
            thought.clone(),
            call("a"),
            call("b"),
            output("b"),
            output("a"),
        ],
        Ok(()),
    );
    // One step after the other, without a word between them.
    check(
        &[user.clone(), call("a"), output("a"), call("b"), output("b")],
        Ok(()),
    );
    check(
        &[
            user.clone(),
            call("a"),
            call("b"),
            output("a"),
            call("c"),
            output("b"),
            output("c"),
        ],
        Err("No tool output found for function call b"),
    );
    check(&[user.clone(), call("a")], Err("No tool output found"));
    check(
        &[user.clone(), call("a"), user.clone(), output("a")],
        Err("No tool output found"),
    );
    check(&[user.clone(), output("a")], Err("No tool call found"));
    check(
        &[thought.clone(), user.clone()],
        Err("required following item"),
    );
    check(&[user.clone(), thought], Err("required following item"));
    let forged = json!({"type": "reasoning", "summary": [], "encrypted_content": "forged"});
    check(
        &[user, forged, call("a"), output("a")],
        Err("could not be verified"),
    );
}
