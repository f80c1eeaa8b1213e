//! Streams as servers in the field write them, and as a hostile one might.

use podward_model::StopReason;

use super::*;

/// The answer to a stream that is written out; events in short, `!` before an error.
async fn read(format: Format, content_type: &str, body: &str) -> Vec<String> {
    let trouble = Trouble::Body {
        content_type: content_type.to_owned(),
        body: body.to_owned(),
    };
    let provider = hello(format, [trouble]);
    let one_attempt = RequestLimits {
        attempts: NonZeroU32::MIN,
        ..limits()
    };
    let endpoint = endpoint(provider.base_url()).with_limits(one_attempt);
    let (events, error) = events(&model_at(format, endpoint)).await;
    let mut short: Vec<String> = Vec::new();
    for event in events {
        match event {
            ModelEvent::TextDelta(text) => short.push(text),
            ModelEvent::ThinkingDelta(text) => short.push(format!("({text})")),
            ModelEvent::ToolUse {
                id, name, input, ..
            } => short.push(match input {
                ToolInput::Json(input) => format!("{name}#{id}{input}"),
                ToolInput::Invalid { raw, .. } => format!("{name}#{id}?{raw}"),
            }),
            ModelEvent::Usage(usage) => {
                short.push(format!("{}+{}", usage.input_tokens, usage.output_tokens));
            }
            ModelEvent::Stopped(StopReason::Other(reason)) => short.push(format!("={reason}")),
            ModelEvent::Stopped(reason) => short.push(format!("={}", reason.as_str())),
            ModelEvent::ThinkingSealed(_)
            | ModelEvent::ToolUseStarted { .. }
            | ModelEvent::ToolInputDelta { .. }
            | ModelEvent::Retry { .. } => {}
        }
    }
    short.extend(error.map(|error| format!("! {error}")));
    short
}

/// A stream of these data.
fn stream(data: &[&str]) -> String {
    data.iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}

async fn check(format: Format, data: &[&str], expected: &[&str]) {
    let found = read(format, "text/event-stream", &stream(data)).await;
    assert_eq!(found, expected, "{format:?} {data:?}");
}

