//! Screens, as they are checked in: `PODWARD_UPDATE_SCREENS=1` writes them anew.

use std::path::PathBuf;

use podward_protocol::{
    AskReason, CallCount, CallId, Cause, Coverage, DecidedBy, Event, ExplainedCall,
    ExplainedOperation, Explanation, LayerSays, Operation, Place, Preview, PreviewPart, Reply,
    Ruling, Status, TextDelta, Time, ToolCallArguments, ToolCallFinished, ToolCallVerdict,
    ToolOutcome, TurnEndReason, TurnEnded, TurnStarted, Verdict,
};
use podward_view::sample::{command, push};
use podward_view::{Before, Question};
use serde_json::{Value, json};

use super::{Desk, found};
use crate::app::App;
use crate::input::{Input, PodNews, Refused};
use crate::keys::Keys;

/// Compares a screen with the one that is checked in.
#[track_caller]
fn check(name: &str, desk: &mut Desk) {
    let shown = desk.shows();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("screens/{name}.txt"));
    if std::env::var_os("PODWARD_UPDATE_SCREENS").is_some() {
        std::fs::write(&path, &shown).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, expected, "{}", path.display());
}

/// A question of one part.
fn asks(tool: &str, arguments: Value) -> Question {
    let mut question = push("a");
    let request = &mut question.request;
    request.tool = tool.to_owned();
    request.arguments = arguments;
    request.operations.truncate(1);
    let subject = ["path", "url"]
        .iter()
        .find_map(|key| request.arguments.get(key));
    let subject = subject.map_or_else(
        || request.arguments.to_string(),
        |subject| subject.as_str().unwrap().to_owned(),
    );
    for operation in &mut request.operations {
        operation.tool = tool.to_owned();
        operation.span = None;
        operation.text.clone_from(&subject);
    }
    for asking in &mut request.asking {
        asking.operation = 0;
    }
    request.ruling.operation = Some(0);
    request.choices.clear();
    question
}

pub(super) fn by_default() -> Cause {
    Cause::Default {
        layer: "manifest".to_owned(),
        at: place(8),
    }
}

fn bash(text: &str) -> Question {
    let mut question = push("a");
    let request = &mut question.request;
    request.arguments = json!({ "command": text });
    request.operations = vec![command(text, 0..text.len())];
    request.asking.clear();
    request.ruling.operation = Some(0);
    request.choices.clear();
    question
}

fn place(line: u32) -> Place {
    Place {
        file: "pod.toml".to_owned(),
        line,
        column: 1,
    }
}

/// How the two parts of `git fetch && git push` came to their verdicts.
fn explained(question: &Question) -> Reply {
    let rule = Cause::Rule {
        layer: "manifest".to_owned(),
        rule: 1,
        at: place(12),
        pattern: "git fetch*".to_owned(),
        message: None,
    };
    let says = |verdict, cause| LayerSays {
        layer: "manifest".to_owned(),
        verdict,
        cause,
        n_rules: 2,
        tried: Vec::new(),
        later: Vec::new(),
        nearest_allow: None,
    };
    let part = |operation: &Operation, says| ExplainedOperation {
        operation: operation.clone(),
        holes: Vec::new(),
        forms: Vec::new(),
        layers: vec![says],
    };
    let operations = &question.request.operations;
    let now = Explanation {
        ruling: question.request.ruling.clone(),
        operations: vec![
            part(&operations[0], says(Verdict::Allow, rule)),
            part(&operations[1], says(Verdict::Ask, by_default())),
        ],
        change: None,
        shortened: false,
    };
    Reply::ExplainCall(Box::new(ExplainedCall {
        session: super::session(0),
        call: CallId::new("a"),
        pod: "demo".to_owned(),
        part_of: None,
        tool: "bash".to_owned(),
        arguments: question.request.arguments.clone(),
        workspace: "/work".to_owned(),
        cwd: "/work".to_owned(),
        decisions: Vec::new(),
        then: now.clone(),
        policy_digest: "d".to_owned(),
        policy_digest_now: None,
        now: Some(now),
        why_not_now: None,
    }))
}

fn preview() -> Reply {
    let texts = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
    Reply::PermissionPreview(Preview {
        parts: vec![PreviewPart {
            operation: 1,
            covers: texts([
                "git push origin other",
                "git push origin main more",
                "git push origin main --force",
            ]),
            covers_not: texts(["git other", "git", "sudo git push origin main"]),
        }],
    })
}

#[test]
fn a_compound_command_has_a_verdict_for_each_part() {
    for (name, columns, rows) in [("compound-80x24", 80, 24), ("compound-200x50", 200, 50)] {
        let mut desk = Desk::new(columns, rows, &["demo"]);
        let question = push("a");
        desk.asked(&question);
        let target = desk.target();
        desk.news(0, PodNews::Replied(target, Ok(explained(&question))));
        check(name, &mut desk);
    }
}

