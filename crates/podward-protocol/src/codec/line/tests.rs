use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::*;
use crate::codec::strategies::{error_codes, events, method_errors, replies, settled_as};
use crate::{
    AlreadySettled, DecidedBy, Outcome, PermissionSettled, RequestId, ResponseOutcome, Settled,
};

fn response(text: &str) -> RawResponse {
    match decode_line(text).unwrap() {
        Line::Response(response) => response,
        Line::Event(event) => panic!("{event:?}"),
    }
}

#[test]
fn a_response_has_a_result_or_an_error() {
    let settled = PermissionSettled {
        id: RequestId::new("c1"),
        outcome: Outcome::RejectedWithFeedback {
            feedback: "use git".into(),
        },
        by: DecidedBy::Client {
            name: "tui".into(),
            edited: false,
        },
    };
    let reply = Reply::PermissionReply(Settled {
        settled: vec![settled.clone()],
    });
    let line = encode_response(&Response {
        id: Some(MethodId(4)),
        outcome: Ok(reply.clone()).into(),
    });
    let line = line.unwrap();
    assert_eq!(
        line,
        r#"{"id":4,"result":{"settled":[{"id":"c1","outcome":{"kind":"rejected_with_feedback","feedback":"use git"},"by":{"kind":"client","name":"tui"}}]}}"#
    );
    let read = response(&line).result.unwrap();
    assert_eq!(read.read(MethodName::PermissionReply).unwrap(), reply);

    let error = MethodError::new(
        MethodErrorCode::AlreadySettled(Box::new(AlreadySettled {
            outcome: settled.outcome,
            by: settled.by,
        })),
        "tui said no already",
    );
    let line = encode_response(&Response {
        id: None,
        outcome: ResponseOutcome::Error(error.clone()),
    });
    let line = line.unwrap();
    assert_eq!(
        line,
        r#"{"id":null,"error":{"code":"already_settled","data":{"outcome":{"kind":"rejected_with_feedback","feedback":"use git"},"by":{"kind":"client","name":"tui"}},"message":"tui said no already"}}"#
    );
    let expected = RawResponse {
        id: None,
        result: Err(error),
    };
    assert_eq!(response(&line), expected);
}

#[test]
fn an_error_of_a_later_version_still_says_what_is_wrong() {
    let line = r#"{"id":4,"error":{"code":"too_tired","message":"not now","data":{"until":9}}}"#;
    match decode_line(line).unwrap_err() {
        DecodeError::UnknownErrorCode { id, code, message } => {
            assert_eq!(
                (id, &*code, &*message),
                (Some(MethodId(4)), "too_tired", "not now")
            );
        }
        other => panic!("{other}"),
    }
}

#[test]
fn what_is_neither_is_malformed() {
    for line in [
        "{}",
        r#"{"id":1}"#,
        r#"{"id":1,"result":{},"error":{"code":"busy","message":"x"}}"#,
        r#"{"id":"1","result":{}}"#,
        r#"{"id":1,"error":{"message":"x"}}"#,
        r#"{"id":1,"error":{"code":"busy"}}"#,
        r#"{"id":1,"error":{"code":"version","message":"x"}}"#,
        r#"{"id":1,"error":["busy","x"]}"#,
        r#"[null,null,null,false,null,null,1,{},null]"#,
    ] {
        let error = decode_line(line).unwrap_err();
        assert!(matches!(error, DecodeError::Malformed(_)), "{line}");
    }
}

#[test]
fn a_reply_to_another_method_is_malformed() {
    let reply = response(r#"{"id":1,"result":{"turn":3}}"#).result.unwrap();
    assert!(reply.clone().read(MethodName::Run).is_ok());
    assert!(reply.read(MethodName::PermissionList).is_err());
    let list = response(r#"{"id":1,"result":[3]}"#).result.unwrap();
    assert!(list.read(MethodName::Run).is_err());
}

fn samples<S: Strategy>(strategy: S, n: usize) -> impl Iterator<Item = S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..n).map(move |_| strategy.new_tree(&mut runner).unwrap().current())
}

