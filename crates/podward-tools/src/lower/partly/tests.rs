use podward_policy::{HoleKind, TextBuilder};

use super::{pattern_may_match, symbols, text_of};

#[test]
fn a_text_is_its_symbols() {
    let text = TextBuilder::new()
        .hole(HoleKind::Quoted)
        .known("é/")
        .hole(HoleKind::FileGlob)
        .hole(HoleKind::Unquoted)
        .known("b")
        .hole(HoleKind::Anything)
        .build();
    assert_eq!(text_of(&symbols(&text)), text);
}

#[test]
fn a_file_name_pattern_is_no_hidden_name_unless_it_says_so() {
    let check = |pattern: &str, name: &str| {
        let mut text = TextBuilder::new();
        for c in pattern.chars() {
            text = match c {
                '*' => text.hole(HoleKind::FileGlob),
                '$' => text.hole(HoleKind::Quoted),
                c => text.known(c.encode_utf8(&mut [0; 4])),
            };
        }
        pattern_may_match(&symbols(&text.build()), name)
    };
    for (pattern, name) in [
        ("*", "work"),
        ("w*", "w"),
        ("w*", "work"),
        ("*k", "work"),
        ("w*r*k", "work"),
        (".*", ".."),
        ("work", "work"),
        ("a*.env", "a.env"),
    ] {
        assert!(check(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in [
        ("*", ".."),
        ("*.", ".."),
        ("x*", "work"),
        ("*x", "work"),
        ("work*x", "work"),
        ("$", "work"),
        ("w$", "work"),
        ("wor", "work"),
    ] {
        assert!(!check(pattern, name), "{pattern} {name}");
    }
}
