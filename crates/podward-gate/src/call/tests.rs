use proptest::prelude::*;

use super::*;

#[test]
fn an_id_is_what_every_provider_takes_back() {
    for good in ["a", "toolu_01-X", &"x".repeat(64)] {
        assert_eq!(CallId::new(good).unwrap().as_str(), good);
    }
    for bad in ["", "a b", "a.b", "ä", "a\n", &"x".repeat(65)] {
        assert!(CallId::new(bad).is_err(), "{bad}");
    }
    assert_eq!(
        CallId::new("a\u{202e}b").unwrap_err().to_string(),
        "`a\\u{202e}b` is not a call id: an id has 1 to 64 letters, digits, `_` and `-`"
    );
}

proptest! {
    #[test]
    fn what_a_model_wrote_becomes_an_id(text in "\\PC*", number: u32) {
        let id = CallId::from_model(&text);
        prop_assert_eq!(CallId::new(id.as_str()), Ok(id.clone()));
        let numbered = id.numbered(number);
        prop_assert_eq!(CallId::new(numbered.as_str()), Ok(numbered.clone()));
        prop_assert!(numbered != id);
    }

    #[test]
    fn a_good_id_stays_as_it_is(text in "[A-Za-z0-9_-]{1,48}") {
        let id = CallId::from_model(&text);
        prop_assert_eq!(id.as_str(), text);
    }
}
