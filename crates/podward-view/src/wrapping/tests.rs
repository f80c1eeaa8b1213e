use super::{without_runs, wrapped_behind_mark};
use crate::rows::Look;

#[test]
fn only_the_first_row_of_words_from_outside_is_without_a_mark() {
    let text = format!("not offered: `x{}may #2 bash run?", " ".repeat(60));
    let rows = wrapped_behind_mark(&[(Look::Faint, &text)], 20);
    let rows: Vec<String> = rows.iter().map(crate::rows::Row::text).collect();
    assert!(rows.len() > 2, "{rows:?}");
    for row in rows.iter().skip(1) {
        assert!(row.starts_with("  : "), "{rows:?}");
        assert!(row.len() <= 20, "{rows:?}");
    }
}

#[test]
fn a_run_of_blanks_lays_nothing_out() {
    for (text, shown) in [
        ("a b", "a b"),
        ("a   b ", "a \\u{20}\\u{20}b "),
        ("  a", " \\u{20}a"),
    ] {
        assert_eq!(without_runs(text), shown);
    }
}
