use super::{MAX_FILE_BYTES, MAX_HEADER_BYTES, read};
use crate::problem::Gravity;
use crate::tool_lists::ToolLists;

fn with(front: &str) -> Vec<u8> {
    format!("---\nname: x\ndescription: x\n{front}\n---\n").into_bytes()
}

#[test]
fn what_is_over_a_limit_is_an_error_and_allows_nothing() {
    let long = "x".repeat(MAX_HEADER_BYTES);
    let deep = |open: &str| format!("metadata: {}", open.repeat(30_000));
    for (what, bytes) in [
        ("file", vec![b' '; MAX_FILE_BYTES + 1]),
        ("front matter", with(&format!("license: {long}"))),
        (
            "list",
            with(&format!("allowed-tools: {}", "Read ".repeat(300))),
        ),
        (
            "items",
            with(&format!("allowed-tools: [{}]", "Read, ".repeat(300))),
        ),
        (
            "wrong entries",
            with(&format!("allowed-tools: {}", "(a) ".repeat(10_000))),
        ),
        (
            "escaped",
            with(&format!("allowed-tools: \"{}\"", "\\x61 ".repeat(10_000))),
        ),
        ("depth", with(&deep("["))),
        ("depth", with(&deep("{a: "))),
        ("depth", with(&deep("- "))),
        ("twice", with(&"a: b\n".repeat(10_000))),
        (
            "parentheses",
            with(&format!("allowed-tools: {}", "A(".repeat(20_000))),
        ),
        (
            "quotes",
            with(&format!("allowed-tools: A {}", "\"b 'c ".repeat(9_000))),
        ),
        (
            "aliases",
            with(&format!("a: &a [x]\nb: [{}]", "*a, ".repeat(9_000))),
        ),
    ] {
        let reading = read("x", &bytes);
        assert!(reading.skill.is_none(), "{what}");
        let is_error = |gravity| gravity == Gravity::Error;
        assert!(
            reading
                .problems
                .iter()
                .any(|problem| is_error(problem.gravity)),
            "{what}"
        );
        assert!(
            reading.problems.len() <= 100,
            "{what}: {}",
            reading.problems.len()
        );
        assert_eq!(reading.tools(), ToolLists::nothing(), "{what}");
    }
}

#[test]
fn long_instructions_are_a_hint() {
    let mut text = with("");
    text.extend("line\n".repeat(501).into_bytes());
    let reading = read("x", &text);
    assert!(reading.skill.is_some());
    assert_eq!(reading.problems.len(), 1);
    assert_eq!(reading.problems[0].gravity, Gravity::Hint);
}
