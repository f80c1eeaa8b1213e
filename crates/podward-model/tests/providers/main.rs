//! The models behind real wire formats, against a provider on this machine.
#![cfg(test)]

mod answers;
mod environment;
mod failures;
mod odd_streams;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use podward_model::{
    AnthropicModel, ApiKey, Block, Endpoint, Message, Model, ModelError, ModelEvent, ModelRequest,
    OpenAiChatModel, OpenAiResponsesModel, RequestLimits, Role, ScriptedModel, ToolInput, ToolSpec,
    check_pairing,
};
use podward_test_provider::{Format, Setup, TestProvider, Trouble};
use serde_json::json;

const KEY: &str = "sk-test-0123456789";

fn script(text: &str) -> ScriptedModel {
    ScriptedModel::parse("test", text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// A provider that says "Hello." and has these troubles before.
fn hello(format: Format, troubles: impl IntoIterator<Item = Trouble>) -> TestProvider {
    let script = script("[[step]]\ntext = \"Hello.\"\n");
    let setup = Setup::new(format, script).with_key(KEY);
    TestProvider::start(setup.with_troubles(troubles)).unwrap()
}

/// Limits under which a test waits for nothing but what it is about.
fn limits() -> RequestLimits {
    RequestLimits {
        attempts: NonZeroU32::new(3).unwrap(),
        first_wait: Duration::from_micros(100),
        longest_wait: Duration::from_millis(1),
        ..RequestLimits::default()
    }
}

fn endpoint(base_url: &str) -> Endpoint {
    Endpoint::new(base_url, "test-model")
        .unwrap()
        .with_key(ApiKey::new(KEY).unwrap())
        .with_limits(limits())
}

fn model_at(format: Format, endpoint: Endpoint) -> Arc<dyn Model> {
    match format {
        Format::Anthropic => Arc::new(AnthropicModel::new(endpoint).unwrap()),
        Format::OpenAiChat => Arc::new(OpenAiChatModel::new(endpoint).unwrap()),
        Format::OpenAiResponses => Arc::new(OpenAiResponsesModel::new(endpoint).unwrap()),
    }
}

fn model(format: Format, provider: &TestProvider) -> Arc<dyn Model> {
    model_at(format, endpoint(provider.base_url()))
}

fn request(messages: &[Message]) -> ModelRequest {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: "A tool.".into(),
        schema: json!({"type": "object"}),
    };
    ModelRequest {
        system: "You help.".into(),
        messages: Arc::new(messages.to_vec()),
        tools: Arc::new(vec![tool("read"), tool("odd.name")]),
        max_tokens: 1000,
    }
}

/// All events of an answer to "go", and its error if it ends in one.
async fn events(model: &Arc<dyn Model>) -> (Vec<ModelEvent>, Option<ModelError>) {
    answer(model, &[Message::user("go")]).await
}

async fn answer(
    model: &Arc<dyn Model>,
    messages: &[Message],
) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    let mut stream = model.stream(request(messages));
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "it goes on after an error");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

fn text_of(events: &[ModelEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        ModelEvent::TextDelta(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The message that the events make.
fn message_of(events: &[ModelEvent]) -> Message {
    let mut content: Vec<Block> = Vec::new();
    for event in events {
        match (event, content.last_mut()) {
            (ModelEvent::TextDelta(more), Some(Block::Text { text })) => text.push_str(more),
            (ModelEvent::TextDelta(more), _) => content.push(Block::Text { text: more.clone() }),
            (ModelEvent::ThinkingDelta(more), Some(Block::Thinking { text, seal: None })) => {
                text.push_str(more);
            }
            (ModelEvent::ThinkingDelta(more), _) => content.push(Block::Thinking {
                text: more.clone(),
                seal: None,
            }),
            (
                ModelEvent::ThinkingSealed(sealed),
                Some(Block::Thinking {
                    seal: seal @ None, ..
                }),
            ) => *seal = Some(sealed.clone()),
            (ModelEvent::ThinkingSealed(sealed), _) => content.push(Block::Thinking {
                text: String::new(),
                seal: Some(sealed.clone()),
            }),
            (
                ModelEvent::ToolUse {
                    id,
                    name,
                    input: ToolInput::Json(input),
                    ..
                },
                _,
            ) => content.push(Block::ToolUse {
                id: id.clone(),
                name: name.clone(),
                input: input.clone(),
            }),
            _ => {}
        }
    }
    Message {
        role: Role::Assistant,
        content,
    }
}

/// Lets a model talk to tools until it makes no call. Tools say what they were called with; those
/// that are called with `fail` fail.
async fn talk(model: &Arc<dyn Model>, messages: &mut Vec<Message>) {
    for _ in 0..10 {
        let (events, error) = answer(model, messages).await;
        assert_eq!(error, None);
        let mut message = message_of(&events);
        let mut results = Vec::new();
        for block in &mut message.content {
            if let Block::ToolUse { id, input, .. } = block {
                if id.is_empty() {
                    *id = format!("own_{}_{}", messages.len(), results.len());
                }
                results.push(Block::ToolResult {
                    tool_use_id: id.clone(),
                    content: input.to_string(),
                    is_error: input.to_string().contains("fail"),
                });
            }
        }
        messages.push(message);
        if results.is_empty() {
            check_pairing(messages).unwrap();
            return;
        }
        messages.push(Message {
            role: Role::User,
            content: results,
        });
    }
    panic!("the model does not come to an end");
}

/// No request was wrong.
#[track_caller]
fn check_requests(provider: &TestProvider, n_requests: usize) {
    let requests = provider.requests();
    let problems: Vec<_> = requests.iter().filter_map(|r| r.problem.as_ref()).collect();
    assert_eq!(problems, Vec::<&String>::new());
    assert_eq!(requests.len(), n_requests);
}