#[test]
fn a_question_that_has_just_come_says_that_keys_do_not_count() {
    let mut desk = Desk::usual();
    desk.asks(0, &bash("git push origin main"));
    check("guarded", &mut desk);
}

#[test]
fn edits_and_writes_are_shown_as_changes() {
    let mut desk = Desk::usual();
    let edit = json!({"path": "src/main.rs", "old_string": "fn main() {\n    old();\n}\n",
                      "new_string": "fn main() {\n    new();\n    more();\n}\n"});
    desk.asked(&asks("file_edit", edit));
    check("file-edit", &mut desk);

    let mut desk = Desk::usual();
    let write = || json!({"path": "notes.md", "content": "one\ntwo, changed\nthree\n"});
    desk.asked(&asks("file_write", write()));
    let before = Before::Text("one\ntwo\nthree\n".to_owned());
    let id = podward_protocol::RequestId::new("a");
    desk.news(0, PodNews::Looked(id.clone(), before));
    check("file-write", &mut desk);

    let mut desk = Desk::usual();
    desk.asked(&asks("file_write", write()));
    desk.news(0, PodNews::Looked(id, Before::Missing));
    check("file-write-new", &mut desk);
}

#[test]
fn other_tools_show_all_that_they_are_given() {
    for (name, tool, arguments) in [
        (
            "web-fetch",
            "web_fetch",
            json!({"url": "https://example.com/a?b=c"}),
        ),
        ("read", "read", json!({"path": "/etc/passwd"})),
        (
            "mcp",
            "mcp__tracker__close",
            json!({"issue": 7, "reason": "done \u{202e}enod"}),
        ),
        (
            "skill",
            "skill",
            json!({"name": "release", "arguments": "1.2"}),
        ),
    ] {
        let mut desk = Desk::usual();
        desk.asked(&asks(tool, arguments));
        check(name, &mut desk);
    }
}

#[test]
fn what_a_terminal_would_obey_or_hide_is_shown() {
    let mut desk = Desk::usual();
    desk.asked(&bash(
        "echo \u{1b}[2J\u{202e}gnp.exe\u{200b} # \u{7}\u{a0}ok\r",
    ));
    check("invisible", &mut desk);
}

#[test]
fn blank_lines_before_a_dangerous_tail_are_counted() {
    let mut desk = Desk::usual();
    let text = format!("ls{}rm -rf ~", "\n".repeat(61));
    desk.asked(&bash(&text));
    check("blank-lines", &mut desk);
}

#[test]
fn a_long_command_is_scrolled_to_its_end() {
    let mut desk = Desk::usual();
    let text = format!("echo {}; rm -rf src", "abcdefghi ".repeat(400));
    desk.asked(&bash(&text));
    check("long-first", &mut desk);
    desk.keys("y");
    check("long-not-yet", &mut desk);
    desk.keys("    ");
    desk.wait(600);
    check("long-last", &mut desk);
}

#[test]
fn what_is_not_known_and_when_it_ends_is_said() {
    let mut desk = Desk::usual();
    let mut question = bash("make \"$target\"");
    question.request.ruling.coverage = Coverage::Partial {
        why: vec!["`make` runs what the Makefile says".to_owned()],
    };
    let end = desk.now.wall + 272_000 + 600;
    question.request.expires_at = Time::from_unix_milliseconds(end).ok();
    question.request.no_always = Some("a part of it is not known before it runs".to_owned());
    desk.asked(&question);
    check("partial-expiring", &mut desk);
}

#[test]
fn a_repeated_call_says_so() {
    let mut desk = Desk::usual();
    let mut question = bash("ls");
    question.request.reason = AskReason::Repeated;
    question.request.ruling.cause = Cause::Repeated;
    desk.asked(&question);
    check("repeated", &mut desk);
}

#[test]
fn always_shows_what_it_would_save_with_examples_and_asks_back() {
    let mut desk = Desk::usual();
    desk.asked(&push("a"));
    desk.keys("a");
    check("always", &mut desk);
    desk.keys("2");
    let target = desk.target();
    desk.news(0, PodNews::Replied(target, Ok(preview())));
    desk.code(
        crossterm::event::KeyCode::Right,
        crossterm::event::KeyModifiers::NONE,
    );
    check("always-wide", &mut desk);
    desk.keys("ex");
    let target = desk.target();
    let refused = podward_protocol::MethodError::new(
        podward_protocol::MethodErrorCode::PatternRefused { operation: 1 },
        "the pattern for part 2 of the call is refused: the pattern does not match this call",
    );
    desk.news(0, PodNews::Replied(target, Err(Refused::ByPod(refused))));
    check("always-typed", &mut desk);
    desk.code(
        crossterm::event::KeyCode::Backspace,
        crossterm::event::KeyModifiers::NONE,
    );
    let target = desk.target();
    desk.news(0, PodNews::Replied(target, Ok(preview())));
    desk.keys("\u{1b}a");
    desk.wait(600);
    check("always-confirm", &mut desk);
    desk.keys("y");
    assert_eq!(
        desk.answers().last().map(|(_, answer)| answer.clone()),
        Some(podward_protocol::Answer::Always(podward_protocol::Always {
            what: podward_protocol::Chosen::Width(1),
            lasts: podward_protocol::GrantFor::Project,
        }))
    );
    check("replying", &mut desk);
}

