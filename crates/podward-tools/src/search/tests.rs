use std::fs;
use std::os::unix::fs::symlink;

use podward_policy::Action;
use serde_json::json;

use crate::fixture::{World, policies};

fn project() -> World {
    World::new().with(&[
        (".gitignore", "target/\n*.log\n!keep.log\n"),
        (".github/ci.yml", "token: x\n"),
        (".git/config", "token\n"),
        ("Cargo.toml", "[package]\nname = \"token\"\n"),
        ("keep.log", "token\n"),
        ("other.log", "token\n"),
        ("secrets/key", "token = 1\n"),
        ("src/.ignore", "skipped.rs\n"),
        (
            "src/main.rs",
            "fn a() {}\nlet token = 1;\nfn b() {}\nTOKEN\n",
        ),
        ("src/skipped.rs", "token\n"),
        ("target/out.rs", "token\n"),
    ])
}

#[test]
fn grep_finds_lines_in_the_order_of_the_paths() {
    let world = project();
    assert_eq!(
        world.text("grep", json!({"pattern": "token"})),
        ".github/ci.yml:1:token: x\n\
         Cargo.toml:2:name = \"token\"\n\
         keep.log:1:token\n\
         secrets/key:1:token = 1\n\
         src/main.rs:2:let token = 1;\n"
    );
    assert_eq!(
        world.text(
            "grep",
            json!({"pattern": "token", "path": "src", "case_insensitive": true, "context": 1})
        ),
        "src/main.rs-1-fn a() {}\nsrc/main.rs:2:let token = 1;\nsrc/main.rs-3-fn b() {}\n\
         src/main.rs:4:TOKEN\n"
    );
    assert_eq!(
        world.text(
            "grep",
            json!({"pattern": "token", "glob": "*.{rs,toml}", "output": "files"})
        ),
        "Cargo.toml\nsrc/main.rs\n"
    );
    assert_eq!(
        world.text("grep", json!({"pattern": "nothing"})),
        "[no match]\n"
    );
    // What is named itself is searched, ignored or not.
    assert_eq!(
        world.text(
            "grep",
            json!({"pattern": "token", "path": "src/skipped.rs"})
        ),
        "src/skipped.rs:1:token\n"
    );
    assert_eq!(
        world.text("grep", json!({"pattern": "token", "path": "target"})),
        "target/out.rs:1:token\n"
    );
    assert_eq!(
        world.text("grep", json!({"pattern": "token", "path": ".git"})),
        ".git/config:1:token\n"
    );
    // The rules of the directories above count inside.
    fs::write(world.path("src/x.log"), "token\n").unwrap();
    assert_eq!(
        world.text(
            "grep",
            json!({"pattern": "token", "path": "src", "glob": "*.log"})
        ),
        "[no match]\n"
    );
}

#[test]
fn what_read_does_not_allow_is_left_out_unopened_and_counted() {
    let mut world = project();
    world.write("secrets/deep/other", b"token\n");
    world.policies = policies(
        Action::Allow,
        &[
            ("read", "secrets/*", Action::Deny),
            ("read", "keep.log", Action::Ask),
        ],
    );
    let left_out = "[3 files left out: reading them is not allowed]\n";
    assert_eq!(
        world.text("grep", json!({"pattern": "token", "output": "files"})),
        format!(".github/ci.yml\nCargo.toml\nsrc/main.rs\n{left_out}")
    );
    assert_eq!(
        world.text("glob", json!({"pattern": "**"})),
        format!(".github/ci.yml\n.gitignore\nCargo.toml\nsrc/.ignore\nsrc/main.rs\n{left_out}")
    );
    assert_eq!(
        world.text("glob", json!({"pattern": "*.rs"})),
        "src/main.rs\n"
    );
    assert_eq!(
        world.text("list", json!({})),
        ".git/\n.github/\n.gitignore (24 bytes)\nCargo.toml (25 bytes)\nother.log (6 bytes)\n\
         src/\ntarget/\n[2 files left out: reading them is not allowed]\n"
    );
    assert_eq!(
        world.text("list", json!({"path": "secrets"})),
        "[2 files left out: reading them is not allowed]\n"
    );
    // A link to what may not be read is left out like it.
    symlink("../secrets/key", world.path("src/link")).unwrap();
    assert_eq!(
        world.text("list", json!({"path": "src"})),
        ".ignore (11 bytes)\nmain.rs (41 bytes)\nskipped.rs (6 bytes)\n\
         [1 file left out: reading it is not allowed]\n"
    );
}

