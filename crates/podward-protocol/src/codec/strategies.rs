//! Values of every kind that goes over the wire.

mod children;
mod explanations;
mod questions;
mod verdicts;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value};

use self::children::*;
use self::explanations::*;
use self::questions::*;
use self::verdicts::*;
use crate::*;

pub(crate) fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        session_started(),
        approvals(),
        skills(),
        connection(),
        (text(), option::of(text()))
            .prop_map(|(message, help)| Event::Notice(Notice { message, help })),
        status(),
        (any::<u64>(), text())
            .prop_map(|(turn, prompt)| Event::TurnStarted(TurnStarted { turn, prompt })),
        worked(),
        child_worked(),
        text().prop_map(|text| Event::ThinkingDelta(TextDelta { text })),
        (call(), text())
            .prop_map(|(call, tool)| Event::ToolCallStarted(ToolCallStarted { call, tool })),
        any::<[u64; 5]>().prop_map(|[a, b, c, d, e]| {
            Event::Usage(Usage {
                input_tokens: a,
                output_tokens: b,
                total_input_tokens: c,
                total_output_tokens: d,
                n_steps: e,
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
        (
            any::<u64>(),
            turn_end(),
            any::<u64>(),
            any::<u64>(),
            any::<u64>(),
            calls_of_children()
        )
            .prop_map(|(turn, reason, n_refused, n_calls, n_steps, children)| {
                Event::TurnEnded(TurnEnded {
                    turn,
                    reason,
                    n_refused,
                    n_calls,
                    n_steps,
                    children,
                })
            }),
    ]
}

fn calls_of_children() -> impl Strategy<Value = CallCount> {
    // Without a call, none is refused.
    any::<[u32; 2]>().prop_map(|[done, refused]| CallCount {
        n_calls: u64::from(done) + u64::from(refused),
        n_refused: refused.into(),
    })
}

pub(crate) fn text() -> impl Strategy<Value = String> {
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
            at: Time::UNIX_EPOCH,
        }),
    ]
    .prop_map(Event::Status)
}

fn skills() -> impl Strategy<Value = Event> {
    let started_by = prop_oneof![
        Just(SkillStarter::Prompt),
        call().prop_map(|call| SkillStarter::Model { call }),
        Just(SkillStarter::Session),
    ];
    let why = prop_oneof![
        Just(SkillEndReason::Turn),
        text().prop_map(|name| SkillEndReason::Client { name }),
    ];
    prop_oneof![
        (
            [text(), text()],
            option::of(any::<u64>()),
            option::of(vec(text(), 0..3)),
            vec(text(), 0..3),
            started_by,
        )
            .prop_map(
                |([name, digest], n_tools, allowed_tools, disallowed_tools, by)| {
                    Event::SkillStarted(SkillStarted {
                        name,
                        digest,
                        n_tools,
                        allowed_tools,
                        disallowed_tools,
                        by,
                    })
                }
            ),
        (text(), why).prop_map(|(name, why)| Event::SkillEnded(SkillEnded { name, why })),
    ]
}

