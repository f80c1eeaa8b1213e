//! Full disks and file rights, in child processes: the test starts itself again where they are so.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use podward_scope::{Access, Root};
use serde_json::json;
use tempfile::TempDir;

use crate::fixture::{World, is_root, names};

/// Set in the child: the directory that it works in.
const INNER: &str = "PODWARD_TOOLS_TEST_DIR";

/// The directory for the child's work, if this process is the child.
fn inner() -> Option<PathBuf> {
    env::var_os(INNER).map(PathBuf::from)
}

/// Runs this very test again, by a command line that takes another one as its end.
fn again(test: &str, dir: &Path, command: Command) -> Output {
    try_again(test, dir, command).expect("the program that starts the test is there")
}

fn try_again(test: &str, dir: &Path, mut command: Command) -> io::Result<Output> {
    // Another user may not reach the directory that this program was built in.
    let program = dir.with_extension("test");
    // Copied by another process: a descriptor open for writing would go on to what other tests
    // start at this moment, and a program that is open for writing cannot be run.
    let copied = Command::new("install")
        .args([&env::current_exe().unwrap(), &program])
        .status();
    assert!(copied.unwrap().success());
    let output = command
        .arg(&program)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(INNER, dir)
        .output();
    fs::remove_file(program).unwrap();
    output
}

#[track_caller]
fn assert_passed(output: &Output) {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && out.contains("1 passed"),
        "{:?}\n{out}\n{err}",
        output.status.signal()
    );
}

/// Says something although the test passes: the harness captures only what macros print.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A directory that every user may enter and write.
fn open_dir() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    dir
}

/// What holds wherever a file cannot be written whole.
fn check_full(dir: &Path, reason: &str) {
    let world = World::inside(TempDir::new_in(dir).unwrap()).with(&[("f", "old\n")]);
    let big = "x".repeat(4 * 1024 * 1024);
    for (tool, arguments) in [
        ("file_write", json!({"path": "f", "content": big})),
        ("file_write", json!({"path": "new", "content": big})),
        (
            "file_edit",
            json!({"path": "f", "old_string": "old", "new_string": big}),
        ),
    ] {
        let text = world.failure(tool, arguments);
        assert!(text.contains(reason), "{text}");
    }
    assert_eq!(world.contents("f"), "old\n");
    assert_eq!(names(&world.root()), ["f"]);
    // And what fits is written.
    world.text("file_write", json!({"path": "f", "content": "small"}));
    assert_eq!(world.contents("f"), "small");
}

#[test]
fn a_disk_that_is_full_loses_nothing() {
    if let Some(dir) = inner() {
        return check_full(&dir, "No space left on device");
    }
    let outer = open_dir();
    let dir = outer.path().join("full");
    fs::create_dir(&dir).unwrap();
    let user = if is_root() { "-m" } else { "-Urm" };
    let mount = r#"mount -t tmpfs -o size=1m none "$0" || exit 70; exec "$@""#;
    let mut command = Command::new("unshare");
    command.args([user, "sh", "-c", mount]).arg(&dir);
    let test = "files::tests::a_disk_that_is_full_loses_nothing";
    match try_again(test, &dir, command) {
        Ok(output) if is_started(&output) => assert_passed(&output),
        Ok(_) | Err(_) => say(
            "note: no tmpfs can be mounted here: a full disk is shown by \
             a_file_size_limit_loses_nothing alone",
        ),
    }
}

/// Whether the test program itself ran.
fn is_started(output: &Output) -> bool {
    String::from_utf8_lossy(&output.stdout).contains("running 1 test")
}

#[test]
fn a_file_size_limit_loses_nothing() {
    if let Some(dir) = inner() {
        return check_full(&dir, "File too large");
    }
    let outer = open_dir();
    let dir = outer.path().join("limited");
    fs::create_dir(&dir).unwrap();
    // The limit is in blocks of 512 bytes or 1 KiB, as the shell likes; without the trap the
    // signal would kill.
    let limit = r#"trap "" XFSZ; ulimit -f 1024; exec "$@""#;
    let mut command = Command::new("sh");
    command.args(["-c", limit, "sh"]);
    assert_passed(&again(
        "files::tests::a_file_size_limit_loses_nothing",
        &dir,
        command,
    ));
}

#[test]
fn a_device_is_never_written() {
    let mut world = World::new();
    world.decl.allow.push(Root {
        path: "/dev".into(),
        access: Access::Write,
        declared: None,
    });
    world.decl.allow.push(Root::write("."));
    symlink("/dev/full", world.path("full")).unwrap();
    for path in ["/dev/full", "full", "/dev/null"] {
        let text = world.failure("file_write", json!({"path": path, "content": "x"}));
        assert!(text.contains("is a pipe, a socket or a device"), "{text}");
    }
}

#[test]
fn file_rights_hold_for_every_tool() {
    if let Some(dir) = inner() {
        return check_rights(&dir);
    }
    let outer = open_dir();
    if !is_root() {
        return check_rights(outer.path());
    }
    // To root, rights say nothing: the test starts itself again as nobody.
    let dir = outer.path().join("rights");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    assert_passed(&again(
        "files::tests::file_rights_hold_for_every_tool",
        &dir,
        command,
    ));
}

fn check_rights(dir: &Path) {
    assert!(!is_root());
    let world = World::inside(TempDir::new_in(dir).unwrap()).with(&[
        ("closed/f", "hit\n"),
        ("locked", "hit\n"),
        ("open", "hit\n"),
        ("readonly/f", "hit\n"),
        ("fixed", "hit\n"),
    ]);
    let set = |name: &str, mode| {
        fs::set_permissions(world.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("locked", 0o000);
    set("closed", 0o000);
    set("readonly", 0o555);
    set("fixed", 0o444);
    for (tool, arguments) in [
        ("read", json!({"path": "locked"})),
        ("read", json!({"path": "closed/f"})),
        ("list", json!({"path": "closed"})),
        ("grep", json!({"path": "locked", "pattern": "hit"})),
        ("grep", json!({"path": "closed", "pattern": "hit"})),
        ("glob", json!({"path": "closed", "pattern": "*"})),
        ("file_write", json!({"path": "locked", "content": "x"})),
        ("file_write", json!({"path": "fixed", "content": "x"})),
        ("file_write", json!({"path": "closed/g", "content": "x"})),
        ("file_write", json!({"path": "readonly/g", "content": "x"})),
        (
            "file_write",
            json!({"path": "readonly/d/g", "content": "x"}),
        ),
        (
            "file_edit",
            json!({"path": "readonly/f", "old_string": "hit", "new_string": "x"}),
        ),
        (
            "file_edit",
            json!({"path": "fixed", "old_string": "hit", "new_string": "x"}),
        ),
    ] {
        let text = world.failure(tool, arguments.clone());
        assert!(
            text.contains("Permission denied"),
            "{tool} {arguments}: {text}"
        );
    }
    assert_eq!(
        world.text("grep", json!({"pattern": "hit"})),
        "fixed:1:hit\nopen:1:hit\nreadonly/f:1:hit\n[2 files left out: they cannot be opened]\n"
    );
    assert_eq!(
        world.text("glob", json!({"pattern": "f*"})),
        "fixed\nreadonly/f\n[1 file left out: it cannot be opened]\n"
    );
    assert_eq!(names(&world.path("readonly")), ["f"]);
    assert_eq!(world.contents("fixed"), "hit\n");
    set("closed", 0o755);
    set("readonly", 0o755);
}
