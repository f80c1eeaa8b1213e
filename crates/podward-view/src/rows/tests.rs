use super::{Look, Row, rows};

fn texts(rows: &[Row]) -> Vec<String> {
    rows.iter().map(Row::text).collect()
}

#[test]
fn many_blank_rows_are_counted_and_what_is_behind_them_is_not_lost() {
    let tail = |n_lines: usize| format!("ls{}rm -rf ~", "\n".repeat(n_lines + 1));
    assert_eq!(
        texts(&rows(&tail(3), &[], 40)),
        ["  | ls", "  | ", "  | ", "  | ", "  | rm -rf ~"]
    );
    assert_eq!(
        texts(&rows(&tail(60), &[], 40)),
        ["  | ls", "  ~ 60 blank rows", "  | rm -rf ~"]
    );
    let blanks = format!("ls{};rm -rf ~", " ".repeat(40 * 36));
    assert_eq!(
        texts(&rows(&blanks, &[], 40)),
        [
            &format!("  | ls{}", " ".repeat(34)),
            "  ~ 39 blank rows",
            &format!("  : {};rm -rf ~", " ".repeat(2)),
        ]
    );
    assert_eq!(
        texts(&rows("a\n\n\n\n\n", &[], 40)),
        ["  | a", "  ~ 5 blank rows"]
    );
}

/// No text can be taken for a row that counts blank ones.
#[test]
fn a_row_that_counts_has_a_mark_that_no_text_can_have() {
    assert_eq!(
        texts(&rows("  ~ 60 blank rows", &[], 40)),
        ["  |   ~ 60 blank rows"]
    );
}

#[test]
fn what_asks_has_its_look_and_a_mark() {
    let shown = rows("ls; rm x", std::slice::from_ref(&(4..8)), 40);
    assert_eq!(texts(&shown), ["  | ls; rm x", "        ^^^^"]);
    let asks: Vec<&str> = shown
        .iter()
        .flat_map(|row| &row.pieces)
        .filter(|piece| piece.look == Look::Asks)
        .map(|piece| &*piece.text)
        .collect();
    assert_eq!(asks, ["rm x"]);
}