fn refusal() -> impl Strategy<Value = RefusalCause> {
    prop_oneof![
        Just(RefusalCause::Policy),
        Just(RefusalCause::NoClient),
        Just(RefusalCause::NotAuto),
        Just(RefusalCause::TooLarge),
        text().prop_map(|error| RefusalCause::Futile { error }),
        (text(), option::of(text()))
            .prop_map(|(name, feedback)| RefusalCause::Rejected { name, feedback }),
        Just(RefusalCause::Expired),
        Just(RefusalCause::ClientGone),
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

fn time() -> impl Strategy<Value = Time> {
    (0_i64..4_000_000_000_000).prop_map(|at| Time::from_unix_milliseconds(at).unwrap())
}

fn session() -> impl Strategy<Value = SessionId> {
    any::<u128>().prop_map(SessionId::from_bits)
}

fn request_id() -> impl Strategy<Value = RequestId> {
    text().prop_map(RequestId::new)
}

fn grant_id() -> impl Strategy<Value = GrantId> {
    text().prop_map(GrantId::new)
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    vec((text(), json()), 0..3).prop_map(|pairs| pairs.into_iter().collect())
}

fn connection() -> impl Strategy<Value = Event> {
    let reasons = prop_oneof![
        Just(CloseReason::TooSlow),
        Just(CloseReason::Silent),
        Just(CloseReason::BadLine),
        Just(CloseReason::Stopping),
        Just(CloseReason::Internal),
    ];
    let client = || (any::<u64>(), text(), any::<bool>());
    prop_oneof![
        client().prop_map(
            |(client, name, can_approve)| Event::ClientJoined(ClientJoined {
                client,
                name,
                can_approve,
            })
        ),
        client().prop_map(|(client, name, can_approve)| Event::ClientLeft(ClientLeft {
            client,
            name,
            can_approve,
        })),
        Just(Event::SnapshotStarted(SnapshotStarted {})),
        any::<u64>().prop_map(|seq| Event::SnapshotEnd(SnapshotEnd { seq })),
        any::<u64>().prop_map(|n| Event::Ping(Ping { n })),
        (reasons, text()).prop_map(|(reason, message)| Event::Closing(Closing { reason, message })),
    ]
}

pub(crate) fn settled_as() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::ApprovedOnce),
        vec(grant_id(), 1..3).prop_map(|grants| Outcome::ApprovedAlways { grants }),
        Just(Outcome::ApprovedEdited),
        Just(Outcome::Auto),
        Just(Outcome::Rejected),
        text().prop_map(|feedback| Outcome::RejectedWithFeedback { feedback }),
        Just(Outcome::Expired),
        Just(Outcome::NoClient),
        Just(Outcome::NotAuto),
        Just(Outcome::TooLarge),
        text().prop_map(|error| Outcome::Futile { error }),
        Just(Outcome::ClientGone),
        Just(Outcome::Cancelled),
        Just(Outcome::PodStopped),
        Just(Outcome::Interrupted),
        Just(Outcome::Policy),
        (text(), text()).prop_map(|(name, text)| Outcome::Hook { name, text }),
        (text(), text()).prop_map(|(name, why)| Outcome::HookFailed { name, why }),
    ]
}

pub(crate) fn methods() -> impl Strategy<Value = Method> {
    let names = || option::of(vec(text(), 0..3));
    let limit = || option::of(any::<u32>());
    prop_oneof![
        hello().prop_map(Method::Hello),
        (option::of(text()), option::of(text()))
            .prop_map(|(prompt, skill)| Method::Run(Run { prompt, skill })),
        Just(Method::Cancel(Cancel {})),
        Just(Method::Stop(Stop {})),
        names().prop_map(|events| Method::Subscribe(Subscribe { events })),
        (option::of(request_id()), limit())
            .prop_map(|(after, limit)| Method::PermissionList(PermissionList { after, limit })),
        (request_id(), text(), answer()).prop_map(|(id, digest, answer)| {
            Method::PermissionReply(PermissionReply {
                id,
                digest,
                answer,
                by: None,
            })
        }),
        preview().prop_map(Method::PermissionPreview),
        option::of(text())
            .prop_map(|feedback| Method::PermissionRejectAll(PermissionRejectAll { feedback })),
        (option::of(grant_id()), limit())
            .prop_map(|(after, limit)| Method::GrantsList(GrantsList { after, limit })),
        grant_id().prop_map(|id| Method::GrantsRevoke(GrantsRevoke { id })),
        (text(), object())
            .prop_map(|(tool, arguments)| Method::Explain(Explain { tool, arguments })),
        call().prop_map(|call| Method::ExplainCall(ExplainCall { call })),
        text().prop_map(|name| Method::SkillEnd(SkillEnd { name })),
        any::<bool>().prop_map(|can_approve| Method::Attend(Attend { can_approve })),
        any::<u64>().prop_map(|n| Method::Pong(Pong { n })),
    ]
}

fn hello() -> impl Strategy<Value = Hello> {
    (
        any::<u32>(),
        text(),
        option::of(text()),
        any::<bool>(),
        option::of(vec(text(), 0..3)),
    )
        .prop_map(|(protocol, client, version, can_approve, events)| Hello {
            protocol,
            client,
            version,
            can_approve,
            events,
        })
}

