use podward_protocol::{AskReason, AskedBy, Asker, Asking, Cause, Coverage};
use serde_json::json;

use super::{Extent, View};
use crate::question::sample::{command, push};
use crate::question::{Before, Question};
use crate::screen::Stream;

fn shown(question: &Question, extent: Extent) -> String {
    let view = View {
        extent,
        columns: 60,
        stream: Stream {
            is_terminal: true,
            is_colored: false,
        },
    };
    question.shown(&"may #3 bash run?".to_owned(), view).text
}

#[test]
fn what_asks_is_marked_and_said_with_its_place() {
    assert_eq!(
        shown(&push("a"), Extent::Beginning),
        "may #3 bash run?
  | git fetch && git push origin main
                 ^^^^^^^^^^^^^^^^^^^^
  timeout_ms 5
  in      /work
  asks    default of manifest (pod.toml:8:1)
  seen    all that it would do
  does      bash  git fetch
          > bash  git push origin main
"
    );
}

#[test]
fn every_layer_that_asks_is_said_and_so_is_what_is_not_known() {
    let mut question = push("a");
    let asker = |layer: &str, by| Asker {
        layer: layer.to_owned(),
        by,
    };
    let rule = AskedBy::Rule {
        tool: "bash".to_owned(),
        pattern: "git *".to_owned(),
    };
    for operation in [0, 1] {
        question.request.asking.push(Asking {
            operation,
            asker: asker("machine", rule.clone()),
            grantable: true,
        });
    }
    question.request.ruling.coverage = Coverage::Partial {
        why: vec!["`git` runs\u{1b} hooks".to_owned()],
    };
    question.request.expires_at = Some("2026-01-02T03:04:05.678Z".parse().unwrap());
    question.request.arguments = json!({"command": "git fetch && git push origin main"});
    assert_eq!(
        shown(&question, Extent::Beginning),
        "may #3 bash run?
  | git fetch && git push origin main
    ^^^^^^^^^    ^^^^^^^^^^^^^^^^^^^^
  in      /work
  asks    default of manifest (pod.toml:8:1)
  also    rule `git *` for bash of machine, about bash `git
          fetch`
  also    rule `git *` for bash of machine, about bash `git
          push origin main`
  seen    not all that it would do: `git` runs\\u{1b} hooks
  does    > bash  git fetch
          > bash  git push origin main
  until   2026-01-02T03:04:05.678Z, then it is refused
"
    );
}

#[test]
fn nothing_in_a_call_can_look_like_anything_but_its_text() {
    let mut question = push("a");
    let line = "echo x\r#3 bash: y = yes\u{1b}[8m\u{202e}\u{200b}\n\nmay #4 run? \u{a0}";
    question.request.arguments = json!({ "command": line });
    question.request.operations = vec![command(line, 0..line.len())];
    question.request.asking.clear();
    question.request.ruling.operation = None;
    question.request.cwd = "/a\nb\u{7}".to_owned();
    assert_eq!(
        shown(&question, Extent::All),
        "may #3 bash run?
  | echo x\\r#3 bash: y = yes\\u{1b}[8m\\u{202e}\\u{200b}
  |\x20
  | may #4 run? \\u{a0}
  in      /a\\nb\\u{7}
  asks    default of manifest (pod.toml:8:1)
  seen    all that it would do
"
    );
}

#[test]
fn long_lines_go_on_behind_a_mark() {
    let mut question = push("a");
    let text = format!("echo {}; git push", "ab".repeat(40));
    question.request.arguments = json!({ "command": text });
    let start = text.len() - "git push".len();
    question.request.operations = vec![command("git push", start..text.len())];
    question.request.asking.clear();
    question.request.ruling.operation = Some(0);
    let text = shown(&question, Extent::Beginning);
    let (body, _) = text.split_once("  in ").unwrap();
    assert_eq!(
        body,
        format!(
            "may #3 bash run?\n  | echo {}a\n  : {}; git push\n  {}{}\n",
            "ab".repeat(25),
            "b".to_owned() + &"ab".repeat(14),
            " ".repeat(33),
            "^".repeat(8)
        )
    );
}

#[test]
fn a_repeated_call_says_so_and_nothing_else() {
    let mut question = push("a");
    question.request.reason = AskReason::Repeated;
    question.request.ruling.cause = Cause::Repeated;
    let text = shown(&question, Extent::Beginning);
    assert!(
        text.contains("  asks    the same call for the third time in this turn\n"),
        "{text}"
    );
}

#[test]
fn what_changes_in_a_file_is_shown_as_a_change() {
    let mut question = push("a");
    let mut body = |tool: &str, arguments, before| {
        question.request.tool = tool.to_owned();
        question.request.arguments = arguments;
        question.request.operations.clear();
        question.before = before;
        let text = shown(&question, Extent::Beginning);
        let (body, _) = text.split_once("  in ").unwrap();
        body.strip_prefix("may #3 bash run?\n").unwrap().to_owned()
    };
    let edit = json!({"path": "a.rs", "old_string": "a\nb\n", "new_string": "a\nc\n",
                      "replace_all": true});
    assert_eq!(
        body("file_edit", edit, Before::Unknown),
        "  | a.rs\n  |  a\n  | -b\n  | +c\n  replace_all true\n"
    );
    let write = || json!({"path": "a.rs", "content": "a\nc\n"});
    assert_eq!(
        body("file_write", write(), Before::Text("a\nb\n".to_owned())),
        "  | a.rs\n  |  a\n  | -b\n  | +c\n"
    );
    assert_eq!(
        body("file_write", write(), Before::Missing),
        "  | a.rs  (a new file)\n  | +a\n  | +c\n"
    );
    assert_eq!(
        body("mcp__s__t", json!({"q": "\u{202e}"}), Before::Unknown),
        "  | {\n  |   \"q\": \"\\u{202e}\"\n  | }\n"
    );
}

/// Nothing that podward says is broken within a word, however narrow the terminal is.
#[test]
fn prose_is_broken_between_words() {
    let mut question = push("a");
    question.request.ruling.coverage = Coverage::Partial {
        why: vec!["the script that it runs was changed since it was read".to_owned()],
    };
    let view = View {
        columns: 40,
        extent: Extent::All,
        stream: Stream {
            is_terminal: true,
            is_colored: false,
        },
    };
    let text = question.shown(&"may #3 bash run?".to_owned(), view).text;
    let (_, seen) = text.split_once("  seen    ").unwrap();
    let seen: Vec<&str> = seen.lines().take(4).collect();
    assert_eq!(
        seen,
        [
            "not all that it would do: the",
            "          script that it runs was",
            "          changed since it was read",
            "  does      bash  git fetch",
        ],
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 40),
        "{text}"
    );
}
