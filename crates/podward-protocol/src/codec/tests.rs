use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::{
    CallId, Cause, Confinement, ConfinementLevel, Coverage, DecidedBy, ErrorCode, ErrorRaised,
    LimitName, Need, Notice, Operation, Place, RefusalCause, Ruling, SessionStarted, Span, Status,
    SubjectKind, TextDelta, ToolCallArguments, ToolCallFinished, ToolCallStarted, ToolCallVerdict,
    ToolOutcome, TurnEndReason, TurnEnded, TurnStarted, Usage, Verdict, events_schema,
};

const SESSION: &str = "01JDXW8Z4M9V7Q3T5R6S8N0PAB";

fn envelope(event: Event) -> Envelope {
    Envelope {
        time: Time::from_unix_milliseconds(1_767_323_045_678).unwrap(),
        session: SessionId::new(SESSION).unwrap(),
        seq: 7,
        snapshot: false,
        event,
    }
}

#[test]
fn an_event_is_one_line_with_its_name_and_data() {
    let line = encode(&envelope(Event::TextDelta(TextDelta {
        text: "a\nb".into(),
    })));
    assert_eq!(
        line.unwrap(),
        r#"{"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":7,"event":"text_delta","data":{"text":"a\nb"}}"#
    );
}

#[test]
fn what_a_terminal_obeys_or_a_reader_takes_for_a_line_end_is_escaped() {
    let event = Event::TextDelta(TextDelta {
        text: "\u{1b}[\u{9b}\u{85}\u{2028}\u{202e}\u{200b}\u{e0041}\u{e9}\u{1f600}\"\\".into(),
    });
    let line = encode(&envelope(event.clone())).unwrap();
    let text = r#"{"text":"\u001b[\u009b\u0085\u2028\u202e\u200b\udb40\udc41é😀\"\\"}"#;
    assert!(line.contains(text), "{line}");
    assert_eq!(decode(&line).unwrap(), envelope(event));
}

#[test]
fn fields_that_a_reader_does_not_know_are_passed_over() {
    let line = r#"{"new":1,"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":7,"event":"text_delta","data":{"text":"hi","mood":[]}}"#;
    let event = Event::TextDelta(TextDelta { text: "hi".into() });
    assert_eq!(decode(line).unwrap(), envelope(event));
}

#[test]
fn an_event_of_a_later_version_is_told_from_a_broken_line() {
    let line = r#"{"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":9,"event":"dance","data":{}}"#;
    match decode(line).unwrap_err() {
        DecodeError::UnknownEvent { name, seq } => assert_eq!((&*name, seq), ("dance", 9)),
        other => panic!("{other}"),
    }
    for line in [
        "",
        "{",
        "null",
        "[]",
        r#"{"event":"text_delta","data":{"text":"x"}}"#,
        r#"{"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":9,"event":"text_delta"}"#,
        r#"{"time":"x","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":9,"event":"text_delta","data":{"text":""}}"#,
        r#"{"time":"2026-01-02T03:04:05.678Z","session":"x","seq":9,"event":"text_delta","data":{"text":""}}"#,
        r#"{"time":"2026-01-02T03:04:05.678Z","session":"01JDXW8Z4M9V7Q3T5R6S8N0PAB","seq":9,"event":"text_delta","data":{"text":""}} x"#,
    ] {
        assert!(
            matches!(decode(line), Err(DecodeError::Malformed(_))),
            "{line}"
        );
    }
}

#[test]
fn a_line_over_the_limit_is_neither_written_nor_read() {
    let text = "x".repeat(MAX_LINE_BYTES);
    let event = envelope(Event::TextDelta(TextDelta { text }));
    assert!(matches!(
        encode(&event),
        Err(EncodeError::LineTooLong { .. })
    ));
    let line = " ".repeat(MAX_LINE_BYTES + 1);
    assert!(matches!(
        decode(&line),
        Err(DecodeError::LineTooLong { .. })
    ));
}

#[test]
fn the_schema_names_every_event() {
    let schema = events_schema();
    assert!(schema.ends_with("}\n"));
    for name in Event::NAMES {
        assert!(schema.contains(&format!("\"{name}\"")), "{name}");
    }
}

