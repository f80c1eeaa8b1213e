use std::sync::Arc;

use podward_policy::{
    Action, BUILT_IN_TOOLS, CommandSubject, Coverage, LayerKind, LayerName, Location, Need,
    OperationIdx, Operations, PathForm, PathSubject, RuleIdx, Text, ToolName, UnknownReason,
};

use super::*;
use crate::call::{CallFacts, CallId};

fn path(text: &str) -> Subject {
    Subject::path(PathSubject {
        lexical: PathForm {
            short: Text::known(text),
            absolute: Text::known(format!("/w/{text}")),
            home: None,
        },
        resolved: None,
        further: Vec::new(),
    })
}

fn command(text: &str) -> Subject {
    Subject::Command(CommandSubject {
        written: Text::known(text),
        name_start: 0,
        name_end: text.find(' ').unwrap_or(text.len()),
        further: Vec::new(),
        place: None,
    })
}

fn operation(tool: &str, subject: Subject) -> Operation {
    Operation {
        tool: ToolName::new(tool).unwrap(),
        subject,
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    }
}

fn facts(tool: &str, operations: Vec<Operation>) -> Arc<CallFacts> {
    let mut operations = operations.into_iter();
    let first = operations.next().unwrap();
    Arc::new(CallFacts::new(
        CallId::new("call_1").unwrap(),
        ToolName::new(tool).unwrap(),
        "{}",
        Lowered::Operations(Operations::new(first, operations.collect())),
    ))
}

fn location() -> Location {
    Location {
        file: "pod.toml".into(),
        line: 1,
        column: 1,
    }
}

fn layer() -> LayerName {
    LayerName {
        kind: LayerKind::Manifest,
    }
}

fn ruling(action: Action, cause: Cause, operation: usize) -> Ruling {
    Ruling {
        action,
        cause,
        operation: Some(OperationIdx(operation)),
        coverage: Coverage::Full,
    }
}

fn rule(pattern: &str, message: Option<&str>) -> Cause {
    Cause::Rule {
        layer: layer(),
        rule: RuleIdx(2),
        location: location(),
        pattern: pattern.into(),
        message: message.map(Into::into),
    }
}

fn default() -> Cause {
    Cause::Default {
        layer: layer(),
        location: location(),
    }
}

fn unresolved() -> Cause {
    Cause::Unresolved {
        layer: layer(),
        rule: None,
        location: None,
        why: "`$x` is not known".into(),
    }
}

#[track_caller]
fn check(refusal: &Refusal, expected: &str) {
    assert_eq!(refusal_text(refusal), expected);
}

#[test]
fn a_denied_call_names_the_part_and_the_rule() {
    let two = facts(
        "bash",
        vec![
            operation("bash", command("cargo test")),
            operation("bash", command("rm -rf build")),
        ],
    );
    check(
        &Refusal::judged(
            Arc::clone(&two),
            ruling(
                Action::Deny,
                rule("rm *", Some("use `git clean -n` first")),
                1,
            ),
            RefusalCause::Policy,
        ),
        "Refused: this call of `bash` was not run: the command `rm -rf build`. A permission rule \
         (`rm *`) denies it: use `git clean -n` first. Retrying will not help: the same call is \
         refused every time. Go on without it, or tell the user what you cannot do.",
    );
    check(
        &Refusal::judged(
            two,
            ruling(Action::Deny, default(), 0),
            RefusalCause::Policy,
        ),
        "Refused: this call of `bash` was not run: the command `cargo test`. No permission rule \
         allows it. Retrying will not help: the same call is refused every time. Go on without \
         it, or tell the user what you cannot do.",
    );
}

/// It does not stand in the manifest of the pod whose call it is.
#[test]
fn what_a_pod_above_decides_is_told_with_its_file() {
    let above = LayerName {
        kind: LayerKind::Parent,
    };
    let location = Location {
        file: "/home/me/top.toml".into(),
        line: 9,
        column: 5,
    };
    let rule = Cause::Rule {
        layer: above.clone(),
        rule: RuleIdx(2),
        location: location.clone(),
        pattern: "rm *".into(),
        message: None,
    };
    let default = Cause::Default {
        layer: above.clone(),
        location,
    };
    let unresolved = Cause::Unresolved {
        layer: above,
        rule: None,
        location: None,
        why: "`$x` is not known".into(),
    };
    let asked = RefusalCause::NoClient {
        asked: AskReason::Policy,
    };
    let rm = facts("bash", vec![operation("bash", command("rm x"))]);
    for (cause, by, says) in [
        (
            &RefusalCause::Policy,
            &rule,
            "Rule 3 of a pod above (`rm *`, `top.toml` line 9) denies it. ",
        ),
        (
            &asked,
            &rule,
            "Rule 3 of a pod above (`rm *`, `top.toml` line 9) asks a person about it. ",
        ),
        (
            &RefusalCause::Policy,
            &default,
            "No permission rule of a pod above (`top.toml`) allows it. ",
        ),
        (
            &asked,
            &default,
            "No permission rule of a pod above (`top.toml`) allows it without asking",
        ),
        (
            &RefusalCause::Policy,
            &unresolved,
            "The permission rules of a pod above cannot tell what",
        ),
        (
            &asked,
            &unresolved,
            "The permission rules of a pod above cannot tell what",
        ),
    ] {
        let ruling = ruling(Action::Deny, by.clone(), 0);
        let text = refusal_text(&Refusal::judged(Arc::clone(&rm), ruling, cause.clone()));
        assert!(
            text.contains(&format!("the command `rm x`. {says}")),
            "{text}"
        );
    }
}

