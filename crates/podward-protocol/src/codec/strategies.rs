//! Values of every kind that goes over the wire.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value};

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

fn verdict() -> impl Strategy<Value = Event> {
    (
        call(),
        text(),
        vec(operation(), 0..3),
        ruling(),
        option::of(refusal()),
        decided_by(),
        option::of(change()),
    )
        .prop_map(
            |(call, tool, operations, ruling, refusal, by, allowed_by)| {
                Event::ToolCallVerdict(ToolCallVerdict {
                    allowed_by,
                    part_of: None,
                    call,
                    tool,
                    operations,
                    ruling,
                    refusal,
                    by,
                })
            },
        )
}

fn place() -> impl Strategy<Value = Place> {
    (text(), any::<u32>(), any::<u32>()).prop_map(|(file, line, column)| Place {
        file,
        line,
        column,
    })
}

fn change() -> impl Strategy<Value = Change> {
    let stands = prop_oneof![
        Just(Stands::Anywhere),
        place().prop_map(|at| Stands::Before { at }),
        Just(Stands::First),
    ];
    let rule = (text(), stands, text(), text(), text()).prop_map(
        |(layer, stands, tool, pattern, toml)| RuleToAdd {
            layer,
            stands,
            tool,
            pattern,
            toml,
        },
    );
    prop_oneof![
        vec(rule, 0..2).prop_map(|rules| Change::Rules { rules }),
        text().prop_map(|why| Change::None { why }),
        Just(Change::LeftOut),
    ]
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
        (text(), text(), skill_says(place())).prop_map(|(name, digest, says)| Cause::Skill {
            name,
            digest,
            says
        }),
        Just(Cause::Repeated),
        text().prop_map(|why| Cause::BadCall { why }),
        Just(Cause::UnknownTool),
        Just(Cause::NotJudged),
    ]
}

