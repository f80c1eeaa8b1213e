use super::*;

#[test]
fn what_would_fill_the_memory_is_not_read() {
    let many = |value: &str| format!("{{\"a\":[{}0]}}", format!("{value},").repeat(MAX_VALUES));
    for value in ["{\"b\":0}", "[]", "0", "\"\\\\\""] {
        let error = parse(&many(value)).unwrap_err();
        assert!(matches!(error, JsonError::TooMany), "{value}");
    }
}

#[test]
fn a_long_text_is_one_value() {
    let text = "[{,\\\"\\\\".repeat(MAX_VALUES);
    assert_eq!(n_values(&format!("\"{text}\"")), 1);
    assert!(parse(&format!("{{\"a\":[1,\"{text}\"]}}")).is_ok());
    assert!(matches!(parse("{"), Err(JsonError::Wrong(_))));
}
