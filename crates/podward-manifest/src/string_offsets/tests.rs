use podward_policy::ByteSpan;
use toml::de::DeValue;

use super::source_of;

/// The source of a part of a TOML string, given as the text that is to be found in its value.
fn check(raw: &str, part: &str, expected: &str) {
    let value = DeValue::parse(raw).unwrap().into_inner();
    let value = value.as_str().unwrap();
    let start = value.find(part).unwrap();
    let span = source_of(raw, value, ByteSpan::new(start..start + part.len()));
    let found = span.and_then(|span| raw.get(span.range()));
    assert_eq!(found, Some(expected), "{raw}: {part:?} in {value:?}");
}

#[test]
fn a_part_of_any_kind_of_string_is_found() {
    for (raw, part, expected) in [
        (r#""rm -rf **""#, "**", "**"),
        (r"'rm -rf **'", "**", "**"),
        (r"'a\b**'", "**", "**"),
        (r#""caf\u00e9 **/""#, "**/", "**/"),
        (r#""caf\u00e9 **/""#, "é", r"\u00e9"),
        (r#""\U0001F980*""#, "🦀*", r"\U0001F980*"),
        (r#""\x41\e\b\f[""#, "[", "["),
        (r#""\x41\e[""#, "A\u{1b}", r"\x41\e"),
        (r#""\t\n\r\"\\x""#, "\"\\", r#"\"\\"#),
        ("\"\"\"\nfirst\nsecond **\"\"\"", "**", "**"),
        ("\"\"\"\nfirst\nsecond **\"\"\"", "first", "first"),
        ("'''\na''b**'''", "''b**", "''b**"),
        ("\"\"\"a \\\n    b**\"\"\"", "a b", "a \\\n    b"),
        ("\"\"\"quotes \"\"\"\"\"", "\"\"", "\"\""),
        ("'日本*語'", "*", "*"),
        ("\"x\"", "", ""),
        ("\"\"", "", ""),
    ] {
        check(raw, part, expected);
    }
}

#[test]
fn an_empty_part_has_a_place() {
    let span = source_of("'ab'", "ab", ByteSpan::new(1..1));
    assert_eq!(span, Some(ByteSpan::new(2..2)));
    let at_the_end = source_of("\"\"\"ab\"\"\"", "ab", ByteSpan::new(2..2));
    assert_eq!(at_the_end, Some(ByteSpan::new(5..5)));
}

#[test]
fn what_is_no_such_string_has_no_parts() {
    let part = ByteSpan::new(0..1);
    for (raw, value) in [
        ("", "a"),
        ("a", "a"),
        ("'", "a"),
        ("'a'", "b"),
        (r#""\q""#, "q"),
        (r#""\u00""#, "a"),
        (r#""\uD800""#, "a"),
        ("\"\"\"", "a"),
    ] {
        assert_eq!(source_of(raw, value, part), None, "{raw}");
    }
    assert_eq!(source_of("'a'", "a", ByteSpan::new(0..2)), None);
    assert_eq!(source_of("'a'", "a", ByteSpan { start: 1, end: 0 }), None);
}

proptest::proptest! {
    /// Whatever the text and however it is escaped, each of its characters is found again.
    #[test]
    fn every_character_has_its_source(text: String) {
        let raw = toml::Value::String(text.clone()).to_string();
        let escaped: String = text.chars().map(|char| format!("\\U{:08x}", u32::from(char))).collect();
        for raw in [raw, format!("\"{escaped}\"")] {
            for (at, char) in text.char_indices() {
                let span = source_of(&raw, &text, ByteSpan::new(at..at + char.len_utf8())).unwrap();
                let source = raw.get(span.range()).unwrap();
                let quoted = format!("\"\"\"{source}\"\"\"");
                proptest::prop_assert!(source == char.to_string()
                    || DeValue::parse(&quoted).unwrap().get_ref().as_str() == Some(&char.to_string()),
                    "{raw:?} {source:?}");
            }
        }
    }
}
