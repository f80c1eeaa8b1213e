use super::{TOP, page};

#[test]
fn each_key_has_a_row_and_each_inner_table_a_section() {
    let schema = r#"{ "properties": {
        "limits": { "type": "object", "properties": {
            "time": { "type": "string", "title": "a time", "examples": ["90s", "1h"],
                "default": "2m", "description": "How long." },
            "n": { "type": "integer", "minimum": 1, "description": "How many." } } },
        "hook": { "type": "array", "description": "Programs.", "items": { "type": "object",
            "required": ["event"], "properties": {
                "event": { "enum": ["a", "b"], "description": "Which." } } } },
        "scope": { "type": "object", "properties": {
            "allow": { "type": "array", "description": "What.", "items": { "type": "object",
                "properties": { "path": { "type": "string", "description": "Where." } } } } } } } }"#;
    let page = page(schema).unwrap();
    let tables = page.strip_prefix(TOP).unwrap();
    assert_eq!(
        tables,
        "
## `[[hook]]`

Programs.

| key | value | default | |
|---|---|---|---|
| **`event`** | `a`, `b` |  | Which. |

## `[limits]`

| key | value | default | |
|---|---|---|---|
| `n` | a whole number from 1 on |  | How many. |
| `time` | a time: `90s`, `1h` | `\"2m\"` | How long. |

## `[scope]`

| key | value | default | |
|---|---|---|---|
| `allow` | a list of tables, see below |  | What. |

## `scope.allow = [{ … }]`

What.

| key | value | default | |
|---|---|---|---|
| `path` | a text |  | Where. |
"
    );
}
