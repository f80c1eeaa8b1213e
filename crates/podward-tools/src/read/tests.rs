use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use podward_policy::Action;
use serde_json::json;

use crate::fixture::{World, policies};

#[test]
fn lines_are_numbered_from_one() {
    let world = World::new().with(&[("a.txt", "one\ntwo\n\nfour\n")]);
    assert_eq!(
        world.text("read", json!({"path": "a.txt"})),
        "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n"
    );
    assert_eq!(
        world.text("read", json!({"path": "a.txt", "offset": 2, "limit": 2})),
        "     2\ttwo\n     3\t\n[cut: the file goes on (14 bytes in all); continue with offset 4]\n"
    );
    assert_eq!(
        world.text("read", json!({"path": "a.txt", "offset": 4, "limit": 9})),
        "     4\tfour\n"
    );
}

#[test]
fn remarks_tell_what_the_lines_do_not() {
    let world = World::new();
    for (contents, expected) in [
        (&b""[..], "[the file is empty]\n"),
        (
            b"a",
            "     1\ta\n[the last line does not end with a newline]\n",
        ),
        (
            b"a\r\nb\r\n",
            "     1\ta\n     2\tb\n[lines end with CRLF]\n",
        ),
        (
            b"\xef\xbb\xbfa\n",
            "     1\ta\n[the file begins with a UTF-8 byte order mark]\n",
        ),
        (
            b"caf\xe9\n",
            "     1\tcaf\u{fffd}\n[some bytes are not UTF-8 and are shown as \u{fffd}]\n",
        ),
        (b"\n", "     1\t\n"),
        // A bare CR ends no line.
        (b"a\rb\n", "     1\ta\rb\n"),
    ] {
        world.write("f", contents);
        assert_eq!(world.text("read", json!({"path": "f"})), expected);
    }
}

#[test]
fn a_file_that_goes_on_is_cut_with_a_mark() {
    let mut world = World::new();
    world.limits.read_lines = 3;
    world.write("f", "x\n".repeat(5).as_bytes());
    let mark = "[cut: the file goes on (10 bytes in all); continue with offset 4]\n";
    let three = "     1\tx\n     2\tx\n     3\tx\n";
    assert_eq!(
        world.text("read", json!({"path": "f"})),
        format!("{three}{mark}")
    );
    // The limit of the call does not lift the pod's.
    assert_eq!(
        world.text("read", json!({"path": "f", "limit": 100})),
        format!("{three}{mark}")
    );
    world.limits.read_lines = 1000;
    world.limits.read_bytes = 18;
    assert_eq!(
        world.text("read", json!({"path": "f"})),
        "     1\tx\n     2\tx\n[cut: the file goes on (10 bytes in all); continue with offset 3]\n"
    );
    // One line is always returned, so that a reader gets on.
    world.limits.read_bytes = 1;
    assert_eq!(
        world.text("read", json!({"path": "f", "offset": 5})),
        "     5\tx\n"
    );
}

#[test]
fn a_long_line_is_cut_between_characters() {
    let mut world = World::new();
    world.limits.line_bytes = 4;
    world.write("f", "abcdef\nabcé\nabcde\n".as_bytes());
    assert_eq!(
        world.text("read", json!({"path": "f"})),
        "     1\tabcd [line cut: 2 bytes more]\n     2\tabc [line cut: 2 bytes more]\n     \
         3\tabcd [line cut: 1 bytes more]\n"
    );
    // A line of any length takes bounded memory.
    world.limits.line_bytes = 2000;
    world.write("long", &[b'a'; 5_000_000]);
    let text = world.text("read", json!({"path": "long"}));
    assert!(text.ends_with(
        "[line cut: 4998000 bytes more]
[the last line does not end with a newline]
"
    ));
    assert!(text.len() < 2200);
}

