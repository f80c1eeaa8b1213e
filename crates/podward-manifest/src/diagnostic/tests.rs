use podward_policy::ByteSpan;

use super::{Diagnostic, Diagnostics, Severity};
use crate::source::Source;

/// What is said about a part of a text.
fn check(text: &str, part: &str, expected: &str) {
    let source = Source::new("x.toml".into(), text);
    let at = text.find(part).unwrap();
    let place = source.place(ByteSpan::new(at..at + part.len()));
    let said = Diagnostic::error("it is wrong", place)
        .with_help("mend it")
        .to_string();
    assert_eq!(said, expected);
}

#[test]
fn the_part_is_underlined() {
    check(
        "a = 1\nkey = \"x\"\n",
        "\"x\"",
        "error: it is wrong
 --> x.toml:2:7
  |
2 | key = \"x\"
  |       ^^^
  = help: mend it",
    );
}

#[test]
fn the_gutter_fits_the_number() {
    let text = format!("{}x = 1", "\n".repeat(99));
    check(
        &text,
        "x",
        "error: it is wrong
   --> x.toml:100:1
    |
100 | x = 1
    | ^
    = help: mend it",
    );
}

#[test]
fn tabs_and_wide_characters_do_not_move_the_underline() {
    check(
        "\ta = '日本' # ü\tb = 2",
        "'日本'",
        "error: it is wrong
 --> x.toml:1:6
  |
1 |     a = '日本' # ü    b = 2
  |         ^^^^^^
  = help: mend it",
    );
    check(
        "'日本語' x",
        "x",
        "error: it is wrong
 --> x.toml:1:7
  |
1 | '日本語' x
  |          ^
  = help: mend it",
    );
}

#[test]
fn nothing_hides_in_a_line() {
    check(
        "a\u{202e}b\u{1b}[0m = \u{a0}1",
        "1",
        "error: it is wrong
 --> x.toml:1:12
  |
1 | a\\u{202e}b\\u{1b}[0m = \\u{a0}1
  |                             ^
  = help: mend it",
    );
}

#[test]
fn the_end_of_a_line_has_one_caret() {
    let source = Source::new("x.toml".into(), "a = \"b\n");
    let place = source.place(ByteSpan::new(6..6));
    let said = Diagnostic::error("not closed", place).to_string();
    assert_eq!(
        said,
        "error: not closed\n --> x.toml:1:7\n  |\n1 | a = \"b\n  |       ^"
    );
}

#[test]
fn a_secret_is_masked() {
    let source = Source::new("x.toml".into(), "key = 'sk-123' # x");
    let place = source.place(ByteSpan::new(6..14)).masked();
    assert_eq!(place.source_line.get(place.underline.clone()), Some("***"));
    assert_eq!(place.source_line, "key = *** # x");
}

#[test]
fn a_message_without_a_place_is_a_line() {
    let diagnostic = Diagnostic::new(Severity::Warning, "no table\u{7}".to_owned(), None);
    assert_eq!(diagnostic.to_string(), "warning: no table\\u{7}");
}

#[test]
fn errors_are_kept_when_many_are_cut() {
    let warning = Diagnostic::new(Severity::Warning, "w".to_owned(), None);
    let error = Diagnostic::new(Severity::Error, "e".to_owned(), None);
    let mut list = vec![warning; 200];
    list.push(error);
    let diagnostics = Diagnostics::new(list);
    assert_eq!(diagnostics.iter().count(), 100);
    assert_eq!(diagnostics.left_out(), 101);
    assert!(
        diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    );
}
