//! What a model says comes through, and what it was told comes back.

use podward_model::{StopReason, ThinkingSeal, Usage};
use podward_test_provider::ChatStyle;

use super::*;

/// Thoughts, text, calls at the same time of which one fails, and a branch on that.
const SCRIPT: &str = r#"
[[step]]
thinking = "Where is it? In a file, I suppose."
text = "I look into two files: ä, 漢字."
usage = { input_tokens = 30, output_tokens = 7 }
[[step.call]]
tool = "read"
input = { path = "a", deep = { list = [1, "two", true] } }
[[step.call]]
tool = "odd.name"
input = { path = "fail" }
[[step.next]]
call = 2
is_error = true
goto = "failed"
[[step]]
text = "No error came through."
[[step]]
label = "failed"
thinking = "[redacted]"
text = "One failed: {{result.2}}"
[[step.call]]
tool = "read"
[[step]]
text = "Done."
"#;

/// The conversation without what a provider adds of its own.
fn plain(messages: &[Message]) -> Vec<Message> {
    let mut messages = messages.to_vec();
    for message in &mut messages {
        message.content.retain(|block| match block {
            Block::Thinking { text, .. } => !text.is_empty() && text != "[redacted]",
            _ => true,
        });
        for block in &mut message.content {
            match block {
                Block::Thinking { seal, .. } => *seal = None,
                Block::ToolUse { id, .. }
                | Block::ToolResult {
                    tool_use_id: id, ..
                } => {
                    id.clear();
                }
                Block::Text { .. } => {}
            }
        }
    }
    messages
}

async fn check(format: Format, style: ChatStyle) {
    let mut expected = vec![Message::user("go")];
    let direct: Arc<dyn Model> = Arc::new(script(SCRIPT));
    talk(&direct, &mut expected).await;

    let setup = Setup::new(format, script(SCRIPT)).with_style(style);
    let provider = TestProvider::start(setup).unwrap();
    let mut messages = vec![Message::user("go")];
    talk(&model(format, &provider), &mut messages).await;
    assert_eq!(plain(&messages), plain(&expected), "{format:?} {style:?}");
    check_requests(&provider, 3);
}

#[tokio::test]
async fn a_script_behind_a_wire_does_the_same() {
    for format in Format::ALL {
        check(format, ChatStyle::OpenAi).await;
    }
    for style in [
        ChatStyle::Ollama,
        ChatStyle::Vllm,
        ChatStyle::LlamaCpp,
        ChatStyle::LmStudio,
    ] {
        check(Format::OpenAiChat, style).await;
    }
}

#[tokio::test]
async fn how_a_stream_is_cut_into_pieces_makes_no_difference() {
    for format in Format::ALL {
        let troubles = [1, 2, 3, 7, 64].map(Trouble::PiecesOf);
        let setup = Setup::new(format, script(SCRIPT)).with_troubles(troubles);
        let provider = TestProvider::start(setup).unwrap();
        let model = model(format, &provider);
        let (expected, error) = events(&model).await;
        assert_eq!(error, None);
        for _ in 0..5 {
            assert_eq!(events(&model).await, (expected.clone(), None), "{format:?}");
        }
    }
}

#[tokio::test]
async fn tokens_from_the_cache_are_counted_in() {
    for format in Format::ALL {
        let provider = TestProvider::start(Setup::new(format, script(SCRIPT))).unwrap();
        let (events, _) = events(&model(format, &provider)).await;
        let usage = events.iter().rev().find_map(|event| match event {
            ModelEvent::Usage(usage) => Some(*usage),
            _ => None,
        });
        let expected = Usage {
            input_tokens: 30,
            output_tokens: 7,
        };
        assert_eq!(usage, Some(expected), "{format:?}");
        let last = events.last();
        assert_eq!(last, Some(&ModelEvent::Stopped(StopReason::ToolUse)));
    }
}

