//! A question to test with.

use podward_protocol::{
    AskReason, AskedBy, Asker, Asking, CallId, Cause, Choice, ChoicePart, Circumstances, Coverage,
    Need, Operation, PermissionRequest, Place, RequestId, Ruling, Span, SubjectKind, Time, Verdict,
    Width,
};
use serde_json::json;

use crate::{Before, Question};

/// 2026-01-02T03:04:05.678Z
const ASKED_AT: i64 = 1_767_323_045_678;

/// `git push` as a part of a line, by the default of the manifest.
#[must_use]
pub fn push(id: &str) -> Question {
    let part = |pattern: &str, width| ChoicePart {
        operation: 1,
        tool: "bash".to_owned(),
        pattern: pattern.to_owned(),
        width,
        given: Circumstances::default(),
    };
    let request = PermissionRequest {
        id: RequestId::new(id),
        pod: "test".to_owned(),
        path: Vec::new(),
        call: CallId::new(id),
        part_of: None,
        redirected_from: Vec::new(),
        tool: "bash".to_owned(),
        arguments: json!({"command": "git fetch && git push origin main", "timeout_ms": 5}),
        skill: None,
        cwd: "/work".to_owned(),
        operations: vec![
            command("git fetch", 0..9),
            command("git push origin main", 13..33),
        ],
        ruling: Ruling {
            verdict: Verdict::Ask,
            cause: Cause::Default {
                layer: "manifest".to_owned(),
                at: Place {
                    file: "pod.toml".to_owned(),
                    line: 8,
                    column: 1,
                },
            },
            operation: Some(1),
            coverage: Coverage::Full,
        },
        reason: AskReason::Policy,
        asking: vec![Asking {
            operation: 1,
            asker: Asker {
                layer: "manifest".to_owned(),
                by: AskedBy::Default,
            },
            grantable: true,
        }],
        choices: vec![
            Choice {
                parts: vec![part("git push origin main", Width::Exact)],
            },
            Choice {
                parts: vec![part("git push *", Width::Subcommand)],
            },
        ],
        no_always: None,
        unasked: false,
        always_in: None,
        digest: format!("digest of {id}"),
        asked_at: Time::from_unix_milliseconds(ASKED_AT).unwrap_or(Time::UNIX_EPOCH),
        expires_at: None,
    };
    Question {
        request,
        before: Before::Unknown,
    }
}

/// A command as a part of a line.
#[must_use]
pub fn command(text: &str, span: std::ops::Range<usize>) -> Operation {
    Operation {
        tool: "bash".to_owned(),
        subject: SubjectKind::Command,
        text: text.to_owned(),
        spelled: None,
        leads_to: None,
        known: true,
        need: Need::Full,
        span: Some(Span {
            start: span.start,
            end: span.end,
        }),
        why: None,
        partial: Vec::new(),
    }
}
