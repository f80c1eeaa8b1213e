use std::fs;

use podward_policy::Action;
use serde_json::json;

use crate::fixture::{World, names, policies};

#[test]
fn an_edit_replaces_the_only_occurrence_and_shows_the_change() {
    let world = World::new().with(&[("a.rs", "fn a() {}\nfn b() {}\nfn c() {}\n")]);
    let text = world.text(
        "file_edit",
        json!({"path": "a.rs", "old_string": "fn b() {}", "new_string": "fn b() { a() }"}),
    );
    assert_eq!(
        text,
        "replaced 1 time in `a.rs`\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,3 @@\n fn a() {}\n\
         -fn b() {}\n+fn b() { a() }\n fn c() {}\n"
    );
    assert_eq!(
        world.contents("a.rs"),
        "fn a() {}\nfn b() { a() }\nfn c() {}\n"
    );
    assert_eq!(names(&world.root()), ["a.rs"]);
}

#[test]
fn an_edit_that_is_not_unique_changes_nothing_and_says_where() {
    let world = World::new().with(&[("f", "x\ny\nx\n")]);
    assert_eq!(
        world.failure(
            "file_edit",
            json!({"path": "f", "old_string": "x", "new_string": "z"})
        ),
        "`old_string` occurs 2 times in `f`; nothing was changed: add the lines around the one you \
         mean, or set `replace_all` (lines 1, 3)"
    );
    assert_eq!(world.contents("f"), "x\ny\nx\n");
    let text = world.text(
        "file_edit",
        json!({"path": "f", "old_string": "x", "new_string": "z", "replace_all": true}),
    );
    assert!(text.starts_with("replaced 2 times in `f`\n"), "{text}");
    assert_eq!(world.contents("f"), "z\ny\nz\n");
}

#[test]
fn bad_arguments_of_an_edit_are_a_bad_call() {
    let place = World::new().place();
    for (old, new, problem) in [
        ("", "x", "`old_string` is empty"),
        ("x", "x", "are the same"),
    ] {
        let error = crate::lower(
            "file_edit",
            json!({"path": "f", "old_string": old, "new_string": new}),
            &place,
        )
        .unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
    }
}

#[test]
fn what_cannot_be_edited_is_refused_with_a_reason() {
    let mut world = World::new().with(&[("dir/", ""), ("big", "0123456789")]);
    world.limits.file_bytes = 9;
    world.write("bin", b"a\0b");
    for (path, reason) in [
        ("bin", "`bin` is a binary file (3 bytes)"),
        ("big", "`big` is larger than 9 bytes"),
        ("dir", "is a directory"),
        ("gone", "does not exist"),
    ] {
        let text = world.failure(
            "file_edit",
            json!({"path": path, "old_string": "a", "new_string": "b"}),
        );
        assert!(text.contains(reason), "{path}: {text}");
    }
    assert_eq!(fs::read(world.path("bin")).unwrap(), b"a\0b");
}

#[test]
fn where_reading_is_not_allowed_an_edit_shows_nothing_of_the_file() {
    let mut world = World::new().with(&[("f", "secret = 1\nsecret = 2\nother\n")]);
    world.policies = policies(Action::Allow, &[("read", "f", Action::Deny)]);
    let edit = |old: &str| {
        world
            .call(
                "file_edit",
                json!({"path": "f", "old_string": old, "new_string": "changed"}),
            )
            .content
    };
    for old in ["Other", "  other", "secret", "other"] {
        let text = edit(old);
        assert!(
            !text.contains("= 1") && !text.contains("lines 1") && !text.contains("@@"),
            "{text}"
        );
    }
    assert_eq!(world.contents("f"), "secret = 1\nsecret = 2\nchanged\n");
}

#[test]
fn edits_of_one_message_do_not_lose_one_another() {
    let world = World::new();
    let lines: String = (0..20).map(|n| format!("line {n:02}\n")).collect();
    world.write("f", lines.as_bytes());
    let ctx = world.context();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let proposal = world.propose(
                "file_edit",
                json!({"path": "f", "old_string": format!("line {n:02}"),
                       "new_string": format!("done {n:02}")}),
            );
            let ctx = ctx.clone();
            runtime.spawn(async move {
                proposal
                    .invocation
                    .run(crate::fixture::permit(), &ctx)
                    .await
            })
        })
        .collect();
    for call in calls {
        let output = runtime.block_on(call).unwrap();
        assert!(!output.is_error, "{}", output.content);
    }
    let expected: String = (0..20).map(|n| format!("done {n:02}\n")).collect();
    assert_eq!(world.contents("f"), expected);
}

#[test]
fn a_long_change_is_cut_with_a_mark() {
    let mut world = World::new().with(&[("f", "x\n")]);
    world.limits.output_bytes = 200;
    let text = world.text(
        "file_edit",
        json!({"path": "f", "old_string": "x", "new_string": "line\n".repeat(1000)}),
    );
    assert!(text.len() < 400, "{text}");
    assert!(text.contains("[cut: "), "{text}");
}

#[test]
fn a_huge_change_is_made_and_not_shown() {
    let world = World::new();
    world.write("f", "x\n".repeat(100_000).as_bytes());
    let text = world.text(
        "file_edit",
        json!({"path": "f", "old_string": "x", "new_string": "y", "replace_all": true}),
    );
    assert_eq!(
        text,
        "replaced 100000 times in `f`\n[the change is too large to show]\n"
    );
    assert_eq!(world.contents("f"), "y\n".repeat(100_000));
    // One line of a huge file is shown.
    world.write("g", format!("{}last\n", "x\n".repeat(100_000)).as_bytes());
    let text = world.text(
        "file_edit",
        json!({"path": "g", "old_string": "last", "new_string": "first"}),
    );
    assert!(text.ends_with(" x\n x\n x\n-last\n+first\n"), "{text}");
}
