use std::io::{Read, Write};
use std::net::TcpStream;

use podward_model::ScriptedModel;
use serde_json::json;

use super::*;
use crate::setup::Trouble;
use crate::wire::Format;

fn setup(format: Format) -> Setup {
    let script = ScriptedModel::parse("test", "[[step]]\ntext = \"Hello.\"\n").unwrap();
    Setup::new(format, script)
}

/// Sends a request and reads all that comes back.
fn post(provider: &TestProvider, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(provider.address()).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
         anthropic-version: 2023-06-01\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = Vec::new();
    // A connection that is cut on purpose ends in an error.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn chat_request() -> String {
    let messages = json!([{"role": "user", "content": "hi"}]);
    json!({"model": "m", "max_tokens": 9, "stream": true, "messages": messages}).to_string()
}

#[test]
fn a_script_is_answered_over_the_wire() {
    let provider = TestProvider::start(setup(Format::OpenAiChat)).unwrap();
    let answer = post(&provider, "/v1/chat/completions", &chat_request());
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains(r#""content":"Hello.""#), "{answer}");
    assert!(answer.contains("data: [DONE]\n\n"), "{answer}");
    let requests = provider.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
    assert_eq!(requests[0].problem, None);
}

#[test]
fn what_is_wrong_with_a_request_is_told_and_recorded() {
    let provider = TestProvider::start(setup(Format::Anthropic)).unwrap();
    let answer = post(&provider, "/v1/messages", "{}");
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(
        answer.contains(r#""type":"invalid_request_error""#),
        "{answer}"
    );
    let problem = provider.requests()[0].problem.clone();
    assert_eq!(problem.as_deref(), Some("request.model: Field required"));

    let answer = post(&provider, "/v1/nothing", "{}");
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
}

#[test]
fn a_key_is_asked_for_where_one_is_set() {
    let setup = setup(Format::OpenAiResponses).with_key("sk-1");
    let provider = TestProvider::start(setup).unwrap();
    let answer = post(&provider, "/v1/responses", "{}");
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[test]
fn troubles_come_one_a_request() {
    let troubles = [
        Trouble::Status(429, Some("7".to_owned())),
        Trouble::NoAnswer,
        Trouble::CutAfter(30),
        Trouble::EndAfter(30),
        Trouble::ErrorAfter(0),
        Trouble::HugeLine(100_000),
    ];
    let setup = setup(Format::OpenAiChat).with_troubles(troubles);
    let provider = TestProvider::start(setup).unwrap();
    let ask = || post(&provider, "/v1/chat/completions", &chat_request());
    let answer = ask();
    assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
    assert!(answer.contains("retry-after: 7\r\n"), "{answer}");
    assert_eq!(ask(), "");
    let cut = ask();
    assert!(
        !cut.contains("[DONE]") && !cut.ends_with("0\r\n\r\n"),
        "{cut}"
    );
    let ended = ask();
    assert!(
        !ended.contains("[DONE]") && ended.ends_with("0\r\n\r\n"),
        "{ended}"
    );
    assert!(ask().contains(r#"{"error":"#));
    assert!(ask().len() > 100_000);
    assert!(ask().contains("[DONE]"));
}
