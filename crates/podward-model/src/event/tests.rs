use serde_json::json;

use super::*;

#[test]
fn no_arguments_at_all_are_an_empty_object() {
    assert_eq!(ToolInput::parse(" \n"), ToolInput::Json(json!({})));
}

#[test]
fn broken_arguments_are_kept_with_what_is_wrong() {
    let ToolInput::Invalid { raw, why } = ToolInput::parse("{\"path\": ") else {
        panic!("read as JSON");
    };
    assert_eq!(raw, "{\"path\": ");
    assert!(why.contains("line 1 column 9"), "{why}");
}

#[test]
fn deeply_nested_arguments_are_broken_arguments() {
    let raw = "[".repeat(1_000_000);
    assert!(matches!(ToolInput::parse(&raw), ToolInput::Invalid { .. }));
}