#[test]
fn an_unresolved_call_can_be_written_out() {
    check(
        &Refusal::judged(
            facts("bash", vec![operation("bash", command("cat "))]),
            ruling(Action::Deny, unresolved(), 0),
            RefusalCause::Policy,
        ),
        "Refused: this call of `bash` was not run: the command `cat `. The permission rules cannot \
         tell what it would do: `$x` is not known. Retrying can help if you write every part of it \
         out, so that it is known before it runs, and leave out what runs other code.",
    );
}

#[test]
fn a_call_that_nobody_can_approve_says_so() {
    let write = facts("file_write", vec![operation("file_write", path(".env"))]);
    check(
        &Refusal::judged(
            Arc::clone(&write),
            ruling(Action::Ask, rule("*.env", None), 0),
            RefusalCause::NoClient {
                asked: AskReason::Policy,
            },
        ),
        "Refused: this call of `file_write` was not run: writing `.env`. A permission rule \
         (`*.env`) asks a person about it. Nobody is there to approve it. Retrying the same call \
         will not help until somebody is: go on without it, or tell the user what you cannot do.",
    );
    check(
        &Refusal::judged(
            write,
            ruling(Action::Allow, rule("*", None), 0),
            RefusalCause::NoClient {
                asked: AskReason::Repeated,
            },
        ),
        "Refused: this call of `file_write` was not run: writing `.env`. The same call was already \
         made twice in this turn; making it again needs a person's approval, and nobody is there \
         to give it. Retrying will not help: work with the results you have.",
    );
}

#[test]
fn a_call_that_nobody_is_asked_about_says_how_to_make_it() {
    let write = facts("bash", vec![operation("bash", command("cargo test"))]);
    for (cause, text) in [
        (
            RefusalCause::NotAuto,
            "Refused: this call of `bash` was not run: the command `cargo test`. What is not known \
             before it runs needs a person's approval, and nobody is there to give it. Retrying can \
             help if you write every part of it out; else go on without it, or tell the user what you \
             cannot do.",
        ),
        (
            RefusalCause::TooLarge,
            "Refused: this call of `bash` was not run: the command `cargo test`. It needs a person's \
             approval and is too large to be shown to one. Split it into smaller calls.",
        ),
        (
            RefusalCause::Futile {
                error: "`a\\tb` does not exist".into(),
            },
            "`a\\tb` does not exist",
        ),
    ] {
        let ruling = ruling(Action::Ask, default(), 0);
        check(&Refusal::judged(Arc::clone(&write), ruling, cause), text);
    }
}

#[test]
fn a_call_that_is_none_says_whether_to_correct_it() {
    let id = || CallId::new("call_1").unwrap();
    check(
        &Refusal::raw(
            id(),
            "read",
            "{",
            RefusalCause::BadCall {
                why: "`path` is missing".into(),
            },
        ),
        "Error: this call of `read` was not run: `path` is missing. Correct the arguments and call it again.",
    );
    check(
        &Refusal::raw(id(), "re\u{200b}ad\n", "{}", RefusalCause::UnknownTool),
        "Error: there is no tool named `re\\u{200b}ad\\n`, so nothing was run. Retrying will not \
         help: only the tools that you were given exist.",
    );
}

#[test]
fn a_hook_is_quoted_word_for_word() {
    let read = facts("read", vec![operation("read", path("a"))]);
    let text = "Only\n\tafter \"lunch\"!";
    let hooked = refusal_text(&Refusal::judged(
        read,
        ruling(Action::Allow, rule("*", None), 0),
        RefusalCause::Hook {
            name: "lunch".into(),
            text: text.into(),
        },
    ));
    assert!(hooked.contains(text), "{hooked}");
}

