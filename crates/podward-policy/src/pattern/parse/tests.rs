use super::super::Token;
use super::{Problem, parse};
use crate::source::ByteSpan;

#[test]
fn d4_1_odd_patterns_are_refused_with_what_to_write_instead() {
    for (pattern, part, message, help) in [
        ("", 0..0, "an empty pattern matches nothing", "write `*`"),
        (
            "rm -rf **",
            7..9,
            "`**` must be a whole path component",
            "write `*`",
        ),
        (
            "**a",
            0..2,
            "`**` must be a whole path component",
            "write `*`",
        ),
        (
            "a/**b",
            2..4,
            "`**` must be a whole path component",
            "write `*`",
        ),
        ("***", 0..3, "3 stars in a row", "write `*`"),
        ("é****", 2..6, "4 stars in a row", "`[*]`"),
        ("src/**/", 4..7, "ends in `**/`", "write `*`"),
        ("**/", 0..3, "ends in `**/`", "write `*`"),
        ("[ -f *", 0..1, "not closed", "`[[]`"),
        ("a[", 1..2, "not closed", "`[[]`"),
        ("a[]", 1..2, "not closed", "`[[]`"),
        ("a[!]", 1..2, "not closed", "`[[]`"),
        ("[ -f x ]", 0..8, "holds a blank", "`[[]`"),
        ("[[ -f x ]]", 0..9, "holds a blank", "`[[]`"),
        ("[[:alpha:]]*", 0..10, "named classes", "`[a-z]`"),
        ("[^a]*", 0..4, "`^` does not negate", "`[!…]`"),
        ("[z-a]", 0..5, "`z-a` in a class is empty", "`a-z`"),
        ("http://[::1]/*", 7..12, "not an address", "`[[]`"),
    ] {
        let problems = parse(pattern).expect_err(pattern);
        let [problem] = &*problems else {
            panic!("{pattern}: {problems:?}");
        };
        assert_eq!(problem.part, ByteSpan::new(part), "{pattern}");
        assert!(problem.message.contains(message), "{pattern}: {problem:?}");
        assert!(problem.help.contains(help), "{pattern}: {problem:?}");
    }
}

#[test]
fn all_problems_are_named_at_once() {
    let problems = parse("a** [b c] ***").expect_err("three problems");
    let starts: Vec<usize> = problems
        .iter()
        .map(|Problem { part, .. }| part.start)
        .collect();
    assert_eq!(starts, [1, 4, 10]);
}

#[test]
fn patterns_may_not_be_too_long() {
    assert!(parse(&"a".repeat(4096)).is_ok());
    assert!(parse(&"a".repeat(4097)).is_err());
}

#[test]
fn what_is_said_of_literal_characters_works() {
    let literal = |text: &str| text.chars().map(Token::Char).collect::<Vec<_>>();
    for (pattern, text) in [
        ("a[*]b", "a*b"),
        ("[[] -f x ]", "[ -f x ]"),
        ("http://[[]::1]/", "http://[::1]/"),
        ("[?]]", "?]"),
        ("[]]", "]"),
        ("[ ]", " "),
    ] {
        assert_eq!(parse(pattern), Ok(literal(text)), "{pattern}");
    }
    for pattern in [
        "[!a]", "[a-z]", "[a-]", "[-a]", "[]a]", "[!]a]", "[ \t]", "**/a", "a/**", "**",
    ] {
        assert!(parse(pattern).is_ok(), "{pattern}");
    }
}
