use super::*;

#[test]
fn an_id_is_short_and_plain() {
    for text in ["a", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "a-b_c", &"x".repeat(64)] {
        assert_eq!(GrantId::new(text).unwrap().as_str(), text);
    }
    for text in ["", "a b", "ä", "a/b", &"x".repeat(65)] {
        assert!(GrantId::new(text).is_err(), "{text}");
    }
    assert_eq!(
        GrantId::new("a\n").unwrap_err().to_string(),
        "`a\\n` is not a grant's id: an id has 1 to 64 letters, digits, `_` and `-`"
    );
}
