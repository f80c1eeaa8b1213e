use podward_policy::ByteSpan;

use super::{BLOCK, LINE_BYTES, Source, decode};

fn location(text: &str, at: usize) -> (u32, u32) {
    let location = Source::new("x".into(), text).location(at);
    (location.line, location.column)
}

#[test]
fn lines_and_columns_begin_at_one_and_count_characters() {
    for (text, at, expected) in [
        ("", 0, (1, 1)),
        ("", 9, (1, 1)),
        ("ab", 1, (1, 2)),
        ("ab\n", 2, (1, 3)),
        ("ab\n", 3, (2, 1)),
        ("ab\r\ncd", 5, (2, 2)),
        ("日本x", 6, (1, 3)),
        ("\u{feff}ab", 3, (1, 1)),
        ("\u{feff}ab", 0, (1, 1)),
        ("\u{feff}a\nb", 5, (2, 1)),
    ] {
        assert_eq!(location(text, at), expected, "{text:?} {at}");
    }
}

#[test]
fn columns_are_right_at_every_block_end() {
    let text = "ü".repeat(3 * BLOCK);
    for at in (0..=text.len()).step_by(2) {
        assert_eq!(location(&text, at), (1, (at / 2 + 1) as u32));
    }
}

#[test]
fn the_line_is_shown_without_its_end() {
    let source = Source::new("x".into(), "a\r\nkey = 1\r\n");
    let place = source.place(ByteSpan::new(3..6));
    assert_eq!(
        (place.source_line.as_str(), place.underline),
        ("key = 1", 0..3)
    );
}

#[test]
fn what_spans_lines_is_underlined_on_the_first() {
    let source = Source::new("x".into(), "a = '''\nb'''\n");
    let place = source.place(ByteSpan::new(4..12));
    assert_eq!(
        (place.source_line.as_str(), place.underline),
        ("a = '''", 4..7)
    );
}

#[test]
fn a_span_outside_the_text_is_its_end() {
    let source = Source::new("x".into(), "ab");
    let place = source.place(ByteSpan::new(7..9));
    assert_eq!((place.source_line.as_str(), place.underline), ("ab", 2..2));
}

#[test]
fn a_long_line_is_cut_around_the_part() {
    let text = format!("{}X{}", "ü".repeat(1000), "ü".repeat(1000));
    let source = Source::new("x".into(), &text);
    let place = source.place(ByteSpan::new(2000..2001));
    assert!(place.source_line.len() < LINE_BYTES + 10);
    assert_eq!(place.source_line.get(place.underline), Some("X"));
    assert!(place.source_line.starts_with('…') && place.source_line.ends_with('…'));
    assert_eq!(place.location.column, 1001);
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let said = decode(&"x".into(), b"a\nb \xc3( c\nd")
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "error: the byte 0xC3 is not valid UTF-8\n --> x:2:3\n  |\n2 | b \u{fffd}( c\n  |   ^\n  \
         = help: a manifest is UTF-8 text: save it in that encoding"
    );
    assert!(decode(&"x".into(), b"\xf0\x9f").is_err());
    assert_eq!(decode(&"x".into(), "é".as_bytes()), Ok("é".to_owned()));
}
