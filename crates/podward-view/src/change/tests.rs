use super::{MAX_COMPARED, change, replaced};

#[test]
fn what_changes_is_shown_with_a_few_lines_around() {
    let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
    let new = old.replace("10\n", "ten\nand more\n");
    assert_eq!(
        change(&old, &new),
        "@@ line 7\n 7\n 8\n 9\n-10\n+ten\n+and more\n 11\n 12\n 13\n"
    );
    assert_eq!(change("", "a\n"), "+a\n");
    assert_eq!(change("a\n", ""), "-a\n");
    assert_eq!(change("a\n", "a\n"), "");
}

#[test]
fn a_missing_line_break_and_a_carriage_return_are_changes() {
    assert_eq!(change("a\n", "a"), "-a\n+a\n\\ no line break at the end\n");
    assert_eq!(change("a\n", "a\r\n"), "-a\n+a\r\n");
    // One that stands alone ends no line.
    assert_eq!(change("a\n", "over\rwritten\n"), "-a\n+over\rwritten\n");
}

#[test]
fn blanks_at_the_end_of_a_line_that_changes_are_counted() {
    assert_eq!(
        change("a\nb  \n", "a   \nb  \n"),
        "-a\n+a   \n\\ 3 blanks at the end\n b  \n"
    );
    assert_eq!(
        change("a\n", "a "),
        "-a\n+a \n\\ 1 blank at the end\n\\ no line break at the end\n"
    );
}

#[test]
fn what_is_too_large_to_compare_is_shown_as_a_whole() {
    let old = "a\n".repeat(MAX_COMPARED);
    let shown = change(&old, "b\n");
    assert_eq!(shown, replaced(&old, "b\n"));
    assert_eq!(shown.lines().count(), MAX_COMPARED + 1);
}
