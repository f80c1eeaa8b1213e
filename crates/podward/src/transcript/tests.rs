use podward_protocol::{
    CallCount, CallId, Cause, Confinement, ConfinementLevel, Coverage, DecidedBy, Event, Place,
    RefusalCause, Ruling, SessionStarted, SkillEndReason, SkillEnded, SkillStarted, SkillStarter,
    TextDelta, ToolCallArguments, ToolCallFinished, ToolCallVerdict, ToolOutcome, TurnEndReason,
    TurnEnded, Verdict,
};
use serde_json::json;

use super::{Asked, Piece, Transcript};
use crate::screen::{Screen, Stream};

const PIPE: Stream = Stream {
    is_terminal: false,
    is_colored: false,
};
const TERMINAL: Stream = Stream {
    is_terminal: true,
    is_colored: false,
};

fn skill(by: SkillStarter, n_tools: Option<u64>, allowed: Option<&[&str]>) -> Event {
    let written = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
    Event::SkillStarted(SkillStarted {
        name: "look".to_owned(),
        digest: "sha256:0".to_owned(),
        n_tools,
        allowed_tools: allowed.map(written),
        disallowed_tools: Vec::new(),
        by,
    })
}

#[test]
fn a_skill_is_shown_with_what_it_leaves() {
    let ended = |why| {
        let name = "look".to_owned();
        Event::SkillEnded(SkillEnded { name, why })
    };
    check(
        PIPE,
        &[
            text("a"),
            skill(
                SkillStarter::Prompt,
                Some(1),
                Some(&["Bash(git:*)", "Bash(jq:*)"]),
            ),
            ended(SkillEndReason::Turn),
            skill(SkillStarter::Session, Some(0), Some(&[])),
            ended(SkillEndReason::Client {
                name: "me".to_owned(),
            }),
            skill(SkillStarter::Prompt, None, None),
        ],
        "<a><\n>skill look active: 1 tool (allowed-tools: Bash(git:*) Bash(jq:*))\n\
         skill look ended: its turn is done\n\
         skill look still active: no tools (allowed-tools is empty)\n\
         skill look ended: by me\n\
         skill look active: it restricts no tool\n",
    );
}

/// Shows events and marks what goes to standard output.
#[track_caller]
fn screen(data: Stream) -> Screen {
    Screen {
        data,
        talk: PIPE,
        is_data_passed_on: true,
    }
}

fn check(data: Stream, events: &[Event], expected: &str) {
    let mut transcript = Transcript::new(screen(data), Asked::Nobody);
    let mut shown = String::new();
    for piece in events.iter().flat_map(|event| transcript.show(event)) {
        match piece {
            Piece::Data(text) => shown.push_str(&format!("<{text}>")),
            Piece::Talk(text) => shown.push_str(&text),
        }
    }
    assert_eq!(shown, expected);
}

fn text(text: &str) -> Event {
    Event::TextDelta(TextDelta {
        text: text.to_owned(),
    })
}

fn call(id: &str, tool: &str, arguments: serde_json::Value) -> Event {
    Event::ToolCallArguments(ToolCallArguments {
        call: CallId::new(id),
        tool: tool.to_owned(),
        arguments,
    })
}

fn denied(id: &str) -> [Event; 2] {
    [
        Event::ToolCallVerdict(ToolCallVerdict {
            allowed_by: None,
            part_of: None,
            call: CallId::new(id),
            tool: "bash".to_owned(),
            operations: Vec::new(),
            ruling: Ruling {
                verdict: Verdict::Deny,
                cause: Cause::Rule {
                    layer: "manifest".to_owned(),
                    rule: 2,
                    at: Place {
                        file: "pod.toml".to_owned(),
                        line: 7,
                        column: 1,
                    },
                    pattern: "rm *".to_owned(),
                    message: Some("no".to_owned()),
                },
                operation: Some(0),
                coverage: Coverage::Full,
            },
            refusal: Some(RefusalCause::Policy),
            by: DecidedBy::Policy,
        }),
        Event::ToolCallFinished(ToolCallFinished {
            call: CallId::new(id),
            tool: "bash".to_owned(),
            outcome: ToolOutcome::Refused {
                cause: RefusalCause::Policy,
            },
            content: "refused\n\u{1b}[2Jsecond line".to_owned(),
        }),
    ]
}