#[test]
fn a_no_can_say_why_and_an_edit_is_shown_before_it_runs() {
    let mut desk = Desk::usual();
    desk.asked(&bash("git push origin main"));
    desk.keys("ruse a branch of your own");
    check("feedback", &mut desk);
    desk.keys("\u{1b}");
    desk.wait(600);
    desk.keys("e --dry-run");
    check("arguments", &mut desk);
    desk.control('s');
    desk.judged(Verdict::Allow);
    desk.shows();
    desk.wait(600);
    check("changed", &mut desk);
}

#[test]
fn who_was_faster_is_said_and_the_next_question_comes() {
    let mut desk = Desk::new(80, 24, &["demo", "other"]);
    desk.asked(&bash("git push origin main"));
    let mut child = push("b");
    child.request.path = vec!["lead".to_owned()];
    child.request.pod = "reviewer".to_owned();
    desk.asks(1, &child);
    desk.tell(
        0,
        Event::PermissionSettled(podward_protocol::PermissionSettled {
            id: podward_protocol::RequestId::new("a"),
            outcome: podward_protocol::Outcome::ApprovedOnce,
            by: DecidedBy::Client {
                name: "phone".to_owned(),
                edited: false,
            },
        }),
    );
    desk.shows();
    desk.wait(600);
    check("faster", &mut desk);
}

#[test]
fn a_conversation_shows_calls_with_verdict_and_rule() {
    let mut desk = Desk::usual();
    let call = || CallId::new("c1");
    desk.tell(
        0,
        Event::TurnStarted(TurnStarted {
            turn: 1,
            prompt: "make the tests pass".to_owned(),
        }),
    );
    let delta = |text: &str| TextDelta {
        text: text.to_owned(),
    };
    desk.tell(
        0,
        Event::ThinkingDelta(delta("They fail since the last commit.")),
    );
    desk.tell(
        0,
        Event::TextDelta(delta("I look at the tests.\n\nThen I change them.\n")),
    );
    desk.tell(
        0,
        Event::ToolCallArguments(ToolCallArguments {
            call: call(),
            tool: "bash".to_owned(),
            arguments: json!({"command": "rm -rf target"}),
        }),
    );
    desk.tell(
        0,
        Event::ToolCallVerdict(ToolCallVerdict {
            call: call(),
            part_of: None,
            tool: "bash".to_owned(),
            operations: vec![command("rm -rf target", 0..13)],
            ruling: Ruling {
                verdict: Verdict::Deny,
                cause: Cause::Rule {
                    layer: "manifest".to_owned(),
                    rule: 3,
                    at: place(21),
                    pattern: "rm *".to_owned(),
                    message: Some("use `cargo clean`".to_owned()),
                },
                operation: Some(0),
                coverage: Coverage::Full,
            },
            refusal: Some(podward_protocol::RefusalCause::Policy),
            by: DecidedBy::Policy,
            allowed_by: None,
        }),
    );
    desk.tell(
        0,
        Event::ToolCallFinished(ToolCallFinished {
            call: call(),
            tool: "bash".to_owned(),
            outcome: ToolOutcome::Refused {
                cause: podward_protocol::RefusalCause::Policy,
            },
            content: "Refused: this call was not run.".to_owned(),
        }),
    );
    desk.tell(
        0,
        Event::TurnEnded(TurnEnded {
            turn: 1,
            reason: TurnEndReason::Done,
            n_refused: 1,
            n_calls: 1,
            n_steps: 1,
            children: CallCount::default(),
        }),
    );
    desk.tell(0, Event::Status(Status::Idle));
    desk.keys("and now the docs");
    check("conversation", &mut desk);
}

#[test]
fn pods_are_chosen_from_a_list_and_keys_stand_on_one_screen() {
    let mut desk = Desk::new(80, 24, &[]);
    desk.app = App::new(Vec::new(), Keys::default(), 80, 24);
    desk.happens(Input::Listed(vec![found(0, "demo"), found(1, "other")]));
    desk.keys("j");
    check("list", &mut desk);
    let mut desk = Desk::usual();
    desk.code(
        crossterm::event::KeyCode::F(1),
        crossterm::event::KeyModifiers::NONE,
    );
    check("help", &mut desk);
}

#[test]
fn a_question_fits_a_small_window_piece_by_piece() {
    let mut desk = Desk::new(40, 12, &["demo"]);
    desk.asked(&push("a"));
    check("small", &mut desk);
}
