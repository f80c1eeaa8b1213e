use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::text_place;
use crate::registry::{Registry, lower};

/// The message of a bad call.
#[track_caller]
fn bad(tool: &str, arguments: Value) -> String {
    lower(tool, arguments, &text_place())
        .unwrap_err()
        .to_string()
}

#[test]
fn bad_arguments_say_what_is_wrong_and_what_fits() {
    let takes = "it takes `path` (required), `limit`, `offset`";
    let cases = [
        (json!({}), format!("`path` is missing; {takes}")),
        (
            json!({"path": "a", "ofset": 1}),
            format!("unknown key `ofset`; did you mean `offset`? {takes}"),
        ),
        (json!({"file": "a"}), format!("unknown key `file`; {takes}")),
        (
            json!({"Path": "a"}),
            format!("unknown key `Path`; did you mean `path`? {takes}"),
        ),
        (
            json!({"path": 1}),
            "`path` must be a string, not a number".to_owned(),
        ),
        (
            json!({"path": null}),
            "`path` must be a string, not null".to_owned(),
        ),
        (
            json!({"path": ["a"]}),
            "`path` must be a string, not an array".to_owned(),
        ),
        (
            json!({"path": "a", "offset": "1"}),
            "`offset` must be a whole number, not a string".to_owned(),
        ),
        (
            json!({"path": "a", "offset": 1.5}),
            "`offset` must be a whole number, not a number with a fraction or exponent".to_owned(),
        ),
        (
            json!("a"),
            format!("they are a string, not an object; {takes}"),
        ),
        (
            json!(null),
            format!("they are null, not an object; {takes}"),
        ),
        (
            json!({"path": "a", "limit": 9_007_199_254_740_993_u64}),
            "the number 9007199254740993 is too large to be exact; write it as a string".to_owned(),
        ),
    ];
    for (arguments, expected) in cases {
        let message = bad("read", arguments.clone());
        assert_eq!(
            message,
            format!("bad arguments for `read`: {expected}"),
            "{arguments}"
        );
    }
    for arguments in [
        json!({"path": "a", "offset": 0}),
        json!({"path": "a", "limit": -1}),
    ] {
        let message = bad("read", arguments);
        assert!(message.contains("expected a nonzero u64"), "{message}");
    }
    assert_eq!(
        bad("file_edit", json!({"path": "a"})),
        "bad arguments for `file_edit`: `old_string`, `new_string` are missing; it takes \
         `path` (required), `old_string` (required), `new_string` (required), `replace_all`"
    );
}

#[test]
fn null_for_an_optional_key_is_as_good_as_leaving_it_out() {
    let arguments = json!({"pattern": "a", "path": null, "context": null, "output": null});
    assert!(lower("grep", arguments, &text_place()).is_ok());
    let arguments = json!({"command": "ls", "timeout_ms": null, "description": null});
    assert!(lower("bash", arguments, &text_place()).is_ok());
}

#[test]
fn hostile_text_in_a_key_or_a_tool_name_is_shown_escaped_and_cut() {
    let key = format!("a\u{1b}[31m\n\u{202e}{}", "x".repeat(10_000));
    let message = bad("read", json!({ key: 1 }));
    assert!(
        message.contains("`a\\u{1b}[31m\\n\\u{202e}xxx"),
        "{message}"
    );
    assert!(message.len() < 600, "{message}");
    let message = bad("re\u{200b}ad", json!({}));
    assert!(message.contains("re\\u{200b}ad"), "{message}");
}

#[test]
fn deep_nesting_is_a_bad_call_and_no_overflow() {
    for tool in ["read", "mcp__a__b", "bash"] {
        let mut deep = json!(1);
        for _ in 0..1_000 {
            deep = Value::Array(vec![deep]);
        }
        let members = [("path".to_owned(), deep)].into_iter().collect();
        let message = bad(tool, Value::Object(members));
        assert!(message.contains("nested more than 128 deep"), "{message}");
    }
}

#[test]
fn a_key_that_stands_twice_counts_once_for_judge_and_tool() {
    let twice: Value = serde_json::from_str(r#"{"path":"a","path":"b"}"#).unwrap();
    let proposal = Registry::built_in()
        .propose("read", twice, &text_place())
        .unwrap();
    assert_eq!(&*proposal.arguments, r#"{"path":"b"}"#);
    let podward_policy::Lowered::Operations(operations) = proposal.lowered else {
        panic!("a read is an operation");
    };
    let first = operations.iter().next().unwrap();
    let podward_policy::Subject::Path(path) = &first.subject else {
        panic!("a read is of a path");
    };
    assert_eq!(path.lexical.short.known_part(), "b");
}

#[test]
fn canonical_arguments_do_not_depend_on_order_or_spelling() {
    let place = text_place();
    for (one, other) in [
        (
            r#"{"a":1,"b":[1e2,"\u0061"]}"#,
            r#"{ "b": [100, "a"], "a": 1.0 }"#,
        ),
        (r#"{"é":1,"z":2}"#, r#"{"z":2,"\u00e9":1}"#),
    ] {
        let canonical = |text| {
            let value = serde_json::from_str(text).unwrap();
            lower("mcp__s__t", value, &place).unwrap().0
        };
        assert_eq!(canonical(one), canonical(other));
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z./*\\[{(\\\\ ]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "path", "pattern", "glob", "command", "timeout_ms", "content", "old_string",
            "new_string", "replace_all", "offset", "limit", "context", "output", "url",
            "case_insensitive", "description",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn any_arguments_of_any_tool_are_lowered_or_a_bad_call(
        tool in prop::sample::select(vec![
            "bash", "read", "file_write", "file_edit", "grep", "glob", "list", "web_fetch",
            "mcp__s__t", "nothing",
        ]),
        arguments in json_value(),
    ) {
        match lower(tool, arguments, &text_place()) {
            Ok((canonical, _)) => {
                let again: Value = serde_json::from_str(&canonical).unwrap();
                prop_assert_eq!(lower(tool, again, &text_place()).unwrap().0, canonical);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_members_of_any_tool_are_lowered_or_a_bad_call(
        tool in prop::sample::select(vec![
            "bash", "read", "file_write", "file_edit", "grep", "glob", "list", "web_fetch",
        ]),
        members in prop::collection::btree_map(key(), json_value(), 0..4),
    ) {
        let _ = lower(tool, Value::Object(members.into_iter().collect()), &text_place());
    }
}
