use futures_util::FutureExt;
use serde_json::{Value, json};

use super::*;
use crate::check_pairing;
use crate::event::{ModelEvent, StopReason, ToolInput, Usage};

fn model(script: &str) -> ScriptedModel {
    ScriptedModel::parse("test", script).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn request(messages: &[Message]) -> ModelRequest {
    ModelRequest {
        system: "".into(),
        messages: Arc::new(messages.to_vec()),
        tools: Arc::default(),
        max_tokens: 1000,
    }
}

async fn events(
    model: &ScriptedModel,
    messages: &[Message],
) -> Vec<Result<ModelEvent, ModelError>> {
    model.stream(request(messages)).collect().await
}

/// Lets a model and `tool` talk until the model makes no call; gives each text of the model.
async fn talk(
    script: &str,
    prompts: &[&str],
    tool: impl Fn(&str, &Value) -> Result<String, String>,
) -> Vec<String> {
    let model = model(script);
    let mut messages = Vec::new();
    let mut texts = Vec::new();
    for prompt in prompts {
        messages.push(Message::user(*prompt));
        loop {
            let mut text = String::new();
            let mut content = Vec::new();
            let mut results = Vec::new();
            for event in events(&model, &messages).await {
                match event.unwrap() {
                    ModelEvent::TextDelta(delta) => text += &delta,
                    ModelEvent::ToolUse {
                        id,
                        name,
                        input: ToolInput::Json(input),
                        ..
                    } => {
                        let output = tool(&name, &input);
                        results.push(Block::ToolResult {
                            tool_use_id: id.clone(),
                            is_error: output.is_err(),
                            content: output.unwrap_or_else(|error| error),
                        });
                        content.push(Block::ToolUse { id, name, input });
                    }
                    _ => {}
                }
            }
            content.insert(0, Block::Text { text: text.clone() });
            texts.push(text);
            messages.push(Message {
                role: Role::Assistant,
                content,
            });
            if results.is_empty() {
                break;
            }
            messages.push(Message {
                role: Role::User,
                content: results,
            });
            assert!(messages.len() < 100, "the script loops");
        }
    }
    check_pairing(&messages).unwrap();
    texts
}

#[tokio::test]
async fn a_step_streams_its_parts_and_stops() {
    let model = model(
        r#"
        [[step]]
        thinking = "hm"
        text = "four words in parts"
        chunk = 10
        usage = { input_tokens = 7, output_tokens = 3 }
        [[step.call]]
        tool = "read"
        input = { path = "a", lines = [1, 2.5, true] }
        "#,
    );
    let found: Vec<_> = events(&model, &[Message::user("go")])
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let id = "call_1_1".to_owned();
    assert_eq!(
        found,
        [
            ModelEvent::ThinkingDelta("hm".into()),
            ModelEvent::TextDelta("four words".into()),
            ModelEvent::TextDelta(" in parts".into()),
            ModelEvent::ToolUseStarted {
                idx: 0,
                id: id.clone(),
                name: "read".into()
            },
            ModelEvent::ToolInputDelta {
                idx: 0,
                json: "{\"lines\":[".into()
            },
            ModelEvent::ToolInputDelta {
                idx: 0,
                json: "1,2.5,true".into()
            },
            ModelEvent::ToolInputDelta {
                idx: 0,
                json: "],\"path\":\"".into()
            },
            ModelEvent::ToolInputDelta {
                idx: 0,
                json: "a\"}".into()
            },
            ModelEvent::ToolUse {
                idx: 0,
                id,
                name: "read".into(),
                input: ToolInput::Json(json!({"path": "a", "lines": [1, 2.5, true]})),
            },
            ModelEvent::Usage(Usage {
                input_tokens: 7,
                output_tokens: 3
            }),
            ModelEvent::Stopped(StopReason::ToolUse),
        ]
    );
}

const BRANCHING: &str = r#"
    [[step]]
    label = "look"
    text = "I look for {{prompt}}."
    [[step.call]]
    tool = "grep"
    input = { pattern = "{{prompt}}" }
    [[step.next]]
    call = 1
    is_error = true
    goto = "give-up"
    [[step.next]]
    contains = "src/b"
    lacks = "src/a"
    goto = "only-b"

    [[step]]
    text = "First in {{result.1 | line 1 | before \":\"}}."
    [[step.call]]
    tool = "read"
    input = { paths = ["{{look.result.1 | find two | before :}}"] }

    [[step]]
    text = "It reads {{result.1 | after = | trim}}; there were {{look.result.1 | line 2}}."

    [[step]]
    text = "Again {{prompt}}."
    [[step.next]]
    prompt_contains = "once more"
    goto = "look"

    [[step]]
    label = "only-b"
    text = "Only in b."
    [[step.next]]
    goto = "end"

    [[step]]
    label = "give-up"
    text = "Nothing: {{result.1}}"

    [[step]]
    label = "end"
    text = "The end."
    "#;

#[tokio::test]
async fn a_script_reads_real_results_and_quotes_them() {
    let tool = |name: &str, input: &Value| match name {
        "grep" => Ok(format!("src/a:1: {} one\nsrc/b:2: two", input["pattern"])),
        _ => Ok(format!("{} = 42 ", input["paths"][0])),
    };
    assert_eq!(
        talk(BRANCHING, &["x", "again"], tool).await,
        [
            "I look for x.",
            "First in src/a.",
            "It reads 42; there were src/b:2: two.",
            "Again again.",
        ]
    );
}

#[tokio::test]
async fn a_script_branches_on_errors_texts_and_prompts() {
    let fails = |_: &str, _: &Value| Err("refused".to_owned());
    assert_eq!(
        talk(BRANCHING, &["x", "and now", "more"], fails).await,
        [
            "I look for x.",
            "Nothing: refused",
            "The end.",
            "The script has no further step.",
        ]
    );
    let only_b = |_: &str, _: &Value| Ok("src/b:1: x".to_owned());
    assert_eq!(
        talk(BRANCHING, &["x", "more"], only_b).await,
        ["I look for x.", "Only in b.", "The end."]
    );
}

#[tokio::test]
async fn a_prompt_can_send_the_script_back() {
    let tool = |name: &str, _: &Value| match name {
        "grep" => Ok("src/a:1: x\nsrc/b:2: two".to_owned()),
        _ => Ok("a = 1".to_owned()),
    };
    let texts = talk(BRANCHING, &["x", "y", "once more"], tool).await;
    assert_eq!(texts[3..5], ["Again y.", "I look for once more."]);
}

#[tokio::test]
async fn an_unanswered_prompt_counts_as_a_step_that_failed() {
    let model = model("[[step]]\nend = \"error\"\n[[step]]\ntext = \"well\"");
    let first = events(&model, &[Message::user("a")]).await;
    assert!(matches!(
        first.as_slice(),
        [Err(ModelError::Provider { .. })]
    ));
    let second = events(&model, &[Message::user("a"), Message::user("b")]).await;
    assert_eq!(second[0], Ok(ModelEvent::TextDelta("well".into())));
}

#[tokio::test]
async fn garbage_is_streamed_as_written() {
    let call = "[[step.call]]\ntool = \"re ad\"\nraw = '{\"a\": '\nid = \"\"\n";
    let last = async |end: &str| {
        let model = model(&format!("[[step]]\ntext = \"t\"\nend = \"{end}\"\n{call}"));
        let stream = model.stream(request(&[Message::user("go")]));
        stream.take(6).collect::<Vec<_>>().await
    };
    let started = Ok(ModelEvent::ToolUseStarted {
        idx: 0,
        id: String::new(),
        name: "re ad".into(),
    });
    let normal = last("normal").await;
    assert_eq!(normal[1], started);
    let Ok(ModelEvent::ToolUse {
        input: ToolInput::Invalid { raw, .. },
        ..
    }) = &normal[3]
    else {
        panic!("{:?}", normal[3]);
    };
    assert_eq!(raw, "{\"a\": ");
    assert_eq!(normal[5], Ok(ModelEvent::Stopped(StopReason::ToolUse)));
    let max_tokens = last("max_tokens").await;
    assert_eq!(
        max_tokens[5],
        Ok(ModelEvent::Stopped(StopReason::MaxTokens))
    );
    let cut = last("cut").await;
    assert_eq!(
        cut,
        [Ok(ModelEvent::TextDelta("t".into())), started.clone()]
    );
    let error = last("error").await;
    assert_eq!(error[..2], cut);
    assert!(matches!(error[2..], [Err(ModelError::Provider { .. })]));
    let endless = last("endless").await;
    assert_eq!(endless[5], Ok(ModelEvent::TextDelta("and so on ".into())));
}

#[tokio::test]
async fn a_hanging_answer_never_ends() {
    let model = model("[[step]]\ntext = \"t\"\nend = \"hang\"");
    let mut stream = model.stream(request(&[Message::user("go")]));
    assert!(stream.next().await.is_some());
    for _ in 0..10 {
        assert_eq!(stream.next().now_or_never(), None);
    }
}

#[tokio::test]
async fn a_text_can_be_one_huge_delta() {
    let model = model("[[step]]\ntext = \"0123456789\"\nrepeat = 1000000\nchunk = 100000000");
    let events = events(&model, &[Message::user("go")]).await;
    let Ok(ModelEvent::TextDelta(delta)) = &events[0] else {
        panic!("no text");
    };
    assert_eq!(delta.len(), 10_000_000);
}

#[tokio::test]
async fn a_capture_that_finds_nothing_is_an_error_of_the_model() {
    for (text, expected) in [
        ("{{result.2}}", "`{{result.2}}` finds nothing"),
        ("{{result.1|line 9}}", "`{{result.1|line 9}}` finds nothing"),
        (
            "{{ s.result.1 | find zz }}",
            "`{{s.result.1 | find zz}}` finds nothing",
        ),
    ] {
        let model = model(&format!(
            "[[step]]\nlabel = \"s\"\n[[step.call]]\ntool = \"t\"\n[[step]]\ntext = '{text}'"
        ));
        let messages = [
            Message::user("go"),
            Message {
                role: Role::Assistant,
                content: vec![Block::ToolUse {
                    id: "a".into(),
                    name: "t".into(),
                    input: json!({}),
                }],
            },
            Message {
                role: Role::User,
                content: vec![Block::ToolResult {
                    tool_use_id: "a".into(),
                    content: "one".into(),
                    is_error: false,
                }],
            },
        ];
        assert_eq!(
            events(&model, &messages).await,
            [Err(ModelError::Script {
                place: "step 2".into(),
                message: expected.into()
            })]
        );
    }
}

#[track_caller]
fn check_errors(script: &str, expected: &[&str]) {
    let errors: Vec<_> = ScriptedModel::parse("test", script)
        .expect_err("the script is broken")
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(errors, expected);
}

#[test]
fn a_broken_script_says_where() {
    check_errors("", &["1:1: a script has at least one `[[step]]`"]);
    check_errors(
        "[[step]]\ntext = \"a\"\n  txet = \"b\"",
        &[
            "3:3: unknown field `txet`, expected one of `label`, `thinking`, `text`, `repeat`, \
           `chunk`, `call`, `next`, `usage`, `end`",
        ],
    );
    check_errors(
        "[[step]]\ntext = ",
        &["2:8: string values must be quoted, expected literal string"],
    );
}

#[test]
fn a_broken_script_says_all_that_is_wrong() {
    check_errors(
        r#"
[[step]]
label = "a b"
text = "{{result}}"
[[step.next]]
goto = "c"
[[step]]
label = "x"
[[step.call]]
tool = "t"
raw = "{{x.result.0}}"
[[step.call]]
tool = "t"
input = { deep = ["{{y.result.1}}", "{{prompt | upper}}", "{{prompt"] }
[[step]]
label = "x"
[[step.call]]
tool = "t"
raw = ""
input = {}
[[step.next]]
goto = "x"
call = 2
"#,
        &[
            "3:9: a label has only letters, digits, `_` and `-`",
            "16:9: a second step `x`",
            "4:8: `result` is no source: expected `prompt`, `result.N` or `LABEL.result.N`",
            "6:8: no step has the label `c`",
            "11:7: `0` is no number from 1",
            "14:9: no step has the label `y`",
            "14:9: `upper` is no filter: expected `line N`, `find TEXT`, `before TEXT`, `after \
             TEXT` or `trim`",
            "14:9: `{{` without `}}`",
            "19:7: a call has `input` or `raw`, not both",
            "23:8: the step has 1 calls, counted from 1",
        ],
    );
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*", step in "[a-z{}.| \"0-9\n=\\[\\]]{0,80}") {
        let _ = ScriptedModel::parse("test", &text);
        let _ = ScriptedModel::parse("test", &format!("[[step]]\ntext = '''{step}'''"));
        let _ = ScriptedModel::parse("test", &format!("[[step]]\n{step}"));
    }
}
