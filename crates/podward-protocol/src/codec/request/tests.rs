use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::json;

use super::*;
use crate::codec::strategies::methods;
use crate::{
    Always, Answer, Cancel, Chosen, ChosenPattern, GrantFor, Hello, PermissionReply, Pong, Run,
    encode_response,
};

fn refused(line: &str) -> (Option<u64>, MethodErrorCode, String) {
    let RefusedRequest { id, error } = decode_request(line.as_bytes()).unwrap_err();
    (id.map(|id| id.0), error.code, error.message)
}

/// What a reply with this answer is read as.
fn answered(answer: &Value) -> Result<Answer, String> {
    let params = json!({ "id": "c1", "digest": "d", "answer": answer });
    let line = json!({ "method": "permission_reply", "params": params, "id": 1 }).to_string();
    match decode_request(line.as_bytes()) {
        Ok(request) => match request.method {
            Method::PermissionReply(PermissionReply { answer, .. }) => Ok(answer),
            other => panic!("{other:?}"),
        },
        Err(refused) => {
            assert_eq!(refused.error.code, MethodErrorCode::InvalidParams);
            Err(refused.error.message)
        }
    }
}

#[test]
fn absent_params_are_empty_ones() {
    for (line, method) in [
        (r#"{"method":"cancel","id":3}"#, Method::Cancel(Cancel {})),
        (
            r#"{"id":3,"params":{},"method":"run","jsonrpc":"2.0"}"#,
            Method::Run(Run {
                prompt: None,
                skill: None,
            }),
        ),
        (
            "{\"id\":3,\"method\":\"pong\",\"params\":{\"n\":8}}\n",
            Method::Pong(Pong { n: 8 }),
        ),
    ] {
        let id = MethodId(3);
        assert_eq!(
            decode_request(line.as_bytes()),
            Ok(Request { method, id }),
            "{line}"
        );
    }
}

#[test]
fn what_is_no_request_is_told_by_its_kind() {
    use MethodErrorCode::{InvalidParams, Malformed, UnknownMethod};
    for (line, id, code) in [
        ("", None, Malformed),
        ("{", None, Malformed),
        ("null", None, Malformed),
        (r#"[1,"cancel",{}]"#, None, Malformed),
        (r#"{"method":"cancel"}"#, None, Malformed),
        (r#"{"method":"cancel","id":"1"}"#, None, Malformed),
        (r#"{"method":"cancel","id":-1}"#, None, Malformed),
        (r#"{"method":"cancel","id":1.5}"#, None, Malformed),
        (r#"{"method":"cancel","id":1,"id":2}"#, None, Malformed),
        (r#"{"method":"cancel","id":1} {}"#, None, Malformed),
        (r#"{"id":1}"#, Some(1), Malformed),
        (r#"{"id":1,"method":7}"#, Some(1), Malformed),
        (r#"{"id":1,"method":"dance"}"#, Some(1), UnknownMethod),
        (r#"{"id":1,"method":"Cancel"}"#, Some(1), UnknownMethod),
        (r#"{"id":1,"method":"pong"}"#, Some(1), InvalidParams),
        (
            r#"{"id":1,"method":"pong","params":[1]}"#,
            Some(1),
            InvalidParams,
        ),
        (
            r#"{"id":1,"method":"pong","params":null}"#,
            Some(1),
            InvalidParams,
        ),
        (
            r#"{"id":1,"method":"pong","params":{"n":1,"n":2}}"#,
            Some(1),
            InvalidParams,
        ),
        (
            r#"{"id":1,"method":"stop","params":{"when":"later"}}"#,
            Some(1),
            InvalidParams,
        ),
    ] {
        let (found_id, found, message) = refused(line);
        assert_eq!((found_id, found), (id, code), "{line}: {message}");
    }
    let error = decode_request(b"{\"id\":1,\"method\":\"\xff\"}").unwrap_err();
    assert_eq!((error.id, error.error.code), (None, Malformed));
}

#[test]
fn an_error_says_what_is_wrong() {
    for (line, message) in [
        (
            r#"{"id":1,"method":"da\u001bnce"}"#,
            "there is no method `da\\u{1b}nce`",
        ),
        (
            r#"{"id":1,"method":"run","params":{"promt":"x"}}"#,
            "the parameters do not fit `run`: unknown field `promt`, expected `prompt` or `skill` at line 1 column 8",
        ),
        (r#"{"id":true}"#, "`id` is not a whole number from 0 on"),
    ] {
        assert_eq!(refused(line).2, message, "{line}");
    }
    let unknown = decode_request(br#"{"id":1,"method":"x"}"#).unwrap_err();
    let help = unknown.error.help.unwrap();
    assert!(help.starts_with("the methods are hello, run, "), "{help}");
}

#[test]
fn hello_of_a_later_version_is_read() {
    let line =
        r#"{"id":0,"method":"hello","params":{"protocol":9,"client":"new","can_dance":true}}"#;
    let Method::Hello(hello) = decode_request(line.as_bytes()).unwrap().method else {
        panic!("no hello");
    };
    let expected = Hello {
        protocol: 9,
        client: "new".into(),
        version: None,
        can_approve: false,
        events: None,
    };
    assert_eq!(hello, expected);
}

#[test]
fn an_answer_has_the_fields_of_its_kind_and_no_other() {
    let until = "2026-01-02T03:04:05.678Z";
    for (written, read) in [
        (json!({"kind": "once"}), Answer::Once),
        (json!({"kind": "reject"}), Answer::Reject { feedback: None }),
        (
            json!({"kind": "reject", "feedback": "no\n\"x\""}),
            Answer::Reject {
                feedback: Some("no\n\"x\"".into()),
            },
        ),
        (
            json!({"kind": "edit", "arguments": {"a": [1]}}),
            Answer::Edit {
                arguments: json!({"a": [1]}).as_object().unwrap().clone(),
            },
        ),
        (
            json!({"kind": "always", "width": 1, "for": {"kind": "session"}}),
            Answer::Always(Always {
                what: Chosen::Width(1),
                lasts: GrantFor::Session,
            }),
        ),
        (
            json!({"kind": "always", "for": {"kind": "until", "time": until},
                   "patterns": [{"operation": 0, "pattern": "git push *"}]}),
            Answer::Always(Always {
                what: Chosen::Patterns(vec![ChosenPattern {
                    operation: 0,
                    pattern: "git push *".into(),
                }]),
                lasts: GrantFor::Until {
                    time: until.parse().unwrap(),
                },
            }),
        ),
    ] {
        assert_eq!(answered(&written), Ok(read), "{written}");
    }
    let session = json!({"kind": "session"});
    for written in [
        json!("once"),
        json!({}),
        json!({"kind": "yes"}),
        json!({"kind": "once", "only_here": true}),
        json!({"kind": "once", "feedback": "x"}),
        json!({"kind": "once", "for": session}),
        json!({"kind": "once", "arguments": {}}),
        json!({"kind": "reject", "arguments": {}}),
        json!({"kind": "reject", "width": 0}),
        json!({"kind": "edit"}),
        json!({"kind": "edit", "arguments": []}),
        json!({"kind": "edit", "arguments": {}, "for": session}),
        json!({"kind": "always"}),
        json!({"kind": "always", "width": 0}),
        json!({"kind": "always", "for": session}),
        json!({"kind": "always", "width": -1, "for": session}),
        json!({"kind": "always", "width": 0, "patterns": [], "for": session}),
        json!({"kind": "always", "width": 0, "for": "session"}),
        json!({"kind": "always", "width": 0, "for": {"kind": "session", "n": 1}}),
        json!({"kind": "always", "width": 0, "for": {"kind": "project", "time": until}}),
        json!({"kind": "always", "width": 0, "for": {"kind": "until"}}),
        json!({"kind": "always", "width": 0, "for": {"kind": "until", "time": "later"}}),
        json!({"kind": "always", "width": 0, "for": {"kind": "uses"}}),
        json!({"kind": "always", "width": 0, "for": {"kind": "uses", "n": 1, "per": "day"}}),
        json!({"kind": "always", "for": session,
               "patterns": [{"operation": 0, "pattern": "x", "unless": "y"}]}),
        json!(["once", null, null, null, null, null]),
    ] {
        assert!(answered(&written).is_err(), "{written}");
    }
    assert_eq!(
        answered(&json!({"kind": "always", "width": 0})),
        Err(
            "the parameters do not fit `permission_reply`: the answer `always` takes `for` and one of \
             `width` and `patterns`, no other field at line 1 column 37"
                .into()
        )
    );
}

#[test]
fn a_request_over_the_limit_is_neither_written_nor_read() {
    let prompt = |n: usize| {
        let prompt = Some("x".repeat(n));
        Request {
            id: MethodId(1),
            method: Method::Run(Run {
                prompt,
                skill: None,
            }),
        }
    };
    let frame = encode_request(&prompt(0)).unwrap().len();
    let line = encode_request(&prompt(MAX_REQUEST_BYTES - frame)).unwrap();
    assert_eq!(line.len(), MAX_REQUEST_BYTES);
    assert!(decode_request(line.as_bytes()).is_ok());
    assert!(decode_request(format!("{line}\n").as_bytes()).is_ok());
    assert!(matches!(
        encode_request(&prompt(MAX_REQUEST_BYTES - frame + 1)),
        Err(EncodeError::LineTooLong {
            max_bytes: MAX_REQUEST_BYTES,
            ..
        })
    ));
    let (id, code, _) = refused(&" ".repeat(MAX_REQUEST_BYTES + 1));
    assert_eq!((id, code), (None, MethodErrorCode::TooLong));
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = "[".repeat(100_000);
    let line = format!(
        r#"{{"id":1,"method":"permission_reply","params":{{"id":"c","digest":"d","answer":{{"kind":"edit","arguments":{{"a":{deep}"#
    );
    assert_eq!(refused(&line).1, MethodErrorCode::Malformed);
    let closed = format!("{line}{}}}}}}}}}", "]".repeat(100_000));
    assert_eq!(refused(&closed).1, MethodErrorCode::InvalidParams);
}

#[test]
fn a_refused_line_is_answered_with_its_error() {
    let refused = decode_request(b"{").unwrap_err();
    assert_eq!(
        encode_response(&refused.into()).unwrap(),
        r#"{"id":null,"error":{"code":"malformed","message":"the line is no request: EOF while parsing an object at line 1 column 1"}}"#
    );
}

proptest! {
    #[test]
    fn every_request_reads_back_as_written(method in methods(), id: u64) {
        let request = Request { id: MethodId(id), method };
        let line = encode_request(&request).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(decode_request(line.as_bytes()), Ok(request));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_request(&line);
    }

    #[test]
    fn no_cut_line_reads_as_a_request(method in methods(), at in 0_usize..1_000) {
        let line = encode_request(&Request { id: MethodId(1), method }).unwrap();
        let end = at.min(line.len() - 1);
        prop_assert!(decode_request(&line.as_bytes()[..end]).is_err());
    }

    /// What a client asks for is read strictly, so that nothing it relies on is passed over.
    #[test]
    fn an_unknown_parameter_is_never_passed_over(method in methods(), name in "[a-z_]{1,12}") {
        let mut line = serde_json::to_value(Request { id: MethodId(1), method }).unwrap();
        let is_hello = line["method"] == "hello";
        let params = line["params"].as_object_mut().unwrap();
        let known = [
            "prompt", "events", "after", "limit", "id", "digest", "answer", "feedback", "n",
            "protocol", "client", "version", "can_approve",
        ];
        prop_assume!(!known.contains(&&*name));
        params.insert(name, json!(1));
        let read = decode_request(line.to_string().as_bytes());
        prop_assert_eq!(read.is_ok(), is_hello);
    }

    #[test]
    fn unknown_fields_beside_the_parameters_are_passed_over(method in methods(), name in "x[a-z]{1,8}") {
        let request = Request { id: MethodId(1), method };
        let mut line = serde_json::to_value(&request).unwrap();
        line[name] = json!([{}]);
        prop_assert_eq!(decode_request(line.to_string().as_bytes()), Ok(request));
    }

    #[test]
    fn an_unknown_method_is_told_as_one(name in any::<String>(), id: u64) {
        prop_assume!(MethodName::from_wire(&name).is_none());
        let line = json!({ "method": name, "params": {}, "id": id }).to_string();
        let refused = decode_request(line.as_bytes()).unwrap_err();
        prop_assert_eq!(refused.id, Some(MethodId(id)));
        prop_assert_eq!(refused.error.code, MethodErrorCode::UnknownMethod);
    }
}

#[test]
fn every_method_has_its_name() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..1_000 {
        let method = methods().new_tree(&mut runner).unwrap().current();
        let line = serde_json::to_value(Request {
            id: MethodId(0),
            method: method.clone(),
        })
        .unwrap();
        assert_eq!(line["method"], method.name().as_str());
        assert_eq!(
            MethodName::from_wire(method.name().as_str()),
            Some(method.name())
        );
        seen.insert(method.name());
    }
    assert_eq!(Vec::from_iter(seen), MethodName::ALL);
}
