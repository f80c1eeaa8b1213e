use super::{TokenProblem, tokens};

/// Each entry with its argument behind a `|`, or what is wrong with it.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let shown: Vec<String> = tokens(text)
        .into_iter()
        .map(|token| {
            assert!(text.get(token.range.clone()).is_some(), "{token:?}");
            match token.content {
                Ok(content) => match content.argument {
                    Some(argument) => format!("{}|{argument}", content.name),
                    None => content.name.to_owned(),
                },
                Err(problem) => format!("{problem:?} {}", text.get(token.range).unwrap()),
            }
        })
        .collect();
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn blanks_and_commas_separate_entries_outside_parentheses() {
    check("", &[]);
    check(" , ,\n", &[]);
    check("Read", &["Read"]);
    check("Read,Grep\tGlob\n,, LS,", &["Read", "Grep", "Glob", "LS"]);
    check("Bash(a b, c) Read", &["Bash|a b, c", "Read"]);
    check("A(b(c) d)e", &["NoSeparator A(b(c) d)e"]);
    check("A(b(c), d) E", &["A|b(c), d", "E"]);
    check("A(\")\") B(')') C(\\))", &["A|\")\"", "B|')'", "C|\\)"]);
    check("\"A\" 'B(x y)' \"C D\"", &["A", "B|x y", "\"C", "D\""]);
}

#[test]
fn what_cannot_be_read_is_never_a_wider_entry() {
    check("Bash (git:*)", &["Bash", "NoName (git:*)"]);
    check("Bash(git:* Read", &["OpenParenthesis Bash(git:* Read"]);
    check("Bash(it's) Read", &["OpenQuote Bash(it's) Read"]);
    check("Bash git) Read", &["Bash", "StrayClose git)", "Read"]);
    check("Bash(git)Read X", &["NoSeparator Bash(git)Read", "X"]);
    check("Bash( ) X", &["NothingInside Bash( )", "X"]);
    check("() )", &["NoName ()", "StrayClose )"]);
    assert!(!TokenProblem::NoName.help().is_empty());
}