proptest! {
    #[test]
    fn every_event_reads_back_as_written(
        event in events(),
        seq: u64,
        milliseconds in 0_i64..4_000_000_000_000,
    ) {
        let envelope = Envelope {
            time: Time::from_unix_milliseconds(milliseconds).unwrap(),
            session: SessionId::new(SESSION).unwrap(),
            seq,
            snapshot: false,
            event,
        };
        let line = encode(&envelope).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert!(Event::NAMES.contains(&envelope.event.name()));
        let named = format!("\"event\":\"{}\"", envelope.event.name());
        prop_assert!(line.contains(&named));
        prop_assert_eq!(decode(&line).unwrap(), envelope);
    }

    #[test]
    fn no_line_makes_the_reader_panic(line in any::<String>()) {
        let _ = decode(&line);
    }

    #[test]
    fn no_cut_line_reads_as_an_event(event in events(), at in 0_usize..10_000) {
        let line = encode(&envelope(event)).unwrap();
        let end = line.floor_char_boundary(at.min(line.len() - 1));
        prop_assert!(decode(line.split_at(end).0).is_err());
    }
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        session_started(),
        (text(), option::of(text()))
            .prop_map(|(message, help)| Event::Notice(Notice { message, help })),
        status(),
        (any::<u64>(), text())
            .prop_map(|(turn, prompt)| Event::TurnStarted(TurnStarted { turn, prompt })),
        text().prop_map(|text| Event::TextDelta(TextDelta { text })),
        text().prop_map(|text| Event::ThinkingDelta(TextDelta { text })),
        (call(), text())
            .prop_map(|(call, tool)| Event::ToolCallStarted(ToolCallStarted { call, tool })),
        (call(), text(), json()).prop_map(|(call, tool, arguments)| {
            Event::ToolCallArguments(ToolCallArguments {
                call,
                tool,
                arguments,
            })
        }),
        verdict(),
        (call(), text(), outcome(), text()).prop_map(|(call, tool, outcome, content)| {
            Event::ToolCallFinished(ToolCallFinished {
                call,
                tool,
                outcome,
                content,
            })
        }),
        any::<[u64; 4]>().prop_map(|[a, b, c, d]| {
            Event::Usage(Usage {
                input_tokens: a,
                output_tokens: b,
                total_input_tokens: c,
                total_output_tokens: d,
            })
        }),
        (
            prop_oneof![
                Just(ErrorCode::Model),
                Just(ErrorCode::Storage),
                Just(ErrorCode::Internal)
            ],
            text(),
            option::of(text())
        )
            .prop_map(|(code, message, help)| Event::Error(ErrorRaised {
                code,
                message,
                help
            })),
        (any::<u64>(), turn_end(), any::<u64>(), any::<u64>()).prop_map(
            |(turn, reason, n_refused, n_calls)| {
                Event::TurnEnded(TurnEnded {
                    turn,
                    reason,
                    n_refused,
                    n_calls,
                })
            }
        ),
    ]
}

fn text() -> impl Strategy<Value = String> {
    any::<String>()
}

fn call() -> impl Strategy<Value = CallId> {
    text().prop_map(CallId::new)
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|pairs| pairs.into_iter().collect::<Value>()),
        ]
    })
}

fn session_started() -> impl Strategy<Value = Event> {
    let levels = prop_oneof![
        Just(ConfinementLevel::Kernel),
        Just(ConfinementLevel::Partial),
        Just(ConfinementLevel::None),
    ];
    let texts = any::<[String; 6]>();
    (
        any::<u32>(),
        texts,
        vec(text(), 0..3),
        vec(text(), 0..3),
        levels,
        text(),
        any::<bool>(),
    )
        .prop_map(
            |(protocol, texts, tools, withheld_tools, level, detail, resumed)| {
                let [version, pod, workspace, session_dir, model, policy_digest] = texts;
                Event::SessionStarted(SessionStarted {
                    protocol,
                    version,
                    pod,
                    workspace,
                    session_dir,
                    model,
                    tools,
                    withheld_tools,
                    policy_digest,
                    confinement: Confinement { level, detail },
                    resumed,
                })
            },
        )
}

fn status() -> impl Strategy<Value = Event> {
    prop_oneof![
        Just(Status::Idle),
        Just(Status::Busy),
        Just(Status::Waiting),
        (any::<u32>(), text()).prop_map(|(attempt, reason)| Status::Retry {
            attempt,
            reason,
            at: Time::from_unix_milliseconds(0).unwrap(),
        }),
    ]
    .prop_map(Event::Status)
}

fn verdict() -> impl Strategy<Value = Event> {
    let by = prop_oneof![
        Just(DecidedBy::Policy),
        Just(DecidedBy::Pod),
        text().prop_map(|name| DecidedBy::Hook { name }),
        text().prop_map(|name| DecidedBy::Client {
            name,
            edited: false
        }),
    ];
    (
        call(),
        text(),
        vec(operation(), 0..3),
        ruling(),
        option::of(refusal()),
        by,
    )
        .prop_map(|(call, tool, operations, ruling, refusal, by)| {
            Event::ToolCallVerdict(ToolCallVerdict {
                part_of: None,
                call,
                tool,
                operations,
                ruling,
                refusal,
                by,
            })
        })
}