#[tokio::test]
async fn thoughts_go_back_to_the_model_that_thought_them_and_to_no_other() {
    for (format, kinds) in [
        (Format::Anthropic, ["\"thinking\"", "\"redacted_thinking\""]),
        (
            Format::OpenAiResponses,
            ["\"reasoning\"", "encrypted_content"],
        ),
    ] {
        let provider = TestProvider::start(Setup::new(format, script(SCRIPT))).unwrap();
        let mut messages = vec![Message::user("go")];
        talk(&model(format, &provider), &mut messages).await;
        let seals: Vec<_> = messages
            .iter()
            .flat_map(|message| &message.content)
            .filter_map(|block| match block {
                Block::Thinking { seal, .. } => seal.as_ref(),
                _ => None,
            })
            .collect();
        assert_eq!(seals.len(), 2, "{format:?}");
        let fits = |seal: &&ThinkingSeal| match seal {
            ThinkingSeal::Signature { model, .. } | ThinkingSeal::Redacted { model, .. } => {
                format == Format::Anthropic && model == "test-model"
            }
            ThinkingSeal::Encrypted { model, .. } => {
                format == Format::OpenAiResponses && model == "test-model"
            }
        };
        assert!(seals.iter().all(fits), "{seals:?}");
        // The provider has checked each seal.
        check_requests(&provider, 3);
        let sent = provider.requests()[2].body.to_string();
        for kind in kinds {
            assert!(sent.contains(kind), "{sent}");
        }

        // Another model goes on with the session, in each format.
        messages.push(Message::user("more"));
        for other in Format::ALL {
            let provider = TestProvider::start(Setup::new(other, script(SCRIPT))).unwrap();
            let endpoint = Endpoint::new(provider.base_url(), "other-model").unwrap();
            let (_, error) = answer(&model_at(other, endpoint), &messages).await;
            assert_eq!(error, None);
            check_requests(&provider, 1);
            let sent = provider.requests()[0].body.to_string();
            assert!(
                !sent.contains("thinking") && !sent.contains("\"reasoning\""),
                "{sent}"
            );
        }
    }
}

#[tokio::test]
async fn odd_ids_and_names_of_a_history_fit_every_provider() {
    let call = |id: &str, name: &str| Block::ToolUse {
        id: id.into(),
        name: name.into(),
        input: json!({"x": 1}),
    };
    let result = |id: &str, content: &str| Block::ToolResult {
        tool_use_id: id.into(),
        content: content.into(),
        is_error: true,
    };
    let ids = [
        "",
        "a b",
        "a_b",
        "ä",
        &"x".repeat(100),
        &"x".repeat(101),
        "ok",
    ];
    let messages = [
        Message::user(" "),
        Message {
            role: Role::Assistant,
            content: ids.iter().map(|id| call(id, "gone.tool")).collect(),
        },
        Message {
            role: Role::User,
            content: ids.iter().map(|id| result(id, "")).collect(),
        },
        Message::user("one"),
        Message::user("two"),
        Message {
            role: Role::Assistant,
            content: vec![Block::Text { text: " \n".into() }, call("last", "")],
        },
        Message {
            role: Role::User,
            content: vec![
                result("last", "[error] twice"),
                Block::Text { text: "".into() },
            ],
        },
    ];
    for format in Format::ALL {
        let provider = hello(format, []);
        let (_, error) = answer(&model(format, &provider), &messages).await;
        assert_eq!(error, None, "{format:?}");
        check_requests(&provider, 1);
    }
}

