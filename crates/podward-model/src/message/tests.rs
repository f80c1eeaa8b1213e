use serde_json::json;

use super::*;

#[test]
fn a_message_reads_back_from_its_stable_json() {
    let message = Message {
        role: Role::Assistant,
        content: vec![
            Block::Thinking {
                text: "hm".into(),
                seal: None,
            },
            Block::Thinking {
                text: String::new(),
                seal: Some(ThinkingSeal::Redacted {
                    model: "m".into(),
                    data: "x".into(),
                }),
            },
            Block::Text {
                text: "I read.".into(),
            },
            Block::ToolUse {
                id: "a".into(),
                name: "read".into(),
                input: json!({"path": "x"}),
            },
            Block::ToolResult {
                tool_use_id: "a".into(),
                content: "no".into(),
                is_error: true,
            },
        ],
    };
    let json = json!({
        "role": "assistant",
        "content": [
            {"type": "thinking", "text": "hm"},
            {
                "type": "thinking",
                "text": "",
                "seal": {"kind": "redacted", "model": "m", "data": "x"},
            },
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
            {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": true},
        ],
    });
    assert_eq!(serde_json::to_value(&message).unwrap(), json);
    assert_eq!(serde_json::from_value::<Message>(json).unwrap(), message);
}
