use podward_protocol::{
    AskReason, AskedBy, AskedSkill, Asker, Asking, Cause, Coverage, Explanation,
};
use serde_json::{Value, json};

use super::{Before, Question, parts_text};
use crate::rows::Row;
use crate::sample::{command, push};

fn shown(question: &Question) -> String {
    text_of(question, 60) + "\n"
}

fn text_of(question: &Question, columns: usize) -> String {
    let rows = question.rows("may #3 bash run?", columns);
    let rows: Vec<String> = rows.iter().map(Row::text).collect();
    rows.join("\n")
}

#[test]
fn what_asks_is_marked_and_said_with_its_place() {
    assert_eq!(
        shown(&push("a")),
        "may #3 bash run?
  | git fetch && git push origin main
                 ^^^^^^^^^^^^^^^^^^^^
  timeout_ms 5
  in      /work
  asks    default of manifest (pod.toml:8:1)
  seen    all that it would do
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
        shown(&question),
        "may #3 bash run?
  > git fetch && git push origin main
  in      /work
  asks    default of manifest (pod.toml:8:1)
  also    rule `git *` for bash of machine, about all 2
        : commands
  seen    not all that it would do: `git` runs\\u{1b} hooks
  until   2026-01-02T03:04:05.678Z, then it is refused
"
    );
}

/// Nothing in the call's own text says it.
#[test]
fn where_a_link_leads_is_said() {
    let mut question = push("a");
    question.request.arguments = json!({"command": "touch notes"});
    question.request.operations = vec![command("touch notes", 0..11), command("notes", 6..11)];
    "file_write".clone_into(&mut question.request.operations[1].tool);
    question.request.operations[1].leads_to = Some(".git/hooks/x\u{1b}".to_owned());
    question.request.asking.clear();
    question.request.ruling.operation = Some(0);
    let text = shown(&question);
    let does = "\n            file_write  notes -> .git/hooks/x\\u{1b}\n";
    assert!(text.contains(does), "{text}");
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
        shown(&question),
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
    let text = shown(&question);
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
    let text = shown(&question);
    assert!(
        text.contains("  asks    the same call three times or more in this turn\n"),
        "{text}"
    );
}

/// What stands between the heading and the directory.
fn body(tool: &str, arguments: Value, before: Before) -> String {
    let mut question = push("a");
    question.request.tool = tool.to_owned();
    question.request.arguments = arguments;
    question.request.operations.clear();
    question.before = before;
    let text = shown(&question);
    let (body, _) = text.split_once("  in ").unwrap();
    body.strip_prefix("may #3 bash run?\n").unwrap().to_owned()
}

#[test]
fn what_changes_in_a_file_is_shown_as_a_change() {
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

/// The lines of the file, with their numbers there, are what changes, and in how many places.
#[test]
fn an_edit_is_shown_as_the_lines_of_the_file_that_change() {
    let file: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let edit = |old: &str, new: &str, all: bool, before: Before| {
        let arguments =
            json!({"path": "a.rs", "old_string": old, "new_string": new, "replace_all": all});
        body("file_edit", arguments, before)
    };
    let text = || Before::Text(file.clone());
    assert_eq!(
        edit("ne 12", "NE 12", false, text()),
        "  | a.rs\n  | @@ line 9\n  |  line 9\n  |  line 10\n  |  line 11\n  | -line 12\n  | +liNE 12\n\
         \u{20} |  line 13\n  |  line 14\n  |  line 15\n  replace_all false\n"
    );
    let all = edit("line 1", "LINE 1", true, text());
    assert!(
        all.starts_with("  | a.rs  (in 11 places)\n  | -line 1\n"),
        "{all}"
    );
    let many = edit("line 1", "LINE 1", false, text());
    let none = "  | a.rs  (11 places have the old text: none is changed)\n  | -line 1\n";
    assert!(many.starts_with(none), "{many}");
    let nowhere = edit("line 30", "x", false, text());
    let none = "  | a.rs  (not a place in it has the old text)\n";
    assert!(nowhere.starts_with(none), "{nowhere}");
    let crlf = Before::Text("a\r\nb\r\nc\r\n".to_owned());
    let shown = edit("a\nb\n", "a\nd\n", false, crlf);
    assert!(shown.contains("  | -b\\r\n  | +d\\r\n"), "{shown}");
    let gone = edit("a", "b", false, Before::Missing);
    assert!(
        gone.starts_with("  | a.rs  (there is no such file)\n"),
        "{gone}"
    );
}

/// Blank lines that a call writes are counted, however blank they are.
#[test]
fn blank_lines_of_a_change_are_counted() {
    let blank = format!("a\n{}{}b\n", "\n".repeat(30), " \t \n".repeat(30));
    let shown = body(
        "file_write",
        json!({"path": "a", "content": blank}),
        Before::Missing,
    );
    assert_eq!(
        shown,
        "  | a  (a new file)\n  | +a\n  ~ 60 blank rows added\n  | +b\n"
    );
    let old = Before::Text("\n".repeat(5));
    let shown = body(
        "file_write",
        json!({"path": "a", "content": " \n".repeat(5)}),
        old,
    );
    assert_eq!(
        shown,
        "  | a\n  ~ 5 blank rows removed\n  ~ 5 blank rows added\n"
    );
}

/// All that an edited call would do, and what the rules say of it.
#[test]
fn an_edited_call_is_shown_whole_with_its_verdict() {
    let question = push("a");
    let arguments = json!({"command": "git push", "timeout_ms": 7, "description": "push"});
    let explanation = Explanation {
        ruling: question.request.ruling.clone(),
        operations: Vec::new(),
        change: None,
        shortened: false,
    };
    let rows = question.edited_rows(
        "run this instead?",
        arguments.as_object().unwrap(),
        Some(&explanation),
        60,
    );
    let text: String = rows.iter().map(|row| row.text() + "\n").collect();
    assert_eq!(
        text,
        r#"run this instead?
  | git push
  description "push"
  timeout_ms 7
  in      /work
  rules   ask, by default of manifest (pod.toml:8:1)
  seen    all that it would do
"#,
    );
}

/// Nothing that podward says is broken within a word, however narrow the terminal is.
#[test]
fn prose_is_broken_between_words() {
    let mut question = push("a");
    question.request.ruling.coverage = Coverage::Partial {
        why: vec!["the script that it runs was changed since it was read".to_owned()],
    };
    let text = text_of(&question, 40);
    let (_, seen) = text.split_once("  seen    ").unwrap();
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!(
        seen,
        [
            "not all that it would do: the",
            "        : script that it runs was",
            "        : changed since it was read",
        ],
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 40),
        "{text}"
    );
}

