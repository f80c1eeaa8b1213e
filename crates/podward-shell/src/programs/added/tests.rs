use podward_policy::{Lowered, Subject};

use super::AddedPrograms;
use crate::ShellPlace;

const DEPLOY: &str = "\
# A deploy tool of a company.
program deploy deploy-*
output -o= --output=
exec --exec=
data --stage= -v --version
sub push
flags -n --dry-run
operands read...
sub run
wrapper kept
style stops
operands command
";

fn problems(text: &str) -> Vec<(String, String)> {
    let problems = AddedPrograms::default().add(text).unwrap_err();
    let part = |p: &super::ProgramProblem| text.get(p.span.start..p.span.end).unwrap().to_owned();
    problems
        .iter()
        .map(|p| (part(p), p.message.clone()))
        .collect()
}

fn lowered(command: &str, programs: Option<&AddedPrograms>) -> Vec<String> {
    let place = ShellPlace {
        programs,
        ..crate::lexical::place()
    };
    let Lowered::Operations(operations) = crate::lower(command, &place) else {
        return Vec::new();
    };
    operations
        .iter()
        .map(|operation| match &operation.subject {
            Subject::Unknown(why) => format!("unknown {}", why.as_str()),
            _ => format!("{} {:?}", operation.tool, operation.need),
        })
        .collect()
}

#[test]
fn an_added_program_is_read_like_a_built_in_one() {
    let mut added = AddedPrograms::default();
    added.add(DEPLOY).unwrap();
    for (command, expected) in [
        ("deploy push a b", "read Restrictive"),
        ("/opt/bin/deploy push a b", "read Restrictive"),
        ("deploy-eu push a b", "read Restrictive"),
        (
            "deploy -o x push",
            "file_write DerivedFrom(OperationIdx(0))",
        ),
        ("deploy --exec 'rm x' push", "bash Restrictive"),
        (
            "deploy --exec 'rm x' push",
            "unknown the option `--exec` runs a program or loads code",
        ),
        ("deploy run cat x", "read Restrictive"),
        ("f() { deploy push a; }; f", "read Restrictive"),
        (
            "deploy() { ls; }; deploy",
            "unknown a function takes the name of a program",
        ),
    ] {
        let found = lowered(command, Some(&added));
        assert!(found.iter().any(|f| f == expected), "{command}: {found:?}");
        let without = lowered(command, None);
        assert!(!without.iter().any(|f| f == expected), "{command}");
        // What is found without the model is found with it.
        assert!(without.iter().all(|f| found.contains(f)), "{command}");
    }
    assert_eq!(lowered("deploy --version", Some(&added)).len(), 1);
}

#[test]
fn a_bad_model_is_named_by_the_word_that_is_wrong() {
    let cases = [
        ("read -x\n", "read", "a line before the first `program`"),
        ("program\n", "program", "a program without a name"),
        ("program a\nreed -x\n", "reed", "`reed` is no role"),
        ("program a\noperands reed\n", "reed", "`reed` is no role"),
        ("program a\nread x\n", "x", "`x` is no option"),
        (
            "program a\noperands read... write...\n",
            "write...",
            "only one operand may be repeated",
        ),
        ("program a\nstyle loose\n", "loose", "`loose` is no style"),
        (
            "program a\nruns x.py\n",
            "x.py",
            "`x.py` is no name of an option, no `*` with an end, and not `paths`",
        ),
        (
            "program a\nruns -f=\n",
            "-f=",
            "`-f=` is no name of an option, no `*` with an end, and not `paths`",
        ),
        (
            "program a\nwith -x read\n",
            "with",
            "`with` needs one `:`, with a blank on both sides",
        ),
        (
            "program a\nwrapper free\n",
            "free",
            "a wrapper is `kept`, `runner` or `remote`",
        ),
        (
            "program a\nwrapper neutral\n",
            "neutral",
            "an added wrapper cannot be neutral",
        ),
        (
            "program a\nspecial dd\n",
            "dd",
            "a special reading that an added model cannot have",
        ),
        (
            "program a git\n",
            "git",
            "`git` has a model that is built in",
        ),
        (
            "program ld-linux-x\n",
            "ld-linux-x",
            "`ld-linux-x` has a model that is built in",
        ),
        ("program eval\n", "eval", "`eval` is no program"),
        ("program while\n", "while", "`while` is no program"),
        ("program a/b\n", "a/b", "`a/b` is no program's name"),
        ("program *\n", "*", "`*` is no program's name"),
        ("program a\nprogram b a\n", "a", "`a` has two models"),
    ];
    for (text, part, message) in cases {
        let expected = vec![(part.to_owned(), message.to_owned())];
        assert_eq!(problems(text), expected, "{text}");
    }
    assert_eq!(problems("program a\nreed -x\nsub\nread -\n").len(), 3);
}

#[test]
fn nothing_of_a_bad_text_is_added() {
    let mut added = AddedPrograms::default();
    added.add("program a\n").unwrap();
    assert!(added.add("program b\nprogram a\n").is_err());
    assert_eq!(added.len(), 1);
    assert!(added.get("a").is_some() && added.get("b").is_none());
    added.add("program b\n").unwrap();
    assert!(added.has("b") && !added.is_empty());
}

#[test]
fn an_added_model_only_adds_operations() {
    let roles = [
        "data",
        "read",
        "fetch",
        "read-or-fetch",
        "url",
        "at-file",
        "mount",
        "chdir",
        "write",
        "move",
        "output",
        "in-place",
        "sed",
        "awk",
        "script",
        "inline",
        "shell",
        "command",
        "command-until",
        "code",
        "exec",
    ];
    let lines = [
        "",
        "wrapper kept\n",
        "wrapper remote\n",
        "style stops\n",
        "special ssh\n",
    ];
    let commands = [
        "p a b",
        "p -x a b",
        "p -xa",
        "p -x",
        "p \"$v\" b",
        "p $v",
        "p -x 'rm y; ls' b < in > out",
        "cd d && p -x a b",
        "sudo p -x a b",
        "a | p -x a",
        "p x=1 a",
        "A=1 p -q a",
    ];
    for role in roles {
        for line in lines {
            for operand in ["", "..."] {
                let mut added = AddedPrograms::default();
                let text = format!("program p\n{line}{role} -x=\noperands {role}{operand}\n");
                added.add(&text).unwrap();
                for command in commands {
                    let with = lowered(command, Some(&added));
                    let without = lowered(command, None);
                    let is_kept = |found| {
                        with.iter().filter(|f| *f == found).count()
                            >= without.iter().filter(|f| *f == found).count()
                    };
                    assert!(
                        without.iter().all(is_kept),
                        "{text}{command}: {with:?} {without:?}"
                    );
                }
            }
        }
    }
}
