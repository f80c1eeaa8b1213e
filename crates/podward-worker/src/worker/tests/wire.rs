//! Whatever a session went through, each provider takes what is sent of it.

use std::sync::LazyLock;

use podward_model::{
    AnthropicModel, Block, Endpoint, Message, ModelRequest, OpenAiChatModel, OpenAiResponsesModel,
    Role, ScriptedModel, ThinkingSeal, ToolSpec, conversation_bytes, trim,
};
use podward_test_provider::{Format, TestProvider, Trouble, check_request};
use proptest::prelude::*;
use serde_json::json;

use super::properties::{KINDS, Run, arb_run, block_on, poll_at_most};
use super::*;

/// One client each is enough.
static MODELS: LazyLock<Models> = LazyLock::new(Models::new);

/// The models of all formats.
struct Models {
    anthropic: AnthropicModel,
    chat: OpenAiChatModel,
    responses: OpenAiResponsesModel,
}

impl Models {
    fn new() -> Self {
        let endpoint = || Endpoint::new("http://127.0.0.1:1", "m").unwrap();
        Self {
            anthropic: AnthropicModel::new(endpoint()).unwrap(),
            chat: OpenAiChatModel::new(endpoint()).unwrap(),
            responses: OpenAiResponsesModel::new(endpoint()).unwrap(),
        }
    }

    /// Every provider takes a request with these messages.
    fn check(&self, messages: &Arc<Vec<Message>>) {
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: "A tool.".to_owned(),
            schema: json!({"type": "object"}),
        };
        let request = ModelRequest {
            system: " ".into(),
            messages: Arc::clone(messages),
            tools: Arc::new(vec![tool("echo"), tool("an.odd name"), tool("an_odd_name")]),
            max_tokens: 1,
        };
        for (format, body) in [
            (Format::Anthropic, self.anthropic.request_body(&request)),
            (Format::OpenAiChat, self.chat.request_body(&request)),
            (
                Format::OpenAiResponses,
                self.responses.request_body(&request),
            ),
        ] {
            if let Err(problem) = check_request(format, &body) {
                panic!("{format:?}: {problem}\n{body:#}");
            }
        }
    }

    /// The same for every point at which the session may have been killed, and every size.
    fn check_every_prefix(&self, entries: &[Entry], percent: usize) {
        for n_entries in 0..=entries.len() {
            let replayed = History::replay(&entries[..n_entries]).unwrap();
            let messages = replayed.history.messages();
            self.check(messages);
            self.check(&trim(
                messages,
                conversation_bytes(messages) * percent / 100,
            ));
        }
    }
}

/// What a hostile or another provider left in a session, added to each message of the model.
fn make_odd(entries: &mut [Entry]) {
    let sealed = |seal| Block::Thinking {
        text: String::new(),
        seal: Some(seal),
    };
    for entry in entries {
        if let Entry::Assistant { content } = entry {
            let (model, text) = ("another".to_owned(), "x".to_owned());
            content.insert(
                0,
                sealed(ThinkingSeal::Signature {
                    model: model.clone(),
                    signature: text.clone(),
                }),
            );
            content.push(sealed(ThinkingSeal::Encrypted {
                model,
                content: text,
            }));
            content.push(Block::Thinking {
                text: "hm".to_owned(),
                seal: None,
            });
            content.push(Block::Text {
                text: " \n".to_owned(),
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn each_provider_takes_what_is_sent_of_any_session(
        run in arb_run(&KINDS),
        prompts in prop::collection::vec("( |go|\n|x){0,3}", 1..4),
        n_polls in 20..160usize,
        percent in 0..100usize,
        odd in any::<bool>(),
    ) {
        block_on(async {
            let run: Run = run;
            let mut kit = run.kit();
            for prompt in prompts {
                let cancel = kit.cancel.clone();
                let end = {
                    let mut turn = std::pin::pin!(kit.worker.turn(prompt, cancel.clone()));
                    match poll_at_most(turn.as_mut(), n_polls).await {
                        Some(end) => end,
                        None => {
                            cancel.cancel();
                            turn.await
                        }
                    }
                };
                end.unwrap();
                kit.cancel = CancellationToken::new();
            }
            let mut entries = kit.log.entries();
            if odd {
                make_odd(&mut entries);
            }
            MODELS.check_every_prefix(&entries, percent);
        });
    }
}

#[test]
fn a_conversation_that_the_model_ends_is_taken() {
    let said = Message {
        role: Role::Assistant,
        content: vec![Block::Text {
            text: "Done.".to_owned(),
        }],
    };
    MODELS.check(&Arc::new(vec![Message::user("go"), said]));
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_sent_again_without_its_beginning() {
    let text = "[[step]]\ntext = \"Fine.\"\n".repeat(4);
    let says = ScriptedModel::parse("scripted", &text).unwrap();
    let troubles = [
        Trouble::None,
        Trouble::None,
        Trouble::ContextTooLong,
        Trouble::None,
        Trouble::ContextTooLong,
        Trouble::ContextTooLong,
    ];
    let setup = podward_test_provider::Setup::new(Format::Anthropic, says).with_troubles(troubles);
    let provider = TestProvider::start(setup).unwrap();
    let endpoint = Endpoint::new(provider.base_url(), "m").unwrap();
    let mut kit = Kit::with(
        &text,
        Setup {
            model: Some(Arc::new(AnthropicModel::new(endpoint).unwrap())),
            ..Setup::default()
        },
    );
    for prompt in ["one", "two", "three"] {
        assert_eq!(kit.turn(prompt).await.reason, EndReason::Done);
    }
    assert!(kit.told().contains(&"retry 2".to_owned()));
    let requests = provider.requests();
    let sent = |number: usize| requests[number].body["messages"].to_string();
    assert!(sent(2).contains("\"one\""));
    assert!(!sent(3).contains("\"one\"") && sent(3).contains("left out"));
    assert_eq!(kit.worker.history().messages().len(), 6);

    // Once only: then it is told what to do.
    let reason = kit.turn("four").await.reason;
    assert!(matches!(&reason, EndReason::Model(_)), "{reason:?}");
    assert!(reason.to_string().contains("`history_size`"), "{reason}");
    assert_eq!(provider.requests().len(), 6);
}
