use podward_policy::{Lowered, Need, Subject, ToolName};
use proptest::prelude::*;

use super::lower_command;
use crate::lower::{names, programs};

fn tool() -> ToolName {
    names::built_in(names::BASH)
}

/// Every operation of a command, one a line.
fn operations(command: &str) -> Vec<String> {
    match lower_command(&tool(), command) {
        Lowered::NothingToRun => vec!["nothing to run".to_owned()],
        Lowered::Operations(operations) => operations
            .iter()
            .map(|operation| {
                assert_eq!(operation.need, Need::Full);
                let span = operation.span.expect("a command has a span");
                assert!(command.get(span.range()).is_some());
                match &operation.subject {
                    Subject::Command(subject) => {
                        let mut line = subject.written.known_part().to_owned();
                        for form in &subject.further {
                            line.push_str(" | ");
                            line.push_str(form.known_part());
                        }
                        line
                    }
                    Subject::Unknown(reason) => format!("unknown: {}", reason.as_str()),
                    other => panic!("{other:?}"),
                }
            })
            .collect(),
    }
}

#[test]
fn plain_words_are_one_known_operation() {
    for (command, expected) in [
        ("git status", "git status"),
        ("  git\t status \n", "git status"),
        ("cargo test --all -p=x", "cargo test --all -p=x"),
        ("/bin/rm -rf docs", "/bin/rm -rf docs | rm -rf docs"),
        ("./run.sh a", "./run.sh a | run.sh a"),
        ("ls", "ls"),
        ("echo naïve", "echo naïve"),
        ("echo a\u{a0}b", "echo a\u{a0}b"),
        ("make CC=gcc", "make CC=gcc"),
    ] {
        assert_eq!(operations(command), [expected], "{command}");
    }
}

#[test]
fn any_other_command_is_its_text_and_something_unknown() {
    for (command, why) in [
        ("ls; rm x", "the shell character `;`"),
        ("ls | wc", "the shell character `|`"),
        ("ls && rm x", "the shell character `&`"),
        ("echo $x", "the shell character `$`"),
        ("echo \"a\"", "the shell character `\\\"`"),
        ("ls *", "the shell character `*`"),
        ("ls ~", "the shell character `~`"),
        ("ls {a,b}", "the shell character `{`"),
        ("ls # x", "the shell character `#`"),
        ("ls\nrm x", "the shell character `\\n`"),
        ("ls\rrm", "the shell character `\\r`"),
        ("A=b ls", "an assignment"),
        ("A+=b", "an assignment"),
        ("%1", "a job of the shell"),
        ("sudo ls", "`sudo` runs another program"),
        ("/usr/bin/env ls", "`env` runs another program"),
        ("bash x.sh", "`bash` is a shell"),
        ("python3 x.py", "`python3` is an interpreter"),
        ("python3.12 x.py", "`python3.12` is an interpreter"),
        ("if true", "`if` is shell syntax"),
        (
            "eval ls",
            "`eval` evaluates text or changes what later words mean",
        ),
        (
            ". x.sh",
            "`.` evaluates text or changes what later words mean",
        ),
    ] {
        let expected = [command.to_owned(), format!("unknown: {why}")];
        assert_eq!(operations(command), expected, "{command}");
    }
    let long = format!("echo {}", "a".repeat(70_000));
    assert_eq!(operations(&long)[1], "unknown: longer than 65536 bytes");
}

#[test]
fn blanks_and_comments_run_nothing() {
    for command in ["", " \t\n ", "# rm x", "\n  # a\n\t# b\n"] {
        assert_eq!(operations(command), ["nothing to run"], "{command:?}");
    }
    assert_ne!(operations("# a\nrm x"), ["nothing to run"]);
    assert_ne!(operations("\r"), ["nothing to run"]);
    assert_ne!(operations("\u{a0}# x"), ["nothing to run"]);
}

#[test]
fn the_table_of_programs_has_no_name_twice() {
    let mut names: Vec<&str> = programs::names().collect();
    let n_names = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n_names);
}

proptest! {
    #[test]
    fn any_text_is_lowered(command in any::<String>()) {
        operations(&command);
    }

    #[test]
    fn shell_like_text_with_a_shell_character_is_never_wholly_known(
        before in "[a-z ]{0,8}", char in "[|&;()<>$`\\\\\"'*?\\[\\]{}!~#]", after in "[a-z ]{0,8}",
    ) {
        let lines = operations(&format!("{before}{char}{after}"));
        prop_assert!(
            lines == ["nothing to run"] || lines.last().unwrap().starts_with("unknown: "),
            "{:?}", lines
        );
    }
}