pub(crate) fn replies() -> impl Strategy<Value = Reply> {
    let all_settled = || vec(settled(), 0..3).prop_map(|settled| Settled { settled });
    prop_oneof![
        welcome().prop_map(Reply::Hello),
        any::<u64>().prop_map(|turn| Reply::Run(RunStarted { turn })),
        any::<u64>().prop_map(|turn| Reply::Cancel(CancelStarted { turn })),
        Just(Reply::Stop(StopStarted {})),
        vec(text(), 0..3).prop_map(|events| Reply::Subscribe(Subscribed { events })),
        (vec(permission_request(), 0..3), any::<bool>())
            .prop_map(|(requests, more)| Reply::PermissionList(OpenRequests { requests, more })),
        all_settled().prop_map(Reply::PermissionReply),
        previewed().prop_map(Reply::PermissionPreview),
        all_settled().prop_map(Reply::PermissionRejectAll),
        (vec(grant(), 0..3), any::<bool>())
            .prop_map(|(grants, more)| Reply::GrantsList(Grants { grants, more })),
        grant().prop_map(|grant| Reply::GrantsRevoke(Revoked { grant })),
        explanation().prop_map(|explanation| Reply::Explain(Box::new(explanation))),
        explained_call().prop_map(|explained| Reply::ExplainCall(Box::new(explained))),
        option::of(any::<u64>()).prop_map(|turn| Reply::SkillEnd(SkillEndStarted { turn })),
        any::<bool>().prop_map(|can_approve| Reply::Attend(AttendHeard { can_approve })),
        Just(Reply::Pong(PongHeard {})),
    ]
}

fn welcome() -> impl Strategy<Value = Welcome> {
    (
        any::<u32>(),
        any::<[String; 2]>(),
        vec(text(), 0..2),
        session(),
        any::<[u64; 3]>(),
        any::<bool>(),
    )
        .prop_map(|(protocol, texts, path, session, numbers, can_approve)| {
            let [version, pod] = texts;
            let [client, ping_interval_ms, max_request_bytes] = numbers;
            Welcome {
                protocol,
                version,
                pod,
                path,
                session,
                client,
                can_approve,
                ping_interval_ms,
                max_request_bytes,
            }
        })
}

pub(crate) fn method_errors() -> impl Strategy<Value = MethodError> {
    (error_codes(), text(), option::of(text())).prop_map(|(code, message, help)| MethodError {
        code,
        message,
        help,
    })
}

pub(crate) fn error_codes() -> impl Strategy<Value = MethodErrorCode> {
    let plain = proptest::sample::select(vec![
        MethodErrorCode::Malformed,
        MethodErrorCode::TooLong,
        MethodErrorCode::UnknownMethod,
        MethodErrorCode::InvalidParams,
        MethodErrorCode::HelloFirst,
        MethodErrorCode::NotAllowed,
        MethodErrorCode::TooMany,
        MethodErrorCode::Busy,
        MethodErrorCode::Idle,
        MethodErrorCode::NothingToResume,
        MethodErrorCode::UnknownRequest,
        MethodErrorCode::DigestMismatch,
        MethodErrorCode::EditInvalid,
        MethodErrorCode::NotGrantable,
        MethodErrorCode::UnknownCall,
        MethodErrorCode::UnknownGrant,
        MethodErrorCode::UnknownSkill,
        MethodErrorCode::SkillRefused,
        MethodErrorCode::Storage,
        MethodErrorCode::Stopping,
        MethodErrorCode::Internal,
    ]);
    prop_oneof![
        plain,
        any::<u32>().prop_map(|protocol| MethodErrorCode::Version { protocol }),
        (settled_as(), decided_by()).prop_map(|(outcome, by)| MethodErrorCode::AlreadySettled(
            Box::new(AlreadySettled { outcome, by })
        )),
        (vec(operation(), 0..3), ruling()).prop_map(|(operations, ruling)| {
            MethodErrorCode::EditDenied(Box::new(EditDenied { operations, ruling }))
        }),
        any::<usize>().prop_map(|operation| MethodErrorCode::PatternRefused { operation }),
    ]
}