/// A skill that allows nothing leaves no tool to offer, and calls in the conversation.
#[tokio::test]
async fn a_conversation_with_calls_goes_on_where_no_tool_is_offered() {
    let call = |id: &str, name: &str| Block::ToolUse {
        id: id.into(),
        name: name.into(),
        input: json!({}),
    };
    let result = |id: &str| Block::ToolResult {
        tool_use_id: id.into(),
        content: "x".into(),
        is_error: false,
    };
    let messages = [
        Message::user("go"),
        Message {
            role: Role::Assistant,
            content: vec![call("a", "read"), call("b", "odd.name"), call("c", "read")],
        },
        Message {
            role: Role::User,
            content: vec![result("a"), result("b"), result("c")],
        },
    ];
    for format in Format::ALL {
        let provider = hello(format, []);
        let request = ModelRequest {
            tools: Arc::default(),
            ..request(&messages)
        };
        let mut stream = model(format, &provider).stream(request);
        while let Some(event) = stream.next().await {
            event.unwrap_or_else(|error| panic!("{format:?}: {error}"));
        }
        check_requests(&provider, 1);
    }
}

#[tokio::test]
async fn the_key_is_sent_as_the_provider_wants_it() {
    for (format, header, value) in [
        (Format::Anthropic, "x-api-key", KEY.to_owned()),
        (Format::OpenAiChat, "authorization", format!("Bearer {KEY}")),
        (
            Format::OpenAiResponses,
            "authorization",
            format!("Bearer {KEY}"),
        ),
    ] {
        let provider = hello(format, []);
        let (events, error) = events(&model(format, &provider)).await;
        assert_eq!((text_of(&events).as_str(), error), ("Hello.", None));
        let requests = provider.requests();
        assert_eq!(requests[0].header(header), Some(value.as_str()));
        assert!(!requests[0].body.to_string().contains(KEY));
    }
}

#[tokio::test]
async fn hostile_calls_come_through_as_they_are() {
    let big = "x".repeat(1024 * 1024);
    let script_text = format!(
        r#"
        [[step]]
        chunk = 2000000
        text = "{big}"
        [[step.call]]
        tool = "read"
        id = "same"
        input = {{ text = "{big}" }}
        [[step.call]]
        tool = "read"
        id = "same"
        raw = '{{"path": '
        [[step.call]]
        tool = ""
        id = ""
        raw = '[1]'
        [[step.call]]
        tool = "read"
        raw = ''
        "#
    );
    for format in Format::ALL {
        let provider = TestProvider::start(Setup::new(format, script(&script_text))).unwrap();
        let (events, error) = events(&model(format, &provider)).await;
        assert_eq!(error, None, "{format:?}");
        assert_eq!(text_of(&events).len(), big.len());
        let calls: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::ToolUse {
                    idx,
                    id,
                    name,
                    input,
                } => Some((*idx, id.as_str(), name.as_str(), input.clone())),
                _ => None,
            })
            .collect();
        assert_eq!(calls.len(), 4, "{format:?}");
        assert_eq!(
            calls[0],
            (0, "same", "read", ToolInput::Json(json!({ "text": big })))
        );
        assert_eq!((calls[1].0, calls[1].1), (1, "same"));
        assert!(matches!(&calls[1].3, ToolInput::Invalid { raw, .. } if raw == "{\"path\": "));
        assert_eq!(calls[2], (2, "", "", ToolInput::Json(json!([1]))));
        assert_eq!(calls[3].3, ToolInput::Json(json!({})));
    }
}

#[tokio::test]
async fn a_call_cut_off_at_the_token_limit_has_no_arguments_made_up() {
    let script_text = "[[step]]\nend = \"max_tokens\"\n[[step.call]]\ntool = \"read\"\nraw = ''\n";
    for format in Format::ALL {
        let provider = TestProvider::start(Setup::new(format, script(script_text))).unwrap();
        let (events, error) = events(&model(format, &provider)).await;
        assert_eq!(error, None);
        let input = events.iter().find_map(|event| match event {
            ModelEvent::ToolUse { input, .. } => Some(input),
            _ => None,
        });
        assert!(
            matches!(input, Some(ToolInput::Invalid { .. })),
            "{format:?}: {input:?}"
        );
        let last = events.last();
        assert_eq!(last, Some(&ModelEvent::Stopped(StopReason::MaxTokens)));
    }
}
