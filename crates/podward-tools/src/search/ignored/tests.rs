use std::path::Path;

use podward_scope::Kind;

use super::Ignored;
use crate::fixture::World;

#[test]
fn the_nearest_rule_wins_and_ignore_wins_over_gitignore() {
    let world = World::new().with(&[
        (".gitignore", "*.log\nbuild/\n/top\nout*\n[broken\n"),
        (".ignore", "!kept.log\n"),
        ("sub/.gitignore", "!sub.log\nown\n"),
    ]);
    let scope = world.context().scope;
    let root = world.root();
    let mut ignored = Ignored::default();
    ignored.enter(&scope, &root);
    ignored.enter(&scope, &root.join("sub"));
    let check = |ignored: &Ignored, path: &str, kind, expected| {
        let is_ignored = ignored.is_ignored(&root.join(path), kind);
        assert_eq!(is_ignored, expected, "{path}");
    };
    for (path, kind, expected) in [
        ("a.log", Kind::File, true),
        ("kept.log", Kind::File, false),
        ("sub/a.log", Kind::File, true),
        ("sub/sub.log", Kind::File, false),
        ("sub/own", Kind::File, true),
        ("own", Kind::File, false),
        ("build", Kind::Directory, true),
        ("build", Kind::File, false),
        ("top", Kind::File, true),
        ("sub/top", Kind::File, false),
        ("output", Kind::Directory, true),
        (".git", Kind::Directory, true),
        ("sub/.git", Kind::Directory, true),
        (".github", Kind::Directory, false),
    ] {
        check(&ignored, path, kind, expected);
    }
    ignored.leave(Path::new(&root.join("sub")));
    check(&ignored, "sub/sub.log", Kind::File, true);
    check(&ignored, "a.log", Kind::File, true);
}

#[test]
fn a_hostile_ignore_file_is_read_in_bounded_time() {
    let world = World::new();
    let lines = "**/[a-z]*{a,b,c}?x/**\n".repeat(100_000);
    world.write(".gitignore", lines.as_bytes());
    world.write(".ignore", &[b'*'; 1_000_000]);
    let mut ignored = Ignored::default();
    ignored.enter(&world.context().scope, &world.root());
    ignored.is_ignored(&world.path("some/file"), Kind::File);
}