#[test]
fn a_refused_call_is_shown_with_its_rule_and_its_result() {
    let mut events = vec![
        text("I clean up."),
        call("a", "bash", json!({"command": "rm -rf x"})),
    ];
    events.extend(denied("a"));
    events.push(text("Then not.\n"));
    events.push(Event::TurnEnded(TurnEnded {
        turn: 1,
        reason: TurnEndReason::Done,
        n_refused: 1,
        n_calls: 1,
        n_steps: 1,
        children: CallCount::default(),
    }));
    check(
        PIPE,
        &events,
        "<I clean up.><\n>#1 bash  rm -rf x
#1   deny  rule 2 of manifest, `rm *` (pod.toml:7:1): no
#1   refused (by the rules)
#1   | refused
#1   | \\u{1b}[2Jsecond line
<Then not.\n>done · 1 call, 1 refused
  refused #1: by the rules, rule 2 of manifest, `rm *` (pod.toml:7:1): no
",
    );
}

#[test]
fn calls_at_the_same_time_are_told_apart_by_their_numbers() {
    let done = |id: &str| {
        Event::ToolCallFinished(ToolCallFinished {
            call: CallId::new(id),
            tool: "list".to_owned(),
            outcome: ToolOutcome::Done,
            content: String::new(),
        })
    };
    check(
        PIPE,
        &[
            call("a", "list", json!({"path": "x"})),
            call("b", "mcp__s__t", json!({"q": 1})),
            done("b"),
            done("a"),
        ],
        "#1 list  x\n#2 mcp__s__t  {\"q\":1}\n#2   done\n#1   done\n",
    );
}

#[test]
fn a_long_result_says_how_much_is_left_out() {
    let content: String = (1..=14).map(|n| format!("{n}\n")).collect();
    let finished = Event::ToolCallFinished(ToolCallFinished {
        call: CallId::new("a"),
        tool: "list".to_owned(),
        outcome: ToolOutcome::Failed,
        content,
    });
    let lines: String = (1..=10).map(|n| format!("#1   | {n}\n")).collect();
    check(
        PIPE,
        &[finished],
        &format!("#1   failed\n{lines}#1   | … (+4 lines)\n"),
    );
}

#[test]
fn what_the_model_writes_is_safe_on_a_terminal_and_unchanged_in_a_pipe() {
    let event = [text("a\u{1b}[2J\u{202e}b\n")];
    check(TERMINAL, &event, "<a\\u{1b}[2J\\u{202e}b\n>");
    check(PIPE, &event, "<a\u{1b}[2J\u{202e}b\n>");
}

#[test]
fn what_the_pod_is_made_of_is_said_first() {
    let session = Event::SessionStarted(SessionStarted {
        protocol: 1,
        version: "0.1.0".to_owned(),
        pod: "demo".to_owned(),
        workspace: "/tmp/a\nb".to_owned(),
        session_dir: "/s".to_owned(),
        model: "scripted".to_owned(),
        tools: vec!["bash".to_owned(), "read".to_owned()],
        withheld_tools: vec!["list".to_owned()],
        policy_digest: "d".to_owned(),
        confinement: Confinement {
            level: ConfinementLevel::Kernel,
            detail: "Landlock ABI 7".to_owned(),
        },
        resumed: true,
    });
    check(
        PIPE,
        &[session],
        "pod demo · model scripted, resumed
workspace  /tmp/a\\nb
tools      bash read
withheld   list (no rule could let them run)
scope      Landlock ABI 7
session    /s
",
    );
}

#[test]
fn a_retry_says_why_and_when() {
    let retry = Event::Status(podward_protocol::Status::Retry {
        attempt: 2,
        reason: "busy \u{1b}[2J".to_owned(),
        at: "2026-01-02T03:04:05.678Z".parse().unwrap(),
    });
    check(
        PIPE,
        &[retry],
        "retry: attempt 2 of the model request at 2026-01-02T03:04:05.678Z: busy \\u{1b}[2J\n",
    );
}

/// Where the pod settles a question at once, nobody is told to answer it.
#[test]
fn only_a_question_that_somebody_may_answer_waits() {
    let shown = |unasked: bool| {
        let mut request = podward_view::sample::push("a").request;
        request.unasked = unasked;
        let mut transcript = Transcript::new(screen(PIPE), Asked::Clients);
        let pieces = transcript.show(&Event::PermissionRequest(request));
        pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Data(text) | Piece::Talk(text) => text,
            })
            .collect::<String>()
    };
    assert!(
        shown(false).contains("waits for an answer to `"),
        "{}",
        shown(false)
    );
    assert_eq!(shown(true), "");
}

#[test]
fn what_a_child_asks_is_told_with_its_pod_and_call() {
    let mut request = podward_view::sample::push("r1").request;
    request.path = vec!["top".into(), "worker".into()];
    request.pod = "inner".into();
    let mut transcript = Transcript::new(screen(PIPE), Asked::Clients);
    let pieces = transcript.show(&Event::PermissionRequest(request.clone()));
    let text = format!("{pieces:?}");
    let says = format!(
        "waits for an answer to `r1`, top > worker > inner  {}  ",
        request.tool
    );
    assert!(text.contains(&says), "{text}");
    assert!(text.contains(": podward pending top"), "{text}");
}
