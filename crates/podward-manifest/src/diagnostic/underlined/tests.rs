use podward_policy::ByteSpan;

use super::underlined;

fn of(text: &str, part: &str) -> String {
    let start = text.find(part).unwrap();
    underlined(text, ByteSpan::new(start..start + part.len()))
}

#[test]
fn a_part_of_one_line_has_carets_below_it() {
    assert_eq!(
        of("cd build && git push; ls", "git push"),
        "1 | cd build && git push; ls\n  |             ^^^^^^^^\n"
    );
}

#[test]
fn only_lines_of_the_part_are_shown_each_with_its_carets() {
    assert_eq!(
        of("ls\nrm \\\n  -rf x\nls", "rm \\\n  -rf x"),
        "2 | rm \\\n  | ^^^^\n3 |   -rf x\n  | ^^^^^^^\n"
    );
}

#[test]
fn wide_characters_take_two_columns_and_hidden_ones_are_written_out() {
    assert_eq!(
        of("echo 漢字\u{202e}; rm x", "rm x"),
        "1 | echo 漢字\\u{202e}; rm x\n  |                    ^^^^\n"
    );
    assert_eq!(
        of("a\tb\u{1b}", "\tb\u{1b}"),
        "1 | a    b\\u{1b}\n  |  ^^^^^^^^^^^\n"
    );
}

#[test]
fn a_part_that_ends_with_a_line_does_not_reach_into_the_next() {
    assert_eq!(of("ls\nls -l\n", "ls\n"), "1 | ls\n  | ^^\n");
}

#[test]
fn many_lines_are_counted() {
    let text = "x\n".repeat(30);
    let shown = underlined(&text, ByteSpan::new(0..text.len()));
    assert_eq!(shown.lines().count(), 21);
    assert!(shown.ends_with("   … and 20 more lines\n"), "{shown}");
}

#[test]
fn a_long_line_is_cut_around_the_part() {
    let text = format!("echo {}; rm x; echo {}", "a".repeat(5000), "b".repeat(5000));
    let shown = of(&text, "rm x");
    assert!(shown.len() < 600 && shown.contains("; rm x; "), "{shown}");
}

#[test]
fn a_span_behind_the_text_shows_the_end_and_does_not_fail() {
    assert_eq!(underlined("ls", ByteSpan::new(5..9)), "1 | ls\n  |   ^\n");
    assert_eq!(underlined("", ByteSpan::new(0..0)), "1 | \n  | ^\n");
}