#[test]
fn a_huge_file_is_read_in_the_middle_and_never_whole() {
    let world = World::new();
    let line = "x".repeat(99) + "\n";
    world.write("huge", line.repeat(200_000).as_bytes());
    let text = world.text("read", json!({"path": "huge"}));
    assert!(text.len() < 70 * 1024, "{}", text.len());
    assert!(text.contains("[cut: the file goes on (20000000 bytes in all)"));
    let text = world.text("read", json!({"path": "huge", "offset": 199_999}));
    assert!(text.starts_with("199999\txxx"));
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn what_is_no_text_file_is_refused_with_a_reason() {
    let world = World::new().with(&[("dir/", "")]);
    world.write("bin", b"\x7fELF\0\0\x01");
    world.write("utf16", b"\xff\xfea\0b\0");
    symlink("nowhere", world.path("dangling")).unwrap();
    symlink("/proc/self/fd/0", world.path("stdin")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, world.path("fifo"), 0o600.into()).unwrap();
    for (path, reason) in [
        ("bin", "`bin` is a binary file (7 bytes)"),
        ("utf16", "`utf16` is a binary file (6 bytes)"),
        (
            "dir",
            "is a directory, not a regular file; to see what it holds, list it",
        ),
        ("gone", "does not exist"),
        ("dangling", "does not exist"),
        (
            "fifo",
            "is a pipe, a socket or a device, not a regular file",
        ),
        (
            "/dev/zero",
            "is a pipe, a socket or a device, not a regular file",
        ),
        ("stdin", "leads through the symbolic link"),
        ("dir/../gone/x", "does not exist"),
    ] {
        let text = world.failure("read", json!({"path": path}));
        assert!(text.contains(reason), "{path}: {text}");
    }
    world.write("f", b"a\n");
    assert_eq!(
        world.failure("read", json!({"path": "f", "offset": 3})),
        "`f` ends before line 3: it has 1 line"
    );
    // A NUL after the first block is shown as what it is not.
    let mut late = vec![b'a'; 70_000];
    late.extend(b"\nb\0c\n");
    world.write("late", &late);
    let text = world.text("read", json!({"path": "late", "offset": 2}));
    assert_eq!(
        text,
        "     2\tb\u{fffd}c\n[NUL bytes are shown as \u{fffd}]\n"
    );
}

#[test]
fn a_file_that_becomes_a_link_after_it_was_judged_is_not_read() {
    let world = World::new().with(&[(".env", "KEY=1"), ("notes", "n"), ("dir/f", "n")]);
    world.write("../outside/f", b"secret");
    let of_file = world.propose("read", json!({"path": "notes"}));
    let of_dir = world.propose("read", json!({"path": "dir/f"}));
    fs::remove_file(world.path("notes")).unwrap();
    symlink(".env", world.path("notes")).unwrap();
    fs::remove_dir_all(world.path("dir")).unwrap();
    symlink(world.path("../outside"), world.path("dir")).unwrap();
    for proposal in [of_file, of_dir] {
        let output = world.run(proposal);
        assert!(output.is_error);
        assert!(
            output
                .content
                .contains("it has changed since the call was judged"),
            "{}",
            output.content
        );
    }
    // A link that was there is where it leads.
    assert!(
        world
            .text("read", json!({"path": "notes"}))
            .contains("KEY=1")
    );
}

#[test]
fn a_link_that_moves_after_it_was_judged_is_read_where_it_led() {
    let world = World::new().with(&[(".env", "KEY=1"), ("notes", "n\n")]);
    symlink("notes", world.path("link")).unwrap();
    let proposal = world.propose("read", json!({"path": "link"}));
    fs::remove_file(world.path("link")).unwrap();
    symlink(".env", world.path("link")).unwrap();
    assert_eq!(world.run(proposal).content, "     1\tn\n");
}

#[test]
fn a_cancelled_read_ends() {
    let world = World::new().with(&[("f", "a\n")]);
    world.cancel.cancel();
    assert_eq!(
        world.failure("read", json!({"path": "f"})),
        "the call was cancelled"
    );
}

/// What is judged is what is read, whatever happens in between.
#[test]
fn a_link_that_flips_all_the_time_never_shows_what_is_denied() {
    let mut world = World::new().with(&[(".env", "KEY=1\n"), ("notes", "n\n")]);
    world.policies = policies(Action::Allow, &[("read", ".env", Action::Deny)]);
    symlink("notes", world.path("link")).unwrap();
    let root = world.root();
    let is_done = AtomicBool::new(false);
    let mut results = Vec::new();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                for target in [".env", "notes"] {
                    symlink(target, root.join("next")).unwrap();
                    fs::rename(root.join("next"), root.join("link")).unwrap();
                }
            }
        });
        for _ in 0..300 {
            let proposal = world.propose("read", json!({"path": "link"}));
            if world.policies.judge(&proposal.lowered).action != Action::Allow {
                continue;
            }
            results.push(world.run(proposal).content);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(!results.is_empty());
    let shows = results.iter().find(|result| result.contains("KEY"));
    assert_eq!(shows, None);
}