#[test]
fn an_ended_call_says_whether_it_may_have_had_effects() {
    let id = || CallId::new("call_1").unwrap();
    for (cause, is_started) in [
        (RefusalCause::Cancelled(Progress::NotStarted), false),
        (RefusalCause::Cancelled(Progress::Started), true),
        (RefusalCause::PodStopped(Progress::Started), true),
        (RefusalCause::Interrupted(Progress::NotStarted), false),
        (RefusalCause::Interrupted(Progress::Started), true),
    ] {
        let text = refusal_text(&Refusal::raw(id(), "bash", "{}", cause));
        assert_eq!(
            text.contains("look before you make it again"),
            is_started,
            "{text}"
        );
        assert_eq!(text.contains("had no effect"), !is_started, "{text}");
    }
}

/// D7.4: whatever decided, no tool but the call's own is named.
#[test]
fn no_refusal_names_another_tool() {
    let causes = [
        RefusalCause::Policy,
        RefusalCause::NoClient {
            asked: AskReason::Policy,
        },
        RefusalCause::NoClient {
            asked: AskReason::Repeated,
        },
        RefusalCause::NotAuto,
        RefusalCause::TooLarge,
        RefusalCause::Futile {
            error: "gone".into(),
        },
        RefusalCause::BadCall { why: "odd".into() },
        RefusalCause::UnknownTool,
        RefusalCause::Hook {
            name: "mine".into(),
            text: "no".into(),
        },
        RefusalCause::HookFailed {
            name: "mine".into(),
            why: "it broke".into(),
        },
        RefusalCause::NotJudged,
        RefusalCause::Cancelled(Progress::Started),
        RefusalCause::PodStopped(Progress::NotStarted),
        RefusalCause::Interrupted(Progress::Started),
    ];
    let rulings = [
        rule("x*", None),
        rule("x*", Some("no")),
        default(),
        unresolved(),
    ];
    for tool in BUILT_IN_TOOLS {
        for judged_by in BUILT_IN_TOOLS {
            let subjects = [
                path("xyz"),
                command("xyz"),
                Subject::Unknown(UnknownReason::new("odd")),
                Subject::Plain(Text::known("xyz")),
            ];
            for subject in subjects {
                let facts = facts("mcp__s__t", vec![operation(judged_by, subject)]);
                for (cause, by) in causes.iter().zip(rulings.iter().cycle()) {
                    let ruling = ruling(Action::Deny, by.clone(), 0);
                    let refusal = Refusal::judged(Arc::clone(&facts), ruling, cause.clone());
                    let text = refusal_text(&refusal);
                    let words: Vec<_> = text
                        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .collect();
                    assert!(!words.contains(tool), "{tool} in: {text}");
                }
            }
        }
    }
}

#[test]
fn long_parts_are_cut() {
    let long = "x".repeat(1_000_000);
    let text = refusal_text(&Refusal::judged(
        facts("bash", vec![operation("bash", command(&long))]),
        ruling(Action::Deny, rule("x*", Some(&long)), 0),
        RefusalCause::Policy,
    ));
    assert!(
        text.len() < QUOTED_CHARS + PASSED_CHARS + 1_000,
        "{}",
        text.len()
    );
}

#[test]
fn a_skill_that_refuses_is_named_with_its_list_as_written() {
    let one = facts("bash", vec![operation("bash", command("rm x"))]);
    let refused = |says: SkillSays| {
        let cause = Cause::Skill {
            name: "review".into(),
            digest: "sha256:0".into(),
            says,
        };
        let ruling = ruling(Action::Deny, cause, 0);
        refusal_text(&Refusal::judged(
            Arc::clone(&one),
            ruling,
            RefusalCause::Policy,
        ))
    };
    let list = "Read Bash(git \u{1b}[2J*)";
    let text = refused(SkillSays::NotListed { list: list.into() });
    assert!(
        text.contains(
            "The skill `review` is active, and its `allowed-tools` (`Read Bash(git \\u{1b}[2J*)`)"
        ),
        "{text}"
    );
    let long = refused(SkillSays::NotListed {
        list: "x".repeat(100_000).into(),
    });
    assert!(long.len() < 1_000, "{}", long.len());
    let empty = refused(SkillSays::NotListed { list: "".into() });
    assert!(empty.contains("its `allowed-tools` is empty"), "{empty}");
    let entry = refused(SkillSays::Disallowed {
        entry: "Bash(rm:*)".into(),
        location: location(),
    });
    assert!(
        entry.contains("its `disallowed-tools` lists it (`Bash(rm:*)`)"),
        "{entry}"
    );
    let unknown = refused(SkillSays::Unresolved {
        list: Some("Read".into()),
        why: "`$x` is not known".into(),
    });
    assert!(unknown.contains("Retrying can help"), "{unknown}");
}