#[tokio::test]
async fn chat_servers_differ() {
    let check = async |data: &[&str], expected: &[&str]| {
        check(Format::OpenAiChat, data, expected).await;
    };
    let text = r#"{"choices": [{"delta": {"content": "Hi"}}]}"#;
    let stop = r#"{"choices": [{"delta": {}, "finish_reason": "stop"}]}"#;
    // The end is said by a finish reason, or by `[DONE]`; one of them is there.
    check(&[text, stop, "[DONE]"], &["Hi", "=end_turn"]).await;
    check(&[text, stop], &["Hi", "=end_turn"]).await;
    check(&[text, "[DONE]"], &["Hi", "=end_turn"]).await;
    let cut = "! the connection to the model failed: the answer ended in the middle";
    check(&[text], &["Hi", cut]).await;
    check(&[], &[cut]).await;
    let nothing = "! the model's answer cannot be read: it ends before it began";
    check(&["[DONE]"], &[nothing]).await;
    // Chunks without a choice, with null, with several; usage anywhere.
    check(
        &[
            r#"{"choices": [], "prompt_filter_results": []}"#,
            r#"{"choices": null, "usage": null}"#,
            r#"{"choices": [{"index": 1, "delta": {"content": "not mine"}}]}"#,
            r#"{"choices": [{"delta": {"role": "assistant", "content": null}}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}"#,
            text,
            r#"{"choices": [{"delta": {"content": [{"type": "text", "text": "!"}]}, "finish_reason": ""}]}"#,
            stop,
        ],
        &["3+1", "Hi", "!", "=end_turn"],
    )
    .await;
    check(
        &[
            text,
            r#"{"choices": [{"delta": {"refusal": "no"}, "finish_reason": "content_filter"}]}"#,
        ],
        &["Hi", "no", "=content_filter"],
    )
    .await;
    // Errors in the stream.
    check(
        &[
            text,
            r#"{"error": {"message": "out of memory", "code": 500}}"#,
        ],
        &[
            "Hi",
            "! the model's provider is overloaded or broken: out of memory",
        ],
    )
    .await;
    check(
        &[r#"{"error": "model requires more memory"}"#],
        &["! the model's provider reports an error: model requires more memory"],
    )
    .await;
    let found = read(Format::OpenAiChat, "text/event-stream", "data: {oops\n\n").await;
    assert!(found[0].contains("an event is no JSON"), "{found:?}");
}

#[tokio::test]
async fn chat_servers_write_calls_in_many_ways() {
    let check = async |calls: &[&str], expected: &[&str]| {
        let mut data: Vec<String> = calls
            .iter()
            .map(|calls| format!(r#"{{"choices": [{{"delta": {{"tool_calls": [{calls}]}}}}]}}"#))
            .collect();
        data.push(r#"{"choices": [{"delta": {}, "finish_reason": "stop"}]}"#.to_owned());
        let data: Vec<&str> = data.iter().map(String::as_str).collect();
        let expected = [expected, &["=tool_use"]].concat();
        check(Format::OpenAiChat, &data, &expected).await;
    };
    // In pieces by index, mixed.
    check(
        &[
            r#"{"index": 0, "id": "a", "function": {"name": "read", "arguments": ""}}"#,
            r#"{"index": 1, "id": "b", "function": {"name": "read", "arguments": "{\"x\":"}}"#,
            r#"{"index": 0, "function": {"arguments": "{}"}}"#,
            r#"{"index": 1, "function": {"arguments": "1}"}}"#,
        ],
        &["read#a{}", r#"read#b{"x":1}"#],
    )
    .await;
    // No ids, no indexes, whole arguments.
    check(
        &[
            r#"{"function": {"name": "read", "arguments": "{\"x\":1}"}}"#,
            r#"{"function": {"name": "read", "arguments": {"x": 2}}}"#,
        ],
        &[r#"read#{"x":1}"#, r#"read#{"x":2}"#],
    )
    .await;
    // All with the same index.
    check(
        &[
            r#"{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}}"#,
            r#"{"index": 0, "id": "b", "function": {"name": "read", "arguments": "{}"}}"#,
        ],
        &["read#a{}", "read#b{}"],
    )
    .await;
    // Another id in every piece, which means nothing without a name.
    check(
        &[
            r#"{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{"}}"#,
            r#"{"index": 0, "id": "b", "function": {"arguments": "}"}}"#,
        ],
        &["read#a{}"],
    )
    .await;
    // An index that nobody opened and a name that never comes; nothing at all.
    check(
        &[r#"{"index": 7, "function": {"arguments": "{}"}}"#, "{}"],
        &["#{}"],
    )
    .await;
    check(
        &[r#"{"index": 0, "id": "a", "function": {"name": "odd_name", "arguments": "{"}}"#],
        &["odd.name#a?{"],
    )
    .await;
}

#[tokio::test]
async fn a_chat_server_that_does_not_stream_is_understood() {
    let body = r#"{"choices": [{"index": 0, "finish_reason": "tool_calls", "message":
        {"role": "assistant", "content": "Hi", "tool_calls":
        [{"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
         {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4}}"#;
    let found = read(Format::OpenAiChat, "application/json", body).await;
    assert_eq!(found, ["Hi", "3+4", "read#a{}", "read#b{}", "=tool_use"]);
}

#[tokio::test]
async fn anthropic_streams_may_hold_more_than_is_known() {
    let check = async |data: &[&str], expected: &[&str]| {
        check(Format::Anthropic, data, expected).await;
    };
    let start = r#"{"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1}}}"#;
    let text = r#"{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}"#;
    let hi = r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}"#;
    let close = r#"{"type": "content_block_stop", "index": 0}"#;
    let end = r#"{"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {"output_tokens": 9}}"#;
    let stop = r#"{"type": "message_stop"}"#;
    check(
        &[start, text, hi, close, end, stop],
        &["7+1", "Hi", "7+9", "=refusal"],
    )
    .await;
    check(
        &[
            r#"{"type": "ping"}"#,
            r#"{"type": "of_a_newer_version", "index": "x"}"#,
            r#"{"type": "content_block_start", "index": 4, "content_block": {"type": "newer"}}"#,
            r#"{"type": "content_block_delta", "index": 4, "delta": {"type": "newer_delta"}}"#,
            r#"{"type": "content_block_stop", "index": 4}"#,
            text,
            hi,
            // Neither closed nor stopped.
            end,
        ],
        &["Hi", "0+9", "=refusal"],
    )
    .await;
    let unreadable = |why: &str| format!("! the model's answer cannot be read: {why}");
    check(&[hi], &[&unreadable("block 0 goes on and was not opened")]).await;
    check(&[close], &[&unreadable("block 0 ends and was not opened")]).await;
    check(&[text, text], &[&unreadable("block 0 is opened twice")]).await;
    check(
        &[
            text,
            hi,
            r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#,
        ],
        &[
            "Hi",
            "! the model's provider is overloaded or broken: Overloaded",
        ],
    )
    .await;
}

#[tokio::test]
async fn responses_streams_may_leave_out_deltas() {
    let check = async |data: &[&str], expected: &[&str]| {
        check(Format::OpenAiResponses, data, expected).await;
    };
    let done = r#"{"type": "response.completed", "response": {"usage": {"input_tokens": 3, "output_tokens": 4}}}"#;
    check(
        &[
            r#"{"type": "response.function_call_arguments.delta", "output_index": 9, "delta": "x"}"#,
            r#"{"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}}"#,
            r#"{"type": "response.output_item.done", "output_index": 1, "item": {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}}"#,
            r#"{"type": "response.output_item.done", "output_index": 2, "item": {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"}}"#,
            r#"{"type": "response.output_item.added", "output_index": 3, "item": {"type": "function_call", "call_id": "b", "name": "read", "arguments": ""}}"#,
            r#"{"type": "response.function_call_arguments.delta", "output_index": 3, "delta": "{\"x\":1}"}"#,
            done,
        ],
        &["(hm)", "Hi", "read#a{}", r#"read#b{"x":1}"#, "3+4", "=tool_use"],
    )
    .await;
    check(
        &[r#"{"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "slow down"}}}"#],
        &["! the model's provider takes no more requests for now: slow down"],
    )
    .await;
    check(
        &[r#"{"type": "error", "code": "context_length_exceeded", "message": "too long"}"#],
        &["! the conversation is too long for the model: too long"],
    )
    .await;
    check(
        &["[DONE]"],
        &["! the connection to the model failed: the answer ended in the middle"],
    )
    .await;
}

#[tokio::test]
async fn what_is_no_stream_is_told() {
    for format in Format::ALL {
        let found = read(format, "text/html", "<html>sign in</html>").await;
        let expected =
            "! the model's answer cannot be read: it is no stream of events but `text/html`";
        assert_eq!(found, [expected]);
        let found = read(format, "text/event-stream", "\0\u{1}binary\n\n\n").await;
        assert!(found[0].contains("ended in the middle"), "{found:?}");
        let found = read(format, "text/event-stream", "data: \u{1b}[31m\n\n").await;
        assert!(found[0].contains("an event is no JSON"), "{found:?}");
    }
}
