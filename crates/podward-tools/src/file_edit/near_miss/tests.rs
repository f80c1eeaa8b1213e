use super::near_miss;

#[test]
fn a_near_miss_says_what_differs() {
    let text = "fn main() {\n\tlet x = 1;\n\tprint(x);\n}\n";
    for (old, expected) in [
        ("     2\t\tlet x = 1;\n", "without the line numbers"),
        (
            "let x = 1;\n\n",
            "without the blanks and newlines at its ends",
        ),
        (
            "fn main() {\n    let x = 1;",
            "The text of lines 1 to 2 differs in blanks only:\nfn main() {\n\tlet x = 1;",
        ),
        (
            "let  x = 1;",
            "Line 2 differs in blanks only:\n\tlet x = 1;",
        ),
        (
            "PRINT(X);",
            "Line 3 differs in upper and lower case:\n\tprint(x);",
        ),
        (
            "print(x);\nprint(y);",
            "Its first line does, at line 3, but not the lines that follow",
        ),
    ] {
        let hint = near_miss(old, text.as_bytes()).unwrap();
        assert!(hint.contains(expected), "{old:?}: {hint}");
    }
    for old in ["nothing like it", "\n", " "] {
        assert_eq!(near_miss(old, text.as_bytes()), None, "{old:?}");
    }
}

#[test]
fn an_excerpt_of_a_near_miss_is_short() {
    let line = format!("a {}\n", "b".repeat(5000));
    let hint = near_miss(&line.replace(' ', "  "), line.as_bytes()).unwrap();
    assert_eq!(hint, "Line 1 differs in blanks only");
}