fn skill_says(place: impl Strategy<Value = Place>) -> impl Strategy<Value = SkillSays> {
    prop_oneof![
        text().prop_map(|list| SkillSays::NotListed { list }),
        (text(), place).prop_map(|(entry, at)| SkillSays::Disallowed { entry, at }),
        (option::of(text()), text()).prop_map(|(list, why)| SkillSays::Unresolved { list, why }),
    ]
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

fn decided_by() -> impl Strategy<Value = DecidedBy> {
    prop_oneof![
        Just(DecidedBy::Policy),
        Just(DecidedBy::Pod),
        Just(DecidedBy::Auto),
        text().prop_map(|name| DecidedBy::Hook { name }),
        (text(), any::<bool>()).prop_map(|(name, edited)| DecidedBy::Client { name, edited }),
        (vec(grant_id(), 1..3), text())
            .prop_map(|(grants, name)| DecidedBy::Grants { grants, name }),
    ]
}

fn approvals() -> impl Strategy<Value = Event> {
    let end = prop_oneof![
        Just(GrantEnd::Revoked),
        Just(GrantEnd::Expired),
        Just(GrantEnd::UsedUp),
    ];
    prop_oneof![
        permission_request().prop_map(Event::PermissionRequest),
        settled().prop_map(Event::PermissionSettled),
        grant().prop_map(|grant| Event::GrantAdded(GrantAdded { grant })),
        (grant_id(), end).prop_map(|(id, reason)| Event::GrantRevoked(GrantRevoked { id, reason })),
    ]
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

fn permission_request() -> impl Strategy<Value = PermissionRequest> {
    let reasons = prop_oneof![
        Just(AskReason::Policy),
        Just(AskReason::PolicyRepeated),
        Just(AskReason::Repeated),
        Just(AskReason::Resumed)
    ];
    let what = (
        any::<[String; 4]>(),
        json(),
        vec(operation(), 0..3),
        ruling(),
        reasons,
    );
    let ids = (request_id(), call(), option::of(call()), vec(text(), 0..2));
    let answers = (vec(asking(), 0..3), vec(choice(), 0..3), option::of(text()));
    let times = (time(), option::of(time()));
    (ids, what, answers, times).prop_map(|(ids, what, answers, times)| {
        let (id, call, part_of, path) = ids;
        let ([pod, tool, cwd, digest], arguments, operations, ruling, reason) = what;
        let (asking, choices, no_always) = answers;
        PermissionRequest {
            id,
            pod,
            path,
            call,
            part_of,
            tool,
            arguments,
            cwd,
            operations,
            ruling,
            reason,
            asking,
            choices,
            unasked: no_always.is_some(),
            always_in: no_always.clone(),
            no_always,
            digest,
            asked_at: times.0,
            expires_at: times.1,
        }
    })
}

fn asking() -> impl Strategy<Value = Asking> {
    (any::<usize>(), asker(), any::<bool>()).prop_map(|(operation, asker, grantable)| Asking {
        operation,
        asker,
        grantable,
    })
}

fn asker() -> impl Strategy<Value = Asker> {
    let by = prop_oneof![
        (text(), text()).prop_map(|(tool, pattern)| AskedBy::Rule { tool, pattern }),
        Just(AskedBy::Default),
        Just(AskedBy::Unresolved),
        Just(AskedBy::Unnamed),
    ];
    (text(), by).prop_map(|(layer, by)| Asker { layer, by })
}

fn choice() -> impl Strategy<Value = Choice> {
    let widths = prop_oneof![
        Just(Width::Exact),
        Just(Width::Similar),
        Just(Width::Subcommand),
        Just(Width::Program),
        Just(Width::File),
        Just(Width::Directory),
        Just(Width::Url),
        Just(Width::Host),
        Just(Width::SameArguments),
        Just(Width::Tool),
    ];
    let part =
        (any::<usize>(), text(), text(), widths).prop_map(|(operation, tool, pattern, width)| {
            ChoicePart {
                operation,
                tool,
                pattern,
                width,
            }
        });
    vec(part, 0..3).prop_map(|parts| Choice { parts })
}

fn settled() -> impl Strategy<Value = PermissionSettled> {
    (request_id(), settled_as(), decided_by()).prop_map(|(id, outcome, by)| PermissionSettled {
        id,
        outcome,
        by,
    })
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
        Just(Outcome::ClientGone),
        Just(Outcome::Cancelled),
        Just(Outcome::PodStopped),
        Just(Outcome::Interrupted),
        Just(Outcome::Policy),
        (text(), text()).prop_map(|(name, text)| Outcome::Hook { name, text }),
        (text(), text()).prop_map(|(name, why)| Outcome::HookFailed { name, why }),
    ]
}

fn grant() -> impl Strategy<Value = Grant> {
    let rule = (text(), text(), vec(asker(), 0..2)).prop_map(|(tool, pattern, askers)| GrantRule {
        tool,
        pattern,
        askers,
    });
    (
        grant_id(),
        vec(rule, 0..3),
        lasts(),
        text(),
        time(),
        text(),
        option::of(time()),
        option::of(any::<u32>()),
    )
        .prop_map(
            |(id, rules, lasts, by, at, why, expires_at, uses_left)| Grant {
                id,
                rules,
                lasts,
                by,
                at,
                why,
                expires_at,
                uses_left,
            },
        )
}

fn lasts() -> impl Strategy<Value = GrantFor> {
    prop_oneof![
        Just(GrantFor::Session),
        Just(GrantFor::Project),
        time().prop_map(|time| GrantFor::Until { time }),
        any::<u32>().prop_map(|n| GrantFor::Uses { n }),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    let patterns = (any::<usize>(), text())
        .prop_map(|(operation, pattern)| ChosenPattern { operation, pattern });
    let what = prop_oneof![
        any::<usize>().prop_map(Chosen::Width),
        vec(patterns, 0..3).prop_map(Chosen::Patterns),
    ];
    prop_oneof![
        Just(Answer::Once),
        (what, lasts()).prop_map(|(what, lasts)| Answer::Always(Always { what, lasts })),
        option::of(text()).prop_map(|feedback| Answer::Reject { feedback }),
        object().prop_map(|arguments| Answer::Edit { arguments }),
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
            Method::PermissionReply(PermissionReply { id, digest, answer })
        }),
        option::of(text())
            .prop_map(|feedback| Method::PermissionRejectAll(PermissionRejectAll { feedback })),
        (option::of(grant_id()), limit())
            .prop_map(|(after, limit)| Method::GrantsList(GrantsList { after, limit })),
        grant_id().prop_map(|id| Method::GrantsRevoke(GrantsRevoke { id })),
        text().prop_map(|name| Method::SkillEnd(SkillEnd { name })),
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
        all_settled().prop_map(Reply::PermissionRejectAll),
        (vec(grant(), 0..3), any::<bool>())
            .prop_map(|(grants, more)| Reply::GrantsList(Grants { grants, more })),
        grant().prop_map(|grant| Reply::GrantsRevoke(Revoked { grant })),
        option::of(any::<u64>()).prop_map(|turn| Reply::SkillEnd(SkillEndStarted { turn })),
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
