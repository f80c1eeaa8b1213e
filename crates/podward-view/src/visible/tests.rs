use super::{Lines, one_line, visible};

#[test]
fn what_a_terminal_obeys_or_hides_is_shown() {
    let cases = [
        ("plain ünïcode 日本語 🦀", "plain ünïcode 日本語 🦀"),
        ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
        ("a\u{9b}31m", "a\\u{9b}31m"),
        (
            "bell\u{7} del\u{7f} nul\0",
            "bell\\u{7} del\\u{7f} nul\\u{0}",
        ),
        ("rm\u{a0}-rf", "rm\\u{a0}-rf"),
        ("ab\u{202e}cd\u{2066}e", "ab\\u{202e}cd\\u{2066}e"),
        (
            "zero\u{200b}width\u{200d}\u{feff}",
            "zero\\u{200b}width\\u{200d}\\u{feff}",
        ),
        ("tag\u{e0041}", "tag\\u{e0041}"),
        ("over\rwritten", "over\\rwritten"),
        ("e\u{301}u\u{308}\u{304}", "e\u{301}u\u{308}\u{304}"),
        (
            "e\u{301}\u{301}\u{301}\u{301}",
            "e\u{301}\u{301}\u{301}\\u{301}",
        ),
        (" \u{301}", " \\u{301}"),
    ];
    for (text, shown) in cases {
        assert_eq!(visible(text, Lines::Keep), shown);
        assert_eq!(visible(text, Lines::Escape), shown);
    }
}

#[test]
fn line_breaks_stay_only_in_running_text() {
    assert_eq!(visible("a\n\tb", Lines::Keep), "a\n\tb");
    assert_eq!(visible("a\n\tb", Lines::Escape), "a\\n\\tb");
}

#[test]
fn what_is_cut_off_is_counted() {
    assert_eq!(one_line("abcdef", 6), "abcdef");
    let long = "ab".repeat(20);
    assert_eq!(one_line(&long, 4), "abab… (+36 characters)");
}

#[test]
fn a_cut_is_never_longer_than_what_it_leaves_out() {
    assert_eq!(one_line("abcdef", 4), "abcdef");
    let long = "ab".repeat(20);
    for max_chars in 0..40 {
        assert!(one_line(&long, max_chars).chars().count() <= 40);
    }
}
