use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use podward_scope::{Access, Root};
use serde_json::json;

use crate::fixture::{World, names};

#[test]
fn a_file_is_created_with_the_directories_above_it_or_replaced() {
    let world = World::new();
    assert_eq!(
        world.text(
            "file_write",
            json!({"path": "a/b/c.txt", "content": "héllo\n"})
        ),
        "created `a/b/c.txt` (7 bytes)"
    );
    assert_eq!(
        world.text("file_write", json!({"path": "./a/b/c.txt", "content": ""})),
        "overwrote `a/b/c.txt` (it holds 0 bytes now)"
    );
    assert_eq!(world.contents("a/b/c.txt"), "");
    assert_eq!(names(&world.path("a/b")), ["c.txt"]);
}

#[test]
fn a_replaced_file_keeps_its_mode() {
    let world = World::new().with(&[("run.sh", "#!/bin/sh\n")]);
    fs::set_permissions(world.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    world.text("file_write", json!({"path": "run.sh", "content": "x"}));
    let mode = fs::metadata(world.path("run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[test]
fn what_lies_outside_or_is_no_file_is_not_written() {
    let world = World::new().with(&[("dir/", ""), ("file", "f")]);
    symlink(world.path("../outside"), world.path("out")).unwrap();
    for (path, reason) in [
        ("../outside/x", "lies outside the roots that may be written"),
        ("out/x", "lies outside the roots that may be written"),
        ("~/x", "lies outside the roots that may be written"),
        ("dir", "is a directory"),
        ("file/x", "is a regular file, not a directory"),
        ("/dev/full", "lies outside the roots"),
    ] {
        let text = world.failure("file_write", json!({"path": path, "content": "x"}));
        assert!(text.contains(reason), "{path}: {text}");
    }
    assert_eq!(names(&world.path("../outside")), Vec::<String>::new());
    assert_eq!(names(&world.root()), ["dir", "file", "out"]);
}

#[test]
fn a_link_inside_stays_and_its_target_is_written() {
    let world = World::new().with(&[("real", "r")]);
    symlink("real", world.path("link")).unwrap();
    symlink("sub/new", world.path("dangling")).unwrap();
    world.text("file_write", json!({"path": "link", "content": "x"}));
    world.text("file_write", json!({"path": "dangling", "content": "y"}));
    assert_eq!(world.contents("real"), "x");
    assert_eq!(world.contents("sub/new"), "y");
    assert!(
        fs::symlink_metadata(world.path("link"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn a_directory_that_becomes_a_link_after_it_was_judged_is_not_written_through() {
    let world = World::new().with(&[("src/gen/a", "old"), ("secrets/a", "keep")]);
    let existing = world.propose("file_write", json!({"path": "src/gen/a", "content": "x"}));
    let created = world.propose("file_write", json!({"path": "src/gen/new", "content": "x"}));
    let deeper = world.propose(
        "file_write",
        json!({"path": "src/gen/d/new", "content": "x"}),
    );
    fs::remove_dir_all(world.path("src/gen")).unwrap();
    symlink("../secrets", world.path("src/gen")).unwrap();
    for proposal in [existing, created, deeper] {
        let output = world.run(proposal);
        assert!(output.is_error, "{}", output.content);
    }
    assert_eq!(names(&world.path("secrets")), ["a"]);
    assert_eq!(world.contents("secrets/a"), "keep");
}

#[test]
fn a_path_that_names_a_directory_is_a_bad_call() {
    let error = crate::lower(
        "file_write",
        json!({"path": "dir/", "content": ""}),
        &World::new().place(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("names a directory"), "{error}");
}

#[test]
fn a_cancelled_write_writes_nothing() {
    let world = World::new();
    world.cancel.cancel();
    world.failure("file_write", json!({"path": "a", "content": "x"}));
    assert_eq!(names(&world.root()), Vec::<String>::new());
}

#[test]
fn a_scope_that_denies_writing_is_stronger_than_a_permit() {
    let mut world = World::new().with(&[("locked/a", "old")]);
    world.decl.deny.push(Root {
        path: "locked".into(),
        access: Access::Write,
        declared: None,
    });
    let text = world.failure("file_write", json!({"path": "locked/a", "content": "x"}));
    assert!(text.contains("may not be written"), "{text}");
    assert_eq!(world.contents("locked/a"), "old");
}