#[test]
fn a_search_that_its_own_rule_allows_needs_no_rule_for_read() {
    let mut world = project();
    world.policies = policies(
        Action::Ask,
        &[("grep", "src/*", Action::Allow), ("*", "*", Action::Deny)],
    );
    assert_eq!(
        world.text("grep", json!({"pattern": "token", "path": "src"})),
        "src/main.rs:2:let token = 1;\n"
    );
}

#[test]
fn links_are_not_followed() {
    let world = project();
    fs::write(world.path("../outside/f"), "token\n").unwrap();
    symlink(world.path("../outside"), world.path("src/out")).unwrap();
    symlink(world.path("../outside/f"), world.path("src/f")).unwrap();
    symlink("..", world.path("src/up")).unwrap();
    assert_eq!(
        world.text("grep", json!({"pattern": "token", "path": "src"})),
        "src/main.rs:2:let token = 1;\n"
    );
    assert_eq!(
        world.text("glob", json!({"pattern": "**", "path": "src"})),
        "src/.ignore\nsrc/f\nsrc/main.rs\nsrc/out\nsrc/up\n"
    );
    assert_eq!(
        world.text("list", json!({"path": "src/up/src"})),
        ".ignore (11 bytes)\nf (symbolic link)\nmain.rs (41 bytes)\nout (symbolic link)\n\
         skipped.rs (6 bytes)\nup (symbolic link)\n"
    );
}

#[test]
fn a_directory_that_becomes_a_link_after_it_was_judged_is_not_searched() {
    let world = project();
    let calls = [
        world.propose("grep", json!({"pattern": "token", "path": "src"})),
        world.propose("glob", json!({"pattern": "**", "path": "src"})),
        world.propose("list", json!({"path": "src"})),
    ];
    fs::remove_dir_all(world.path("src")).unwrap();
    symlink("secrets", world.path("src")).unwrap();
    for call in calls {
        let output = world.run(call);
        assert!(output.is_error, "{}", output.content);
        assert!(
            output
                .content
                .contains("it has changed since the call was judged"),
            "{}",
            output.content
        );
    }
}

#[test]
fn results_are_cut_with_a_mark() {
    let mut world = World::new();
    for n in 0..30 {
        world.write(&format!("f{n:02}"), b"hit\nhit\n");
    }
    world.limits.matches = 5;
    world.limits.entries = 4;
    assert_eq!(
        world.text("grep", json!({"pattern": "hit"})),
        "f00:1:hit\nf00:2:hit\nf01:1:hit\nf01:2:hit\nf02:1:hit\n\
         [cut after 5 matching lines: narrow the pattern, the path or the glob]\n"
    );
    assert_eq!(
        world.text("grep", json!({"pattern": "hit", "output": "files"})),
        "f00\nf01\nf02\nf03\n[cut after 4 files: narrow the pattern, the path or the glob]\n"
    );
    assert_eq!(
        world.text("glob", json!({"pattern": "f*"})),
        "f00\nf01\nf02\nf03\n[cut after 4 files: narrow the pattern or the path]\n"
    );
    assert_eq!(
        world.text("list", json!({})),
        "f00 (8 bytes)\nf01 (8 bytes)\nf02 (8 bytes)\nf03 (8 bytes)\n[cut: 26 entries more]\n"
    );
    world.limits.matches = 60;
    assert!(
        !world
            .text("grep", json!({"pattern": "hit"}))
            .contains("[cut")
    );
    world.limits.output_bytes = 50;
    for (tool, arguments) in [
        ("grep", json!({"pattern": "hit"})),
        ("glob", json!({"pattern": "f*"})),
        ("list", json!({})),
    ] {
        world.limits.entries = 100;
        let text = world.text(tool, arguments);
        assert!(text.len() < 200 && text.contains("[cut"), "{tool}: {text}");
    }
}

