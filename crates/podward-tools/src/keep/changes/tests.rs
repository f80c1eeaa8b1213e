use podward_gate::{CallFacts, CallId};
use podward_policy::ToolName;
use serde_json::{Value, json};

use super::Changes;
use crate::fixture::World;
use crate::tool::Meanwhile;

/// Which of these calls the others leave alone.
fn left_alone(calls: &[(&str, Value)]) -> Vec<bool> {
    let world = World::new().with(&[("a", "a"), ("b", "b")]);
    std::os::unix::fs::symlink("a", world.path("link")).unwrap();
    let ctx = world.context();
    let facts = calls.iter().enumerate().map(|(idx, (tool, arguments))| {
        let proposal = world.propose(tool, arguments.clone());
        CallFacts::new(
            CallId::new(&format!("call_{idx}")).unwrap(),
            ToolName::new(tool).unwrap(),
            proposal.arguments,
            proposal.lowered,
        )
    });
    let facts: Vec<_> = facts.collect();
    let changes = Changes::of(&facts, &ctx);
    let before = facts.iter().map(|facts| changes.before(facts, &ctx));
    before
        .map(|meanwhile| meanwhile == Meanwhile::NothingChanges)
        .collect()
}

#[test]
fn a_call_is_left_alone_where_no_other_may_change_its_file() {
    let write = |path: &str| ("file_write", json!({"path": path, "content": ""}));
    let edit = |path: &str| {
        let arguments = json!({"path": path, "old_string": "a", "new_string": "b"});
        ("file_edit", arguments)
    };
    let read = |path: &str| ("read", json!({"path": path}));
    let bash = |command: &str| ("bash", json!({"command": command}));
    assert_eq!(left_alone(&[edit("a")]), [true]);
    assert_eq!(left_alone(&[edit("a"), write("b")]), [true, true]);
    assert_eq!(left_alone(&[edit("a"), write("./b/../a")]), [false, false]);
    assert_eq!(left_alone(&[edit("link"), write("a")]), [false, false]);
    assert_eq!(left_alone(&[edit("a"), read("a")]), [true, false]);
    assert_eq!(left_alone(&[read("a"), read("b")]), [true, true]);
    assert_eq!(left_alone(&[edit("a"), bash("cat a b")]), [true, false]);
    assert_eq!(left_alone(&[edit("a"), bash("git pull")]), [false, false]);
    assert!(!left_alone(&[read("a"), bash("echo x > c")])[0]);
    assert_eq!(left_alone(&[bash("make")]), [false]);
}