/// No row is wider than the terminal, so that its rows can be counted.
#[test]
fn no_row_is_wider_than_the_terminal() {
    let mut question = push("a");
    let long = "x".repeat(300);
    question.request.arguments = json!({
        "command": format!("git fetch && git push {long} {}", "\u{754c}".repeat(99)),
        "timeout_ms": 5,
        "a long name of an argument that nobody knows": long,
    });
    question.request.cwd = format!("/{long}");
    question.request.ruling.coverage = Coverage::Partial { why: vec![long] };
    for columns in 18..120 {
        for row in question.rows("may #3 bash run?", columns) {
            let n_columns = row.n_columns();
            assert!(n_columns <= columns, "{n_columns} > {columns}: {row:?}");
        }
    }
}

/// What stands in the call word for word is not told again.
#[test]
fn each_part_of_a_call_stands_there_once() {
    let mut question = push("a");
    let lines: Vec<String> = (1..=30)
        .map(|n| format!("echo building part {n}"))
        .collect();
    question.request.arguments = json!({ "command": lines.join("\n") });
    let ask = question.request.asking[0].clone();
    question.request.operations.clear();
    question.request.asking.clear();
    let mut start = 0;
    for (idx, line) in lines.iter().enumerate() {
        let operation = command(line, start..start + line.len());
        question.request.operations.push(operation);
        question.request.asking.push(Asking {
            operation: idx,
            ..ask.clone()
        });
        start += line.len() + 1;
    }
    question.request.ruling.operation = Some(0);
    let body: String = lines.iter().map(|line| format!("  > {line}\n")).collect();
    assert_eq!(
        shown(&question),
        format!(
            "may #3 bash run?\n{body}  in      /work\n  asks    default of manifest (pod.toml:8:1)\n  \
             also    29 more commands, by the same default\n  seen    all that it would do\n"
        )
    );
}

#[test]
fn what_a_call_does_beside_its_own_words_is_told_and_what_asks_of_it_marked() {
    let mut question = push("a");
    let text = "for f in *.c; do rm \"$f\"; done; ls > out";
    question.request.arguments = json!({ "command": text });
    let mut rm = command("rm \u{2026}", 17..24);
    rm.known = false;
    let mut ls = command("ls", 32..34);
    ls.span = text.find("ls >").map(|start| podward_protocol::Span {
        start,
        end: start + 2,
    });
    let mut out = command("out", 0..0);
    (out.tool, out.span) = ("file_write".to_owned(), None);
    question.request.operations = vec![rm.clone(), rm, ls, out];
    let ask = question.request.asking[0].clone();
    let askings = [0, 1, 3].map(|operation| Asking {
        operation,
        ..ask.clone()
    });
    question.request.asking = askings.into();
    question.request.ruling.operation = Some(0);
    let text = shown(&question);
    let (_, told) = text.split_once("  asks ").unwrap();
    assert_eq!(
        told,
        "   default of manifest (pod.toml:8:1)
  also    2 more parts, by the same default
  seen    all that it would do
  does      what stands above, and
          > bash  rm \u{2026}  (2 times)
          > file_write  out
"
    );
}