/// The kinds are listed by hand; here each list is compared with what is written.
#[test]
fn every_word_is_listed_as_it_is_written() {
    let mut codes = BTreeSet::new();
    for code in samples(error_codes(), 3_000) {
        let written = serde_json::to_value(&code).unwrap();
        assert_eq!(written["code"], code.as_str());
        codes.insert(code.as_str());
    }
    assert_eq!(codes, MethodErrorCode::NAMES.iter().copied().collect());
    let mut outcomes = BTreeSet::new();
    for outcome in samples(settled_as(), 3_000) {
        let written = serde_json::to_value(&outcome).unwrap();
        assert_eq!(written["kind"], outcome.as_str());
        outcomes.insert(outcome.as_str());
    }
    assert_eq!(outcomes, Outcome::NAMES.iter().copied().collect());
    let mut names = BTreeSet::new();
    for event in samples(events(), 3_000) {
        names.insert(event.name());
    }
    assert_eq!(names, Event::NAMES.iter().copied().collect());
}

proptest! {
    #[test]
    fn every_reply_reads_back_as_written(reply in replies(), id: Option<u64>) {
        let id = id.map(MethodId);
        let line = encode_response(&Response { id, outcome: Ok(reply.clone()).into() }).unwrap();
        prop_assert!(!line.contains('\n'));
        let read = response(&line);
        prop_assert_eq!(read.id, id);
        prop_assert_eq!(read.result.unwrap().read(reply.method()).unwrap(), reply);
    }

    #[test]
    fn every_error_reads_back_as_written(error in method_errors(), id: Option<u64>) {
        let id = id.map(MethodId);
        let outcome = ResponseOutcome::Error(error.clone());
        let line = encode_response(&Response { id, outcome }).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(response(&line), RawResponse { id, result: Err(error) });
    }

    /// What a pod tells is read leniently: a later version may say more.
    #[test]
    fn unknown_fields_of_a_pod_are_passed_over(
        event in events(),
        reply in replies(),
        name in "x[a-z]{1,8}",
    ) {
        let envelope = Envelope {
            time: Time::UNIX_EPOCH,
            session: SessionId::from_bits(1),
            seq: 3,
            snapshot: false,
            event,
        };
        let mut line = serde_json::to_value(&envelope).unwrap();
        line[&*name] = json!({ "id": [] });
        line["data"][&*name] = json!([null]);
        prop_assert_eq!(decode_line(&line.to_string()).unwrap(), Line::Event(envelope));

        let method = reply.method();
        let outcome = Ok(reply.clone()).into();
        let mut line = serde_json::to_value(Response { id: None, outcome }).unwrap();
        line[&*name] = json!({ "error": [] });
        line["result"][&*name] = json!(true);
        let read = response(&line.to_string());
        prop_assert_eq!(read.result.unwrap().read(method).unwrap(), reply);
    }

    #[test]
    fn no_line_makes_the_reader_panic(line in any::<String>()) {
        if let Ok(Line::Response(RawResponse { result: Ok(reply), .. })) = decode_line(&line) {
            for method in MethodName::ALL {
                let _ = reply.clone().read(*method);
            }
        }
    }
}

/// The worked session of docs/protocol.md, read by what reads it in earnest and written again.
#[test]
fn the_session_of_the_documentation_is_valid() {
    let page = include_str!("../../../../../docs/protocol.md");
    let (_, session) = page.split_once("## A session").unwrap();
    let (mut asked, mut n_lines) = (std::collections::BTreeMap::new(), 0);
    for line in session.lines() {
        if let Some(line) = line.strip_prefix("> ") {
            let request = crate::decode_request(line.as_bytes()).unwrap();
            assert_eq!(crate::encode_request(&request).unwrap(), line);
            asked.insert(request.id, request.method.name());
        } else if let Some(line) = line.strip_prefix("< ") {
            let again = match decode_line(line).unwrap() {
                Line::Event(event) => crate::encode(&event),
                Line::Response(RawResponse { id, result }) => {
                    let method = asked.remove(&id.unwrap()).unwrap();
                    let reply = result.map(|reply| reply.read(method).unwrap());
                    let outcome = reply.into();
                    encode_response(&Response { id, outcome })
                }
            };
            assert_eq!(again.unwrap(), line);
        } else {
            continue;
        }
        n_lines += 1;
    }
    assert!(asked.is_empty() && n_lines > 10, "{asked:?}");
}
