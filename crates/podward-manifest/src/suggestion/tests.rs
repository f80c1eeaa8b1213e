use super::{all_of, nearest, one_of, quoted};

#[test]
fn the_nearest_word_is_suggested() {
    let actions = ["allow", "ask", "deny"];
    for (wrong, expected) in [
        ("alow", Some("allow")),
        ("Deny", Some("deny")),
        ("dney", Some("deny")),
        ("block", Some("deny")),
        ("forbid", Some("deny")),
        ("prompt", Some("ask")),
        ("xyz", None),
        ("", None),
    ] {
        assert_eq!(nearest(wrong, actions), expected, "{wrong}");
    }
    assert_eq!(
        nearest("default", ["default_action", "rule"]),
        Some("default_action")
    );
    assert_eq!(nearest("max-steps", ["max_steps"]), Some("max_steps"));
    assert_eq!(nearest(&"a".repeat(100_000), actions), None);
}

#[test]
fn words_are_listed() {
    assert_eq!(one_of([]), "");
    assert_eq!(one_of(["a"]), "`a`");
    assert_eq!(one_of(["a", "b", "c"]), "`a`, `b` or `c`");
    assert_eq!(all_of(["a", "b"]), "`a` and `b`");
}

#[test]
fn quoted_text_stays_short_and_on_one_line() {
    assert_eq!(quoted(""), "an empty text");
    assert_eq!(quoted("a\nb\t"), "`a\\nb\\t`");
    assert_eq!(quoted(&"ü".repeat(100)), format!("`{}…`", "ü".repeat(60)));
}