#[test]
fn a_width_is_said_in_the_words_of_its_tool() {
    use podward_protocol::Width;
    for (tool, width, said) in [
        ("bash", Width::Exact, "only this, in this directory"),
        ("read", Width::File, "this file"),
        ("list", Width::File, "this path"),
        ("grep", Width::File, "this path"),
        (
            "skill",
            Width::SameArguments,
            "this skill, whatever it is told",
        ),
        ("mcp__a__b", Width::SameArguments, "with the same arguments"),
    ] {
        let mut question = push("a");
        let part = &mut question.request.choices[0].parts[0];
        (part.tool, part.pattern, part.width) = (tool.to_owned(), "x".to_owned(), width);
        assert_eq!(
            parts_text(&question.request, 0),
            [format!("{tool}  `x`  ({said})")]
        );
    }
}

#[test]
fn that_a_narrowest_pattern_is_wide_is_said() {
    let mut question = push("a");
    question.request.choices.remove(0);
    assert_eq!(
        parts_text(&question.request, 0),
        [
            "bash  `git push *`  (this subcommand, whatever follows; nothing narrower: what it reads, or where \
          it runs, is not known before it does)"
        ]
    );
    question.request.operations[1].known = false;
    assert_eq!(
        parts_text(&question.request, 0),
        [
            "bash  `git push *`  (this subcommand, whatever follows; nothing narrower: a part of it is not \
          known before it runs)"
        ]
    );
}

#[test]
fn a_part_of_a_running_call_says_so() {
    let mut question = push("a");
    question.request.part_of = Some(podward_protocol::CallId::new("call_1"));
    let shown = text_of(&question, 200);
    let of = "part of the call `call_1`, which runs and turned out to need this";
    assert!(shown.contains(of), "{shown}");
}

/// The address alone does not say why anybody wants it.
#[test]
fn a_redirect_says_where_it_comes_from() {
    let mut question = push("a");
    "web_fetch".clone_into(&mut question.request.tool);
    question.request.arguments = json!({"url": "https://c.example/x"});
    let from = ["https://a.example/\u{1b}[8m", "https://b.example/"];
    question.request.redirected_from = from.map(str::to_owned).to_vec();
    let shown = text_of(&question, 200);
    let rows = "\n  from    https://a.example/\\u{1b}[8m, which redirects\n          \
                https://b.example/, which redirects\n";
    assert!(shown.contains(rows), "{shown}");
}

#[test]
fn a_skill_says_what_it_is() {
    let mut question = push("a");
    "skill".clone_into(&mut question.request.tool);
    question.request.arguments = json!({"name": "git"});
    question.request.operations.clear();
    question.request.asking.clear();
    question.request.ruling.operation = None;
    let entries = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
    for (allowed, disallowed, tools) in [
        (None, &[][..], "every tool"),
        (Some(&[][..]), &[], "no tool"),
        (
            Some(&["Read", "Bash(git:*)\u{202e}"][..]),
            &["WebFetch"],
            "only Read, Bash(git:*)\\u{202e}; not WebFetch",
        ),
    ] {
        question.request.skill = Some(Box::new(AskedSkill::Found {
            file: "/s/git/SKILL.md".to_owned(),
            digest: "sha256:00".to_owned(),
            description: "Works with git.\nAnd more".to_owned(),
            allowed_tools: allowed.map(entries),
            disallowed_tools: entries(disallowed),
        }));
        let shown = text_of(&question, 200);
        let rows = format!(
            "\n  skill   /s/git/SKILL.md\n  says    Works with git.\\nAnd more\n  tools   {tools}\n"
        );
        assert!(shown.contains(&rows), "{shown}");
    }
    let why = "there is no skill `git`".to_owned();
    question.request.skill = Some(Box::new(AskedSkill::Fails { why }));
    let shown = text_of(&question, 200);
    let row = "\n  skill   it would not start: there is no skill `git`\n";
    assert!(shown.contains(row), "{shown}");
    // Another one is meant.
    let other = json!({"name": "other"});
    let rows = question.edited_rows("e", other.as_object().unwrap(), None, 200);
    assert!(!rows.iter().any(|row| row.text().contains("it would not")));
}

#[test]
fn what_waited_and_is_allowed_by_now_says_so() {
    let mut question = push("a");
    question.request.reason = AskReason::Resumed;
    let shown = text_of(&question, 200);
    let asks = "asks    it waited for an answer when the session was cut off; by now it is allowed: default of \
                manifest (pod.toml:8:1)";
    assert!(shown.contains(asks), "{shown}");
}