#[test]
fn long_lines_binary_and_large_files_are_handled() {
    let mut world = World::new();
    world.limits.line_bytes = 10;
    world.limits.file_bytes = 100;
    world.write("bin", b"hit\n\0hit\n");
    world.write("crlf", b"hit\r\n");
    world.write("huge", &[b'h'; 101]);
    world.write("latin", b"hit caf\xe9\n");
    world.write("long", b"hit 0123456789\n");
    world.write("utf16", b"\xff\xfeh\0i\0t\0\n\0");
    assert_eq!(
        world.text("grep", json!({"pattern": "hit"})),
        "crlf:1:hit\nlatin:1:hit caf\u{fffd}\nlong:1:hit 012345 [line cut: 4 bytes more]\n\
         utf16:1:hit\n[1 file left out: it is too large to search]\n"
    );
    for (path, why) in [
        ("bin", "`bin` is a binary file"),
        ("huge", "`huge` is too large to search"),
        ("gone", "does not exist"),
    ] {
        let text = world.failure("grep", json!({"pattern": "hit", "path": path}));
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn bad_patterns_are_a_bad_call() {
    let place = World::new().place();
    for (arguments, problem) in [
        (
            json!({"pattern": "("}),
            "`pattern` is no regular expression",
        ),
        (
            json!({"pattern": "(?=a)"}),
            "`pattern` is no regular expression",
        ),
        (
            json!({"pattern": "((a{100}){100}){100}"}),
            "`pattern` is no regular expression",
        ),
        (
            json!({"pattern": "a", "context": 21}),
            "`context` is at most 20",
        ),
        (json!({"pattern": "a", "context": -1}), "invalid value"),
        (
            json!({"pattern": "a", "output": "count"}),
            "unknown variant `count`",
        ),
        (json!({"pattern": "a", "glob": "["}), "`glob` is no glob"),
        (
            json!({"pattern": "a\nb"}),
            "`pattern` is no regular expression",
        ),
    ] {
        let error = crate::lower("grep", arguments.clone(), &place).unwrap_err();
        assert!(error.to_string().contains(problem), "{arguments}: {error}");
    }
}

#[test]
fn an_empty_directory_is_said_to_be_empty() {
    let world = World::new().with(&[("d/", ""), ("f", "x")]);
    assert_eq!(
        world.text("list", json!({"path": "d"})),
        "[the directory is empty]\n"
    );
    assert_eq!(
        world.text("glob", json!({"pattern": "*", "path": "d"})),
        "[no file matches]\n"
    );
    for (tool, arguments) in [
        ("list", json!({"path": "f"})),
        ("glob", json!({"path": "f", "pattern": "*"})),
    ] {
        let text = world.failure(tool, arguments);
        assert!(
            text.contains("is a regular file, not a directory"),
            "{text}"
        );
    }
}

#[test]
fn a_cancelled_search_ends() {
    let world = project();
    world.cancel.cancel();
    for (tool, arguments) in [
        ("grep", json!({"pattern": "token"})),
        ("glob", json!({"pattern": "**"})),
        ("list", json!({})),
    ] {
        assert_eq!(world.failure(tool, arguments), "the call was cancelled");
    }
}

#[test]
fn the_end_of_a_line_is_before_its_crlf() {
    let world = World::new().with(&[("crlf", "foo\r\nfoo bar\r\n"), ("lf", "foo\nfoo bar\n")]);
    assert_eq!(
        world.text("grep", json!({"pattern": "foo$"})),
        "crlf:1:foo\nlf:1:foo\n"
    );
    assert_eq!(
        world.text("grep", json!({"pattern": "^foo.*$", "path": "crlf"})),
        "crlf:1:foo\ncrlf:2:foo bar\n"
    );
}

#[test]
fn a_cut_among_lines_of_context_leaves_no_loose_ends() {
    let mut world = World::new();
    world.write("a", b"1\nhit\n2\n3\n4\n5\nhit\n6\n7\n8\nhit\n");
    world.write("b", b"hit\n");
    world.limits.matches = 2;
    let cut = "[cut after 2 matching lines: narrow the pattern, the path or the glob]\n";
    assert_eq!(
        world.text("grep", json!({"pattern": "hit", "context": 1})),
        format!("a-1-1\na:2:hit\na-3-2\n--\na-6-5\na:7:hit\na-8-6\n{cut}")
    );
    world.limits.matches = 3;
    let text = world.text("grep", json!({"pattern": "hit", "context": 1}));
    assert!(
        text.ends_with(
            "a:11:hit\n[cut after 3 matching lines: narrow the pattern, the path or the glob]\n"
        ),
        "{text}"
    );
    world.limits.matches = 4;
    let text = world.text("grep", json!({"pattern": "hit", "context": 1}));
    assert!(text.ends_with("a:11:hit\n--\nb:1:hit\n"), "{text}");
}

#[test]
fn a_rule_for_the_search_itself_holds_from_above_too() {
    let mut world = project();
    world.policies = policies(
        Action::Allow,
        &[
            ("grep", "secrets/*", Action::Deny),
            ("grep", "keep.log", Action::Ask),
            ("list", "secrets/*", Action::Deny),
        ],
    );
    assert_eq!(
        world.text("grep", json!({"pattern": "token", "output": "files"})),
        ".github/ci.yml\nCargo.toml\nsrc/main.rs\n\
         [2 files left out: reading them is not allowed]\n"
    );
    assert_eq!(
        world.text("glob", json!({"pattern": "secrets/*"})),
        "secrets/key\n"
    );
    let text = world.text("list", json!({}));
    assert!(!text.contains("secrets/"), "{text}");
    assert!(
        text.ends_with("[1 file left out: reading it is not allowed]\n"),
        "{text}"
    );
}
