//! No stream is too odd for any decoder.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::anthropic::{self, AnthropicModel};
use crate::event::ToolInput;
use crate::message::Message;
use crate::model::ModelRequest;
use crate::openai_chat::{self, OpenAiChatModel};
use crate::openai_responses::{self, OpenAiResponsesModel};
use crate::outgoing::FitWords;

/// Events of all formats, with values that fit and values that do not.
fn arb_event() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just(Value::Null),
        (0..3u64).prop_map(Value::from),
        prop::sample::select(vec![
            "text",
            "tool_use",
            "thinking",
            "function_call",
            "reasoning",
            "message",
            "a",
            "{",
            "}",
            "{}",
            "stop",
            "tool_calls",
            "length",
            "max_tokens",
            "text_delta",
            "input_json_delta",
            "signature_delta",
            "thinking_delta",
        ])
        .prop_map(Value::from),
        Just(json!([])),
        Just(json!({"message": "overloaded", "type": "overloaded_error"})),
    ];
    let kind = prop::sample::select(vec![
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.completed",
        "response.function_call_arguments.delta",
        "response.incomplete",
        "chunk",
    ]);
    let fields = prop::collection::vec(value, 8);
    (kind, fields).prop_map(|(kind, fields)| {
        let [a, b, c, d, e, f, g, h] = <[Value; 8]>::try_from(fields).unwrap();
        json!({
            "type": kind,
            "index": a,
            "output_index": a,
            "delta": if b.is_array() { c.clone() } else {
                json!({"type": b, "text": c, "partial_json": c, "stop_reason": d, "signature": e})
            },
            "content_block": {"type": b, "id": c, "name": d, "input": h},
            "item": {"type": b, "call_id": c, "name": d, "arguments": e, "encrypted_content": f},
            "choices": [{"finish_reason": d, "delta": {"content": e, "tool_calls": [
                {"index": a, "id": c, "function": {"name": f, "arguments": g}},
            ]}}],
            "usage": h,
        })
        .to_string()
    })
}

/// What a decoder made of the data, with its end.
fn read(decoder: &mut dyn Decoder, data: &[String]) -> (Out, Result<(), ModelError>) {
    let mut out = Out::new();
    for data in data {
        match decoder.event("", data, &mut out) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => return (out, Ok(())),
            Err(error) => return (out, Err(error)),
        }
    }
    let end = decoder.end(&mut out);
    (out, end)
}

/// Each call begins before it goes on and is complete once; the stop is the last and the only one.
fn check(out: &Out, end: &Result<(), ModelError>) {
    let mut started = Vec::new();
    let mut completed = Vec::new();
    for (place, event) in out.iter().enumerate() {
        match event {
            ModelEvent::ToolUseStarted { idx, .. } => {
                assert!(!started.contains(idx), "{out:?}");
                started.push(*idx);
            }
            ModelEvent::ToolInputDelta { idx, .. } => {
                assert!(!completed.contains(idx), "{out:?}");
            }
            ModelEvent::ToolUse { idx, input, .. } => {
                assert!(!completed.contains(idx), "{out:?}");
                completed.push(*idx);
                if let ToolInput::Invalid { why, .. } = input {
                    assert!(!why.is_empty());
                }
            }
            ModelEvent::Stopped(_) => {
                assert_eq!(place + 1, out.len(), "{out:?}");
                assert!(end.is_ok());
                assert!(started.iter().all(|idx| completed.contains(idx)), "{out:?}");
            }
            _ => {}
        }
    }
    let has_stopped = matches!(out.back(), Some(ModelEvent::Stopped(_)));
    assert_eq!(has_stopped, end.is_ok(), "{out:?} {end:?}");
}

proptest! {
    #[test]
    fn no_stream_is_too_odd_for_a_decoder(
        data in prop::collection::vec(
            prop_oneof![8 => arb_event(), 1 => Just("[DONE]".to_owned()), 1 => ".{0,8}"],
            0..16,
        ),
    ) {
        let names = Arc::new(FitWords::names(&[]));
        for mut decoder in [
            anthropic::decoder(Arc::clone(&names)),
            openai_chat::decoder(Arc::clone(&names)),
            openai_responses::decoder(names),
        ] {
            let (out, end) = read(decoder.as_mut(), &data);
            check(&out, &end);
        }
    }
}

#[test]
fn the_older_name_of_the_token_limit_is_for_other_servers_than_openai() {
    let limit = |base_url: &str| {
        let endpoint = Endpoint::new(base_url, "m").unwrap();
        let body = OpenAiChatModel::new(endpoint).unwrap().request_body(&go());
        (
            body.get("max_tokens").cloned(),
            body.get("max_completion_tokens").cloned(),
        )
    };
    let [older, newer] = [(Some(json!(9)), None), (None, Some(json!(9)))];
    assert_eq!(limit(OpenAiChatModel::BASE_URL), newer);
    assert_eq!(limit("https://mine.openai.azure.com/openai/v1"), newer);
    assert_eq!(limit("http://127.0.0.1:11434/v1"), older);
    assert_eq!(limit("https://notopenai.com/v1"), older);
}

#[test]
fn only_a_model_that_may_think_is_asked_for_its_thoughts() {
    let asks = |model: &str| {
        let endpoint = Endpoint::new(OpenAiResponsesModel::BASE_URL, model).unwrap();
        let body = OpenAiResponsesModel::new(endpoint)
            .unwrap()
            .request_body(&go());
        body.get("include").is_some()
    };
    assert!(asks("gpt-5") && asks("o3") && asks("openai/gpt-5.1-codex") && asks("local"));
    assert!(!asks("gpt-4.1") && !asks("gpt-4o-mini") && !asks("openai/gpt-4o"));
}

#[test]
fn anthropics_base_url_may_end_with_the_version() {
    for base_url in ["https://api.anthropic.com", "https://api.anthropic.com/v1/"] {
        let endpoint = Endpoint::new(base_url, "m").unwrap();
        let shown = format!("{:?}", AnthropicModel::new(endpoint).unwrap());
        assert!(
            shown.contains("https://api.anthropic.com/v1/messages"),
            "{shown}"
        );
    }
}

fn go() -> ModelRequest {
    ModelRequest {
        system: "".into(),
        messages: Arc::new(vec![Message::user("go")]),
        tools: Arc::default(),
        max_tokens: 9,
    }
}
