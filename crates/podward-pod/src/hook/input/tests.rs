use podward_gate::CallId as GateCallId;
use podward_policy::{Lowered, ToolName};

use super::*;

fn result(content: String) -> HookResult {
    let facts = CallFacts::new(
        GateCallId::new("a").unwrap(),
        ToolName::new("read").unwrap(),
        "{\"path\":\"x\"}",
        Lowered::NothingToRun,
    );
    let output = ToolOutput {
        content,
        is_error: false,
    };
    match post_tool(&facts, &output) {
        HookEvent::PostTool(event) => event.result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_long_result_is_cut_between_characters() {
    let short = result("ü".repeat(MAX_RESULT_BYTES / 2));
    assert!(!short.is_cut);
    assert_eq!(short.content.len(), MAX_RESULT_BYTES);
    let long = result(format!("x{}", "ü".repeat(MAX_RESULT_BYTES)));
    assert!(long.is_cut);
    assert_eq!(long.content.len(), MAX_RESULT_BYTES - 1);
}
