use super::{parse, repair};
use crate::source::Source;

fn check(text: &str, expected: &[&str]) {
    let repaired = repair(text);
    let source = Source::new("x".into(), text).with_insertions(&repaired.insertions);
    let (_, errors) = parse(&source, &repaired);
    let said: Vec<_> = errors
        .iter()
        .map(|error| {
            let location = error.place.as_ref().unwrap().location.to_string();
            format!("{location} {}", error.message)
        })
        .collect();
    assert_eq!(said, expected, "{text:?}");
}

#[test]
fn every_syntax_error_is_found_in_one_go() {
    check(
        "a = yes\nb = \"x\nc = 'y\nd =\n",
        &[
            "x:1:5 a text must be in quotes",
            "x:2:7 a text in double quotes is not closed",
            "x:3:7 a text in single quotes is not closed",
            "x:4:4 the value is missing",
        ],
    );
    check(
        "a = 1\na = 2\n[t]\n[t]\n",
        &["x:2:1 duplicate key `a`", "x:4:2 duplicate key `t`"],
    );
}

#[test]
fn a_rule_beside_a_list_of_rules_is_told_where_it_belongs() {
    let help = |text: &str| {
        let repaired = repair(text);
        let source = Source::new("x".into(), text).with_insertions(&repaired.insertions);
        let (_, errors) = parse(&source, &repaired);
        errors.into_iter().next().and_then(|error| error.help)
    };
    let beside = help("[permissions]\nrule = []\n[[permissions.rule]]\ntool = 'bash'\n");
    assert!(beside.unwrap().contains("stand in `rule = [ … ]`"));
    let twice = help("[permissions]\nrule = []\nrule = []\n");
    assert!(twice.unwrap().contains("keep one of the two"));
}

#[test]
fn what_follows_a_broken_line_is_read() {
    check(
        "[a\nx = no\n[[b]\ny = no\n[[c # d\nz = no\n[d",
        &[
            "x:1:3 not valid TOML: unclosed table, expected `]`",
            "x:2:5 a text must be in quotes",
            "x:3:5 not valid TOML: unclosed array table, expected `]`",
            "x:4:5 a text must be in quotes",
            "x:5:4 not valid TOML: unclosed array table, expected `]]`",
            "x:6:5 a text must be in quotes",
            "x:7:3 not valid TOML: unclosed table, expected `]`",
        ],
    );
    check(
        "a\nb = no\nc 3\nd = no",
        &[
            "x:1:2 not valid TOML: key with no value, expected `=`",
            "x:2:5 a text must be in quotes",
            "x:3:3 not valid TOML: key with no value, expected `=`",
            "x:4:5 a text must be in quotes",
        ],
    );
}

#[test]
fn files_of_other_systems_are_read() {
    check("\u{feff}a = 1\r\nb = 2\r\n", &[]);
    check("", &[]);
    check("# only\r\n", &[]);
    check(
        "a = 1\rb = 2",
        &["x:1:7 not valid TOML: carriage return must be followed by newline, expected newline"],
    );
}

#[test]
fn a_key_written_bare_is_not_repeated() {
    let text = "key_env = sk-live-1\n";
    let source = Source::new("x".into(), text);
    let repaired = repair(text);
    let (_, errors) = parse(&source, &repaired);
    assert!(!errors[0].to_string().contains("live"), "{}", errors[0]);
}
