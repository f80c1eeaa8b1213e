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
    let part = |p: &super::ProgramProblem| text[p.span.start..p.span.end].to_owned();
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
        ("deploy --version", 1),
        ("deploy push a b", 3),
        ("/opt/bin/deploy push a b", 3),
        ("deploy-eu push a b", 3),
        ("deploy -o x push", 2),
        ("deploy --exec 'rm x' push", 4),
        ("deploy run rm x", 3),
        ("f() { deploy push a; }; f", 2),
        ("deploy() { ls; }; deploy", 3),
    ] {
        let found = lowered(command, Some(&added));
        assert_eq!(found.len(), expected, "{command}: {found:?}");
        assert!(
            lowered(command, None).len() < expected || expected == 1,
            "{command}"
        );
    }
}

#[test]
fn a_bad_model_is_named_by_the_word_that_is_wrong() {
    let cases = [
        ("read -x\n", "read", "a line before the first `program`"),
        ("program\n", "program", "a program without a name"),
        ("program a\nreed -x\n", "reed", "`reed` is no role"),
        ("program a\nread x\n", "x", "`x` is no option"),
        (
            "program a\noperands read... write...\n",
            "write...",
            "only one operand may be repeated",
        ),
        ("program a\nstyle loose\n", "loose", "`loose` is no style"),
        (
            "program a\nwith -x read\n",
            "with",
            "`with` needs one `:`, with a blank on both sides",
        ),
        (
            "program a\nwrapper free\n",
            "free",
            "a wrapper is `kept` or `remote`",
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
