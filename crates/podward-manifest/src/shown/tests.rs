use super::{Bytes, Shown, toml_string};

proptest::proptest! {
    #[test]
    fn a_text_is_read_as_it_is_shown(text: String) {
        let shown = toml_string(&text);
        proptest::prop_assert!(!shown.contains(char::is_control));
        let value: toml::Value = format!("a = {shown}").parse::<toml::Table>().unwrap()["a"].clone();
        proptest::prop_assert_eq!(value.as_str(), Some(text.as_str()));
    }
}

#[test]
fn equal_values_are_shown_equal() {
    assert_eq!(Bytes(65_536).shown(), "\"64KiB\"");
    assert_eq!(vec![2_u32, 1].shown(), "[1, 2]");
    assert_eq!(Vec::<u32>::new().shown(), "[]");
}