fn operation() -> impl Strategy<Value = Operation> {
    let subjects = prop_oneof![
        Just(SubjectKind::Command),
        Just(SubjectKind::Path),
        Just(SubjectKind::Tree),
        Just(SubjectKind::Url),
        Just(SubjectKind::Plain),
        Just(SubjectKind::Unknown),
    ];
    let needs = prop_oneof![
        Just(Need::Full),
        Just(Need::Restrictive),
        Just(Need::Named),
        Just(Need::Free),
        Just(Need::Derived),
        Just(Need::RunBy),
    ];
    let spans = any::<(usize, usize)>().prop_map(|(start, end)| Span { start, end });
    (
        text(),
        subjects,
        text(),
        any::<bool>(),
        needs,
        option::of(spans),
        option::of(text()),
        vec(text(), 0..3),
    )
        .prop_map(
            |(tool, subject, text, known, need, span, why, partial)| Operation {
                tool,
                subject,
                text,
                known,
                need,
                span,
                why,
                partial,
            },
        )
}

fn ruling() -> impl Strategy<Value = Ruling> {
    let verdicts = prop_oneof![
        Just(Verdict::Allow),
        Just(Verdict::Ask),
        Just(Verdict::Deny)
    ];
    let coverage = prop_oneof![
        Just(Coverage::Full),
        vec(text(), 0..3).prop_map(|why| Coverage::Partial { why }),
    ];
    (verdicts, cause(), option::of(any::<usize>()), coverage).prop_map(
        |(verdict, cause, operation, coverage)| Ruling {
            verdict,
            cause,
            operation,
            coverage,
        },
    )
}

fn cause() -> impl Strategy<Value = Cause> {
    let place = || {
        (text(), any::<u32>(), any::<u32>()).prop_map(|(file, line, column)| Place {
            file,
            line,
            column,
        })
    };
    prop_oneof![
        Just(Cause::NoPolicy),
        Just(Cause::NothingToRun),
        (text(), any::<usize>(), place(), text(), option::of(text())).prop_map(
            |(layer, rule, at, pattern, message)| Cause::Rule {
                layer,
                rule,
                at,
                pattern,
                message
            }
        ),
        (text(), place()).prop_map(|(layer, at)| Cause::Default { layer, at }),
        (
            text(),
            option::of(any::<usize>()),
            option::of(place()),
            text()
        )
            .prop_map(|(layer, rule, at, why)| Cause::Unresolved {
                layer,
                rule,
                at,
                why
            }),
        Just(Cause::Unrestricted),
        text().prop_map(|layer| Cause::Unnamed { layer }),
        Just(Cause::Repeated),
        text().prop_map(|why| Cause::BadCall { why }),
        Just(Cause::UnknownTool),
        Just(Cause::NotJudged),
    ]
}

fn refusal() -> impl Strategy<Value = RefusalCause> {
    prop_oneof![
        Just(RefusalCause::Policy),
        Just(RefusalCause::NoClient),
        (text(), text()).prop_map(|(name, text)| RefusalCause::Hook { name, text }),
        (text(), text()).prop_map(|(name, why)| RefusalCause::HookFailed { name, why }),
        Just(RefusalCause::NotJudged),
        Just(RefusalCause::BadCall),
        Just(RefusalCause::UnknownTool),
        Just(RefusalCause::Cancelled),
        Just(RefusalCause::PodStopped),
        Just(RefusalCause::Interrupted),
    ]
}

fn outcome() -> impl Strategy<Value = ToolOutcome> {
    prop_oneof![
        Just(ToolOutcome::Done),
        Just(ToolOutcome::Failed),
        refusal().prop_map(|cause| ToolOutcome::Refused { cause }),
        refusal().prop_map(|cause| ToolOutcome::Stopped { cause }),
    ]
}

fn turn_end() -> impl Strategy<Value = TurnEndReason> {
    prop_oneof![
        Just(TurnEndReason::Done),
        text().prop_map(|name| TurnEndReason::Limit {
            limit: LimitName(name)
        }),
        text().prop_map(|reason| TurnEndReason::Aborted { reason }),
        Just(TurnEndReason::Cancelled),
        Just(TurnEndReason::Failed),
    ]
}
