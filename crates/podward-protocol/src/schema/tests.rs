use std::collections::BTreeMap;

use jsonschema::Validator;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::codec::strategies::{events, methods};
use crate::{
    Envelope, MethodId, Request, SessionId, Time, decode, decode_request, events_schema,
    methods_schema,
};

/// Values that stand in for any other: of each type, and at the edges of numbers.
fn strangers() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.5),
        json!(u32::MAX),
        json!(u64::from(u32::MAX) + 1),
        json!(u64::MAX),
        json!(18_446_744_073_709_551_616.0),
        json!(""),
        json!("once"),
        json!("session"),
        json!("2026-01-02T03:04:05.678Z"),
        json!("later"),
        json!([]),
        json!({}),
        json!({"kind": "session"}),
        json!([{"operation": 0, "pattern": "x"}]),
    ]
}

/// The names of fields that belong to some kind of answer or span, and one that belongs to none.
const FIELDS: &[&str] = &[
    "kind",
    "width",
    "patterns",
    "for",
    "feedback",
    "arguments",
    "time",
    "n",
    "params",
    "unheard",
];

/// Each value that differs from this one in one place.
fn mutated(value: &Value) -> Vec<Value> {
    let mut found = strangers();
    match value {
        Value::Object(fields) => {
            found.push(fields.values().cloned().collect());
            for (name, inner) in fields {
                let with = |inner: Option<Value>| {
                    let mut fields = fields.clone();
                    match inner {
                        Some(inner) => fields.insert(name.clone(), inner),
                        None => fields.remove(name),
                    };
                    Value::Object(fields)
                };
                found.push(with(None));
                found.extend(mutated(inner).into_iter().map(|inner| with(Some(inner))));
            }
            for name in FIELDS.iter().filter(|name| !fields.contains_key(**name)) {
                for inner in strangers() {
                    let mut fields = fields.clone();
                    fields.insert((*name).to_owned(), inner);
                    found.push(Value::Object(fields));
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                for item in mutated(item) {
                    let mut items = items.clone();
                    items[at] = item;
                    found.push(Value::Array(items));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found
}

fn validator(schema: &str) -> Validator {
    jsonschema::options()
        .should_validate_formats(true)
        .build(&serde_json::from_str(schema).unwrap())
        .unwrap()
}

/// `n` values of a kind, the same ones each time.
fn samples<T: std::fmt::Debug>(n: usize, of: impl Strategy<Value = T>) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..n)
        .map(|_| of.new_tree(&mut runner).unwrap().current())
        .collect()
}

/// Where schema and reader are to agree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agree {
    /// Over every line.
    Always,
    /// Over what the schema takes: the reader may take more.
    OverWhatIsValid,
}

/// Compares schema and reader over each sample, and over all that differ from it in one place; how
/// many of those are read, and how many are not.
fn check(
    schema: &str,
    samples: Vec<Value>,
    agree: Agree,
    reads: impl Fn(&str) -> bool,
) -> BTreeMap<bool, usize> {
    let schema = validator(schema);
    let mut seen = BTreeMap::new();
    for sample in samples {
        assert!(
            schema.is_valid(&sample) && reads(&sample.to_string()),
            "{sample}"
        );
        for mutant in mutated(&sample) {
            let (is_valid, is_read) = (schema.is_valid(&mutant), reads(&mutant.to_string()));
            let may_differ = agree == Agree::OverWhatIsValid && !is_valid;
            assert!(
                is_valid == is_read || may_differ,
                "valid: {is_valid}, read: {is_read}: {mutant}"
            );
            *seen.entry(is_read).or_default() += 1;
        }
    }
    seen
}

#[test]
fn the_schema_of_methods_takes_what_the_reader_takes() {
    let mut requests: Vec<_> = samples(150, methods())
        .into_iter()
        .map(|method| {
            let id = MethodId(7);
            serde_json::to_value(Request { method, id }).unwrap()
        })
        .collect();
    for name in ["run", "cancel", "subscribe", "grants_list"] {
        requests.push(json!({"method": name, "id": 0}));
    }
    let seen = check(&methods_schema(), requests, Agree::Always, |line| {
        decode_request(line.as_bytes()).is_ok()
    });
    assert!(seen[&true] > 2_000 && seen[&false] > 2_000, "{seen:?}");
}

#[test]
fn what_the_schema_of_events_takes_is_read() {
    let envelopes = samples(60, events())
        .into_iter()
        .map(|event| {
            let envelope = Envelope {
                time: Time::from_unix_milliseconds(1).unwrap(),
                session: SessionId::from_bits(1),
                seq: 3,
                snapshot: false,
                event,
            };
            serde_json::to_value(envelope).unwrap()
        })
        .collect();
    let seen = check(
        &events_schema(),
        envelopes,
        Agree::OverWhatIsValid,
        |line| decode(line).is_ok(),
    );
    assert!(seen[&true] > 2_000 && seen[&false] > 2_000, "{seen:?}");
}
