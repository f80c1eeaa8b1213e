use proptest::prelude::*;

use super::rows;

fn shown(text: &str) -> String {
    rows(text, 40).iter().map(|row| row.text() + "\n").collect()
}

#[test]
fn markdown_is_shown_in_rows() {
    let text = "# Plan\n\nI *look* at `src`:\n\n1. read it\n2. change what is wrong in it, and whatever \
                hangs on that\n   - here\n   - [there](https://example.com)\n\n```rust\nfn main() {\n    \
                let x = 1;\n}\n```\n\n> said\n\n---\nDone.\n";
    assert_eq!(
        shown(text),
        "# Plan\n\nI look at src:\n\n1. read it\n2. change what is wrong in it, and\n   whatever hangs on \
         that\n  - here\n  - there (https://example.com)\n  rust\n  | fn main() {\n  |     let x = 1;\n  | \
         }\n\n> said\n\n\u{2500}\u{2500}\u{2500}\n\nDone.\n"
    );
}

#[test]
fn nothing_is_hidden() {
    assert_eq!(
        shown("a <!-- b --> <b onclick=c>d</b> [e](f \"g\") ![h](i)\u{202e}"),
        "a <!-- b --> <b onclick=c>d</b> e (f\n\"g\") h (i)\\u{202e}\n"
    );
}

proptest! {
    /// Every letter of a text that is no markup is shown, whatever is around it.
    #[test]
    fn no_word_is_lost(text in "[a-z#*_`>\\[\\]()!| \n-]{0,60}") {
        let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).collect::<String>();
        let shown = shown(&text);
        for letter in letters(&text).chars() {
            prop_assert!(shown.contains(letter), "{text:?} {shown:?}");
        }
    }
}
