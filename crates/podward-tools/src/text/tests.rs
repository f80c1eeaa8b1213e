use proptest::prelude::*;

use super::{cut_line, cut_to, visible};

#[test]
fn text_is_cut_at_the_end_of_a_line() {
    assert_eq!(cut_to("ab\ncd\n".to_owned(), 6), "ab\ncd\n");
    assert_eq!(
        cut_to("ab\ncd\n".to_owned(), 5),
        "ab\n[cut: 3 bytes more]\n"
    );
    assert_eq!(cut_to("é".repeat(3), 3), "é\n[cut: 4 bytes more]\n");
    assert_eq!(cut_to("ab".to_owned(), 0), "[cut: 2 bytes more]\n");
    assert_eq!(cut_line("aé", 2), "a [line cut: 2 bytes more]");
}

#[test]
fn only_what_cannot_be_seen_is_escaped() {
    for (name, expected) in [
        ("it's a \"name\".rs", "it's a \"name\".rs"),
        ("naïve\\日本", "naïve\\日本"),
        ("a\nb", "a\\nb"),
        ("a\u{1b}[31m", "a\\u{1b}[31m"),
        ("a\u{202e}b\u{200b}", "a\\u{202e}b\\u{200b}"),
    ] {
        assert_eq!(visible(name), expected);
    }
}

proptest! {
    #[test]
    fn a_cut_text_is_as_long_as_it_may_be_and_its_mark(text in any::<String>(), max in 0..50_usize) {
        let n_bytes = text.len();
        let cut = cut_to(text.clone(), max);
        if n_bytes <= max {
            prop_assert_eq!(cut, text);
        } else {
            prop_assert!(cut.len() <= max + 1 + "[cut: 9999999 bytes more]\n".len());
        }
    }
}
