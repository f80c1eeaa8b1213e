use serde_json::json;

use super::summary;

#[test]
fn a_call_is_shown_by_its_main_argument() {
    let cases = [
        ("bash", json!({"command": "ls -l"}), "ls -l"),
        (
            "grep",
            json!({"pattern": "a b", "path": "src"}),
            "a b  in src",
        ),
        ("glob", json!({"pattern": "*.rs"}), "*.rs"),
        ("list", json!({}), "{}"),
        ("mcp__s__t", json!({"path": "x"}), "{\"path\":\"x\"}"),
        ("bash", json!("no object"), "\"no object\""),
        ("bash", json!({"command": 1}), "{\"command\":1}"),
    ];
    for (tool, arguments, shown) in cases {
        assert_eq!(summary(tool, &arguments), shown);
    }
}
